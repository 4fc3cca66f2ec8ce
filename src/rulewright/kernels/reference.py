"""NumPy twins of the native kernels: slow, short, the definition of right.

Sums of statistics are sums of integers, so a twin and its kernel agree to the bit.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
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
    SignArray,
    StatArray,
    Subsample,
    WordArray,
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


# -- weighting ---------------------------------------------------------------------------------


class Exponential:
    """Weights of the pairs (row, head) of confidence-rated boosting, and their lanes (W+, W-)."""

    def __init__(
        self,
        own: IntArray,
        weights: FloatArray,
        stats: StatArray,
        scale: float,
        by_cost: bool,
    ) -> None:
        self.own = own[:, None] == np.arange(weights.shape[1])
        self.weights, self.stats, self.scale, self.by_cost = weights, stats, scale, by_cost

    def add(self, rows: RowArray, place: int, confidence: float, n_threads: int) -> float:
        """Add a confidence to one head on the rows; return Z, what the weights then sum to."""
        hit = self.own[rows, place]
        helped, hurt = rows[hit], rows[~hit]
        self.weights[hurt, place] *= math.exp(confidence)
        if self.by_cost:
            self.weights[helped] *= math.exp(-confidence)
        else:
            self.weights[helped, place] *= math.exp(-confidence)
        z = float(self.weights.sum())
        self.weights /= z
        np.maximum(self.weights, 1e-300, out=self.weights, where=self.weights > 0)
        self.refresh(n_threads)
        return z

    def refresh(self, n_threads: int) -> None:
        """Write the lanes of every head, in fixed point; a row in play is never 0."""
        steps = np.rint(self.weights * self.scale).astype(STAT)
        np.maximum(steps, 1, out=steps, where=self.weights > 0)
        helped = steps.sum(axis=1, keepdims=True) if self.by_cost else steps
        last = 2 * self.weights.shape[1]
        self.stats[:, 0:last:2] = np.where(self.own, helped, 0)
        self.stats[:, 1:last:2] = np.where(self.own, 0, steps)


class Likelihood:
    """State of a fit by maximum likelihood: exp scores and fixed-point statistics per row."""

    def __init__(
        self,
        labels: IntArray,
        weights: FloatArray,
        exp_scores: FloatArray,
        stats: StatArray,
        scale: float,
        cumulative: bool,
    ) -> None:
        self.labels, self.weights, self.scale = labels, weights, scale
        self.exp_scores, self.stats, self.cumulative = exp_scores, stats, cumulative

    def refresh_stats(self, rows: RowArray, n_threads: int) -> None:
        """Compute g = w (P - [y in U]) and h = w P (1 - P) of the rows, in fixed point."""
        e, labels = self.exp_scores[rows], self.labels[rows, None]
        total = e.sum(axis=1, keepdims=True)
        w, classes = self.weights[rows, None], np.arange(e.shape[1])
        if self.cumulative:
            tails = np.cumsum(e[:, ::-1], axis=1)[:, ::-1]
            p, hit = tails[:, 1:] / total, labels >= classes[1:]
        else:
            p, hit = e / total, labels == classes
        n_lanes = 2 * p.shape[1]
        self.stats[rows, 0:n_lanes:2] = np.rint(w * (p - hit) * self.scale).astype(STAT)
        h = np.rint(w * p * (1 - p) * self.scale).astype(STAT)
        self.stats[rows, 1:n_lanes:2] = np.maximum(1, h)

    def loss_change(
        self, rows: RowArray, first: int, last: int, size: float, n_threads: int
    ) -> float:
        """Tell what adding the step to the classes first..last would do to the loss."""
        e, labels = self.exp_scores[rows], self.labels[rows]
        before = e.sum(axis=1)
        after = before + e[:, first : last + 1].sum(axis=1) * math.expm1(size)
        hit = (first <= labels) & (labels <= last)
        return float(np.sum(self.weights[rows] * (np.log(after / before) - size * hit)))

    def add_step(self, rows: RowArray, first: int, last: int, size: float, n_threads: int) -> float:
        """Add the step to the scores and refresh the statistics; return the change of the loss."""
        change = self.loss_change(rows, first, last, size, n_threads)
        self.exp_scores[rows, first : last + 1] *= math.exp(size)
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


class ResponseFit:
    """Responses of rules by coordinate descent on the penalised negative log-likelihood."""

    def __init__(
        self,
        targets: FloatArray,
        weights: FloatArray,
        probabilities: FloatArray,
        covers: WordArray,
        heads: IntArray,
        signs: SignArray,
    ) -> None:
        self.targets, self.weights, self.probabilities = targets, weights, probabilities
        classes = np.arange(probabilities.shape[1])
        bits = np.unpackbits(covers.astype("<u8").view(np.uint8), axis=1, bitorder="little")
        covered = bits[:, : len(targets), None].astype(np.bool_)
        speaks = (heads[:, :1] <= classes) & (classes <= heads[:, 1:])
        self.design = covered & speaks[:, None, :]  # rules x rows x classes
        self.signs = signs

    def gradients(self, rules: IntArray, n_threads: int) -> FloatArray:
        """Differentiate the negative log-likelihood along each rule."""
        residuals = self.weights[:, None] * (self.probabilities - self.targets)
        g: FloatArray = (self.design[rules] * residuals).sum(axis=(1, 2))
        return g

    def hessian(self, rules: IntArray, n_threads: int) -> FloatArray:
        """Differentiate twice: weighted covariances of the rules' votes, one after the other."""
        p, design = self.probabilities, self.design[rules].astype(np.float64)
        shares = np.einsum("jik,ik->ji", design, p)
        both = np.einsum("jik,lik,ik,i->jl", design, design, p, self.weights)
        second: FloatArray = both - np.einsum("ji,li,i->jl", shares, shares, self.weights)
        return second.ravel()

    def move(self, rules: IntArray, steps: FloatArray) -> None:
        """Add steps to the responses of rules: only the probabilities change."""
        for rule, step in zip(rules.tolist(), steps.tolist(), strict=True):
            self.probabilities[self.design[rule]] *= math.exp(step)
            self.probabilities /= self.probabilities.sum(axis=1, keepdims=True)

    def sweep(self, rules: IntArray, responses: FloatArray, l1: float, l2: float) -> float:
        """Take a Newton step for each rule in turn; return the sum of (h + l2) step^2."""
        change = 0.0
        for rule in rules.tolist():
            one = np.array([rule], dtype=np.int32)
            g, h = float(self.gradients(one, 1)[0]), float(self.hessian(one, 1)[0])
            sign, response = int(self.signs[rule]), float(responses[rule])
            curvature = h + l2 * abs(sign)
            step = -(g + sign * l1 + abs(sign) * l2 * response) / max(curvature, 1e-300)
            if sign * (response + step) < 0:
                step = -response
            step = min(max(step, -1.5), 1.5)
            self.move(one, np.array([step]))
            responses[rule] += step
            change += curvature * step * step
        return change


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
    for rule, ((first, last), response) in enumerate(zip(heads, responses, strict=True)):
        scores[covers[:, rule], first : last + 1] += response
    return scores


def rule_bits(codes: CodeArray, compiled: CompiledRules, n_threads: int = 1) -> WordArray:
    """Pack the covers of the rules: row i is bit i % 64 of word i // 64, spare bits are 0."""
    covers = rule_covers(codes, compiled).T
    padded = np.zeros((len(covers), -(-codes.shape[1] // 64) * 64), dtype=np.bool_)
    padded[:, : codes.shape[1]] = covers
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)
