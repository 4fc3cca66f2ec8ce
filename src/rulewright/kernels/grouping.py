"""Native kernels that group rows: by key, with their values, and by equal covers.

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
    """Known values per group: count, minimum, maximum, and sum in integer multiples."""

    n_known: FloatArray
    least: FloatArray
    largest: FloatArray
    total: FloatArray


class ValueFacts(NamedTuple):
    """Maximum absolute value (-1 if no value is known), minimum, digits after the point."""

    size: float
    least: float
    digits: int


class CoverGroups(NamedTuple):
    """Rows in the same covers: the group of each row, and statistics of each group.

    `words` are the packed covers of the groups, `weights` their weights, and `sums` (groups,
    classes) the sums of weight times share.
    """

    groups: IntArray
    words: WordArray
    weights: FloatArray
    sums: FloatArray


_ALL: RowArray = np.zeros(0, dtype=ROW)


def count_held(words: WordArray) -> StatArray:
    """Count the rows in each of the packed covers."""
    return _core.count_held(words)


def group_rows(words: WordArray, weights: FloatArray, shares: FloatArray) -> CoverGroups:
    """Group the rows in the same covers, and sum the weights and weighted shares of each group.

    The order of the groups gives priority to earlier blocks of 32 covers and, within a block, to
    later covers.
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
    """Return the known value at the latest time of each group; ties go to the largest."""
    out = np.empty(entries.n_groups)
    _core.last_values(*_read(entries, values), times, out)
    return out


def middle_values(entries: Entries, values: FloatArray) -> FloatArray:
    """Return the mean of the two middle values of each group."""
    out = np.empty(entries.n_groups)
    _core.middle_values(*_read(entries, values), out)
    return out


def value_facts(rows: RowArray | None, values: FloatArray, most: int) -> ValueFacts:
    """Return facts about known values; digits are counted up to `most`, and one more."""
    return ValueFacts(*_core.value_facts(*_rows(rows, values), most))


def _read(entries: Entries, values: FloatArray) -> tuple[RowArray, RowArray, FloatArray]:
    return (entries.groups, *_rows(entries.rows, values))


def _rows(rows: RowArray | None, values: FloatArray) -> tuple[RowArray, FloatArray]:
    """Return rows and values for kernels, where None means all rows."""
    held = np.ascontiguousarray(values)  # may be a view of a dataframe
    if rows is None:
        return _ALL, held
    return rows, held if len(rows) else held[:0]
