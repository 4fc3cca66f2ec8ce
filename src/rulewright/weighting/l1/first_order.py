"""First-order solvers of the lasso: fixed-point continuation (FPC), projected gradient (SPGL1).

FPC solves ``||a||_1 + mu / 2 ||A a - b||^2`` with mu = 1 / (N lam) by shrinkage steps:

    a <- S(a - s (A'A a - A'b), s / mu),  0 < s < 2 / lambda_max(A'A),

for mu growing by a factor up to its final value, with warm starts. Coordinate descent polishes
solutions that violate the optimality conditions.

SPGL1 solves the LASSO form ``min ||A a - b|| subject to ||a||_1 <= tau``, by projected gradient
steps of Barzilai-Borwein length, and the BPDN form ``min ||a||_1 subject to ||A a - b|| <= sigma``,
by Newton's method on the curve phi(tau) = ||r|| of the LASSO form. A penalty lam corresponds to
``||A'r||_inf = N lam``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.l1.coordinate import CoordinateDescent
from rulewright.weighting.l1.problem import L1Problem, L1Solution, Point, Solver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import FloatArray


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
    """Return S(v, t) = sign(v) max(|v| - t, 0)."""
    return np.asarray(np.sign(values) * np.maximum(np.abs(values) - by, 0.0))


def check_lasso(solver: Solver, problem: L1Problem) -> None:
    """Raise an error for a ridge penalty."""
    if problem.l1_ratio != 1:
        name = type(solver).__name__
        raise ValueError(
            f"{name} needs l1_ratio=1, not {problem.l1_ratio}: CoordinateDescent fits elastic nets"
        )


SHORTEST, LONGEST = 1e-16, 1e5
"""Step lengths."""

ARMIJO = 1e-4
"""Minimum share of the predicted decrease that a step must achieve."""

MATCHED = 1e3
"""Relative tolerance between multiplier and penalty, as a multiple of the tolerance; the error of
the objective is about the square of this."""

LEAST_STEP = 2.0**-40
"""Minimum length of a halved step."""


INSIDE = 1 - 1e-6
"""Solutions below this share of the radius are inside the ball."""


@dataclass(frozen=True)
class SPGL1(Solver):
    """Spectral projected gradient for the LASSO and the BPDN form.

    Parameters
    ----------
    tolerance : float
        Relative duality gap at which a LASSO problem is solved.
    memory : int
        A step may raise the objective, but not above the maximum of this many previous steps.
    max_iter : int
        Maximum number of steps per radius.
    max_roots : int
        Maximum number of radii per sigma or penalty.
    """

    tolerance: float = 1e-7
    memory: int = 3
    max_iter: int = 10_000
    max_roots: int = 50

    def _check(self, problem: L1Problem) -> None:
        super()._check(problem)
        check_lasso(self, problem)

    def lasso(self, problem: L1Problem, tau: float) -> L1Solution:
        """Solve the LASSO form: at most tau for the L1 norm of the coefficients of A."""
        self._check(problem)
        if not tau >= 0:
            raise ValueError(f"tau must be 0 or above, not {tau}")
        return _match_penalty(problem, self._within(problem, problem.null, tau))

    def bpdn(self, problem: L1Problem, sigma: float) -> L1Solution:
        """Solve the BPDN form: at most sigma for the norm of the residual.

        Least squares has the minimum residual; for smaller sigma it is returned.
        """
        self._check(problem)
        if not sigma >= 0:
            raise ValueError(f"sigma must be 0 or above, not {sigma}")
        point, tau = problem.null, 0.0
        for _ in range(self.max_roots):
            norm, slope = _norm(problem, point), _multiplier(problem, point)
            if abs(norm - sigma) <= 1e-10 * max(1.0, norm) or slope <= 1e-12 * norm:
                break
            step = (norm - sigma) * norm / slope
            # Near least squares a step is as long as the slope is small; a gap times such a radius
            # is rounding error.
            tau = max(0.0, tau + (min(step, tau) if tau else step))
            point = self._within(problem, point, tau)
            if np.abs(point.a).sum() < INSIDE * tau:  # least squares: a larger ball does not help
                break
        return _match_penalty(problem, point)

    def _follow(self, problem: L1Problem, penalties: FloatArray) -> Iterator[Point]:
        point = problem.null
        for penalty in penalties.tolist():
            point = self._for_penalty(problem, point, penalty)
            yield point

    def _for_penalty(self, problem: L1Problem, point: Point, penalty: float) -> Point:
        """Find the radius with multiplier N lam, from a radius that is too small.

        The multiplier decreases in the radius, and is linear between the radii where columns enter
        or leave. Secants through the last radius that is too small and one that is too large find
        it; or through the last two while all are too small.
        """
        target = penalty * problem.design.total
        low = (float(np.abs(point.a).sum()), _multiplier(problem, point) - target)
        high: tuple[float, float] | None = None
        tau = low[0] + low[1] / float(problem.design.norms.max())
        for _ in range(self.max_roots):
            point = self._within(problem, point, tau)
            here = (tau, _multiplier(problem, point) - target)
            if abs(here[1]) <= MATCHED * self.tolerance * target:
                break
            if here[1] < 0:
                low = (low[0], low[1] / 2) if high else low  # makes both ends move (Illinois)
                high = here
                tau = _crossing(low, high)
            elif high:
                low, high = here, (high[0], high[1] / 2)
                tau = _crossing(low, high)
            else:
                further = _crossing(low, here) if here[1] < low[1] else np.inf
                low, tau = here, min(further, 2 * tau + low[0])
        return point

    def _within(self, problem: L1Problem, point: Point, tau: float) -> Point:
        """Minimise the residual inside the ball: projected gradient steps."""
        point = problem.point(project(point.a, tau))
        length, total = 1.0 / max(1.0, float(np.abs(point.pulls).max())), problem.design.total
        values = deque([_half_square(problem, point)], maxlen=self.memory)
        for _ in range(self.max_iter):
            if _relative_gap(problem, point, tau) <= self.tolerance:
                break
            gradient = -point.pulls * total
            direction = project(point.a - length * gradient, tau) - point.a
            slope, size = float(gradient @ direction), 1.0
            while True:  # Armijo, nonmonotone
                moved = problem.point(point.a + size * direction)
                value = _half_square(problem, moved)
                if value <= max(values) + ARMIJO * size * slope:
                    break
                size /= 2
                if size < LEAST_STEP:
                    return point  # the rest is rounding
            values.append(value)
            length = _spectral(moved.a - point.a, (point.pulls - moved.pulls) * total)
            point = moved
        return point


def project(values: FloatArray, radius: float) -> FloatArray:
    """Return the nearest point whose L1 norm is at most `radius`."""
    sizes = np.abs(values)
    if sizes.sum() <= radius:
        return values.copy()
    if radius <= 0:
        return np.zeros(len(values))
    falling = np.sort(sizes)[::-1]
    thresholds = (np.cumsum(falling) - radius) / np.arange(1, len(values) + 1)
    last = int(np.flatnonzero(falling > thresholds)[-1])
    return shrink(values, float(thresholds[last]))


def _crossing(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the root of the line through two points (radius, excess)."""
    return one[0] + (other[0] - one[0]) * one[1] / (one[1] - other[1])


