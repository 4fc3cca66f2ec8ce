"""Coordinate descent along a path of penalties (GLMNET).

For each penalty, from the solution of the one before: columns that the strong rule lets through are
swept over, ``a_j <- S(A_j'r / N + v_j a_j, lam) / v_j``, until nothing changes; then the conditions
of optimality are checked on all columns, and violators are let in. Squared error is a quadratic;
any other loss is replaced by one near the current scores, again and again (proximal Newton).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from rulewright import kernels
from rulewright.weighting.l1.solver import Solver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.weighting.l1.design import Design
    from rulewright.weighting.l1.problem import Point, Problem

Mode = Literal["auto", "covariance", "naive"]

FEW_COLUMNS = 500
"""Up to so many columns cross-products are kept in any case."""

MANY_ROWS = 5
"""So many times more rows than columns are "many": cross-products are then cheaper."""

FIRST_CHANGE, LAST_CHANGE = 1e-7, 1e-24
"""Sweeps end when no step lowers the loss by more than this share of that of the best constant: at
first, and where the duality gap asks for more."""

LEAST_STEP = 2.0**-30
"""A Newton step that is halved to less than this is not taken."""


@dataclass(frozen=True)
class CoordinateDescent(Solver):
    """Cyclic coordinate descent with strong rules, active sets and warm starts.

    Parameters
    ----------
    tolerance : float
        A penalty is solved when the duality gap is at most this share of the loss of the best
        constant.
    mode : {"auto", "covariance", "naive"}
        Keep cross-products of columns, or the residual; squared error only.
    max_sweeps : int
        Sweeps over the columns of one quadratic at most.
    max_newton : int
        Quadratics for one penalty at most.
    """

    tolerance: float = 1e-4
    mode: Mode = "auto"
    max_sweeps: int = 100_000
    max_newton: int = 100

    losses = ("squared", "logistic", "huber")

    def _follow(self, problem: Problem, penalties: FloatArray) -> Iterator[Point]:
        point, before = problem.null, problem.largest_penalty
        quadratic, change, ahead = self.minimiser(problem), FIRST_CHANGE, problem.null
        for penalty, after in pairwise([*penalties.tolist(), 0.0]):
            strong = problem.l1_ratio * (2 * penalty - before)
            chosen = (np.abs(point.pulls) >= strong) | (ahead.a != 0)
            last, (point, change) = point, self.descend(quadratic, ahead, chosen, penalty, change)
            yield point
            ahead = point
            if problem.datafit.is_quadratic and before > penalty:  # the path is almost linear
                ahead = point.beyond(last, (penalty - after) / (before - penalty))
            before = penalty

    def descend(
        self,
        quadratic: Minimiser,
        point: Point,
        chosen: BoolArray,
        penalty: float,
        change: float = FIRST_CHANGE,
    ) -> tuple[Point, float]:
        """Solve for a penalty, starting with the chosen columns and a change to stop at.

        Returns the solution and the change that it took.
        """
        problem, l1 = quadratic.problem, penalty * quadratic.problem.l1_ratio
        while True:
            point = quadratic.minimise(point, chosen, penalty, change)
            missed = ~chosen & (np.abs(point.pulls) > l1)
            if missed.any():
                chosen = chosen | missed
                continue
            gap = problem.gap(point, penalty)
            if gap <= self.tolerance * problem.null_loss or change <= LAST_CHANGE:
                return point, change
            change /= 10

    def minimiser(self, problem: Problem) -> Minimiser:
        """Choose between the two modes."""
        n, p = problem.design.n_rows, problem.design.n_columns
        covariance = self.mode == "covariance"
        if self.mode == "auto":
            covariance = p < FEW_COLUMNS or n > MANY_ROWS * p
        if problem.datafit.is_quadratic and covariance:
            return CrossProducts(problem, self)
        return Newton(problem, self)


class Minimiser(Protocol):
    """What minimises over some columns, however it does it."""

    problem: Problem

    def minimise(self, point: Point, chosen: BoolArray, penalty: float, change: float) -> Point:
        """Minimise Q(penalty) over the level and the chosen columns, from a point."""


class CrossProducts:
    """Covariance mode: raw cross-products of all columns that were ever chosen, in that order.

    Pairs of rules over rows of equal weight are counts, which take half the memory.
    """

    def __init__(self, problem: Problem, solver: CoordinateDescent) -> None:
        design = problem.design
        self.problem, self.solver = problem, solver
        counted = design.unit and len(design.covers) == design.n_columns
        kind = np.int32 if counted else np.float64
        self.products = np.empty((design.n_columns, design.n_columns), dtype=kind)
        self.entered: IntArray = np.empty(0, dtype=np.int32)
        self.rank = np.full(design.n_columns, -1, dtype=np.int32)

    def minimise(self, point: Point, chosen: BoolArray, penalty: float, change: float) -> Point:
        """Sweep over the chosen columns, then evaluate the point on all rows."""
        design, solver = self.problem.design, self.solver
        self._enter(np.flatnonzero(chosen & (self.rank < 0)).astype(np.int32))
        weight, entered = design.total, self.entered
        means, scales = design.means[entered], design.scales[entered]
        coefs = point.a[entered]
        sums = design.matrix.sums(entered, design.weights * point.residual, design.n_threads)
        kernels.descend_products(
            self.products,
            kernels.Quadratic(weight, means, scales, design.norms[entered]),
            self.rank[chosen],
            *_penalties(self.problem, penalty),
            _in_rows(self.problem, change),
            solver.max_sweeps,
            coefs,
            sums,
        )
        a = np.zeros(design.n_columns)
        a[entered] = coefs
        return self.problem.point(a)

    def _enter(self, columns: IntArray) -> None:
        """Fill in the products of further columns with each other and with those before."""
        n, m = len(self.entered), len(columns)
        self.entered = np.concatenate([self.entered, columns])
        self.rank[columns] = np.arange(n, n + m)
        for first in range(0, m, 64):  # few at a time: the sums are twice as large as counts
            some = columns[first : first + 64]
            rows = slice(n + first, n + first + len(some))
            others = self.entered[: rows.stop]
            cross = self.problem.design.cross(some, others).reshape(len(some), len(others))
            self.products[rows, : rows.stop] = cross
            self.products[: rows.stop, rows] = cross.T


class Newton:
    """Naive mode, and losses other than squared error: quadratics near the current scores."""

    def __init__(self, problem: Problem, solver: CoordinateDescent) -> None:
        self.problem, self.solver = problem, solver

    def minimise(self, point: Point, chosen: BoolArray, penalty: float, change: float) -> Point:
        """Minimise a quadratic, go there as far as the objective falls, and take the next one."""
        problem, columns = self.problem, np.flatnonzero(chosen).astype(np.int32)
        design = problem.design.select(columns)
        a, level, scores = point.a[columns], point.level, point.scores
        objective = self._objective(a, scores, penalty)
        for _ in range(self.solver.max_newton):
            step, rise, largest = self._step(design, a, scores, penalty, change)
            moved = design.dot(step) + rise
            size = 1.0
            while size > LEAST_STEP:
                found = self._objective(a + size * step, scores + size * moved, penalty)
                if found <= objective:
                    break
                size /= 2
            else:
                break  # no step helps: the rest is rounding
            a, level, scores = a + size * step, level + size * rise, scores + size * moved
            objective = found
            if problem.datafit.is_quadratic or largest <= _in_rows(problem, change):
                break
        every = np.zeros(problem.design.n_columns)
        every[columns] = a
        return problem.point(every, level + problem.settled(scores))

    def _objective(self, a: FloatArray, scores: FloatArray, penalty: float) -> float:
        return self.problem.loss(scores) + penalty * self.problem.penalty_of(a)

    def _step(
        self, design: Design, a: FloatArray, scores: FloatArray, penalty: float, change: float
    ) -> tuple[FloatArray, float, float]:
        """Give the way to the least point of the quadratic: steps of a and of the level."""
        problem = self.problem
        weights = design.weights * problem.datafit.curvature(problem.y, scores)
        curved = design.reweighted(weights)
        residuals = design.weights * problem.datafit.residual(problem.y, scores)
        rise = float(residuals.sum()) / curved.total
        residuals -= weights * rise
        found = a.copy()
        curved.matrix.descend(
            kernels.Quadratic(curved.total, curved.means, curved.scales, curved.norms),
            weights,
            curved.columns,
            *_penalties(problem, penalty),
            _in_rows(problem, change),
            self.solver.max_sweeps,
            found,
            residuals,
        )
        step = found - a
        # The quadratic is centred by other weights: the level moves by the difference of the means.
        rise += float((design.means - curved.means) @ design.coef(step))
        return step, rise, float((curved.norms * step**2).max(initial=curved.total * rise**2))


def _penalties(problem: Problem, penalty: float) -> tuple[float, float]:
    """Give the L1 and the ridge penalty in the units of the sum over rows."""
    scaled = penalty * problem.design.total
    return scaled * problem.l1_ratio, scaled * (1 - problem.l1_ratio)


def _in_rows(problem: Problem, change: float) -> float:
    """Give a share of the loss of the best constant as twice a sum over rows."""
    return 2 * change * problem.null_loss * problem.design.total
