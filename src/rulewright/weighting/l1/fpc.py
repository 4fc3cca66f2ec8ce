"""Fixed-point continuation (FPC): shrinkage steps while the weight of the loss grows.

The problem as solved is ``||a||_1 + mu / 2 ||A a - b||^2`` with mu = 1 / (N lam):

    a <- S(a - s (A'A a - A'b), s / mu),  0 < s < 2 / lambda_max(A'A),

for mu growing by a factor up to its final value, each from the solution before. Whatever the
shrinkage leaves undone is found by the conditions of optimality and done by coordinate descent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.l1.coordinate import CoordinateDescent
from rulewright.weighting.l1.solver import Solver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import FloatArray
    from rulewright.weighting.l1.problem import L1Problem, Point


@dataclass(frozen=True)
class FPC(Solver):
    """Shrinkage with continuation.

    Parameters
    ----------
    xtol, gtol : float
        Steps end when coefficients move by less than this, and the gradient is feasible to this.
    growth : float
        Factor of mu from one problem to the next.
    max_iter : int
        Steps for one mu at most.
    tolerance : float
        A solution that violates the conditions of optimality by more than this share of the largest
        penalty is polished.
    """

    xtol: float = 1e-6
    gtol: float = 1e-3
    growth: float = 4.0
    max_iter: int = 1000
    tolerance: float = 1e-7

    def _check(self, problem: L1Problem) -> None:
        super()._check(problem)
        check_lasso(self, problem)

    def _follow(self, problem: L1Problem, penalties: FloatArray) -> Iterator[Point]:
        polisher = CoordinateDescent(tolerance=self.tolerance**2)
        quadratic = polisher.minimiser(problem)
        step = 1.0 / problem.design.largest_eigenvalue()
        mu = self.growth / (problem.design.n_rows * problem.largest_penalty)
        point = problem.null
        for penalty in penalties.tolist():
            final = 1.0 / (problem.design.n_rows * penalty)
            while mu < final:  # continuation
                point = self._shrink(problem, point, mu, final, step)
                mu = min(self.growth * mu, final)
            point = self._shrink(problem, point, final, final, step)
            if problem.kkt(point, penalty) > self.tolerance * problem.largest_penalty:
                point, _ = polisher.descend(quadratic, point, point.a != 0, penalty)
            yield point

    def _shrink(
        self, problem: L1Problem, point: Point, mu: float, final: float, step: float
    ) -> Point:
        """Take steps for one mu until they are small and the gradient is feasible."""
        least = self.xtol * np.sqrt(final / mu)
        for _ in range(self.max_iter):
            pulls = point.pulls * problem.design.total  # A'b - A'A a
            a = shrink(point.a + step * pulls, step / mu)
            moved = float(np.linalg.norm(a - point.a))
            size = max(float(np.linalg.norm(point.a)), 1.0)
            point = problem.point(a)
            excess = mu * problem.design.total * float(np.abs(point.pulls).max()) - 1
            if moved / size < least and excess < self.gtol:
                break
        return point


def shrink(values: FloatArray, by: float) -> FloatArray:
    """Give S(v, t) = sign(v) max(|v| - t, 0)."""
    return np.asarray(np.sign(values) * np.maximum(np.abs(values) - by, 0.0))


def check_lasso(solver: Solver, problem: L1Problem) -> None:
    """Raise an error for a ridge penalty."""
    if problem.l1_ratio != 1:
        name = type(solver).__name__
        raise ValueError(
            f"{name} needs l1_ratio=1, not {problem.l1_ratio}: CoordinateDescent fits elastic nets"
        )
