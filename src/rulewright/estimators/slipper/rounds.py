"""Confidence-rated boosting of pruned rules: the rounds of SLIPPER (Cohen and Singer, 1999).

A problem describes the classes to SLIPPER: which pairs of row and label are weighted, and what
counts as an error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright import kernels
from rulewright.kernels import ROW, BoolArray, CodeColumns, FloatArray, IntArray, Limits, RowArray
from rulewright.search import LEAST_ROWS, FoundRule, RuleGrower, split_by_weight
from rulewright.weighting import ExponentialLoss

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet, Units

SMALLEST_CONFIDENCE = 1e-12
"""A round below this confidence is not useful."""

MOST_IDLE_ROUNDS = 20
"""Consecutive rounds without a useful rule before boosting stops."""


@dataclass(frozen=True)
class SlipperProblem:
    """Rows, their weighted pairs and their errors.

    With one head, a score above 0 predicts its class; with several, the largest score wins and
    ties go to the heaviest class. `costs` (true class by predicted class) apply to pairs that
    compare labels. With `few` rows, none are held back for pruning.
    """

    labels: IntArray
    weights: FloatArray
    start: FloatArray
    heads: tuple[int, ...]
    class_weights: FloatArray
    costs: FloatArray | None = None
    few: bool = False
    groups: NDArray[np.intp] | None = None

    def take(self, rows: NDArray[np.intp]) -> SlipperProblem:
        """Return a subset of the rows."""
        return replace(
            self,
            labels=self.labels[rows],
            weights=self.weights[rows],
            start=self.start[rows],
            groups=None if self.groups is None else self.groups[rows],
        )

    def weigh(self, rows: RowArray) -> FloatArray:
        """Return the weight of each class in some of the rows."""
        sums = np.bincount(self.labels[rows], self.weights[rows], minlength=self.n_classes)
        return sums.astype(np.float64)

    def loss(self, weigh_rows: bool, n_threads: int) -> ExponentialLoss:
        """Return the start weights of boosting."""
        return ExponentialLoss(
            self.labels,
            self.start,
            self.heads,
            by_cost=self.costs is not None,
            n_rows=self._n_rows,
            row_weights=self.weights if weigh_rows else None,
            n_threads=n_threads,
        )

    @property
    def _n_rows(self) -> float:
        """Number of rows; with few rows, integer weights count as repetitions.

        In small tables a weight of two equals a repeated row; in others the scale of the weights
        does not matter.
        """
        counted = self.few and bool((self.weights == np.rint(self.weights)).all())
        return float(self.weights.sum()) if counted else len(self.labels)

    def error(self, scores: FloatArray) -> float:
        """Return the weighted error rate of the scores (rows, heads), or their mean cost."""
        return ErrorSum(self, scores).error

    def costs_of(self, scores: FloatArray, rows: RowArray | slice) -> FloatArray:
        """Return the cost of each row under the scores (rows, heads): 1 if wrong, or its cost."""
        labels, paid = self.labels[rows], np.zeros(len(scores))
        if len(self.heads) == 1:
            paid[(scores[:, 0] > 0) != (labels == self.heads[0])] = 1.0
            return paid
        heaviest = np.argsort(-self.class_weights, kind="stable")
        predicted = heaviest[scores[:, heaviest].argmax(axis=1)]
        if self.costs is None:
            paid[predicted != labels] = 1.0
        else:
            paid[:] = self.costs[labels, predicted]
        return paid

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_weights)

    @property
    def bound_factor(self) -> float:
        """The training error is at most this factor times the product of all Z."""
        if len(self.heads) == 1:
            return 1.0
        if self.costs is None:
            return len(self.heads) / 2
        return float(np.average(self.costs.sum(axis=1)[self.labels], weights=self.weights))


class ErrorSum:
    """The error of scores (rows, heads), updated for some rows at a time."""

    def __init__(self, problem: SlipperProblem, scores: FloatArray) -> None:
        self.problem, self.scores = problem, scores
        self._weights = problem.start[:, 0] if len(problem.heads) == 1 else problem.weights
        self._total = float(self._weights.sum())
        self._charges = np.empty(len(scores))
        self.update(slice(None))

    def update(self, rows: RowArray | slice) -> None:
        """Update the error after the scores of some rows have changed."""
        self._charges[rows] = self.problem.costs_of(self.scores[rows], rows) * self._weights[rows]

    @property
    def error(self) -> float:
        """Weighted error rate of the scores, or their mean cost."""
        return float(self._charges.sum()) / self._total


def make_class_problem(
    rows: TrainingSet, head: int, costs: FloatArray | None = None
) -> SlipperProblem:
    """Create the problem of one class against the rest; with two classes, costs weight the rows."""
    start = rows.weights
    if costs is not None:
        start = _price_weights(rows.weights, costs[rows.labels, 1 - rows.labels])
    return _problem(rows, start[:, None], (head,))


def every_class(rows: TrainingSet) -> SlipperProblem:
    """Create the problem of all labels at once (AdaBoost.MH)."""
    n_classes = len(rows.classes)
    start = np.repeat(rows.weights[:, None], n_classes, axis=1)
    return _problem(rows, start, tuple(range(n_classes)))


def every_cost(rows: TrainingSet, costs: FloatArray) -> SlipperProblem:
    """Create the problem that weights every wrong label by its cost."""
    start = _price_weights(rows.weights[:, None], costs[rows.labels])
    return _problem(rows, start, tuple(range(len(rows.classes))), costs)


def _problem(
    rows: TrainingSet, start: FloatArray, heads: tuple[int, ...], costs: FloatArray | None = None
) -> SlipperProblem:
    few = rows.n_rows < LEAST_ROWS
    given = rows.labels, rows.weights, start, heads, rows.class_weights, costs
    return SlipperProblem(*given, few, rows.groups)


def _price_weights(weights: FloatArray, costs: FloatArray) -> FloatArray:
    """Multiply weights by costs; raise an error if the total is 0 or infinite."""
    with np.errstate(over="ignore"):
        start = weights * costs
        total = start.sum()
    if total == 0:
        raise ValueError("cost_matrix: all errors cost 0, so there is nothing to learn")
    if not np.isfinite(total):
        raise ValueError("cost_matrix: the sum of weights times costs is infinite; scale it down")
    return start


class RoundCandidate(NamedTuple):
    """A candidate rule of a round (None: the default rule), evaluated on all rows.

    `gain` is |sqrt(W+) - sqrt(W-)|; the best possible Z is 1 - gain^2.
    """

    place: int
    rule: FoundRule | None
    plus: float
    minus: float

    @property
    def gain(self) -> float:
        """How much the candidate can lower the bound on the training error."""
        return abs(float(np.sqrt(self.plus) - np.sqrt(self.minus)))


class Round(NamedTuple):
    """Result of a round: place of the head, rule (None: the default rule), confidence, Z."""

    place: int
    rule: FoundRule | None
    confidence: float
    z: float


class Rounds:
    """Boosting on a set of rows: `rounds()` yields the result of each round of the paper.

    Parameters
    ----------
    codes : CodeColumns
        The training rows.
    grower : RuleGrower
        Grows rules on these rows.
    limits : sequence of Limits
        Constraints on the rules of each head.
    loss : ExponentialLoss
        The weights of the rows; every round updates them.
    strata : int32 array
        Strata of the split into growing and pruning rows; the classes, or one for all.
    grow_share : float
        Share of the weight that rules are grown on; the rest prunes them.
    seed : int
        Seed of the splits.
    units : Units, optional
        Units of rows that a split keeps together.
    """

    def __init__(
        self,
        codes: CodeColumns,
        grower: RuleGrower,
        limits: Sequence[Limits],
        loss: ExponentialLoss,
        strata: IntArray,
        grow_share: float,
        seed: int,
        units: Units | None = None,
    ) -> None:
        self.codes, self.grower, self.limits, self.loss = codes, grower, limits, loss
        self.strata, self.grow_share, self.seed = strata, grow_share, seed
        self.units = units
        self.everyone = np.arange(codes.n_rows, dtype=ROW)
        self.grown = np.ones(codes.n_rows, dtype=np.bool_)  # growing rows of the last rules
        self._last: tuple[FoundRule | None, RowArray] = None, self.everyone  # a rule and its cover

    def rounds(self, n_rounds: int) -> Iterator[Round]:
        """Run the algorithm of the paper; a round with confidence 0 found nothing useful."""
        idle = 0
        for _ in range(n_rounds):
            # Default rules come first and win ties.
            best = max(self.candidates(), key=lambda candidate: candidate.gain)
            confidence = self.confidence(best)
            if abs(confidence) < SMALLEST_CONFIDENCE:
                idle += 1
                yield Round(best.place, None, 0.0, 1.0)
                if idle == MOST_IDLE_ROUNDS:
                    return
                continue
            idle = 0
            z = self.loss.add(self.cover(best.rule), best.place, confidence)
            yield Round(best.place, best.rule, confidence, z)

    def cover(self, rule: FoundRule | None) -> RowArray:
        """Find the rows that a rule covers; the default rule covers all."""
        if rule is None:
            return self.everyone
        if self._last[0] is not rule:
            self._last = rule, rule.cover(self.codes, self.grower.n_threads)
        return self._last[1]

    def confidence(self, candidate: RoundCandidate) -> float:
        """Return the confidence of a candidate; a rule never votes against its class."""
        rule, plus, minus = candidate.rule, candidate.plus, candidate.minus
        if self.loss.is_coarse:
            plus, minus = self.loss.sums(self.cover(rule), candidate.place)
        confidence = float(self.loss.confidence(plus, minus))
        return confidence if rule is None else max(confidence, 0.0)

    def candidates(self) -> list[RoundCandidate]:
        """Split the rows again, then grow and prune one rule per head; add the default rules."""
        self.seed = (self.seed + 1) % 2**64
        given = self.loss.row_steps, self.strata, self.grow_share, self.seed
        self.grown = grow = split_by_weight(*given, self.units)
        rows = np.flatnonzero(grow).astype(ROW)
        defaults, rules = [], []
        for place in range(len(self.loss.heads)):
            found = self.grower.grow(
                self.codes, rows, self.loss.stats, self.loss.score(place), self.limits[place]
            )
            sums = self._prefix_sums(found, place, grow)
            whole = sums.sum(axis=0)
            defaults.append(RoundCandidate(place, None, *whole[0].tolist()))
            if found is None:
                continue
            length = len(found.tests)
            if len(rows) < self.codes.n_rows:  # there are pruning rows
                # A rule starts with its required columns; pruning keeps them.
                least = max(1, int(self.limits[place].required.sum()))
                length = choose_prefix_length(self.loss, sums[1, 1:], sums[0, 1:], least)
            candidate = RoundCandidate(place, found.prefix(length), *whole[length].tolist())
            if candidate.plus > candidate.minus:  # a rule never votes against its class
                rules.append(candidate)
        return defaults + rules

    def _prefix_sums(self, found: FoundRule | None, place: int, grow: BoolArray) -> FloatArray:
        """Return (W+, W-) after 0, 1, 2, ... conditions, as [side, conditions, 2]."""
        tests = np.empty((0, 4), dtype=np.int32) if found is None else found.test_array
        sums = kernels.prefix_sums(
            self.codes, tests, self.loss.stats, 2 * place, grow, self.grower.n_threads
        )
        return sums.astype(np.float64) * self.loss.unit


def choose_prefix_length(
    loss: ExponentialLoss, grown: FloatArray, pruned: FloatArray, least: int = 1
) -> int:
    """Return how many conditions to keep: the shortest prefix with minimum loss on pruning rows.

    `grown` and `pruned` hold (W+, W-) after 1, 2, ... conditions. The growing rows give the
    confidence; the pruning rows evaluate it. At least `least` conditions are kept.
    """
    return int(np.argmin(prefix_losses(loss, grown, pruned)[least - 1 :])) + least


def prefix_losses(loss: ExponentialLoss, grown: FloatArray, pruned: FloatArray) -> FloatArray:
    """Return ``(1 - V+ - V-) + V+ exp(-C) + V- exp(C)`` for every prefix of a rule."""
    confidence = loss.confidence(grown[:, 0], grown[:, 1])
    plus, minus = pruned[:, 0], pruned[:, 1]
    # With expm1, prefixes that cover nothing have equal losses.
    losses: FloatArray = 1 + plus * np.expm1(-confidence) + minus * np.expm1(confidence)
    return losses
