"""Points of rules fitted together, some of them held fixed: the convex problems of a refit.

With classes the objective is the negative log-likelihood of the rows plus `l2` / 2 times the sum of
squared points. In regression it is half the weighted squared error plus the same penalty. Rows in
the same groups count once, by sums. Points keep a sign where one is required.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray, IntArray

MOST_STEPS = 60
"""Maximum number of Newton steps, and of halvings of one; about six and none are usual."""

PRECISE, COARSE = 1e-22, 1e-12
"""The fit ends when a Newton step promises to lower the objective by less, per unit of weight."""

ROUNDED = 1e-12
"""Less than the objective is rounded by, per unit of weight: such a step is taken in full."""

SAFE_CHANGE = 1.5
"""A Newton step that moves no score by more always lowers a log-likelihood (see `SAFE_STEP` in
`weighting/likelihood.py`)."""

LEAST_RIDGE = 1e-13
"""Ridge penalty, per unit of weight, of points that nothing else determines."""


class Points(NamedTuple):
    """Points of the rules, and what every row starts with: a score per class, or one number."""

    rules: FloatArray
    start: FloatArray


class Objective(Protocol):
    """The loss of groups of rows, by values: points of rules, then starts that can move."""

    @property
    def total(self) -> float:
        """Total weight."""

    def hold(self, values: FloatArray, moving: IntArray) -> Self:
        """Return the objective by some of the values; the others do not change."""

    def loss(self, values: FloatArray) -> float:
        """Return the loss."""

    def derivatives(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and second derivatives."""

    def is_safe(self, step: FloatArray) -> bool:
        """Return whether a Newton step surely lowers the loss."""


def class_objective(
    columns: FloatArray, heads: FloatArray, sums: FloatArray, offset: FloatArray
) -> Objective:
    """Return the negative log-likelihood of groups of rows.

    Parameters
    ----------
    columns : float64 array of shape (groups, rules)
        What the points of each rule are multiplied by: 1 where it applies.
    heads : float64 array of shape (rules, classes)
        1 for the classes that a rule adds its points to.
    sums : float64 array of shape (groups, classes)
        Weight of each class.
    offset : float64 array of shape (groups, classes)
        Scores that are not fitted; the start of the first class is one.
    """
    n_classes = sums.shape[1]
    columns = np.hstack([columns, np.ones((len(columns), n_classes - 1))])
    heads = np.vstack([heads, np.eye(n_classes)[1:]])
    if n_classes == 2:
        signed = columns * (heads[:, 1] - heads[:, 0])
        return Logistic(signed, sums.sum(axis=1), sums[:, 1], offset[:, 1] - offset[:, 0])
    return Softmax(columns, heads, sums, offset)


@dataclass(frozen=True, eq=False)
class Logistic:
    """Negative log-likelihood of two classes: columns, weights, and weight of the second class."""

    columns: FloatArray
    weights: FloatArray
    seconds: FloatArray
    offset: FloatArray

    @property
    def total(self) -> float:
        """Total weight."""
        return float(self.weights.sum())

    def hold(self, values: FloatArray, moving: IntArray) -> Logistic:
        """Return the objective by some of the values, on the groups that they change."""
        own = self.columns[:, moving]
        touched = np.flatnonzero(own.any(axis=1) & (self.weights > 0))
        offset = (self.offset + self.columns @ _held(values, moving))[touched]
        return Logistic(own[touched], self.weights[touched], self.seconds[touched], offset)

    def loss(self, values: FloatArray) -> float:
        """Return the loss."""
        margins = self.columns @ values + self.offset
        return float(self.weights @ np.logaddexp(0, margins) - self.seconds @ margins)

    def derivatives(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and second derivatives."""
        p = 1 / (1 + np.exp(-np.clip(self.columns @ values + self.offset, -500, 500)))
        expected = self.weights * p
        weighted = self.columns.T * (expected * (1 - p))
        return self.columns.T @ (expected - self.seconds), weighted @ self.columns

    def is_safe(self, step: FloatArray) -> bool:
        """Return whether no score moves much."""
        return float(np.abs(self.columns @ step).max(initial=0.0)) <= SAFE_CHANGE


@dataclass(frozen=True, eq=False)
class Softmax:
    """Negative log-likelihood of any number of classes."""

    columns: FloatArray
    heads: FloatArray
    sums: FloatArray
    offset: FloatArray

    @property
    def total(self) -> float:
        """Total weight."""
        return float(self.sums.sum())

    def hold(self, values: FloatArray, moving: IntArray) -> Softmax:
        """Return the objective by some of the values, on the groups that they change."""
        own = self.columns[:, moving]
        touched = np.flatnonzero(own.any(axis=1) & self.sums.any(axis=1))
        offset = self._scores(_held(values, moving))[touched]
        return Softmax(own[touched], self.heads[moving], self.sums[touched], offset)

    def _scores(self, values: FloatArray) -> FloatArray:
        scores: FloatArray = self.columns @ (values[:, np.newaxis] * self.heads) + self.offset
        return scores

    def loss(self, values: FloatArray) -> float:
        """Return the loss."""
        scores = self._scores(values)
        logs = np.logaddexp.reduce(scores, axis=1)
        return float(self.sums.sum(axis=1) @ logs - (self.sums * scores).sum())

    def derivatives(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and second derivatives."""
        scores, totals = self._scores(values), self.sums.sum(axis=1)
        p = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, np.newaxis])
        expected = totals[:, np.newaxis] * p
        gradient = ((self.columns.T @ (expected - self.sums)) * self.heads).sum(axis=1)
        second = np.zeros((len(values), len(values)))
        for k in range(self.heads.shape[1]):  # classes that two heads share
            own = np.flatnonzero(self.heads[:, k])
            part = self.columns[:, own]
            second[np.ix_(own, own)] += (part.T * expected[:, k]) @ part
        mean = self.columns * (p @ self.heads.T)
        return gradient, second - (mean.T * totals) @ mean

    def is_safe(self, step: FloatArray) -> bool:
        """Return whether no difference of two scores moves much."""
        moved = self.columns @ (step[:, np.newaxis] * self.heads)
        return float(np.ptp(moved, axis=1).max(initial=0.0)) <= SAFE_CHANGE