def _spectral(moved: FloatArray, turned: FloatArray) -> float:
    """Return the Barzilai-Borwein step length."""
    curvature = float(moved @ turned)
    if curvature <= 0:
        return LONGEST
    return min(max(float(moved @ moved) / curvature, SHORTEST), LONGEST)


def _relative_gap(problem: L1Problem, point: Point, tau: float) -> float:
    """Return the duality gap of the LASSO form, relative to the objective."""
    r, b, total = point.residual, problem.null.residual, problem.design.total
    gap = total * problem.design.mean(r * (r - b)) + tau * _multiplier(problem, point)
    return gap / max(1.0, _half_square(problem, point))


def _half_square(problem: L1Problem, point: Point) -> float:
    return 0.5 * problem.design.total * problem.design.mean(point.residual**2)


def _norm(problem: L1Problem, point: Point) -> float:
    return float(np.sqrt(2 * _half_square(problem, point)))


def _multiplier(problem: L1Problem, point: Point) -> float:
    """Return ||A'r||_inf: N lam for the penalty with this solution."""
    return float(np.abs(point.pulls).max(initial=0.0)) * problem.design.total


def _match_penalty(problem: L1Problem, point: Point) -> L1Solution:
    """Describe a point as the solution of the corresponding penalty."""
    return problem.solution(point, _multiplier(problem, point) / problem.design.total)
