"""The rows that instances reach along a join path, found by matching the values of keys.

Keys are encoded. If keys are unique on one side, one look-up per row of the other side joins them,
without sorting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.kernels import ROW, BoolArray, Entries, FloatArray, RowArray
from rulewright.relational.keys import ColumnPlace, KeyValues, Link, check_same_kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.relational.derived import Step
    from rulewright.relational.recipe import Recipe
    from rulewright.relational.table_data import TableData


_DENSE = 8
"""Codes up to this multiple of the number of values use a table instead of sorting."""


@dataclass(frozen=True)
class ReachedRows:
    """Rows of the last table of a path by instance, with their times and cutoffs."""

    entries: Entries
    times: FloatArray | None  # of the entries
    cutoffs: FloatArray | None  # of the instances

    def only(self, which: BoolArray) -> ReachedRows:
        """Return a subset of the entries."""
        groups, rows, n = self.entries
        kept = np.flatnonzero(which).astype(ROW) if rows is None else rows[which]
        times = None if self.times is None else self.times[which]
        return ReachedRows(Entries(groups[which], kept, n), times, self.cutoffs)

    def within(self, length: float) -> ReachedRows:
        """Return the rows within a time before the cutoff."""
        assert self.times is not None
        assert self.cutoffs is not None
        return self.only(self.times >= (self.cutoffs - length)[self.entries.groups])

    def of_entries(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values of the entries' rows."""
        return values if self.entries.rows is None else values[self.entries.rows]


def reach(
    path: Sequence[Step],
    recipe: Recipe,
    instances: TableData,
    cutoffs: FloatArray | None,
    tables: Mapping[str, TableData],
) -> ReachedRows:
    """Follow a path from all instances; rows at or after their cutoffs are excluded."""
    n = instances.n_rows
    found = ReachedRows(Entries(np.arange(n, dtype=ROW), None, n), None, cutoffs)
    before = instances
    for step in path:
        table = tables[step.table]
        found = _join_reached(found, _match_rows(before, step, table, found))
        time = recipe[step.table].time
        if time is not None:
            (moments,) = table.like([time])
            times = found.of_entries(moments.values)
            found = ReachedRows(found.entries, times, cutoffs)
            if cutoffs is not None:
                found = found.only(times < cutoffs[found.entries.groups])
        before = table
    return found


@dataclass(frozen=True)
class _Match:
    """Pairs of an earlier entry and a row of the next table; no rows: each row once, in order."""

    entries: NDArray[np.int64]
    rows: RowArray | None


def _join_reached(found: ReachedRows, match: _Match) -> ReachedRows:
    times = None if found.times is None else found.times[match.entries]
    entries = Entries(found.entries.groups[match.entries], match.rows, found.entries.n_groups)
    return ReachedRows(entries, times, found.cutoffs)


def _match_rows(before: TableData, step: Step, table: TableData, found: ReachedRows) -> _Match:
    here, there = before.key(step.here), table.key(step.there)
    link = Link(ColumnPlace(before.name, step.here), ColumnPlace(table.name, step.there))
    check_same_kind(link, here, there)
    left, right, n_codes = _codes(here, there)
    return _pairs(found.of_entries(left), right, n_codes)


def _codes(here: KeyValues, there: KeyValues) -> tuple[Any, Any, int]:
    """Encode the values of two keys alike; -1 for values that the right key lacks."""
    if here.kind is None or there.kind is None:
        return np.full(len(here.values), -1), np.full(len(there.values), -1), 0
    if here.kind == "text":
        known = dict.fromkeys(there.values[~there.missing])
        index = {key: code for code, key in enumerate(known)}
        left, right = (
            np.fromiter((index.get(key, -1) for key in side.values), np.int64, len(side.values))
            for side in (here, there)
        )
        return left, right, len(index)
    values = there.values[~there.missing]
    low, high = int(values.min()), int(values.max())
    if high - low <= _DENSE * len(values):  # numbers serve as codes
        left, right = (
            np.where(_inside(side, low, high), side.values - low, -1) for side in (here, there)
        )
        return left, right, high - low + 1
    distinct = np.unique(values)
    left, right = (_places(side, distinct) for side in (here, there))
    return left, right, len(distinct)


def _places(side: KeyValues, distinct: NDArray[np.int64]) -> NDArray[np.intp]:
    places = np.searchsorted(distinct, side.values)
    places[places == len(distinct)] = 0
    return np.where((distinct[places] == side.values) & ~side.missing, places, -1)


def _inside(side: KeyValues, low: int, high: int) -> BoolArray:
    return (side.values >= low) & (side.values <= high) & ~side.missing


def _pairs(left: NDArray[Any], right: NDArray[Any], n_codes: int) -> _Match:
    """Join two columns of codes; -1 matches nothing."""
    known = np.flatnonzero(left >= 0)
    if _distinct(left[known], n_codes):  # each row on the right has one entry
        owner = np.full(n_codes + 1, -1)  # the last element is for code -1
        owner[left[known]] = known
        entries = owner[right]
        if len(entries) == 0 or entries.min() >= 0:
            return _Match(entries, None)
        rows = np.flatnonzero(entries >= 0)
        return _Match(entries[rows], rows.astype(ROW))
    order = np.flatnonzero(right >= 0)
    order = order[np.argsort(right[order], kind="stable")]
    counts = np.bincount(right[order], minlength=n_codes + 1)
    starts = np.cumsum(counts) - counts
    sizes = counts[left[known]]
    entries = np.repeat(known, sizes)
    # The place of each pair among the pairs of its entry.
    places = np.arange(len(entries)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return _Match(entries, order[np.repeat(starts[left[known]], sizes) + places].astype(ROW))


def _distinct(codes: NDArray[Any], n_codes: int) -> bool:
    seen = np.zeros(n_codes, dtype=bool)
    seen[codes] = True
    return int(np.count_nonzero(seen)) == len(codes)
