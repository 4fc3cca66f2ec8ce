"""NumPy twins of the native kernels: slow, short, the definition of right.

Sums of statistics are sums of integers, so a twin and its kernel agree to the bit.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels.structs import (
    MISSING,
    ROW,
    STAT,
    BoolArray,
    CodeArray,
    CompiledRules,
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
    from collections.abc import Iterator

    from rulewright.kernels import CodeColumns

# -- conditions --------------------------------------------------------------------------------


def encode_values(
    values: FloatArray, cuts: FloatArray, on_cut: bool, n_threads: int = 1, missing: int = MISSING
) -> CodeArray:
    """Code raw values by the number of cuts below them."""
    below = np.searchsorted(cuts, values, side="left")
    if on_cut:
        below = below + np.searchsorted(cuts, values, side="right")
    return np.where(np.isnan(values), missing, below).astype(np.uint16)


# -- search ------------------------------------------------------------------------------------


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


def judge(score: Score, sums: StatArray) -> tuple[float, int]:
    """Return the value of the best vote (lower is better) and the vote (-1: none helps)."""
    best, vote = math.inf, -1
    for k in range(score.n_pairs):
        g, h = float(sums[2 * k]) * score.unit, float(sums[2 * k + 1]) * score.unit
        if (g < 0 and score.up) or (g > 0 and score.down):
            newton = -(g * g) / max(h + score.l2, 1e-12)
            value = newton if score.kind == "newton" else -abs(g)
            if value < best:
                best, vote = value, score.first_class + (k if g < 0 else -1)
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


def best_condition(
    columns: CodeColumns,
    rows: RowArray,
    stats: StatArray,
    score: Score,
    limits: Limits,
    open_columns: list[int],
) -> tuple[float, int, GrownCondition | None, BoolArray]:
    """Judge every condition on the covered rows; the first of the best wins."""
    best: tuple[float, int, GrownCondition | None, BoolArray]
    best = (math.inf, -1, None, np.ones(len(rows), dtype=np.bool_))
    lanes = used_lanes(stats[rows], score, limits)
    for j in open_columns:
        codes = column_codes(columns, j)[rows]
        for op, code, beyond, covered in candidates(
            codes, int(columns.n_bins[j]), bool(columns.nominal[j])
        ):
            sums = lanes[covered].sum(axis=0, dtype=STAT)
            too_light = limits.min_weight > 0 and sums[-1] < limits.min_weight
            if too_light or not limits.operators[j] >> op & 1:
                continue
            value, vote = judge(score, sums)
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
    required = set(np.flatnonzero(limits.required).tolist())
    best = 0.0
    while len(rule.conditions) != limits.max_conditions and len(rows):
        open_columns = sorted(required) or list(range(len(columns.n_bins)))
        _, vote, condition, covered = best_condition(
            columns, rows, stats, score, limits, open_columns
        )
        if condition is None or not condition.criterion < best - limits.tolerance:
            break
        best = condition.criterion
        rule = GrownRule([*rule.conditions, condition], vote)
        rows = rows[covered]
        required.discard(condition.column)
    return GrownRule([], -1) if required else rule


# -- weighting ---------------------------------------------------------------------------------


class Likelihood:
    """State of a fit by maximum likelihood: exp scores and fixed-point statistics per row."""

    def __init__(
        self,
        labels: IntArray,
        weights: FloatArray,
        exp_scores: FloatArray,
        stats: StatArray,
        scale: float,
    ) -> None:
        self.labels, self.weights, self.scale = labels, weights, scale
        self.exp_scores, self.stats = exp_scores, stats

    def refresh_stats(self, rows: RowArray, n_threads: int) -> None:
        """Compute g = w (p - [y = k]) and h = w p (1 - p) of the rows, in fixed point."""
        e = self.exp_scores[rows]
        p = e / e.sum(axis=1, keepdims=True)
        w = self.weights[rows, None]
        hit = self.labels[rows, None] == np.arange(e.shape[1])
        first = 1 if e.shape[1] == 2 else 0
        n_lanes = 2 * (e.shape[1] - first)
        g = np.rint(w * (p - hit) * self.scale).astype(STAT)
        h = np.maximum(1, np.rint(w * p * (1 - p) * self.scale).astype(STAT))
        self.stats[rows, 0:n_lanes:2] = g[:, first:]
        self.stats[rows, 1:n_lanes:2] = h[:, first:]

    def loss_change(self, rows: RowArray, vote: int, size: float, n_threads: int) -> float:
        """Tell what adding the step to class `vote` would do to the loss."""
        e = self.exp_scores[rows]
        before = e.sum(axis=1)
        after = before + e[:, vote] * math.expm1(size)
        hit = self.labels[rows] == vote
        return float(np.sum(self.weights[rows] * (np.log(after / before) - size * hit)))

    def add_step(self, rows: RowArray, vote: int, size: float, n_threads: int) -> float:
        """Add the step to the scores and refresh the statistics; return the change of the loss."""
        change = self.loss_change(rows, vote, size, n_threads)
        self.exp_scores[rows, vote] *= math.exp(size)
        total = self.exp_scores[rows].sum(axis=1)
        extreme = rows[(total >= 1e200) | (total <= 1e-200)]
        self.exp_scores[extreme] /= self.exp_scores[extreme].sum(axis=1, keepdims=True)
        self.refresh_stats(rows, n_threads)
        return change

    def sum_stats(self, rows: RowArray, n_threads: int) -> StatArray:
        """Sum all lanes over the rows."""
        sums: StatArray = self.stats[rows].sum(axis=0, dtype=STAT)
        return sums

    def class_weights(self, rows: RowArray, n_threads: int) -> FloatArray:
        """Return the weight of each class among the rows."""
        n_classes = self.exp_scores.shape[1]
        return np.bincount(self.labels[rows], self.weights[rows], n_classes).astype(np.float64)


# -- model -------------------------------------------------------------------------------------


def rule_covers(codes: CodeArray, compiled: CompiledRules, n_threads: int = 1) -> BoolArray:
    """Tell which rules (columns) fire on which rows."""
    n_rules = len(compiled.rule_starts) - 1
    covers = np.ones((codes.shape[1], n_rules), dtype=np.bool_)
    for rule in range(n_rules):
        for c in range(compiled.rule_starts[rule], compiled.rule_starts[rule + 1]):
            holds = np.zeros(codes.shape[1], dtype=np.bool_)
            first, last = compiled.condition_starts[c : c + 2]
            for column, low, high in compiled.intervals[first:last].tolist():
                holds |= (codes[column] >= low) & (codes[column] <= high)
            covers[:, rule] &= holds
    return covers


def rule_scores(
    codes: CodeArray,
    compiled: CompiledRules,
    heads: IntArray,
    responses: FloatArray,
    intercepts: FloatArray,
    n_threads: int = 1,
) -> FloatArray:
    """Sum intercepts and the responses of the fired rules, in rule order, for every row."""
    scores = np.tile(intercepts, (codes.shape[1], 1))
    covers = rule_covers(codes, compiled)
    for rule, (head, response) in enumerate(zip(heads, responses, strict=True)):
        scores[covers[:, rule], head] += response
    return scores
