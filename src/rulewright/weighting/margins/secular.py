"""MMV in the 2-norm ball: w = (2 kappa S + t I)^-1 d, with t from the secular equation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray
    from rulewright.weighting.margins.ball import MarginQuadratic

_LEAST = 2e-13
_STEPS = 100


class Secular:
    """Finds t with L2(w) = 1 by Newton steps between bounds, from the last t."""

    p = 2.0
    sphere = False

    def __init__(self) -> None:
        self._t = 0.0

    def solve(self, problem: MarginQuadratic, w: FloatArray) -> FloatArray:
        """Return the best weights; the last ones are not needed."""
        if not problem.d.any():
            return np.zeros(len(w))
        w, self._t = secular_weights(problem, self._t)
        return w

    def remove(self, j: int) -> None:
        """Nothing is kept between problems but t."""


class Sphere:
    """Finds w with L2(w) = 1 exactly, as the thesis writes it: t may be negative.

    The best point of a sphere has H + t I without a negative eigenvalue. Where d has no part along
    the eigenvectors of the smallest one, w may need one of them to reach the sphere.
    """

    p = 2.0
    sphere = True

    def solve(self, problem: MarginQuadratic, w: FloatArray) -> FloatArray:
        """Return the best weights; the last ones are not needed."""
        if not problem.d.any():
            return np.zeros(len(w))
        values, vectors = np.linalg.eigh(problem.hessian)
        parts = vectors.T @ problem.d
        parts[np.abs(parts) <= _LEAST] = 0.0
        return np.asarray(vectors @ _on_sphere(values - values[0], parts))

    def remove(self, j: int) -> None:
        """Nothing is kept between problems."""


def _on_sphere(values: FloatArray, parts: FloatArray) -> FloatArray:
    """Return parts / (values + s) with norm 1, s >= 0; values ascend from 0."""
    flat = values <= _LEAST * max(1.0, float(values[-1]))
    if not parts[flat].any():
        inside = np.divide(parts, values, out=np.zeros(len(parts)), where=~flat)
        left = 1 - float(inside @ inside)
        if left >= 0:
            inside[0] = np.sqrt(left)
            return inside
    low, high = 0.0, float(np.linalg.norm(parts))
    for _ in range(_STEPS):
        s = (low + high) / 2
        if not low < s < high:
            break
        w = np.divide(parts, values + s, out=np.zeros(len(parts)), where=parts != 0)
        low, high = (s, high) if float(w @ w) > 1 else (low, s)
    w = np.divide(parts, values + high, out=np.zeros(len(parts)), where=parts != 0)
    return np.asarray(w / np.linalg.norm(w))


def least_shift(problem: MarginQuadratic) -> float:
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


def secular_weights(problem: MarginQuadratic, t: float) -> tuple[FloatArray, float]:
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
