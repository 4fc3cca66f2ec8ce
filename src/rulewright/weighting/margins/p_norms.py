"""MMV in balls of the p-norm with p > 1.

For p = 2, w = (2 kappa S + t I)^-1 d, with t from the secular equation. For p = infinity an active
set fixes weights at their bounds -1 and 1. Otherwise Frank-Wolfe steps are followed by Newton steps
on the boundary of the ball: there d - Hw = t s with s = sign(w) |w|^(p-1), t > 0 and w.s = 1.
Powers above 1 are smooth, so the unknown z is w for p >= 2, and s for p < 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular

from rulewright.weighting.margins.ball import TOLERANCE, MarginQuadratic

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray


_LEAST = 2e-13
_SECULAR_STEPS = 100


class Secular:
    """Finds t with L2(w) = 1 by Newton steps between bounds, from the last t."""

    p = 2.0
    sphere = False

    def __init__(self) -> None:
        self._t = 0.0

    def solve(self, problem: MarginQuadratic, w: FloatArray) -> FloatArray:
        """Return the optimal weights; the last ones are not used."""
        if not problem.d.any():
            return np.zeros(len(w))
        w, self._t = secular_weights(problem, self._t)
        return w

    def remove(self, j: int) -> None:
        """Do nothing: only t is kept between problems."""


class Sphere:
    """Finds w with L2(w) = 1 exactly, as in the thesis: t may be negative.

    The best point of a sphere has H + t I without a negative eigenvalue. Where d has no part along
    the eigenvectors of the smallest one, w may need one of them to reach the sphere.
    """

    p = 2.0
    sphere = True

    def solve(self, problem: MarginQuadratic, w: FloatArray) -> FloatArray:
        """Return the optimal weights; the last ones are not used."""
        if not problem.d.any():
            return np.zeros(len(w))
        values, vectors = np.linalg.eigh(problem.hessian)
        parts = vectors.T @ problem.d
        parts[np.abs(parts) <= _LEAST] = 0.0
        return np.asarray(vectors @ _on_sphere(values - values[0], parts))

    def remove(self, j: int) -> None:
        """Do nothing: no state is kept between problems."""


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
    for _ in range(_SECULAR_STEPS):
        s = (low + high) / 2
        if not low < s < high:
            break
        w = np.divide(parts, values + s, out=np.zeros(len(parts)), where=parts != 0)
        low, high = (s, high) if float(w @ w) > 1 else (low, s)
    w = np.divide(parts, values + high, out=np.zeros(len(parts)), where=parts != 0)
    return np.asarray(w / np.linalg.norm(w))


def least_shift(problem: MarginQuadratic) -> float:
    """Return a t close to 0 for which a singular Hessian has a Cholesky factor.

    It exceeds the rounding errors of M - dd', which are small relative to 1, not to a variance.
    Weights for this t have gradients of this size, so their gap is small, too.
    """
    return _LEAST * problem.curvature


def shifted_weights(hessian: FloatArray, d: FloatArray, t: float) -> tuple[FloatArray, FloatArray]:
    """Return (H + t I)^-1 d and the Cholesky factor."""
    shifted = hessian.copy()
    shifted.flat[:: len(d) + 1] += t
    factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(cho_solve(factor, d, check_finite=False)), factor[0]


def secular_weights(problem: MarginQuadratic, t: float) -> tuple[FloatArray, float]:
    """Return w and t with norm 1, or those for the smallest t if they lie inside the ball.

    1 / norm - 1 is nearly linear in t and concave: Newton's method is fast, and stays left of
    the root once it is there. The root is at most the norm of d.
    """
    hessian, d = problem.hessian, problem.d
    low, high = least_shift(problem), float(np.linalg.norm(d))
    t = t if low < t < high else low
    for _ in range(_SECULAR_STEPS):
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


class Box:
    """Newton steps of the free weights; a weight stays at a bound until leaving it is a gain.

    The Hessian is shifted by next to nothing: where it is singular, steps are long and end at a
    bound, as they should if the objective is linear there.
    """

    p = np.inf
    sphere = False

    def solve(self, problem: MarginQuadratic, w: FloatArray) -> FloatArray:
        """Return the optimal weights, starting from the last ones."""
        hessian, w = problem.hessian, w.copy()
        free = np.abs(w) < 1
        for _ in range(100 + 20 * len(w)):
            g = problem.gradient(w)
            if np.abs(g).sum() - g @ w <= TOLERANCE:
                break
            if not self._move(hessian, least_shift(problem), g, w, free):
                free[np.where(free, -np.inf, -g * w).argmax()] = True
        return w

    def remove(self, j: int) -> None:
        """Do nothing: no state is kept between problems."""

    @staticmethod
    def _move(
        hessian: FloatArray, shift: float, g: FloatArray, w: FloatArray, free: BoolArray
    ) -> bool:
        """Move the free weights to their optimum or the first bound; return whether it is one."""
        places = np.flatnonzero(free)
        if not len(places):
            return False
        u, _ = shifted_weights(hessian[np.ix_(places, places)], g[places], shift)
        ends = np.where(u < 0, -1.0, 1.0)
        steps = np.divide(ends - w[places], u, out=np.full(len(u), np.inf), where=u != 0)
        first = int(steps.argmin())
        w[places] += min(float(steps[first]), 1.0) * u
        np.clip(w, -1, 1, out=w)
        if steps[first] > 1:
            return False
        w[places[first]] = ends[first]
        free[places[first]] = False
        return True


_NEWTON_STEPS = 30
_HALVINGS = 20
_EXACT = 1e-13


class _Place(NamedTuple):
    """Unknown and multiplier, derived quantities, and the violation of the conditions."""

    z: FloatArray
    t: float
    w: FloatArray
    s: FloatArray
    miss: FloatArray
    short: float

    @property
    def error(self) -> float:
        return float(np.hypot(np.linalg.norm(self.miss), self.t * self.short))


class Border:
    """The optimality conditions on the boundary, for one problem."""

    def __init__(self, problem: MarginQuadratic, p: float) -> None:
        self._d, self._hessian = problem.d, problem.hessian
        self._least = least_shift(problem)
        self._flat = p >= 2  # z is w
        self._power = p if p >= 2 else p / (p - 1)

    def polish(self, w: FloatArray, t: float, p: float) -> FloatArray:
        """Return weights of norm 1 that satisfy the conditions better than w, if possible."""
        norm = float(np.linalg.norm(w, p))
        if norm == 0 or t <= 0:
            return w
        start = w / norm
        here = self._at(start if self._flat else np.sign(start) * np.abs(start) ** (p - 1), t)
        for _ in range(_NEWTON_STEPS):
            try:
                there = self._step(here)
            except LinAlgError:  # t is below rounding errors
                break
            if there is None:
                break
            here = there
        return here.w / max(float(np.linalg.norm(here.w, p)), 1e-300)

    def _at(self, z: FloatArray, t: float) -> _Place:
        power = np.sign(z) * np.abs(z) ** (self._power - 1)
        w, s = (z, power) if self._flat else (power, z)
        return _Place(z, t, w, s, self._d - self._hessian @ w - t * s, 1 - float(w @ s))

    def _step(self, here: _Place) -> _Place | None:
        """Return the state after a Newton step if it is closer to the conditions, else None."""
        if here.error <= _EXACT:
            return None
        slopes = self._power * (here.s if self._flat else here.w)
        towards, along = self._solve(here, here.miss), self._solve(here, here.s)
        dt = (float(slopes @ towards) - here.short) / float(slopes @ along)
        dz = towards - dt * along
        for halving in range(_HALVINGS):
            share = 0.5**halving
            t = here.t + share * dt
            if t > 0:
                there = self._at(here.z + share * dz, t)
                if there.error < here.error:
                    return there
        return None

    def _solve(self, here: _Place, right: FloatArray) -> FloatArray:
        """Solve with the derivative of Hw + ts in z."""
        bends = (self._power - 1) * np.abs(here.z) ** (self._power - 2)
        if self._flat:
            return _cholesky_solve(self._hessian, here.t * bends + self._least, right)
        roots = np.sqrt(bends)
        shifts = np.full(len(roots), here.t)
        inner = _cholesky_solve(roots[:, np.newaxis] * self._hessian * roots, shifts, roots * right)
        return np.asarray((right - self._hessian @ (roots * inner)) / here.t)


def _cholesky_solve(matrix: FloatArray, shifts: FloatArray, right: FloatArray) -> FloatArray:
    """Solve with a matrix plus a diagonal, both without negative curvature."""
    shifted = matrix.copy()
    shifted.flat[:: len(right) + 1] += shifts
    factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(cho_solve(factor, right, check_finite=False))


_ROUNDS = 100
_FRANK_WOLFE_STEPS = 25


class FrankWolfe:
    """Moves towards the best point of the ball for the gradient, by exact line search.

    From there Newton's method finds the optimal weights on the boundary if it converges. For
    weights inside the ball one linear system is enough, which is tried first.
    """

    sphere = False

    def __init__(self, p: float) -> None:
        self.p = p
        self._q = p / (p - 1)

    def solve(self, problem: MarginQuadratic, w: FloatArray) -> FloatArray:
        """Return the optimal weights, starting from the last ones."""
        if not problem.d.any():
            return np.zeros(len(w))
        hessian = problem.hessian
        inside, _ = shifted_weights(hessian, problem.d, least_shift(problem))
        if np.linalg.norm(inside, self.p) <= 1:
            return inside
        border = Border(problem, self.p)
        for _ in range(_ROUNDS):
            w = self._walk(hessian, problem.gradient(w), w)
            g = problem.gradient(w)
            polished = border.polish(w, float(np.linalg.norm(g, self._q)), self.p)
            w = min((w, polished), key=lambda v: self._gap(problem.gradient(v), v))
            if self._gap(problem.gradient(w), w) <= TOLERANCE:
                break
        return w

    def remove(self, j: int) -> None:
        """Do nothing: no state is kept between problems."""

    def _gap(self, g: FloatArray, w: FloatArray) -> float:
        return float(np.linalg.norm(g, self._q)) - float(g @ w)

    def _walk(self, hessian: FloatArray, g: FloatArray, w: FloatArray) -> FloatArray:
        """Take some steps; g follows them."""
        for _ in range(_FRANK_WOLFE_STEPS):
            norm = float(np.linalg.norm(g, self._q))
            if norm - float(g @ w) <= TOLERANCE:
                break
            u = np.sign(g) * (np.abs(g) / norm) ** (self._q - 1) - w
            change = hessian @ u
            slope, bend = float(g @ u), float(u @ change)
            step = min(slope / bend, 1.0) if bend > 0 else 1.0
            w, g = w + step * u, g - step * change
        return w
