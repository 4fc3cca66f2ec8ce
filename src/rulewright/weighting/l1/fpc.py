"""Fixed-point continuation (FPC), and the polishing of solutions by coordinate descent.

FPC solves ``||a||_1 + mu / 2 ||A a - b||^2`` with mu = 1 / (N lam) by shrinkage steps:

    a <- S(a - s (A'A a - A'b), s / mu),  0 < s < 2 / lambda_max(A'A),

for mu growing by a factor up to its final value, with warm starts. Coordinate descent polishes
solutions that violate the optimality conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.l1.coordinate import CoordinateDescent
from rulewright.weighting.l1.problem import (
    L1Problem,
    Point,
    Solver,
    strong_columns,
    violators,
)
from rulewright.weighting.l1.screened import Screened, Screening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import BoolArray, FloatArray


@dataclass(frozen=True)
class FPC(Solver):
    """Shrinkage with continuation.

    Parameters
    ----------
    xtol, gtol : float
        Tolerances on the change of the coefficients and on the feasibility of the gradient.
    growth : float
        Factor of mu between successive problems.
    max_iter : int
        Maximum number of steps per mu.
    tolerance : float
        Solutions that violate the optimality conditions by more than this share of the largest
        penalty are polished.
    """

    xtol: float = 1e-4
    gtol: float = 0.2
    growth: float = 4.0
    max_iter: int = 1000
    tolerance: float = 1e-7

    def _check(self, problem: L1Problem) -> None:
        super()._check(problem)
        check_lasso(self, problem)

    def _follow(self, problem: L1Problem, penalties: FloatArray) -> Iterator[Point]:
        screening, polisher = Screening(problem), Polisher(problem, self.tolerance)
        mu = self.growth / (problem.design.n_rows * problem.largest_penalty)
        point, before = problem.null, problem.largest_penalty
        for penalty in penalties.tolist():
            chosen = strong_columns(np.abs(point.pulls), penalty, before) | (point.a != 0)
            point, mu = self._solve(screening, point, chosen, mu, penalty)
            point = polisher.polish(point, penalty)
            yield point
            before = penalty

    def _solve(
        self, screening: Screening, point: Point, chosen: BoolArray, mu: float, penalty: float
    ) -> tuple[Point, float]:
        """Solve for a penalty on the chosen columns, and those that turn out to be missing."""
        problem = screening.problem
        final = 1.0 / (problem.design.n_rows * penalty)
        while True:
            screened = screening.choose(chosen)
            a = point.a[screened.columns]
            while mu < final:  # continuation
                a = self._shrink(screened, a, mu, final)
                mu = min(self.growth * mu, final)
            a = self._shrink(screened, a, final, final)
            point = screened.point(problem, a)
            missed = violators(np.abs(point.pulls), penalty, chosen)
            if not missed.any():
                return point, mu
            chosen = chosen | missed

    def _shrink(self, screened: Screened, a: FloatArray, mu: float, final: float) -> FloatArray:
        """Take steps for one mu until they are small and the gradient is feasible."""
        least, step = self.xtol * np.sqrt(final / mu), screened.step
        pulls = screened.pulls(a)
        for _ in range(self.max_iter):
            before = a
            a = shrink(a + step * pulls, step / mu)
            moved, size = np.linalg.norm(a - before), max(float(np.linalg.norm(before)), 1.0)
            pulls = screened.pulls(a)
            if moved / size < least and mu * np.abs(pulls).max(initial=0.0) - 1 < self.gtol:
                break
        return a


class Polisher:
    """Coordinate descent on solutions that violate the optimality conditions too much.

    Parameters
    ----------
    problem : L1Problem
        The problem.
    tolerance : float
        Largest violation, as a share of the largest penalty.
    """

    def __init__(self, problem: L1Problem, tolerance: float) -> None:
        self.problem, self.allowed = problem, tolerance * problem.largest_penalty
        self.solver = CoordinateDescent(tolerance=tolerance**2)
        self.quadratic = self.solver.minimiser(problem)

    def polish(self, point: Point, penalty: float) -> Point:
        """Return the point, or the solution that starts from it."""
        if self.problem.kkt(point, penalty) <= self.allowed:
            return point
        return self.solver.descend(self.quadratic, point, point.a != 0, penalty)[0]


def shrink(values: FloatArray, by: float) -> FloatArray:
    """Return S(v, t) = sign(v) max(|v| - t, 0)."""
    return np.asarray(np.sign(values) * np.maximum(np.abs(values) - by, 0.0))


def check_lasso(solver: Solver, problem: L1Problem) -> None:
    """Raise an error for a ridge penalty."""
    if problem.l1_ratio != 1:
        name = type(solver).__name__
        raise ValueError(
            f"{name} needs l1_ratio=1, not {problem.l1_ratio}: CoordinateDescent fits elastic nets"
        )
