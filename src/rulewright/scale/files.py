"""Parquet files in parts, and codes in memory-mapped files."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError, open_table
from rulewright.scale.parts import LocalParts, TablePart, add_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.scale.coding import Keep

ROWS_PER_PART = 500_000
"""Rows that are read at once: of 30 columns about a quarter of a gigabyte."""


class FileParts:
    """Parts of Parquet files, read anew for every question, one after the other."""

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
        """Call a function for each part and add up the answers."""
        return add_answers(self.map(function, *args))

    def become(self, function: Callable[..., Any], *args: Any) -> LocalParts:
        """Return what a function makes of each part, in memory."""
        return LocalParts([function([part], *args) for part in self], self.n_threads)

    def close(self) -> None:
        """Let go of nothing: files are open only while they are read."""


@contextmanager
def map_codes_to_files(folder: str | os.PathLike[str] | None = None) -> Iterator[Keep]:
    """Give a function that keeps codes in files of a folder, which is removed at the end."""
    try:
        place = Path(tempfile.mkdtemp(prefix="rulewright-", dir=folder))
    except OSError as error:
        raise DataError(f"folder={folder!r}: cannot be written to ({error.strerror}).") from None
    try:
        yield partial(_map_codes, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def write_codes(codes: NDArray[Any], file: IO[bytes]) -> None:
    """Write codes as they are in memory."""
    file.write(codes.reshape(-1).data)
    file.flush()


def _map_codes(place: Path, codes: NDArray[Any]) -> NDArray[Any]:
    """Write codes to a file and map it into memory; the file is written before it is mapped.

    Writing to a map of a full disk would end the process, writing to a file is an error.
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
            f"{free / 1e6:.0f} MB left. Give another folder, or free about a byte for each row and "
            "column."
        ) from None
    mapped = np.memmap(name, dtype=codes.dtype, mode="r", shape=codes.shape)
    return mapped.view(np.ndarray)
