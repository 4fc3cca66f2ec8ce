"""Newton steps for weights on the border of the ball of a p-norm, 1 < p < infinity.

There d - Hw = t s with s = sign(w) |w|^(p-1), t > 0 and w.s = 1. Powers above 1 are smooth, so the
unknown z is w for p >= 2, and s for p < 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from rulewright.weighting.margins.secular import least_shift

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray
    from rulewright.weighting.margins.ball import MarginQuadratic

_STEPS = 30
_HALVINGS = 20
_EXACT = 1e-13


class _Place(NamedTuple):
    """Unknown and multiplier, what follows from them, and how far they miss the conditions."""

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
    """The conditions of the best weights on the border, for one problem."""

    def __init__(self, problem: MarginQuadratic, p: float) -> None:
        self._d, self._hessian = problem.d, problem.hessian
        self._least = least_shift(problem)
        self._flat = p >= 2  # z is w
        self._power = p if p >= 2 else p / (p - 1)

    def polish(self, w: FloatArray, t: float, p: float) -> FloatArray:
        """Return weights of norm 1 that come closer to the conditions than w, if there are any."""
        norm = float(np.linalg.norm(w, p))
        if norm == 0 or t <= 0:
            return w
        start = w / norm
        here = self._at(start if self._flat else np.sign(start) * np.abs(start) ** (p - 1), t)
        for _ in range(_STEPS):
            try:
                there = self._step(here)
            except LinAlgError:  # t is lost in rounding errors
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
        """Return the place after a Newton step, as long as it gets closer; None if it does not."""
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
