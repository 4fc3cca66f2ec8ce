"""MMV: the mean margin minus its variance, over a ball of weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.margins.active_set import ActiveSet
from rulewright.weighting.margins.ball import BallState
from rulewright.weighting.margins.box import Box
from rulewright.weighting.margins.frank_wolfe import FrankWolfe
from rulewright.weighting.margins.secular import Secular
from rulewright.weighting.margins.working_set import Rows

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray
    from rulewright.weighting.margins.ball import BallSolver
    from rulewright.weighting.margins.criterion import State


@dataclass(frozen=True)
class MMV:
    """Maximise the mean margin minus `variance_weight` times its variance, with Lp(w) <= 1.

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
    """

    p: float = 1.0
    variance_weight: float = 1.0
    in_one_norm: bool = True

    def __post_init__(self) -> None:
        if not self.p >= 1:
            raise ValueError(f"p must be 1 or more, not {self.p}")
        if not 0 < self.variance_weight < np.inf:
            raise ValueError(f"variance_weight must be above 0, not {self.variance_weight}")

    @property
    def largest_value(self) -> float:
        """Margins of weights in the 1-norm ball are at most 1."""
        return 1.0 if self.p == 1 or self.in_one_norm else np.inf

    def start(self, y_signs: FloatArray, weights: FloatArray, n: float | None = None) -> State:
        """Begin without rules."""
        rows = Rows(y_signs, weights, n)
        return BallState(rows, self.variance_weight, self._solver(), self.in_one_norm)

    def _solver(self) -> BallSolver:
        if self.p == 1:
            return ActiveSet()
        if self.p == 2:
            return Secular()
        return Box() if np.isinf(self.p) else FrankWolfe(self.p)
