"""Parts on the workers of a Dask cluster: tasks only, no sockets and no tracker of our own.

A partition is the result of a task, so that Dask computes it again when its worker is lost. What it
knows beyond its rows stays with it in the memory of the worker; where that is gone too, the
partition says so and is told all rules again.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Self

from rulewright.data import DataError
from rulewright.data.optional import optional
from rulewright.scale.parts import Part, added, total_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FAN_IN = 8
"""Sums that a task adds up, where there are many."""


class DaskParts:
    """Parts that are futures of a client."""

    def __init__(self, client: Any, futures: Sequence[Any]) -> None:
        self.client, self.futures = client, list(futures)
        self._groups: list[list[Any]] = []

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Call a function for each part and bring the answers here."""
        answers: list[Any] = self.client.gather(self._submitted(function, self.futures, *args))
        return answers

    def total(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function for each part and add up the answers: on workers first, then here."""
        if not self._groups:
            self._groups = self._grouped()
        sums = self._submitted(total_of, self._groups, function, *args)
        while len(sums) > FAN_IN:
            some = [sums[k : k + FAN_IN] for k in range(0, len(sums), FAN_IN)]
            sums = self._submitted(added, some)
        total = added(self.client.gather(sums))
        if total is None:  # something was lost: partitions may be elsewhere now
            self._groups = []
        return total

    def become(self, function: Callable[..., Any], *args: Any) -> Self:
        """Return the parts that a function makes of these, on their workers."""
        made = type(self)(self.client, self._submitted(function, self.futures, *args))
        try:
            self.client.gather(self._submitted(_is_there, made.futures))
        except BaseException:
            made.close()
            raise
        return made

    def close(self) -> None:
        """Let go of the parts."""
        for future in self.futures:
            future.release()
        self.futures, self._groups = [], []

    def _submitted(
        self, function: Callable[..., Any], items: Sequence[Any], *args: Any
    ) -> list[Any]:
        """Call a function for each item, all in one message to the scheduler."""
        name = f"rulewright-{function.__name__}-{uuid.uuid4().hex}"
        keys = [f"{name}-{place}" for place in range(len(items))]
        same = ([one] * len(items) for one in args)
        futures: list[Any] = self.client.map(function, items, *same, key=keys, pure=False)
        return futures

    def _grouped(self) -> list[list[Any]]:
        """Return the parts in groups, one for each thread of the workers that hold them."""
        holders = self.client.who_has(self.futures)
        threads = self.client.nthreads()
        by_worker: dict[str, list[Any]] = defaultdict(list)
        for future in self.futures:
            workers = holders.get(future.key) or ("",)
            by_worker[min(workers)].append(future)
        groups = []
        for worker, futures in by_worker.items():
            n_threads = threads.get(worker, 1)
            groups += [futures[k::n_threads] for k in range(min(n_threads, len(futures)))]
        return groups


def _is_there(part: Any) -> bool:
    return part is not None


def dask_parts(X: Any, y: Any, sample_weight: Any, client: Any = None) -> DaskParts:
    """Return the partitions of Dask dataframes or arrays as parts on the workers of a client."""
    dask = optional("dask")
    client = client or _current_client()
    tables = _pieces(X, "X")
    columns = []
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is None or isinstance(values, str):
            columns.append([None] * len(tables))
            continue
        pieces = _pieces(values, name)
        if len(pieces) != len(tables):
            raise DataError(
                f"{name} has {len(pieces)} partitions, but X has {len(tables)}. Give both the same "
                "partitions, or the name of a column of X."
            )
        columns.append(pieces)
    part = dask.delayed(Part, pure=False)
    parts = [
        part(f"partition {place}", *one)
        for place, one in enumerate(zip(tables, *columns, strict=True))
    ]
    return DaskParts(client, client.compute(parts))


def _pieces(collection: Any, name: str) -> list[Any]:
    """Return the partitions of a collection, of an array those of whole rows."""
    if not hasattr(collection, "to_delayed"):
        raise DataError(
            f"{name} is no Dask dataframe, series or array. Give it as one, or name its column."
        )
    if hasattr(collection, "numblocks") and collection.ndim == 2 and collection.numblocks[1] > 1:
        collection = collection.rechunk({1: -1})
    pieces = collection.to_delayed()
    return list(pieces.ravel() if hasattr(pieces, "ravel") else pieces)


def _current_client() -> Any:
    try:
        return optional("distributed").get_client()
    except ValueError:
        raise ValueError(
            "fits on Dask need a client: start one with distributed.Client(), or pass client=..."
        ) from None
