"""Twins of `native/search/`: subsamples, covers, and the steps of growth: count, scan, refine."""

from __future__ import annotations

import itertools
import math
from contextlib import nullcontext
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reference.scores import SCORES, empty_criterion, judge
from rulewright.kernels.structs import (
    ROW,
    STAT,
    BoolArray,
    ByteArray,
    FloatArray,
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
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

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
        # the row that crosses; beyond 2^53 the share of all may round to more than all
        first = min(int(np.searchsorted(after, target)), len(rows) - 1)
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
    """Find the rows that satisfy all tests (column, low, high, skip, ...)."""
    covered = np.ones(columns.n_rows, dtype=np.bool_)
    for test in tests.tolist():
        covered &= passes(column_codes(columns, test[0]), test)
    return np.flatnonzero(covered).astype(ROW)


def passes(codes: IntArray, test: Sequence[int]) -> BoolArray:
    """Tell which codes of its column pass a test (column, low, high, skip, ...)."""
    low, high, *skips = test[1:]
    return (codes >= low) & (codes <= high) & ~np.isin(codes, skips)


def count_histogram(
    columns: CodeColumns, rows: RowArray, stats: StatArray, n_threads: int = 1
) -> StatArray:
    """Sum every lane of the rows' statistics per code, column after column."""
    parts = []
    for j, n_bins in enumerate(columns.n_bins.tolist()):
        sums = np.zeros((n_bins + 1, stats.shape[1]), dtype=STAT)
        np.add.at(sums, column_codes(columns, j)[rows], stats[rows])
        parts.append(sums)
    return np.concatenate(parts)


class Candidate(NamedTuple):
    """A condition on one column and the sums that it covers; a set is judged without an excess."""

    op: Op
    code: int
    beyond: int
    cover: StatArray
    labels: tuple[int, ...] = ()
    excess: int = 0


def candidates(sums: StatArray, nominal: bool) -> Iterator[Candidate]:
    """Yield the conditions on one code in the order in which ties are broken."""
    n_bins, known = len(sums) - 1, sums[:-1].sum(axis=0)
    present = np.flatnonzero(sums[:-1].any(axis=1)).tolist()
    missing = bool(sums[-1].any())
    if nominal:
        several = len(present) > 1
        yield from (Candidate(Op.EQUAL, c, -1, sums[c]) for c in present if several or missing)
        yield from (Candidate(Op.NOT_EQUAL, c, -1, known - sums[c]) for c in present if several)
    else:
        cuts = list(itertools.pairwise(present))
        below = sums.cumsum(axis=0)
        yield from (Candidate(Op.LESS_EQUAL, a, b, below[a]) for a, b in cuts)
        yield from (Candidate(Op.GREATER_EQUAL, b, a, known - below[a]) for a, b in cuts)
    if missing:
        yield Candidate(Op.MISSING, n_bins, -1, sums[-1])
        yield Candidate(Op.KNOWN, n_bins, -1, known)


def label_sets(sums: StatArray, limits: Limits) -> Iterator[Candidate]:
    """Yield the conditions on sets of labels, by one pair of lanes (g, h).

    The labels that are heavy enough are ordered by their estimated means, g / (h + smoothing). Sets
    are the first and the last of them, up to half, because "not in" is asked about the others. The
    excess is that of the covered g over what the means of the labels say.
    """
    known = sums[:-1].sum(axis=0)
    n_present, least = int(np.count_nonzero(sums[:-1].any(axis=1))), limits.label_smoothing
    heavy = [c for c in range(len(sums) - 1) if sums[c].any() and sums[c, 1] >= least]
    order = sorted(heavy, key=lambda c: (float(sums[c, 0]) / (float(sums[c, 1]) + float(least)), c))
    longest = min(limits.max_labels, (len(order) + 1) // 2, n_present - 1)
    for end in (order, order[::-1]):
        for n in range(2, longest + 1):
            labels, cover = tuple(sorted(end[:n])), sums[end[:n]].sum(axis=0)
            excess = sum(_excess(sums[c], least) for c in labels)
            yield Candidate(Op.EQUAL, -1, -1, cover, labels, excess)
            yield Candidate(Op.NOT_EQUAL, -1, -1, known - cover, labels, -excess)


def _excess(sums: StatArray, smoothing: int) -> int:
    g, h = float(sums[0]), float(sums[1])
    return int(sums[0]) - round(g * (h / (h + float(smoothing))))


def used_lanes(sums: StatArray, score: Score, limits: Limits) -> StatArray:
    """Pick the lanes that the score reads, and the weight if there is a minimum."""
    lanes = sums[..., score.first_lane : score.first_lane + score.n_lanes]
    return np.concatenate([lanes, sums[..., -1:]], axis=-1) if limits.min_weight > 0 else lanes


def open_columns(limits: Limits) -> list[int]:
    """Return the columns that may be used next; required ones come first."""
    columns = (
        np.flatnonzero(limits.required) if limits.required.any() else range(len(limits.groups))
    )
    return [int(j) for j in columns if limits.groups[j]]


def scan_histogram(
    columns: CodeColumns,
    histogram: StatArray,
    score: Score,
    limits: Limits,
    totals: StatArray | None = None,
) -> GrownRule:
    """Judge every condition on the rows of a histogram; the first of the best wins."""
    starts = np.concatenate([[0], np.cumsum(columns.n_bins + 1)])
    histogram = used_lanes(histogram, score, limits)
    parent = histogram[: starts[1]].sum(axis=0)
    total = parent if totals is None else used_lanes(totals, score, limits)
    best, rule = math.inf, GrownRule([], -1)
    for j in open_columns(limits):
        sums, nominal = histogram[starts[j] : starts[j + 1]], bool(columns.nominal[j])
        found = [*candidates(sums, nominal)]
        if nominal and SCORES[score.kind].pairs and score.n_lanes == 2:
            found += label_sets(sums, limits)
        for op, code, beyond, cover, labels, excess in found:
            if limits.min_weight > 0 and cover[-1] < limits.min_weight:
                continue
            up = score.up and bool(limits.up_operators[j] >> op & 1)
            down = score.down and bool(limits.down_operators[j] >> op & 1)
            whole, vote = judge(score, (cover, parent, total), up, down)
            judged = np.concatenate([cover[:1] - excess, cover[1:]])
            value, judged_vote = judge(score, (judged, parent, total), up, down)
            if vote == judged_vote >= 0 and value < best:
                criterion = SCORES[score.kind].criterion(whole)
                condition = GrownCondition(j, int(op), code, beyond, criterion, labels)
                best, rule = value, GrownRule([condition], vote)
    return rule


def refine_rows(columns: CodeColumns, rows: RowArray, condition: GrownCondition) -> RowArray:
    """Keep the rows that satisfy the condition."""
    codes, n_bins = column_codes(columns, condition.column)[rows], columns.n_bins[condition.column]
    code, known = condition.code, codes < n_bins
    equal = np.isin(codes, condition.labels or code)
    holds = {
        Op.LESS_EQUAL: known & (codes <= code),
        Op.GREATER_EQUAL: known & (codes >= code),
        Op.EQUAL: equal,
        Op.NOT_EQUAL: known & ~equal,
        Op.MISSING: ~known,
        Op.KNOWN: known,
    }
    kept: RowArray = rows[holds[Op(condition.op)]]
    return kept


def grow_rule(
    columns: CodeColumns,
    rows: RowArray,
    stats: StatArray,
    score: Score,
    limits: Limits,
    n_threads: int = 1,
    workspace: object = None,
) -> GrownRule:
    """Grow one conjunction greedily, counting every cover from scratch."""
    rule, totals = GrownRule([], -1), stats[rows].sum(axis=0)
    best = empty = empty_criterion(score, used_lanes(totals, score, limits))
    while len(rule.conditions) != limits.max_conditions and len(rows):
        histogram = count_histogram(columns, rows, stats)
        found, vote = scan_histogram(columns, histogram, score, limits, totals)
        if not found:
            break
        criterion = found[0].criterion + (best if SCORES[score.kind].gain else 0)
        improves = criterion < best - limits.tolerance
        if not improves and not limits.required.any():  # required ones need not help
            break
        condition = found[0]._replace(criterion=criterion)
        best, rule = criterion, GrownRule([*rule.conditions, condition], vote)
        rows, limits = refine_rows(columns, rows, condition), limits.after(condition)
    good = best < empty - limits.tolerance and not limits.required.any()
    return rule if good else GrownRule([], -1)


class Roots:
    """Growth on the rows of chosen blocks, which are counted anew."""

    def __init__(
        self,
        columns: CodeColumns,
        stats: StatArray,
        n_blocks: int,
        n_threads: int = 1,
        bits: int = 62,
    ) -> None:
        self.columns, self.stats, self.n_blocks = columns, stats, n_blocks

    def following(self, rows: RowArray) -> AbstractContextManager[None]:
        """Nothing is kept, so nothing has to follow."""
        return nullcontext()

    def grow(
        self, chosen: BoolArray, score: Score, limits: Limits, workspace: object = None
    ) -> GrownRule:
        """Grow one conjunction greedily on the rows of the chosen blocks."""
        n_rows = self.columns.n_rows
        starts = np.arange(self.n_blocks + 1) * n_rows // self.n_blocks
        block = np.searchsorted(starts, np.arange(n_rows), side="right") - 1
        rows = np.flatnonzero(chosen[block]).astype(ROW)
        return grow_rule(self.columns, rows, self.stats, score, limits)


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


def judged_sums(
    columns: CodeColumns,
    tests: IntArray,
    stats: StatArray,
    first_lane: int,
    side: BoolArray,
    n_threads: int = 1,
) -> StatArray:
    """Sum two lanes over the rows off `side` that satisfy the first 1, 2, ... tests."""
    return prefix_sums(columns, tests, stats, first_lane, side)[0, 1:]


def failure_sums(
    columns: CodeColumns,
    tests: IntArray,
    stats: StatArray,
    first_lane: int,
    side: BoolArray,
    n_threads: int = 1,
) -> StatArray:
    """Sum two lanes over the rows off `side` for each set of tests that a row fails."""
    failed = np.zeros(columns.n_rows, dtype=np.int64)
    for place, test in enumerate(tests.tolist()):
        failed += ~passes(column_codes(columns, test[0]), test) * 2**place
    sums, judged = np.zeros((2 ** len(tests), 2), dtype=STAT), ~side.astype(np.bool_)
    np.add.at(sums, failed[judged], stats[judged, first_lane : first_lane + 2])
    return sums


MOST_PRUNED = 12
"""Tests beyond stay."""


def prune_tests(
    columns: CodeColumns,
    tests: IntArray,
    stats: StatArray,
    score: Score,
    side: BoolArray,
    worth: FloatArray,
    required: ByteArray,
    least: float = 0.0,
    n_threads: int = 1,
) -> IntArray:
    """Find the tests that pay on the rows off `side`."""
    kept = np.arange(len(tests), dtype=np.int32)
    while len(open_ := kept[kept < MOST_PRUNED]):
        place = tests[open_, 0]
        whole = _evidence(columns, tests[kept], stats, score, side)
        rests = [_evidence(columns, tests[kept[kept != i]], stats, score, side) for i in open_]
        gains = whole - np.array(rests if len(kept) > 1 else [0.0])
        free = required[place] == 0
        idle = np.flatnonzero(free & ~((gains > 0) & (worth[place] + gains > least)))
        if not len(idle):
            for column, gain in zip(place, gains, strict=True):
                worth[column] += gain
            return kept if free.any() or whole > 0 else kept[:0]
        worst = idle[gains[idle] == gains[idle].min()][-1]
        worth[place[worst]] += gains[worst]
        kept = kept[kept != open_[worst]]
    return kept


def _evidence(
    columns: CodeColumns, tests: IntArray, stats: StatArray, score: Score, side: BoolArray
) -> float:
    rows = cover_rows(columns, tests)
    rows = rows[~side[rows].astype(np.bool_)]
    g, h = stats[rows, score.first_lane : score.first_lane + 2].sum(axis=0, dtype=STAT)
    step = (-1.0 if score.down else 1.0) * score.unit * float(g)
    return float(-step / np.sqrt(max(score.unit * float(h) + score.l2, 1e-12)))
