"""Spectral projected gradient (SPGL1).

SPGL1 solves the LASSO form ``min ||A a - b|| subject to ||a||_1 <= tau``, by projected gradient
steps of Barzilai-Borwein length, and the BPDN form ``min ||a||_1 subject to ||A a - b|| <= sigma``,
by Newton's method on the curve phi(tau) = ||r|| of the LASSO form. A penalty lam corresponds to
``||A'r||_inf = N lam``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.l1.fpc import Polisher, check_lasso, shrink
from rulewright.weighting.l1.problem import L1Problem, L1Solution, Point, Solver
from rulewright.weighting.l1.screened import Screened, Screening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import FloatArray

SHORTEST, LONGEST = 1e-16, 1e5
"""Step lengths."""

ARMIJO = 1e-4
"""Minimum share of the predicted decrease that a step must achieve."""

ROUGHLY = 1e-3
"""Relative duality gap within each radius along a path, whose solutions are polished."""

MOST_RADII = 3
"""Maximum number of radii per penalty of a path."""

MATCHED = 1e-2
"""Relative tolerance between multiplier and penalty along a path."""

LEAST_STEP = 2.0**-40
"""Minimum length of a halved step."""


STRONG = 0.9
"""Share of the largest gradient from which a column is chosen."""

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

    Along a path of penalties, solutions that violate the optimality conditions by more than
    `tolerance` times the largest penalty are polished by coordinate descent.
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
        point = self._within(Screening(problem), problem.null, tau, self.tolerance)
        return _match_penalty(problem, point)

    def bpdn(self, problem: L1Problem, sigma: float) -> L1Solution:
        """Solve the BPDN form: at most sigma for the norm of the residual.

        Least squares has the minimum residual; for smaller sigma it is returned.
        """
        self._check(problem)
        if not sigma >= 0:
            raise ValueError(f"sigma must be 0 or above, not {sigma}")
        point, tau, screening = problem.null, 0.0, Screening(problem)
        for _ in range(self.max_roots):
            norm, slope = _norm(problem, point), _multiplier(problem, point)
            if abs(norm - sigma) <= 1e-10 * max(1.0, norm) or slope <= 1e-12 * norm:
                break
            step = (norm - sigma) * norm / slope
            # Near least squares a step is as long as the slope is small; a gap times such a radius
            # is rounding error.
            tau = max(0.0, tau + (min(step, tau) if tau else step))
            point = self._within(screening, point, tau, self.tolerance)
            if np.abs(point.a).sum() < INSIDE * tau:  # least squares: a larger ball does not help
                break
        return _match_penalty(problem, point)

    def _follow(self, problem: L1Problem, penalties: FloatArray) -> Iterator[Point]:
        screening, polisher = Screening(problem), Polisher(problem, self.tolerance)
        point, ahead, before = problem.null, problem.null, problem.largest_penalty
        for penalty, after in pairwise([*penalties.tolist(), 0.0]):
            last, found = point, self._for_penalty(screening, point, ahead, penalty)
            point = polisher.polish(found, penalty)
            yield point
            ahead = point
            if before > penalty:  # the path is nearly linear
                ahead = point.beyond(last, (penalty - after) / (before - penalty))
            before = penalty

    def _for_penalty(
        self, screening: Screening, point: Point, ahead: Point, penalty: float
    ) -> Point:
        """Find the radius with multiplier N lam, from a radius that is too small.

        The first radius is that of the point which the path is heading for.

        The multiplier decreases in the radius, and is linear between the radii where columns enter
        or leave. Secants through the last radius that is too small and one that is too large find
        it; or through the last two while all are too small.
        """
        problem = screening.problem
        target = penalty * problem.design.total
        low = (float(np.abs(point.a).sum()), _multiplier(problem, point) - target)
        high: tuple[float, float] | None = None
        tau = low[0] + low[1] / float(problem.design.norms.max())
        if (expected := float(np.abs(ahead.a).sum())) > low[0]:
            point, tau = ahead, expected
        for _ in range(min(self.max_roots, MOST_RADII)):
            point = self._within(screening, point, tau, max(self.tolerance, ROUGHLY))
            here = (tau, _multiplier(problem, point) - target)
            if abs(here[1]) <= MATCHED * target:
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

    def _within(self, screening: Screening, point: Point, tau: float, tolerance: float) -> Point:
        """Minimise the residual inside the ball, on the columns with large gradients."""
        problem, chosen = screening.problem, point.a != 0
        while True:
            sizes = np.abs(point.pulls)
            chosen = chosen | (sizes >= STRONG * sizes.max(initial=0.0))
            screened = screening.choose(chosen)
            start = project(point.a[screened.columns], tau)
            a = self._descend(screened, start, tau, tolerance)
            point = screened.point(problem, a)
            sizes = np.abs(point.pulls)
            outside = sizes[~chosen].max(initial=0.0) > sizes[chosen].max(initial=0.0)
            if not outside or _relative_gap(problem, point, tau) <= tolerance:
                return point

    def _descend(
        self, screened: Screened, a: FloatArray, tau: float, tolerance: float
    ) -> FloatArray:
        """Take projected gradient steps."""
        pulls = screened.pulls(a)
        length = 1.0 / max(1.0, float(np.abs(pulls).max(initial=0.0)))
        value = screened.half_square(a, pulls)
        values = deque([value], maxlen=self.memory)
        for _ in range(self.max_iter):
            largest = float(np.abs(pulls).max(initial=0.0))
            # r'(r - b) = -a'A'r
            if tau * largest - float(a @ pulls) <= tolerance * max(1.0, value):
                break
            direction = project(a + length * pulls, tau) - a
            slope, size = -float(pulls @ direction), 1.0
            while True:  # Armijo, nonmonotone
                moved = a + size * direction
                turned = screened.pulls(moved)
                value = screened.half_square(moved, turned)
                if value <= max(values) + ARMIJO * size * slope:
                    break
                size /= 2
                if size < LEAST_STEP:
                    return a  # the rest is rounding
            values.append(value)
            length = _spectral(moved - a, pulls - turned)
            a, pulls = moved, turned
        return a


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
