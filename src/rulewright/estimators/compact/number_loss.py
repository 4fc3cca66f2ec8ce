"""The loss of compact rules for numbers: the squared error of the rows that a fold learns from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.encoding import PackedCovers
from rulewright.estimators.compact.expansion import Expansion, sum_products
from rulewright.estimators.compact.losses import FittedResponses
from rulewright.kernels import STAT, BoolArray, FloatArray, IntArray, RowArray, Score
from rulewright.rules import Head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.estimators.compact.members import Candidate, ResponseProblem, RuleOnRows


class NumberLessons:
    """Regression losses for the training rows of a fold.

    `targets` are ranks: a test of signal must not depend on a few large numbers.
    """

    def __init__(self, numbers: FloatArray, weights: FloatArray, l2: float) -> None:
        self.numbers, self.weights, self.l2 = numbers, weights, l2
        self.targets = rank_numbers(numbers, weights)[:, np.newaxis]

    def loss(self, train: BoolArray, place: tuple[int, int] | None, n_threads: int) -> NumberLoss:
        """Return the loss of training rows."""
        return NumberLoss(self.numbers, np.where(train, self.weights, 0.0), self.l2)


def rank_numbers(numbers: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weight below each number; equal numbers share theirs."""
    _, places = np.unique(numbers, return_inverse=True)
    own = np.bincount(places, weights)
    ranks: FloatArray = (np.cumsum(own) - own / 2)[places]
    return ranks


class _Rows(NamedTuple):
    """Groups of rows: columns, weights, sums of weighted deviations, group of each row."""

    problem: ResponseProblem
    columns: FloatArray
    weights: FloatArray
    pulls: FloatArray
    groups: IntArray


