"""MMV in the 2-norm ball: w = (2 kappa S + t I)^-1 d, with t from the secular equation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray
    from rulewright.weighting.margins.ball import Quadratic

_LEAST = 2e-13
_STEPS = 100


class Secular:
    """Finds t with L2(w) = 1 by Newton steps between bounds, from the last t."""

    p = 2.0

    def __init__(self) -> None:
        self._t = 0.0

    def solve(self, problem: Quadratic, w: FloatArray) -> FloatArray:
        """Return the best weights; the last ones are not needed."""
        if not problem.d.any():
            return np.zeros(len(w))
        w, self._t = secular_weights(problem, self._t)
        return w

    def remove(self, j: int) -> None:
        """Nothing is kept between problems but t."""


def least_shift(problem: Quadratic) -> float:
    """Return a t next to 0 with which a singular Hessian has a Cholesky factor.

    It exceeds the rounding errors of M - dd', which are small compared with 1, not with a variance.
    Weights of this t have gradients of this size, so their gap is that small, too.
    """
    return _LEAST * problem.curvature


def shifted_weights(hessian: FloatArray, d: FloatArray, t: float) -> tuple[FloatArray, FloatArray]:
    """Return (H + t I)^-1 d and the Cholesky factor."""
    shifted = hessian.copy()
    shifted.flat[:: len(d) + 1] += t
    factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(cho_solve(factor, d, check_finite=False)), factor[0]


def secular_weights(problem: Quadratic, t: float) -> tuple[FloatArray, float]:
    """Return w and t with norm 1, or those of the least t if they lie inside the ball.

    1 / norm - 1 is nearly linear in t and concave: Newton's method is fast, and stays left of
    the root once it is there. The root is at most the norm of d.
    """
    hessian, d = problem.hessian, problem.d
    low, high = least_shift(problem), float(np.linalg.norm(d))
    t = t if low < t < high else low
    for _ in range(_STEPS):
        w, factor = shifted_weights(hessian, d, t)
        norm = float(np.linalg.norm(w))
        if abs(norm - 1) <= 1e-14 or (norm < 1 and t <= low):
            break
        low, high = (t, high) if norm > 1 else (low, t)
        z = solve_triangular(factor, w, lower=True, check_finite=False)
        newton = t + norm * norm * (norm - 1) / float(z @ z)
        t = newton if low < newton < high else low if norm < 1 else (low + high) / 2
        if high - low <= 1e-15 * high:
            break
    return w, t
