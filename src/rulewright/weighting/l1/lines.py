"""Slopes of numeric columns by penalised maximum likelihood, vote by vote.

The objective is the log-loss plus ``sum_U penalty_U sum_j |b_jU| + l2 / 2 sum b_jU^2``. Here b_jU
is the effect of one standard deviation of column j on the classes U of a vote; intercepts are free.
A slope whose gradient at 0 is below the penalty stays 0: its column has no linear term.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.weighting.votes import default_scores, heads, is_cumulative

if TYPE_CHECKING:
    from rulewright.data import TrainingSet
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.rules import Head

EVIDENCE = 3.0
"""Penalty in standard errors of the gradient of a useless column (`docs/research/defaults.md`)."""

TOLERANCE = 1e-6
"""Sweeps continue until one lowers the objective by less than this per unit of weight."""

MOST_SWEEPS, MOST_ROUNDS, MOST_HALVINGS = 100, 200, 30
"""Maximum numbers of sweeps over the votes, rounds per quadratic, and halvings of a step."""

LEAST_PROBABILITY = 1e-15
"""Probabilities are clipped at this value."""


class LineFit:
    """Intercepts and slopes for each vote, by proximal Newton steps vote by vote.

    Parameters
    ----------
    columns : float64 array of shape (columns, rows)
        Columns with standard deviation 1.
    signs : list of int
        1 for nonnegative slopes, -1 for nonpositive ones, 0 for free ones.
    rows : TrainingSet
        Classes and weights.
    ordinal : bool
        Whether votes are for "at least" a class.
    l2 : float
        Ridge penalty of the slopes.
    """

    def __init__(
        self, columns: FloatArray, signs: list[int], rows: TrainingSet, ordinal: bool, l2: float
    ) -> None:
        cumulative = is_cumulative(len(rows.classes), ordinal)  # the sides of a cut are one vote
        votes = heads(len(rows.classes), cumulative)
        self.votes = [vote for vote in votes if vote.first > 0 or not cumulative]
        self.columns = np.vstack([np.ones(rows.n_rows), columns])  # the first is for intercepts
        self.rows, self.total = rows, float(rows.weights.sum())
        self.start = default_scores("prior", rows.class_weights, rows.n_rows, 0.0, 1.0)
        start = np.exp(self.start - self.start.max())
        self.exponentials = np.repeat(start[:, np.newaxis], rows.n_rows, axis=1)
        self.values = np.zeros((len(self.votes), len(self.columns)))
        is_slope = np.arange(len(self.columns)) > 0
        self.ridge = l2 * is_slope
        self.penalties = [EVIDENCE * self._error(vote) * is_slope for vote in self.votes]
        self.low = np.where(np.array([0, *signs]) > 0, 0.0, -np.inf)
        self.high = np.where(np.array([0, *signs]) < 0, 0.0, np.inf)

    def run(self) -> None:
        """Minimise the objective, until it hardly decreases."""
        for _ in range(MOST_SWEEPS):
            gain = sum(self._step(place) for place in range(len(self.votes)))
            if not gain > TOLERANCE * self.total:
                break

    def by_class(self) -> FloatArray:
        """Return the effect of each column on each class; the first column is the intercept."""
        found = np.zeros((len(self.columns), len(self.start)))
        for vote, values in zip(self.votes, self.values, strict=True):
            found[:, vote.classes] += values[:, np.newaxis]
        return found

    def _error(self, vote: Head) -> float:
        """Return the standard error of the gradient of a column without effect."""
        share = float(self.rows.class_weights[vote.classes].sum()) / self.total
        half_row = 0.5 / self.rows.n_rows
        share = min(max(share, half_row), 1 - half_row)
        return math.sqrt(self.total) * math.sqrt(share * (1 - share))

    def _step(self, place: int) -> float:
        """Take a step on the values of a vote, and return the gain."""
        vote, values, penalties = self.votes[place], self.values[place], self.penalties[place]
        weights, labels = self.rows.weights, self.rows.labels
        inside = (labels >= vote.first) & (labels <= vote.last)
        p = self.exponentials[vote.classes].sum(axis=0) / self.exponentials.sum(axis=0)
        p = np.clip(p, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        pulls = self.columns @ (weights * (inside - p)) - self.ridge * values
        rises, falls = (pulls > penalties) & (self.high > 0), (pulls < -penalties) & (self.low < 0)
        free = (values != 0) | rises | falls | (penalties == 0)
        chosen = self.columns[free]
        curvatures = (chosen * (weights * p * (1 - p))) @ chosen.T + np.diag(self.ridge[free])
        vectors = pulls, values, penalties, self.low, self.high
        change = np.zeros(len(values))
        quadratic = BoundedQuadratic(curvatures, *(vector[free] for vector in vectors))
        change[free] = quadratic.step(TOLERANCE**2 * self.total)
        return self._move(place, change, inside, p)

    def _move(self, place: int, change: FloatArray, inside: BoolArray, p: FloatArray) -> float:
        """Change the values, halving the step until the objective decreases; return how much."""
        values, classes = self.values[place], self.votes[place].classes
        moves, before = change @ self.columns, self._charge(place, values)
        for _ in range(MOST_HALVINGS):
            with np.errstate(over="ignore"):
                losses = np.log1p(p * np.expm1(moves)) - inside * moves
            gain = before - self._charge(place, values + change) - self.rows.weights @ losses
            if gain > 0:
                values += change
                self.exponentials[classes] *= np.exp(moves)
                self.exponentials /= self.exponentials.max(axis=0)
                return float(gain)
            change, moves = change / 2, moves / 2
        return 0.0

    def _charge(self, place: int, values: FloatArray) -> float:
        """Return the penalty of some values."""
        return float(self.penalties[place] @ np.abs(values) + self.ridge @ values**2 / 2)


class BoundedQuadratic(NamedTuple):
    """A quadratic around some values, with absolute-value penalties and bounds."""

    curvatures: FloatArray
    pulls: FloatArray
    values: FloatArray
    penalties: FloatArray
    low: FloatArray
    high: FloatArray

    def step(self, least: float) -> FloatArray:
        """Return the step to the minimum, by coordinate descent until a gain is below `least`."""
        values, pulls = self.values.copy(), self.pulls.copy()
        own = np.maximum(np.diag(self.curvatures), np.finfo(float).tiny)
        for _ in range(MOST_ROUNDS):
            most = 0.0
            for j, curvature in enumerate(own.tolist()):
                goal = curvature * values[j] + pulls[j]
                goal = math.copysign(max(abs(goal) - self.penalties[j], 0.0), goal) / curvature
                move = min(max(goal, self.low[j]), self.high[j]) - values[j]
                values[j] += move
                pulls -= self.curvatures[j] * move
                most = max(most, curvature * move * move)
            if not most > least:
                break
        return values - self.values
