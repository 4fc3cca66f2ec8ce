"""Derived columns of instances in NumPy: the engine without a database, and the twin of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import MISSING_CODE, Column, DataError
from rulewright.relational.aggregates import DAY, LARGEST_SUM, LARGEST_WHOLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.data import DerivedColumn, Recipe, Step, Where
    from rulewright.relational.related import TableData
    from rulewright.relational.relations import Relations


def derive_in_memory(relations: Relations, recipe: Recipe) -> dict[str, Column]:
    """Compute the columns of a recipe for all instances, by name."""
    tables = {table.name: relations.table_of(table.name) for table in recipe.tables}
    start = relations.table_of(relations.instances)
    cutoff = None
    if recipe.cutoff is not None and relations.cutoff is not None:
        cutoff = start.column(relations.cutoff).values
    reached: dict[tuple[Step, ...], _Reached] = {}
    found = {}
    for column in recipe.columns:
        if column.path not in reached:
            reached[column.path] = _Reached(recipe, column.path, start, tables, cutoff)
        found[column.name] = reached[column.path].column(column)
    return found


class _Reached:
    """The rows that instances reach along a path: pairs of an instance and a row, with times."""

    def __init__(
        self,
        recipe: Recipe,
        path: Sequence[Step],
        start: TableData,
        tables: Mapping[str, TableData],
        cutoff: NDArray[Any] | None,
    ) -> None:
        self._recipe, self._n, self._cutoff = recipe, start.n_rows, cutoff
        self._table = tables[path[-1].table]
        owner = row = np.arange(start.n_rows)
        self.time: NDArray[Any] | None = None
        before = start
        for step in path:
            table = tables[step.table]
            left, row = _joined(before, step.here, row, table, step.there)
            owner = owner[left]
            self.time = None if self.time is None else self.time[left]
            time = recipe[step.table].time
            if time is not None:
                self.time = table.column(time.name).values[row]
                if cutoff is not None:
                    seen = self.time < cutoff[owner]
                    owner, row, self.time = owner[seen], row[seen], self.time[seen]
            before = table
        self.owner, self.row = owner, row

    def column(self, derived: DerivedColumn) -> Column:
        """Compute a column from these rows."""
        keep = np.ones(len(self.owner), dtype=np.bool_)
        if derived.where is not None:
            keep &= self._passes(derived.where)
        if derived.within is not None:
            assert self.time is not None
            assert self._cutoff is not None
            length = derived.within * (DAY if derived.dated else 1.0)
            keep &= self.time >= self._cutoff[self.owner] - length
        schema = self._recipe.schema_of(derived)
        values = self._values(derived, keep)
        if schema.kind == "nominal":
            codes = np.where(np.isnan(values), MISSING_CODE, values).astype(np.int32)
            return Column(schema, codes)
        return Column(schema, values)

    def _passes(self, where: Where) -> NDArray[np.bool_]:
        described = self._recipe[self._table.name][where.column]
        (column,) = self._table.like([described])
        values = column.values[self.row]
        if isinstance(where.value, str):
            return np.asarray(values == described.labels.index(where.value))
        passed = values >= where.value if where.op == ">=" else values <= where.value
        return np.asarray(passed)

    def _values(self, derived: DerivedColumn, keep: NDArray[np.bool_]) -> NDArray[np.float64]:
        owner, function = self.owner[keep], derived.function
        if function in ("count", "exists"):
            counts = np.bincount(owner, minlength=self._n).astype(np.float64)
            return np.minimum(counts, 1.0) if function == "exists" else counts
        time = None if self.time is None else self.time[keep]
        if function == "recency":
            assert time is not None
            assert self._cutoff is not None
            gaps = (self._cutoff[owner] - time) / (DAY if derived.dated else 1.0)
            return _grouped(np.minimum, owner, gaps, self._n)
        described = self._recipe[self._table.name][derived.column or ""]
        (column,) = self._table.like([described])
        values = column.values[self.row[keep]].astype(np.float64)
        known = ~column.is_missing[self.row[keep]]
        owner, values = owner[known], values[known]
        if function == "last":
            return self._last(owner, values, time[known] if time is not None else None)
        return np.asarray(_AGGREGATES[function](owner, values, self._n, derived.factor))

    def _last(
        self, owner: NDArray[Any], values: NDArray[Any], time: NDArray[Any] | None
    ) -> NDArray[np.float64]:
        """Return the values of the latest moments, of several the largest."""
        if time is None:
            raise DataError(
                "last: the rows have no time. Name it, such as times={'orders': 'day'}."
            )
        dated = ~np.isnan(time)
        owner, values, time = owner[dated], values[dated], time[dated]
        latest = _grouped(np.maximum, owner, time, self._n)
        at_end = time == latest[owner]
        return _grouped(np.maximum, owner[at_end], values[at_end], self._n)


def _joined(
    before: TableData, here: str, rows: NDArray[Any], table: TableData, there: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the pairs of places in `rows` and rows of a table whose keys are equal and known."""
    one, other = before.key(here), table.key(there)
    left, right = np.flatnonzero(~one.missing[rows]), np.flatnonzero(~other.missing)
    if one.kind is None or other.kind is None:
        return left[:0], right[:0]
    values = np.concatenate([one.values[rows[left]], other.values[right]])
    _, codes = np.unique(values, return_inverse=True)
    mine, theirs = codes[: len(left)], codes[len(left) :]
    order = np.argsort(theirs, kind="stable")
    first, last = (np.searchsorted(theirs[order], mine, side) for side in ("left", "right"))
    counts = last - first
    starts = np.repeat(first - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
    return np.repeat(left, counts), right[order[starts + np.arange(counts.sum())]]


def _grouped(
    function: np.ufunc, owner: NDArray[Any], values: NDArray[Any], n: int
) -> NDArray[np.float64]:
    """Return a function of the values of each owner; NaN without any."""
    found = np.full(n, np.nan)
    order = np.argsort(owner, kind="stable")
    owners, starts = np.unique(owner[order], return_index=True)
    if len(owners):
        found[owners] = function.reduceat(values[order], starts).astype(np.float64)
    return found


def _total(
    owner: NDArray[Any], values: NDArray[Any], n: int, factor: float | None
) -> NDArray[np.float64]:
    """Add up values times the factor as whole numbers, which have no rounding."""
    assert factor is not None
    with np.errstate(over="ignore"):
        scaled = np.trunc(values * factor + np.where(values < 0, -0.5, 0.5))
    whole = np.clip(scaled, -LARGEST_WHOLE, LARGEST_WHOLE)
    whole[np.abs(values) < 0.25 / factor] = 0.0
    exact = np.array([int(x) for x in whole], dtype=object)  # as wide as the sum needs
    return np.clip(_grouped(np.add, owner, exact, n), -float(LARGEST_SUM), float(LARGEST_SUM))


def _median(
    owner: NDArray[Any], values: NDArray[Any], n: int, _: float | None
) -> NDArray[np.float64]:
    order = np.lexsort((values, owner))
    owners, starts, counts = np.unique(owner[order], return_index=True, return_counts=True)
    found, ranked = np.full(n, np.nan), values[order]
    low, high = starts + (counts - 1) // 2, starts + counts // 2
    found[owners] = ranked[low] * 0.5 + ranked[high] * 0.5
    return found


_AGGREGATES: dict[str, Any] = {
    "min": lambda owner, x, n, _: _grouped(np.minimum, owner, x, n),
    "max": lambda owner, x, n, _: _grouped(np.maximum, owner, x, n),
    "value": lambda owner, x, n, _: _grouped(np.maximum, owner, x, n),
    "sum": lambda owner, x, n, factor: _total(owner, x, n, factor) / factor,
    "mean": lambda owner, x, n, factor: (
        _total(owner, x, n, factor) / np.maximum(np.bincount(owner, minlength=n), 1) / factor
    ),
    "median": _median,
}
