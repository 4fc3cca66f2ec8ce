"""MMV in the ball of a p-norm with 1 < p < infinity, by Frank-Wolfe and Newton steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.margins.ball import TOLERANCE
from rulewright.weighting.margins.border import Border
from rulewright.weighting.margins.secular import least_shift, shifted_weights

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray
    from rulewright.weighting.margins.ball import MarginQuadratic

_ROUNDS = 100
_STEPS = 25


class FrankWolfe:
    """Moves towards the best point of the ball for the gradient, by exact line search.

    From there Newton's method finds the best weights on the border, if it gets closer. Weights
    inside the ball need one linear system, which is tried first.
    """

    sphere = False

    def __init__(self, p: float) -> None:
        self.p = p
        self._q = p / (p - 1)

    def solve(self, problem: MarginQuadratic, w: FloatArray) -> FloatArray:
        """Return the best weights, starting from the last ones."""
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
        """Nothing is kept between problems."""

    def _gap(self, g: FloatArray, w: FloatArray) -> float:
        return float(np.linalg.norm(g, self._q)) - float(g @ w)

    def _walk(self, hessian: FloatArray, g: FloatArray, w: FloatArray) -> FloatArray:
        """Take some steps; g follows them."""
        for _ in range(_STEPS):
            norm = float(np.linalg.norm(g, self._q))
            if norm - float(g @ w) <= TOLERANCE:
                break
            u = np.sign(g) * (np.abs(g) / norm) ** (self._q - 1) - w
            change = hessian @ u
            slope, bend = float(g @ u), float(u @ change)
            step = min(slope / bend, 1.0) if bend > 0 else 1.0
            w, g = w + step * u, g - step * change
        return w
