"""The door to native kernels that group rows: their values, and those in the same covers.

See `native/encoding/group.hpp` and `native/encoding/covers.hpp`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rulewright.kernels import _core
from rulewright.kernels.structs import ROW, FloatArray, IntArray, RowArray, StatArray, WordArray


class Entries(NamedTuple):
    """Rows by group: entry i is row ``rows[i]``, or row i without `rows`, of ``groups[i]``."""

    groups: RowArray
    rows: RowArray | None
    n_groups: int


class GroupSummary(NamedTuple):
    """Known values of each group: how many, least, largest, and their sum in whole multiples."""

    n_known: FloatArray
    least: FloatArray
    largest: FloatArray
    total: FloatArray


class ValueFacts(NamedTuple):
    """Largest size (-1 if no value is known), least value, digits after the point."""

    size: float
    least: float
    digits: int


class CoverGroups(NamedTuple):
    """Rows in the same covers: the group of each row and, for each group, what there is of it.

    `words` are the packed covers of the groups, `weights` their weights, and `sums` (groups,
    classes) those of weight times share.
    """

    groups: IntArray
    words: WordArray
    weights: FloatArray
    sums: FloatArray


_ALL: RowArray = np.zeros(0, dtype=ROW)


def count_held(words: WordArray) -> StatArray:
    """Count the rows that each of the packed covers holds."""
    return _core.count_held(words)


def group_rows(words: WordArray, weights: FloatArray, shares: FloatArray) -> CoverGroups:
    """Group the rows that the same covers hold, and sum weights and weighted shares of each.

    Of every 32 covers the later one counts for more in the order of the groups, and earlier covers
    count for more than the next 32.
    """
    given = words, np.ascontiguousarray(weights), np.ascontiguousarray(shares)
    groups, covers, totals, sums = _core.group_rows(*given)
    lines = covers.reshape(len(words), -(-len(totals) // 64))
    return CoverGroups(groups, lines, totals, sums.reshape(len(totals), shares.shape[1]))


def summarise_groups(entries: Entries, values: FloatArray, factor: float) -> GroupSummary:
    """Summarise the known values of each group; sums are in multiples of ``1 / factor``."""
    out = np.empty((entries.n_groups, 4))
    _core.summarise_groups(*_read(entries, values), factor, out)
    return GroupSummary(*np.ascontiguousarray(out.T))


def count_at_least(entries: Entries, values: FloatArray, cuts: FloatArray) -> FloatArray:
    """Count the values of each group (line) that are at least each cut (column)."""
    out = np.zeros((entries.n_groups, len(cuts)), dtype=np.uint32)
    _core.count_at_least(*_read(entries, values), cuts, out)
    return out.astype(np.float64)


def last_values(entries: Entries, values: FloatArray, times: FloatArray) -> FloatArray:
    """Return the known value at the latest time of each group's entries, of several the largest."""
    out = np.empty(entries.n_groups)
    _core.last_values(*_read(entries, values), times, out)
    return out


def middle_values(entries: Entries, values: FloatArray) -> FloatArray:
    """Return half the sum of the two middle values of each group."""
    out = np.empty(entries.n_groups)
    _core.middle_values(*_read(entries, values), out)
    return out


def value_facts(rows: RowArray | None, values: FloatArray, most: int) -> ValueFacts:
    """Return what known values are like; digits are counted up to `most`, and one more."""
    return ValueFacts(*_core.value_facts(*_rows(rows, values), most))


def _read(entries: Entries, values: FloatArray) -> tuple[RowArray, RowArray, FloatArray]:
    return (entries.groups, *_rows(entries.rows, values))


def _rows(rows: RowArray | None, values: FloatArray) -> tuple[RowArray, FloatArray]:
    """Return rows and values as kernels read them, for which no rows are all."""
    held = np.ascontiguousarray(values)  # it may be a view of a dataframe
    if rows is None:
        return _ALL, held
    return rows, held if len(rows) else held[:0]
