"""MMV: the mean margin minus its variance, over a ball of weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.margins.active_set import ActiveSet
from rulewright.weighting.margins.ball import BallState
from rulewright.weighting.margins.box import Box
from rulewright.weighting.margins.frank_wolfe import FrankWolfe
from rulewright.weighting.margins.secular import Secular, Sphere
from rulewright.weighting.margins.working_set import MarginRows

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray
    from rulewright.weighting.margins.ball import BallSolver
    from rulewright.weighting.margins.criterion import CriterionState


@dataclass(frozen=True)
class MMV:
    """Maximise the mean margin minus `variance_weight` times its variance, with Lp(w) <= radius.

    Parameters
    ----------
    p : float
        Norm of the ball, 1 or more.
    variance_weight : float
        Factor of the variance, above 0. Near 0 the single best rule wins; a larger one comes closer
        to Fisher's discriminant.
    in_one_norm : bool
        The value of weights is that of their best multiple in the 1-norm ball, which penalties are
        made for. Otherwise it is what they maximise, which no further rule makes smaller.
    radius : float
        Largest norm, above 0.
    sphere : bool
        The norm is the radius, not at most the radius; for p = 2 only.
    """

    p: float = 1.0
    variance_weight: float = 1.0
    in_one_norm: bool = True
    radius: float = 1.0
    sphere: bool = False

    def __post_init__(self) -> None:
        if not self.p >= 1:
            raise ValueError(f"p must be 1 or more, not {self.p}")
        if not 0 < self.variance_weight < np.inf:
            raise ValueError(f"variance_weight must be above 0, not {self.variance_weight}")
        if not 0 < self.radius < np.inf:
            raise ValueError(f"radius must be above 0, not {self.radius}")
        if self.sphere and self.p != 2:
            raise ValueError(f"shape='sphere' needs p=2, not p={self.p:g}; or take 'ball'")

    @property
    def largest_value(self) -> float:
        """Margins of weights in the 1-norm ball are at most 1."""
        return 1.0 if self.in_one_norm or (self.p == 1 and self.radius == 1) else np.inf

    def start(
        self, y_signs: FloatArray, weights: FloatArray, n: float | None = None
    ) -> CriterionState:
        """Begin without rules."""
        rows = MarginRows(y_signs, weights, n)
        solver = self._solver()
        return BallState(rows, self.variance_weight, solver, self.in_one_norm, self.radius)

    def _solver(self) -> BallSolver:
        if self.p == 1:
            return ActiveSet()
        if self.p == 2:
            return Sphere() if self.sphere else Secular()
        return Box() if np.isinf(self.p) else FrankWolfe(self.p)
