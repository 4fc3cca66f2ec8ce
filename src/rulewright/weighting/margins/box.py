"""MMV with every weight between -1 and 1 (p = infinity), by an active set of bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.margins.ball import TOLERANCE
from rulewright.weighting.margins.secular import least_shift, shifted_weights

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.weighting.margins.ball import MarginQuadratic


class Box:
    """Newton steps of the free weights; a weight is fixed at a bound until it gains by leaving it.

    The Hessian is shifted by next to nothing: where it is singular, steps are long and end at a
    bound, as they should if the objective is linear there.
    """

    p = np.inf
    sphere = False

    def solve(self, problem: MarginQuadratic, w: FloatArray) -> FloatArray:
        """Return the best weights, starting from the last ones."""
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
        """Nothing is kept between problems."""

    @staticmethod
    def _move(
        hessian: FloatArray, shift: float, g: FloatArray, w: FloatArray, free: BoolArray
    ) -> bool:
        """Move the free weights to their best values or to the first bound; tell if it is one."""
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
