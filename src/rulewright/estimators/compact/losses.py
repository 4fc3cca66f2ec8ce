"""What a compact model minimises: how rules are fitted together, and what a further one gains.

A loss gives the search row statistics of the current fit, in pairs (g, h) of derivatives, and fits
the responses of all rules anew. Its figures are in nats, so that conditions can be charged by their
length: for classes the negative log-likelihood, for numbers that of errors of unknown variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rulewright.estimators.compact.lines import ClassFit
from rulewright.kernels import STAT, Score
from rulewright.rules import Head
from rulewright.weighting import LogLikelihood

if TYPE_CHECKING:
    from rulewright.estimators.compact.members import Problem
    from rulewright.kernels import BoolArray, FloatArray, IntArray, RowArray, StatArray

LEAST_PROBABILITY = 1e-12
"""Probabilities count as no less: rows that are surely wrong have a gradient, and a finite one."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Responses of rules and lines that were fitted together.

    Attributes
    ----------
    loss : float
        What they lose on the training rows, ridge penalty included.
    responses : float64 array
        One for each rule or line, in the direction of its head.
    intercepts : float64 array
        Scores that every row starts with.
    answers : float64 array of shape (rows, outputs)
        Probabilities, or numbers, of all rows.
    """

    loss: float
    responses: FloatArray
    intercepts: FloatArray
    answers: FloatArray


class Loss(Protocol):
    """A loss and its rows."""

    unit: float
    l2: float
    stats: StatArray
    heads: tuple[Head, ...]

    def fit(self, problem: Problem, tolerance: float, start: FloatArray | None = None) -> Fitted:
        """Fit the responses of all rules and lines, from those of a start if that helps."""

    def settle(self, problem: Problem) -> Fitted:
        """Fit the responses of the finished model, to many digits."""

    def look(self, fitted: Fitted) -> None:
        """Bring the statistics up to date with a fit."""

    def score(self, head: Head | None) -> Score:
        """Describe what growth minimises, for one head or for any."""

    def head_of(self, score: Score, vote: int) -> Head:
        """Return what the vote of a search speaks for."""

    def gain(self, rows: RowArray, head: Head) -> float:
        """Return about what a rule over these rows would gain."""

    def loss_of(self, fitted: Fitted, rows: BoolArray) -> FloatArray:
        """Return the losses of some rows."""


class ClassLoss:
    """The negative log-likelihood of the shares of classes in the rows.

    Parameters
    ----------
    labels, weights : arrays
        Class and weight of each row; rows of weight 0 are not learned from.
    shares : float64 array of shape (rows, classes)
        What is learned: 1 for the label of a row, or a share of it and of what a teacher says.
    l2 : float
        Ridge penalty of the responses.
    ordinal : bool
        Whether the classes are in an order, and rules speak for "at least" or "at most" one.
    """

    def __init__(
        self,
        labels: IntArray,
        weights: FloatArray,
        shares: FloatArray,
        l2: float,
        ordinal: bool = False,
        n_threads: int = 1,
    ) -> None:
        self.labels, self.weights, self.shares, self.l2 = labels, weights, shares, l2
        self.n_threads = n_threads
        start = np.zeros(shares.shape[1])
        self.likelihood = LogLikelihood(
            labels, weights, start, ordinal=ordinal, weigh_rows=True, n_threads=n_threads
        )
        self.heads, self.unit = self.likelihood.heads, self.likelihood.unit
        self.stats = self.likelihood.stats
        self.surplus = self._surplus()

    def _surplus(self) -> StatArray:
        """Return by how much the label of a row exceeds its shares, for each pair of lanes."""
        excess = self._label_shares() - self.shares
        if self.likelihood.cumulative:  # a pair tells of all classes from a cut on
            excess = excess[:, ::-1].cumsum(axis=1)[:, -2::-1]
        return np.rint(self.weights[:, np.newaxis] * excess / self.unit).astype(STAT)

    def fit(self, problem: Problem, tolerance: float, start: FloatArray | None = None) -> Fitted:
        """Fit by coordinate descent; a response keeps the direction of its head."""
        return self._fit(problem, self.shares, tolerance, start)

    def settle(self, problem: Problem) -> Fitted:
        """Fit to the labels alone: a teacher helps to choose rules, labels weigh them."""
        return self._fit(problem, self._label_shares(), 1e-20)

    def _label_shares(self) -> FloatArray:
        return np.eye(self.shares.shape[1])[self.labels]

    def _fit(
        self,
        problem: Problem,
        shares: FloatArray,
        tolerance: float,
        start: FloatArray | None = None,
    ) -> Fitted:
        rows = problem.grouped(self.weights, shares)
        fit = ClassFit(
            rows.problem,
            np.zeros(len(rows.weights), dtype=np.int32),
            rows.weights,
            shares.shape[1],
            shares=rows.shares,
            l2=self.l2,
            tolerance=tolerance,
            start=start,
            n_threads=self.n_threads,
        )
        fit.keep(fit.rules)
        p, b = fit.probabilities, fit.responses.copy()
        logs = np.log(np.maximum(p, LEAST_PROBABILITY))
        loss = -float(rows.weights @ (rows.shares * logs).sum(axis=1))
        loss += 0.5 * self.l2 * float(b @ b)
        return Fitted(loss, b, fit.intercepts, p[rows.groups])

    def look(self, fitted: Fitted) -> None:
        """Compute the derivatives at the probabilities."""
        self.likelihood.restart(np.maximum(fitted.answers, LEAST_PROBABILITY))
        self.stats[:, 0 : 2 * self.likelihood.n_pairs : 2] += self.surplus

    def score(self, head: Head | None) -> Score:
        """Describe Newton's score."""
        return self.likelihood.score("newton", self.l2, head)

    def head_of(self, score: Score, vote: int) -> Head:
        """Return the classes of a vote."""
        return self.likelihood.head_of(score, vote)

    def gain(self, rows: RowArray, head: Head) -> float:
        """Return what a Newton step of this rule alone gains."""
        g, h = self.likelihood.derivatives(rows, head)
        return g * g / (2 * (h + self.l2)) if g < 0 else 0.0

    def loss_of(self, fitted: Fitted, rows: BoolArray) -> FloatArray:
        """Return the log-losses of some rows."""
        own = fitted.answers[rows, self.labels[rows]]
        return -np.log(np.maximum(own, LEAST_PROBABILITY))


