"""Points of rules fitted together, some of them held fixed: the convex problems of a refit.

With classes the objective is the negative log-likelihood of the rows plus `l2` / 2 times the sum of
squared points. In regression it is half the weighted squared error plus the same penalty. Rows in
the same groups count once, by sums. Points keep a sign where one is required.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray, IntArray

LARGEST_STEPS = 60
"""Maximum number of Newton steps, and of halvings of one; about eight and one are usual."""

PRECISION, ROUNDED = 1e-22, 1e-12
"""The fit ends when a Newton step promises to lower the objective by less, per unit of weight. A
step that promises less than the second is taken in full."""

LEAST_RIDGE = 1e-13
"""Ridge penalty, per unit of weight, of points that nothing else determines."""


class Points(NamedTuple):
    """Points of the rules, and what every row starts with: a score per class, or one number."""

    rules: FloatArray
    start: FloatArray


class PointProblem(Protocol):
    """Groups of rows, with all that their objective needs."""

    def objective(self, points: Points) -> float:
        """Return the loss of the rows."""

    def derivatives(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """Return gradient and second derivatives by the points of rules, then by the starts."""

    @property
    def n_starts(self) -> int:
        """Number of starts that can move."""

    @property
    def total(self) -> float:
        """Total weight."""


class ClassProblem:
    """The negative log-likelihood of groups of rows.

    Parameters
    ----------
    columns : float64 array of shape (groups, rules)
        What the points of each rule are multiplied by: 1 where it applies.
    heads : float64 array of shape (rules, classes)
        1 for the classes that a rule adds its points to.
    sums : float64 array of shape (groups, classes)
        Weight of each class.
    offset : float64 array of shape (groups, classes) or 0.0
        Scores that are not fitted.
    """

    def __init__(
        self, columns: FloatArray, heads: FloatArray, sums: FloatArray, offset: FloatArray | float
    ) -> None:
        self.columns, self.heads, self.sums, self.offset = columns, heads, sums, offset
        self.totals = sums.sum(axis=1)
        self.total = float(self.totals.sum())

    @property
    def n_starts(self) -> int:
        """All classes but the first: only differences count."""
        return int(self.heads.shape[1]) - 1

    def scores(self, points: Points) -> FloatArray:
        """Return the scores of the groups."""
        added: FloatArray = self.columns @ (points.rules[:, np.newaxis] * self.heads)
        return added + points.start + self.offset

    def objective(self, points: Points) -> float:
        """Return the negative log-likelihood."""
        scores = self.scores(points)
        high = scores.max(axis=1)
        logs = high + np.log(np.exp(scores - high[:, np.newaxis]).sum(axis=1))
        return float(self.totals @ logs - (self.sums * scores).sum())

    def derivatives(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """Return gradient and second derivatives."""
        scores = self.scores(points)
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        excess, weighted = (
            self.totals[:, np.newaxis] * p - self.sums,
            self.totals[:, np.newaxis] * p,
        )
        heads = np.vstack([self.heads, np.eye(len(self.heads.T))[1:]])
        columns = np.hstack([self.columns, np.ones((len(scores), self.n_starts))])
        gradient = ((columns.T @ excess) * heads).sum(axis=1)
        second = np.zeros((len(heads), len(heads)))
        for k in range(heads.shape[1]):  # classes that two heads share
            own = np.flatnonzero(heads[:, k])
            part = columns[:, own]
            second[np.ix_(own, own)] += (part * weighted[:, k, np.newaxis]).T @ part
        expected = columns * (p @ heads.T)
        second -= (expected * self.totals[:, np.newaxis]).T @ expected
        return gradient, second


class NumberProblem:
    """Half the weighted squared error of groups of rows.

    Parameters
    ----------
    columns : float64 array of shape (groups, rules)
        What the points of each rule are multiplied by.
    weights, means : float64 arrays
        Weight and mean target of each group, less what is not fitted.
    """

    n_starts = 1

    def __init__(self, columns: FloatArray, weights: FloatArray, means: FloatArray) -> None:
        self.columns = np.hstack([columns, np.ones((len(columns), 1))])
        self.weights, self.means = weights, means
        self.total = float(weights.sum())

    def objective(self, points: Points) -> float:
        """Return the squared error between the means of the groups and their answers."""
        gaps = self.means - self.columns @ np.append(points.rules, points.start)
        return 0.5 * float(self.weights @ gaps**2)

    def derivatives(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """Return gradient and second derivatives."""
        gaps = self.columns @ np.append(points.rules, points.start) - self.means
        weighted = self.columns * self.weights[:, np.newaxis]
        return weighted.T @ gaps, weighted.T @ self.columns


def fit_points(
    problem: PointProblem,
    points: Points,
    free: BoolArray,
    signs: IntArray,
    l2: float,
    *,
    moves_start: bool = True,
) -> Points:
    """Fit the points of the free rules, and the starts, by projected Newton steps.

    Parameters
    ----------
    problem : PointProblem
        Rows.
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
    """
    n_rules, n_starts = len(points.rules), problem.n_starts
    moving = np.append(free, np.full(n_starts, moves_start))
    signs = np.append(signs, np.zeros(n_starts, dtype=signs.dtype))
    ridge = np.append(np.full(n_rules, l2), np.zeros(n_starts))
    first = points.start[:-n_starts]  # the class that the others are compared with stays

    def unpack(values: FloatArray) -> Points:
        return Points(values[:n_rules], np.append(first, values[n_rules:]))

    def loss(values: FloatArray) -> float:
        return problem.objective(unpack(values)) + 0.5 * float(ridge @ values**2)

    values = np.append(points.rules, points.start[len(first) :])
    values = np.where(moving & (values * signs < 0), 0.0, values)
    if not moving.any():
        return unpack(values)
    total = max(problem.total, 1e-300)
    current = loss(values)
    for _ in range(LARGEST_STEPS):
        gradient, second = problem.derivatives(unpack(values))
        gradient += ridge * values
        pinned = (values == 0) & (signs != 0) & (gradient * signs >= 0)
        own = np.flatnonzero(moving & ~pinned)
        curvature = second[np.ix_(own, own)]
        curvature[np.diag_indices(len(own))] += ridge[own] + LEAST_RIDGE * total
        step = np.zeros(len(values))
        step[own] = -np.linalg.solve(curvature, gradient[own])
        promised = -float(gradient @ step)
        if promised <= PRECISION * total:
            break
        for half in range(LARGEST_STEPS):
            tried = values + step / 2**half
            tried[tried * signs < 0] = 0.0
            found = loss(tried)
            # What a last step lowers may be less than what the objective is rounded by.
            if found < current or promised <= ROUNDED * total:
                break
        else:
            break
        values, current = tried, found
    return unpack(values)
