"""Parts of a table, and where they are stored.

A fit asks the same question of every part and sums the answers. `Parts` says how: here part by part
on threads of this process, or read from Parquet files; in `scale.dask` as tasks on the workers of a
cluster.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from rulewright import kernels
from rulewright.data import DataError, open_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.scale.coding import Keep

ROWS_PER_PART = 500_000
"""Number of rows to read at once: about a quarter of a gigabyte for 30 columns."""


@dataclass(frozen=True)
class TablePart:
    """Some of the rows: a table in any container, with target and weights."""

    title: str
    X: Any
    y: Any = None
    sample_weight: Any = None


class KeptObjects(Protocol):
    """Objects stored somewhere that are asked the same questions."""

    def total(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function for each object and sum the results; None if one of them is None."""

    def close(self) -> None:
        """Release the objects."""


class Parts(KeptObjects, Protocol):
    """Stored objects, one per part of a table."""

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Call a function for each part and collect the results, in the order of the parts."""

    def become(self, function: Callable[..., Any], *args: Any) -> KeptObjects:
        """Apply a function to lists of parts; its results are stored where the parts are."""


class LocalParts:
    """Parts in this process, shared by threads; their number does not change results."""

    def __init__(self, parts: Iterable[Any], n_threads: int = 1) -> None:
        self.parts: list[Any] = list(parts)
        self.n_threads = max(1, min(n_threads, len(self.parts)))

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Call a function for each part."""
        return self._run_threads(lambda part: function(part, *args), self.parts)

    def total(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function for each part and sum the results, first on each thread."""
        return add_answers(
            self._run_threads(lambda share: total_of(share, function, *args), self._shares)
        )

    def become(self, function: Callable[..., Any], *args: Any) -> Self:
        """Apply a function to the parts of each thread."""
        made = self._run_threads(lambda share: function(share, *args), self._shares)
        return type(self)(made, self.n_threads)

    def close(self) -> None:
        """Release the parts."""
        self.parts = []

    @property
    def _shares(self) -> list[list[Any]]:
        """The parts of each thread."""
        return [self.parts[k :: self.n_threads] for k in range(self.n_threads)]

    def _run_threads(self, call: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        if self.n_threads == 1:
            return [call(item) for item in items]
        with kernels.ThreadPool(self.n_threads) as pool:
            return list(pool.map(call, items))


def total_of(parts: Sequence[Any], function: Callable[..., Any], *args: Any) -> Any:
    """Sum the results of some parts; None if one of them is None."""
    total = None
    for part in parts:
        answer = function(part, *args)
        if answer is None:
            return None
        total = answer if total is None else total + answer
    return total


def add_answers(answers: Sequence[Any]) -> Any:
    """Sum results; None if one of them is None."""
    return None if any(answer is None for answer in answers) else reduce(add, answers)


class FileParts:
    """Parts of Parquet files, reread for every question, one after another."""

    def __init__(self, paths: Sequence[str], n_rows: int, n_threads: int) -> None:
        self.paths, self.n_rows, self.n_threads = tuple(paths), n_rows, n_threads

    def __iter__(self) -> Iterator[TablePart]:
        for path in self.paths:
            for place, part in enumerate(open_table(path).parts(self.n_rows)):
                first = place * self.n_rows
                yield TablePart(f"{path}, rows {first} to {first + part.n_rows - 1}", part)

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Call a function for each part."""
        return [function(part, *args) for part in self]

    def total(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function for each part and sum the results."""
        return add_answers(self.map(function, *args))

    def become(self, function: Callable[..., Any], *args: Any) -> LocalParts:
        """Apply a function to each part, in memory."""
        return LocalParts([function([part], *args) for part in self], self.n_threads)

    def close(self) -> None:
        """Do nothing: files are open only while they are read."""


@contextmanager
def map_codes_to_files(folder: str | os.PathLike[str] | None = None) -> Iterator[Keep]:
    """Yield a function that stores codes in files of a folder, which is removed at the end."""
    try:
        place = Path(tempfile.mkdtemp(prefix="rulewright-", dir=folder))
    except OSError as error:
        raise DataError(f"folder={folder!r}: cannot be written to ({error.strerror}).") from None
    try:
        yield partial(_map_codes, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def write_codes(codes: NDArray[Any], file: IO[bytes]) -> None:
    """Write codes in their memory layout."""
    file.write(codes.reshape(-1).data)
    file.flush()


def _map_codes(place: Path, codes: NDArray[Any]) -> NDArray[Any]:
    """Write codes to a file and map it into memory; the file is written before it is mapped.

    On a full disk, writing to a map would kill the process; writing to a file is an error.
    """
    if not codes.size:
        return codes
    handle, name = tempfile.mkstemp(suffix=".codes", dir=place)
    try:
        with os.fdopen(handle, "wb") as file:
            write_codes(codes, file)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        free = shutil.disk_usage(place).free
        raise DataError(
            f"the disk is full: the codes of the rows do not fit into {place.parent}, which has "
            f"{free / 1e6:.0f} MB left. Choose another folder, or free about a byte per row and "
            "column."
        ) from None
    mapped = np.memmap(name, dtype=codes.dtype, mode="r", shape=codes.shape)
    return mapped.view(np.ndarray)