class NumberLoss:
    """The squared error of numbers, as the negative log-likelihood of errors of unknown variance.

    A rule of head 1 adds to the number, one of head 0 takes away.
    """

    heads: tuple[Head, ...] = (Head(0, 0), Head(1, 1))

    def __init__(self, numbers: FloatArray, weights: FloatArray, l2: float) -> None:
        self.numbers, self.weights, self.l2 = numbers, weights, l2
        self.total = float(weights.sum())
        self.unit = 2.0 ** max(math.ceil(math.log2(self.total)) - 55, -1022)
        self.stats = np.zeros((len(numbers), 3), dtype=STAT)
        self.stats[:, 2] = np.rint(weights / self.unit).astype(STAT)
        center = float(np.average(numbers, weights=weights))
        self.floor = 1e-12 * max(float(weights @ (numbers - center) ** 2), 1e-300)
        self.scale = 1.0
        self.residuals = numbers - center

    def fit(self, problem: Problem, tolerance: float, start: FloatArray | None = None) -> Fitted:
        """Solve the normal equations; rules whose response turns round are fitted as 0."""
        signs = np.array([1.0 if head.first else -1.0 for head in problem.heads])
        columns = problem.covers.unpack().astype(np.float64)
        for place, values in problem.lines.items():
            columns[place] = values
        columns *= signs[:, np.newaxis]
        means = columns @ self.weights / self.total
        center = float(self.weights @ self.numbers) / self.total
        centred = columns - means[:, np.newaxis]
        gram = (centred * self.weights) @ centred.T + self.l2 * np.eye(len(columns))
        pulls = centred @ (self.weights * (self.numbers - center))
        b, kept = np.zeros(len(columns)), np.ones(len(columns), dtype=np.bool_)
        while kept.any():
            b[:] = 0.0
            b[kept] = np.linalg.solve(gram[np.ix_(kept, kept)], pulls[kept])
            if not (b < 0).any():
                break
            kept &= b > 0
        else:
            b[:] = 0.0
        answers = center + b @ centred
        squares = float(self.weights @ (self.numbers - answers) ** 2) + self.l2 * float(b @ b)
        loss = 0.5 * self.total * math.log(max(squares, self.floor) / self.total)
        intercept = np.array([center - float(b @ means)])
        return Fitted(loss, signs * b, intercept, answers[:, np.newaxis])

    def settle(self, problem: Problem) -> Fitted:
        """Fit as always: the normal equations are exact."""
        return self.fit(problem, 0.0)

    def look(self, fitted: Fitted) -> None:
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
        """Return what a step of this rule alone gains."""
        weights = self.weights[rows]
        pull = float(weights @ self.residuals[rows]) / self.scale * (1 if head.first else -1)
        return pull * pull / (2 * (float(weights.sum()) + self.l2)) if pull > 0 else 0.0

    def loss_of(self, fitted: Fitted, rows: BoolArray) -> FloatArray:
        """Return the squared errors of some rows."""
        return np.asarray((self.numbers[rows] - fitted.answers[rows, 0]) ** 2)
