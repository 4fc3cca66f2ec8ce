"""Twins of `native/search/`: subsamples, covers, growth of one rule."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels.structs import (
    ROW,
    STAT,
    BoolArray,
    GrownCondition,
    GrownRule,
    IntArray,
    Limits,
    Op,
    RowArray,
    Score,
    StatArray,
    Subsample,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import CodeColumns


def random_bits(seed: int, n: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return the first n numbers of the SplitMix64 stream."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def draw_rows(n: int, size: int, seed: int) -> Subsample:
    """Draw a uniform sample of rows without replacement by sequential selection."""
    drawn = np.zeros(n, dtype=np.bool_)
    taken = 0
    halves = random_bits(seed, (n + 1) // 2).astype("<u8").view("<u4")  # low half first
    for i, u in enumerate(halves[:n].tolist()):
        drawn[i] = (u * (n - i)) >> 32 < size - taken
        taken += int(drawn[i])
    return Subsample(np.flatnonzero(drawn).astype(ROW), drawn)


def split_by_weight(weights: StatArray, strata: IntArray, share: float, seed: int) -> BoolArray:
    """Take the rows of every stratum in random order until their weight reaches the share.

    The row that crosses it is taken if that meets the share more nearly.
    """
    taken = np.zeros(len(weights), dtype=np.bool_)
    keys = random_bits(seed, len(weights))
    for stratum in np.unique(strata).tolist():
        rows = np.flatnonzero(strata == stratum)
        rows = rows[np.argsort(keys[rows], kind="stable")]
        target = round(share * float(weights[rows].sum()))
        after = np.cumsum(weights[rows])
        first = int(np.searchsorted(after, target))  # the row that crosses
        taken[rows[:first]] = True
        if target > 0:
            short = target - int(after[first] - weights[rows[first]])
            taken[rows[first]] = int(after[first]) - target < short
    return taken


def column_codes(columns: CodeColumns, column: int) -> IntArray:
    """Return the codes of one column."""
    group, place = divmod(column, columns.codes.shape[2])
    return columns.codes[group, :, place].astype(np.int32)


def cover_rows(columns: CodeColumns, tests: IntArray, n_threads: int = 1) -> RowArray:
    """Find the rows that satisfy all tests (column, low, high, skip)."""
    covered = np.ones(columns.n_rows, dtype=np.bool_)
    for column, low, high, skip in tests.tolist():
        codes = column_codes(columns, column)
        covered &= (codes >= low) & (codes <= high) & (codes != skip)
    return np.flatnonzero(covered).astype(ROW)


def slipper_value(score: Score, sums: StatArray) -> float:
    """Return sqrt(W-) - sqrt(W+), as a quotient: nothing cancels when both are nearly equal."""
    plus, minus = float(sums[0]) * score.unit, float(sums[1]) * score.unit
    total = math.sqrt(plus) + math.sqrt(minus)
    return (minus - plus) / total if total > 0 else 0.0


def judge(score: Score, sums: StatArray, up: bool, down: bool) -> tuple[float, int]:
    """Return the value of the best vote (lower is better) and the vote (-1: none helps)."""
    if score.kind == "slipper":
        return (slipper_value(score, sums), 0) if sums[0] > 0 else (math.inf, -1)
    best, vote = math.inf, -1
    for k in range(score.n_pairs):
        g, h = float(sums[2 * k]) * score.unit, float(sums[2 * k + 1]) * score.unit
        if (g < 0 and up) or (g > 0 and down):
            newton = -(g * g) / max(h + score.l2, 1e-12)
            value = newton if score.kind == "newton" else -abs(g)
            if value < best:
                best, vote = value, 2 * k + (g > 0)
    return best, vote


def criterion(score: Score, value: float) -> float:
    """Turn the value of `judge` into the criterion of the paper."""
    return -math.sqrt(-value) if score.kind == "newton" else value


def candidates(
    codes: IntArray, n_bins: int, nominal: bool
) -> Iterator[tuple[Op, int, int, BoolArray]]:
    """Yield (operator, code, beyond, covered rows) in the order in which ties are broken."""
    known = codes < n_bins
    present = np.unique(codes[known]).tolist()
    pairs = list(itertools.pairwise(present))
    if nominal and len(present) > 1:
        yield from ((Op.EQUAL, c, -1, codes == c) for c in present)
        yield from ((Op.NOT_EQUAL, c, -1, known & (codes != c)) for c in present)
    elif not nominal:
        yield from ((Op.LESS_EQUAL, a, b, known & (codes <= a)) for a, b in pairs)
        yield from ((Op.GREATER_EQUAL, b, a, known & (codes >= b)) for a, b in pairs)
    if not known.all():
        yield Op.MISSING, n_bins, -1, ~known
        yield Op.KNOWN, n_bins, -1, known


def used_lanes(stats: StatArray, score: Score, limits: Limits) -> StatArray:
    """Pick the lanes that the score reads, and the weight when a minimum is asked for."""
    pairs = stats[:, score.first_lane : score.first_lane + 2 * score.n_pairs]
    return np.hstack([pairs, stats[:, -1:]]) if limits.min_weight > 0 else pairs


@dataclass
class Growth:
    """What is still open to a growing rule: columns, and directions of the vote."""

    limits: Limits
    up: bool
    down: bool
    required: set[int]
    groups: int = 2**64 - 1

    def open_columns(self) -> list[int]:
        """Give the columns that may be used next; required ones come first."""
        columns = sorted(self.required) or range(len(self.limits.groups))
        return [j for j in columns if int(self.limits.groups[j]) & self.groups]

    def directions(self, column: int, op: int) -> tuple[bool, bool]:
        """Tell whether a vote up and a vote down may use the operator."""
        up = self.up and bool(self.limits.up_operators[column] >> op & 1)
        return up, self.down and bool(self.limits.down_operators[column] >> op & 1)

    def narrow(self, condition: GrownCondition) -> None:
        """Take in the condition just added."""
        self.required.discard(condition.column)
        self.groups &= int(self.limits.groups[condition.column])
        self.up, self.down = self.directions(condition.column, condition.op)


def best_condition(
    columns: CodeColumns, rows: RowArray, stats: StatArray, score: Score, growth: Growth
) -> tuple[float, int, GrownCondition | None, BoolArray]:
    """Judge every condition on the covered rows; the first of the best wins."""
    best: tuple[float, int, GrownCondition | None, BoolArray]
    best = (math.inf, -1, None, np.ones(len(rows), dtype=np.bool_))
    limits = growth.limits
    lanes = used_lanes(stats[rows], score, limits)
    for j in growth.open_columns():
        codes = column_codes(columns, j)[rows]
        for op, code, beyond, covered in candidates(
            codes, int(columns.n_bins[j]), bool(columns.nominal[j])
        ):
            sums = lanes[covered].sum(axis=0, dtype=STAT)
            too_light = limits.min_weight > 0 and sums[-1] < limits.min_weight
            directions = growth.directions(j, op)
            if too_light or not any(directions):
                continue
            value, vote = judge(score, sums, *directions)
            if vote >= 0 and value < best[0]:
                condition = GrownCondition(j, int(op), code, beyond, criterion(score, value))
                best = (value, vote, condition, covered)
    return best


def grow_rule(
    columns: CodeColumns,
    rows: RowArray,
    stats: StatArray,
    score: Score,
    limits: Limits,
    n_threads: int = 1,
    workspace: object = None,
) -> GrownRule:
    """Grow one conjunction greedily, judging every condition from scratch."""
    rule = GrownRule([], -1)
    growth = Growth(limits, score.up, score.down, set(np.flatnonzero(limits.required).tolist()))
    empty = 0.0
    if score.kind == "slipper":
        empty = slipper_value(score, used_lanes(stats[rows], score, limits).sum(axis=0, dtype=STAT))
    best = empty
    while len(rule.conditions) != limits.max_conditions and len(rows):
        _, vote, condition, covered = best_condition(columns, rows, stats, score, growth)
        if condition is None:
            break
        improves = condition.criterion < best - limits.tolerance
        if not improves and not growth.required:  # what is required need not help by itself
            break
        best = condition.criterion
        rule = GrownRule([*rule.conditions, condition], vote)
        rows = rows[covered]
        growth.narrow(condition)
    good = best < empty - limits.tolerance and not growth.required
    return rule if good else GrownRule([], -1)


def prefix_sums(
    columns: CodeColumns,
    tests: IntArray,
    stats: StatArray,
    first_lane: int,
    side: BoolArray,
    n_threads: int = 1,
) -> StatArray:
    """Sum two lanes over the rows that satisfy the first l tests, as [side, l, lane]."""
    sums = np.zeros((2, len(tests) + 1, 2), dtype=STAT)
    for length in range(len(tests) + 1):
        rows = cover_rows(columns, tests[:length])
        for s in (0, 1):
            on_side = rows[side[rows] == bool(s)]
            sums[s, length] = stats[on_side, first_lane : first_lane + 2].sum(axis=0, dtype=STAT)
    return sums