@dataclass(frozen=True, eq=False)
class Squares:
    """Half the weighted squared error: columns, weights, and means of the targets."""

    columns: FloatArray
    weights: FloatArray
    means: FloatArray

    @property
    def total(self) -> float:
        """Total weight."""
        return float(self.weights.sum())

    def hold(self, values: FloatArray, moving: IntArray) -> Squares:
        """Return the objective by some of the values."""
        means = self.means - self.columns @ _held(values, moving)
        return replace(self, columns=self.columns[:, moving], means=means)

    def loss(self, values: FloatArray) -> float:
        """Return the loss."""
        gaps = self.means - self.columns @ values
        return 0.5 * float(self.weights @ gaps**2)

    def derivatives(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and second derivatives."""
        weighted = self.columns.T * self.weights
        return weighted @ (self.columns @ values - self.means), weighted @ self.columns

    def is_safe(self, step: FloatArray) -> bool:
        """Return True: the step leads to the minimum."""
        return True


def _held(values: FloatArray, moving: IntArray) -> FloatArray:
    """Return the values that do not move, and 0 for the others."""
    held = values.copy()
    held[moving] = 0.0
    return held


def fit_points(
    objective: Objective,
    points: Points,
    free: BoolArray,
    signs: IntArray,
    l2: float,
    *,
    moves_start: bool = True,
    precision: float = PRECISE,
) -> Points:
    """Fit the points of the free rules, and the starts, by projected Newton steps.

    Parameters
    ----------
    objective : Objective
        The loss of the rows, by points and by all starts but the first of several.
    points : Points
        Where to begin; rules that are not free keep these points.
    free : bool array
        Rules to fit.
    signs : int array
        1 or -1 for a rule whose points must not be negative or positive, 0 for any other.
    l2 : float
        Ridge penalty of the points, in rows.
    moves_start : bool
        Whether the starts are fitted too.
    precision : float
        What a further step may promise, per unit of weight.
    """
    n_rules = len(points.rules)
    n_fixed = min(len(points.start) - 1, 1)  # only differences of several scores count
    n_starts = len(points.start) - n_fixed
    values = np.append(points.rules, points.start[n_fixed:])
    moving = np.flatnonzero(np.append(free, np.full(n_starts, moves_start))).astype(np.int32)
    if len(moving):
        signs = np.append(signs, np.zeros(n_starts, dtype=signs.dtype))[moving]
        ridge = np.where(moving < n_rules, l2, 0.0)
        part = objective.hold(values, moving)
        values[moving] = _descend(part, values[moving], signs, ridge, precision)
    return Points(values[:n_rules], np.append(points.start[:n_fixed], values[n_rules:]))


def _descend(
    objective: Objective, values: FloatArray, signs: IntArray, ridge: FloatArray, precision: float
) -> FloatArray:
    """Take Newton steps until they promise nothing; values do not cross 0 against their sign."""
    total = max(objective.total, 1e-300)
    values = np.where(values * signs < 0, 0.0, values)

    def loss(tried: FloatArray) -> float:
        return objective.loss(tried) + 0.5 * float(ridge @ tried**2)

    for _ in range(MOST_STEPS):
        gradient, second = objective.derivatives(values)
        gradient = gradient + ridge * values
        pinned = (values == 0) & (signs != 0) & (gradient * signs >= 0)
        own = np.flatnonzero(~pinned)
        curvature = second[np.ix_(own, own)]
        curvature[np.diag_indices(len(own))] += ridge[own] + LEAST_RIDGE * total
        step = np.zeros(len(values))
        step[own] = -np.linalg.solve(curvature, gradient[own])
        promised = -float(gradient @ step)
        if promised <= precision * total:
            break
        tried = values + step
        tried[tried * signs < 0] = 0.0
        turned = bool((tried != values + step).any())
        if promised > ROUNDED * total and (turned or not objective.is_safe(step)):
            current, half = loss(values), 1.0
            while loss(tried) >= current and half > 2.0**-MOST_STEPS:
                half /= 2
                tried = values + half * step
                tried[tried * signs < 0] = 0.0
        values = tried
    return values
