"""Coordinate descent along a path of penalties (GLMNET).

Each penalty starts from the previous solution. Sweeps
``a_j <- S(A_j'r / N + v_j a_j, lam) / v_j`` over the columns that pass the strong rule are repeated
until convergence. Then the optimality conditions are checked on all columns, and violators are
added. Squared error is quadratic; other losses are approximated by quadratics at the current scores
(proximal Newton).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from rulewright import kernels
from rulewright.weighting.l1.problem import L1Problem, Point, Solver, strong_columns, violators
from rulewright.weighting.l1.products import CrossProducts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import BoolArray, FloatArray

Mode = Literal["auto", "covariance", "naive"]

FEW_COLUMNS = 500
"""Up to this number of columns cross-products are stored even with fewer rows."""

FIRST_CHANGE, LAST_CHANGE = 1e-7, 1e-24
"""Sweeps stop when no step lowers the loss by more than this share of the best constant's loss;
a smaller share is used where the duality gap requires it."""

NEWTON_SWEEPS = 1000
"""Maximum number of sweeps over a quadratic that will be replaced."""

ANOTHER = 0.2
"""Relative difference beyond which a curvature must be recomputed..."""

PATIENCE = 20
"""...or number of steps under the old curvature that were not enough."""

LEAST_STEP = 2.0**-30
"""Minimum length of a halved Newton step."""

ROUNDING = 2.0**-50
"""Relative rise of the objective that may be due to rounding near its minimum."""


@dataclass(frozen=True)
class CoordinateDescent(Solver):
    """Cyclic coordinate descent with strong rules, active sets and warm starts.

    Parameters
    ----------
    tolerance : float
        Maximum duality gap of a solution, as a share of the best constant's loss.
    mode : {"auto", "covariance", "naive"}
        Store cross-products of columns ("covariance") or the residual ("naive"); squared error
        only.
    max_sweeps : int
        Maximum number of sweeps per quadratic.
    max_newton : int
        Maximum number of quadratics per penalty.
    """

    tolerance: float = 1e-8
    mode: Mode = "auto"
    max_sweeps: int = 100_000
    max_newton: int = 100

    losses = ("squared", "logistic", "huber")

    def _follow(self, problem: L1Problem, penalties: FloatArray) -> Iterator[Point]:
        point, before = problem.null, problem.largest_penalty
        quadratic, change, ahead = self.minimiser(problem), FIRST_CHANGE, problem.null
        for penalty, after in pairwise([*penalties.tolist(), 0.0]):
            l1 = problem.l1_ratio * np.array([penalty, before])
            chosen = strong_columns(np.abs(point.pulls), *l1.tolist()) | (ahead.a != 0)
            last, (point, change) = point, self.descend(quadratic, ahead, chosen, penalty, change)
            yield point
            ahead = point
            if before > penalty:  # the path is nearly linear
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
        """Solve for a penalty, starting with the chosen columns and a stopping threshold.

        Returns the solution and the threshold that was needed.
        """
        problem, l1 = quadratic.problem, penalty * quadratic.problem.l1_ratio
        while True:
            point = quadratic.minimise(point, chosen, penalty, change)
            missed = violators(np.abs(point.pulls), l1, chosen)
            if missed.any():
                chosen = chosen | missed
                continue
            gap = problem.gap(point, penalty)
            if gap <= self.tolerance * problem.null_loss or change <= LAST_CHANGE:
                return point, change
            change /= 10

    def minimiser(self, problem: L1Problem) -> Minimiser:
        """Choose between the two modes."""
        n, p = problem.design.n_rows, problem.design.n_columns
        if not problem.datafit.is_quadratic:
            return Newton(problem, self)
        keeps = self.mode == "covariance"
        if self.mode == "auto":
            keeps = p < FEW_COLUMNS or n >= p
        return Covariance(problem, self) if keeps else Naive(problem, self)


class Minimiser(Protocol):
    """Minimises over some of the columns."""

    problem: L1Problem

    def minimise(self, point: Point, chosen: BoolArray, penalty: float, change: float) -> Point:
        """Minimise Q(penalty) over the level and the chosen columns, from a given point."""


class Covariance:
    """Squared error by cross-products: one quadratic for the whole path."""

    def __init__(self, problem: L1Problem, solver: CoordinateDescent) -> None:
        self.problem = problem
        self.products = CrossProducts(problem.design, solver.max_sweeps)

    def minimise(self, point: Point, chosen: BoolArray, penalty: float, change: float) -> Point:
        """Sweep over the chosen columns, then evaluate the point on all rows."""
        problem = self.problem
        residuals = problem.design.weights * point.residual
        penalties, change = _penalties(problem, penalty), _in_rows(problem, change)
        return problem.point(self.products.descend(point.a, residuals, chosen, penalties, change))


class Naive:
    """Squared error by the residual, for more columns than rows."""

    def __init__(self, problem: L1Problem, solver: CoordinateDescent) -> None:
        self.problem, self.max_sweeps = problem, solver.max_sweeps

    def minimise(self, point: Point, chosen: BoolArray, penalty: float, change: float) -> Point:
        """Sweep over the chosen columns, then evaluate the point on all rows."""
        problem, design = self.problem, self.problem.design
        a = point.a.copy()
        design.matrix.descend(
            kernels.Quadratic(design.total, design.means, design.scales, design.norms),
            design.weights,
            np.flatnonzero(chosen).astype(np.int32),
            *_penalties(problem, penalty),
            _in_rows(problem, change),
            self.max_sweeps,
            a,
            design.weights * point.residual,
        )
        return problem.point(a)


class Newton:
    """Losses other than squared error: quadratics at the current scores.

    The cross-products of a quadratic cost more than many sweeps, and curvature changes little
    between penalties, so they are reused until the curvature differs too much. Residuals always
    belong to the loss itself, so that the solution does not depend on the reuse.
    """

    def __init__(self, problem: L1Problem, solver: CoordinateDescent) -> None:
        self.problem, self.solver = problem, solver
        self.products: CrossProducts | None = None
        self.weights: FloatArray = np.empty(0)

    def minimise(self, point: Point, chosen: BoolArray, penalty: float, change: float) -> Point:
        """Repeatedly minimise a quadratic and move there while the objective decreases."""
        problem, design = self.problem, self.problem.design
        a, level, scores = point.a, point.level, point.scores
        objective, size, last = self._objective(a, scores, penalty), 1.0, 0.0
        for n_steps in range(self.solver.max_newton):
            products = self._quadratic(
                scores, renewed=size < 1 or n_steps % PATIENCE == PATIENCE - 1
            )
            step, rise, largest = self._step(products, a, scores, chosen, penalty, change)
            moved = design.dot(step) + rise
            size = 1.0
            while size > LEAST_STEP:
                found = self._objective(a + size * step, scores + size * moved, penalty)
                if found <= objective * (1 + ROUNDING):
                    break
                size /= 2
            else:
                break  # no step helps: the rest is rounding
            a, level, scores = a + size * step, level + size * rise, scores + size * moved
            objective = found
            # The next step would be smaller than this one as this one is than the last.
            if largest**2 <= _in_rows(problem, change) * max(largest, last):
                break
            last = largest
        return problem.point(a, level + problem.settle_level(scores))

    def _objective(self, a: FloatArray, scores: FloatArray, penalty: float) -> float:
        return self.problem.loss(scores) + penalty * self.problem.penalty_of(a)

    def _quadratic(self, scores: FloatArray, renewed: bool) -> CrossProducts:
        """Return cross-products under the curvature at the scores, or under one like it."""
        problem, design = self.problem, self.problem.design
        weights = design.weights * problem.datafit.curvature(problem.y, scores)
        kept = self.products
        if kept is None or renewed or _differ(self.weights, weights):
            most = min(self.solver.max_sweeps, NEWTON_SWEEPS)
            kept = CrossProducts.like(design, weights, most)
            self.weights = weights
        self.products = kept
        return kept

    def _step(
        self,
        products: CrossProducts,
        a: FloatArray,
        scores: FloatArray,
        chosen: BoolArray,
        penalty: float,
        change: float,
    ) -> tuple[FloatArray, float, float]:
        """Return the step to the minimum of the quadratic: changes of a and of the level."""
        problem, design, curved = self.problem, self.problem.design, products.design
        residuals = design.weights * problem.datafit.residual(problem.y, scores)
        rise = float(residuals.sum()) / curved.total
        residuals -= curved.weights * rise
        penalties, change = _penalties(problem, penalty), _in_rows(problem, change)
        step = products.descend(a, residuals, chosen, penalties, change) - a
        # The quadratic is centred by other weights: the level moves by the difference of the means.
        rise += float((design.means - curved.means) @ design.coef(step))
        return step, rise, float((curved.norms * step**2).max(initial=curved.total * rise**2))


def _differ(weights: FloatArray, others: FloatArray) -> bool:
    return float(np.abs(weights - others).sum()) > ANOTHER * float(others.sum())


def _penalties(problem: L1Problem, penalty: float) -> tuple[float, float]:
    """Return the L1 and the ridge penalty in the units of the sum over rows."""
    scaled = penalty * problem.design.total
    return scaled * problem.l1_ratio, scaled * (1 - problem.l1_ratio)


def _in_rows(problem: L1Problem, change: float) -> float:
    """Return a share of the loss of the best constant as twice a sum over rows."""
    return 2 * change * problem.null_loss * problem.design.total