class NumberLoss:
    """Squared error, as the negative log-likelihood of errors of unknown variance.

    A rule of head 1 adds to the number, one of head 0 takes away.
    """

    heads: tuple[Head, ...] = (Head(0, 0), Head(1, 1))
    has_teacher = False

    def __init__(self, numbers: FloatArray, weights: FloatArray, l2: float) -> None:
        self.numbers, self.weights, self.l2 = numbers, weights, l2
        self.total = float(weights.sum())
        self.unit = 2.0 ** max(math.ceil(math.log2(self.total)) - 55, -1022)
        self.stats = np.zeros((len(numbers), 3), dtype=STAT)
        self.stats[:, 2] = np.rint(weights / self.unit).astype(STAT)
        self.center = float(np.average(numbers, weights=weights))
        self.deviations = numbers - self.center
        self.squares = float(weights @ self.deviations**2)
        self.floor = 1e-12 * max(self.squares, 1e-300)
        self.scale = 1.0
        self.residuals = self.deviations

    def fit(
        self, problem: ResponseProblem, tolerance: float, start: FloatArray | None = None
    ) -> FittedResponses:
        """Solve the normal equations; rules whose response turns round are fitted as 0."""
        rows = self._group_rows(problem)
        signs = np.array([1.0 if head.first else -1.0 for head in problem.heads])
        columns = rows.columns * signs[:, np.newaxis]
        means = columns @ rows.weights / self.total
        centred = columns - means[:, np.newaxis]
        gram = sum_products(centred * rows.weights, centred) + self.l2 * np.eye(len(columns))
        b = _not_negative(gram, centred @ rows.pulls)
        moved = b @ centred
        # The squares of a model without rules, and what the rules change of them.
        squares = self.squares + float(moved @ (rows.weights * moved - 2 * rows.pulls))
        squares += self.l2 * float(b @ b)
        loss = 0.5 * self.total * math.log(max(squares, self.floor) / self.total)
        intercept = np.array([self.center - float(b @ means)])
        answers = (self.center + moved)[:, np.newaxis]
        found = rows.problem, rows.weights, rows.groups
        return FittedResponses(loss, signs * b, intercept, answers, *found)

    def _group_rows(self, problem: ResponseProblem) -> _Rows:
        """Put rows together that the same rules cover; a line has a value for each row."""
        if not problem.lines:
            found = problem.covers.group_rows(self.weights, self.deviations[:, np.newaxis])
            grouped = problem._replace(covers=PackedCovers(found.words, len(found.weights)))
            return _Rows(grouped, grouped.columns, found.weights, found.sums[:, 0], found.groups)
        every = np.arange(len(self.weights), dtype=np.int32)
        pulls = self.weights * self.deviations
        return _Rows(problem, problem.columns, self.weights, pulls, every)

    def settle(self, problem: ResponseProblem, fits_labels: bool = False) -> FittedResponses:
        """Fit as always: the normal equations are exact."""
        return self.fit(problem, 0.0)

    def fit_labels(self, problem: ResponseProblem, start: FloatArray) -> FittedResponses:
        """Fit the numbers: no teacher has changed them."""
        return self.fit(problem, 1e-7, start)

    def hits(self, rows: RowArray, head: Head, values: FloatArray | None) -> float:
        """Return the sum of the weighted numbers, in the direction of a head."""
        own = self.weights[rows] if values is None else self.weights[rows] * values
        return (1 if head.first else -1) * float(own @ self.numbers[rows])

    def expand(self, fitted: FittedResponses, candidates: Sequence[Candidate]) -> Expansion:
        """Compute the derivatives of the squares, in units of the variance of the residuals."""
        problem, answers = fitted.problem, fitted.by_group[:, 0]
        signs = np.array([1.0 if head.first else -1.0 for head in problem.heads])
        values = np.concatenate(
            [problem.columns * signs[:, np.newaxis], np.ones((1, len(answers)))]
        )
        second = sum_products(values * fitted.weights, values)
        places = np.arange(len(signs))
        second[places, places] += self.l2
        own_signs = np.array([1.0 if one.head.first else -1.0 for one in candidates])
        weights = fitted.weights_of(candidates, self.weights)
        own = np.array([self._curvature(one) for one in candidates])
        products = sum_products(weights, np.concatenate([values, answers[np.newaxis]]))
        across = own_signs[:, np.newaxis] * products
        pulls = np.array([one.hits for one in candidates]) - across[:, -1]
        variance = self.scale**2
        return Expansion.of(
            signs * fitted.responses,
            second / variance,
            pulls / variance,
            (own + self.l2) / variance,
            across[:, :-1] / variance,
        )

    def _curvature(self, candidate: Candidate) -> float:
        """Return the sum of weights, for a line of weighted squares."""
        weights, values = self.weights[candidate.rows], candidate.values
        return float(weights.sum() if values is None else weights @ values**2)

    def look(self, fitted: FittedResponses) -> None:
        """Take the residuals in units of their deviation."""
        self.residuals = self.numbers - fitted.answers[:, 0]
        squares = max(float(self.weights @ self.residuals**2), self.floor)
        self.scale = math.sqrt(squares / self.total)
        g = -self.weights * np.clip(self.residuals / self.scale, -16.0, 16.0)
        self.stats[:, 0] = np.rint(g / self.unit).astype(STAT)
        self.stats[:, 1] = self.stats[:, 2]

    def score(self, head: Head | None) -> Score:
        """Describe the decrease of the squares."""
        up, down = (True, True) if head is None else (bool(head.first), not head.first)
        return Score("newton", unit=self.unit, n_lanes=2, l2=self.l2, up=up, down=down)

    def head_of(self, score: Score, vote: int) -> Head:
        """Return 1 for a rule that adds, 0 for one that takes away."""
        return self.heads[1 - vote % 2]

    def gain(self, rows: RowArray, head: Head) -> float:
        """Return the gain of a step of this rule alone."""
        weights = self.weights[rows]
        pull = float(weights @ self.residuals[rows]) / self.scale * (1 if head.first else -1)
        return pull * pull / (2 * (float(weights.sum()) + self.l2)) if pull > 0 else 0.0

    def prefix_gains(self, rule: RuleOnRows) -> FloatArray:
        """Return the gains of steps of the first 1, 2, ... tests."""
        lengths = range(1, len(rule.tests) + 1)
        return np.array(
            [self.gain(rule.find_covered(range(length)), rule.head) for length in lengths]
        )

    def part_gains(self, rule: RuleOnRows) -> FloatArray | None:
        """Return None: the statistics clip large residuals."""
        return None

    def loss_of(self, fitted: FittedResponses, rows: BoolArray) -> FloatArray:
        """Return the squared errors of some rows."""
        return np.asarray((self.numbers[rows] - fitted.answers[rows, 0]) ** 2)


def _not_negative(gram: FloatArray, pulls: FloatArray) -> FloatArray:
    """Solve the normal equations; columns whose coefficient is negative are left out."""
    b, kept = np.zeros(len(pulls)), np.ones(len(pulls), dtype=np.bool_)
    while kept.any():
        b[:] = 0.0
        b[kept] = np.linalg.solve(gram[np.ix_(kept, kept)], pulls[kept])
        if not (b < 0).any():
            return b
        kept &= b > 0
    return np.zeros(len(pulls))
