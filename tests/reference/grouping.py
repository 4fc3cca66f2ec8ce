"""Twins of the kernels that group rows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels.grouping import CoverGroups, Entries, GroupSummary, ValueFacts

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.kernels.structs import (
        ByteArray,
        FloatArray,
        RowArray,
        StatArray,
        WordArray,
    )

_LARGEST_WHOLE, _LARGEST_TOTAL = 2**53, 2**62


def count_held(words: WordArray) -> StatArray:
    """Count the rows that each of the packed covers holds."""
    counts: StatArray = _bits(words).sum(axis=1, dtype=np.int64)
    return counts


def group_rows(words: WordArray, weights: FloatArray, shares: FloatArray) -> CoverGroups:
    """Group the rows that the same covers hold, and sum weights and weighted shares of each."""
    n_rows, bits = len(weights), _bits(words)[:, : len(weights)]
    keys = [bits[first : first + 32][::-1] for first in range(0, len(bits), 32)]
    lines = np.concatenate([*keys, np.zeros((1, n_rows), dtype=np.uint8)])
    _, members, groups = np.unique(lines, axis=1, return_index=True, return_inverse=True)
    groups, n_groups = groups.reshape(n_rows), len(members)
    totals, sums = np.zeros(n_groups), np.zeros((n_groups, shares.shape[1]))
    np.add.at(totals, groups, weights)
    np.add.at(sums, groups, weights[:, np.newaxis] * shares)
    packed = np.zeros((len(bits), -(-n_groups // 64) * 8), dtype=np.uint8)
    packed[:, : -(-n_groups // 8)] = np.packbits(bits[:, members], axis=1, bitorder="little")
    covers = packed.view("<u8").astype(np.uint64)
    return CoverGroups(groups.astype(np.int32), covers, totals, sums)


def _bits(words: WordArray) -> ByteArray:
    flat = words.astype("<u8").view(np.uint8)
    return np.unpackbits(flat, axis=1, bitorder="little")


def summarise_groups(entries: Entries, values: FloatArray, factor: float) -> GroupSummary:
    """Summarise the known values of each group; sums are in multiples of ``1 / factor``."""

    def total(x: FloatArray) -> float:
        whole = sum(map(int, _multiples(x, factor)))
        return float(max(-_LARGEST_TOTAL, min(_LARGEST_TOTAL, whole)))

    known = _known(entries, values)
    return GroupSummary(
        np.array([float(len(x)) for x in known]),
        _each(known, np.min),
        _each(known, np.max),
        np.array([total(x) for x in known]),
    )


def count_at_least(entries: Entries, values: FloatArray, cuts: FloatArray) -> FloatArray:
    """Count the values of each group (line) that are at least each cut (column)."""
    known = _known(entries, values)
    counts = [[float((x >= cut).sum()) for cut in cuts] for x in known]
    return np.array(counts).reshape(entries.n_groups, len(cuts))


def last_values(entries: Entries, values: FloatArray, times: FloatArray) -> FloatArray:
    """Return the known value at the latest time of each group's entries, of several the largest."""
    last = np.full(entries.n_groups, np.nan)
    x = _values(entries, values)
    for i in np.lexsort((x, times)):
        if not np.isnan(x[i]) and not np.isnan(times[i]):
            last[entries.groups[i]] = x[i]
    return last


def middle_values(entries: Entries, values: FloatArray) -> FloatArray:
    """Return half the sum of the two middle values of each group."""

    def middle(x: FloatArray) -> float:
        ascending = np.sort(x)
        return float(ascending[(len(x) - 1) // 2] * 0.5 + ascending[len(x) // 2] * 0.5)

    return _each(_known(entries, values), middle)


def value_facts(rows: RowArray | None, values: FloatArray, most: int) -> ValueFacts:
    """Tell what known values are like; digits are counted up to `most`, and one more."""
    x = values if rows is None else values[rows]
    x = x[~np.isnan(x)]
    if not len(x):
        return ValueFacts(-1.0, np.inf, 0)
    digits = np.full(len(x), most + 1)
    with np.errstate(over="ignore"):
        for n in reversed(range(most + 1)):
            digits[np.rint(x * 10.0**n) / 10.0**n == x] = n
    return ValueFacts(float(np.abs(x).max()), float(x.min()), int(digits.max()))


def _multiples(x: FloatArray, factor: float) -> FloatArray:
    with np.errstate(over="ignore"):
        bound = min(float(np.float64(_LARGEST_WHOLE) / factor), sys.float_info.max)
        whole = np.trunc(x * factor + np.where(x < 0, -0.5, 0.5))
    whole = np.where(np.abs(x) < 0.25 / factor, 0.0, whole)
    return np.where(np.abs(x) >= bound, np.sign(x) * _LARGEST_WHOLE, whole)


def _values(entries: Entries, values: FloatArray) -> FloatArray:
    return values if entries.rows is None else values[entries.rows]


def _known(entries: Entries, values: FloatArray) -> list[FloatArray]:
    """Give the known values of each group."""
    x = _values(entries, values)
    found = [x[entries.groups == group] for group in range(entries.n_groups)]
    return [part[~np.isnan(part)] for part in found]


def _each(parts: list[FloatArray], function: Callable[[FloatArray], float]) -> FloatArray:
    return np.array([function(part) if len(part) else np.nan for part in parts])
