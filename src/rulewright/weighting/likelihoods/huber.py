"""The Huber loss: squared errors, but for outliers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rulewright.weighting.likelihoods.score_loss import ScoreLoss

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray


class HuberScoreLoss(ScoreLoss):
    """u^2 / 2 of the residual u up to `delta`, and delta (|u| - delta / 2) beyond.

    g = -w clip(u, -delta, delta). The curvature is that of the parabola that touches the loss and
    lies above it, h = w min(1, delta / |u|). Sums of |g| are at most delta times the weight of the
    rows, sums of h at most that weight.
    """

    has_scale: ClassVar[bool] = True

    def __init__(self, numbers: FloatArray, weights: FloatArray, delta: float) -> None:
        super().__init__(weights)
        self.numbers, self.delta = numbers, delta

    def losses(self, scores: FloatArray) -> FloatArray:
        """Return the losses."""
        u = np.abs(self.numbers - scores)
        found: FloatArray = np.where(u <= self.delta, u * u / 2, self.delta * (u - self.delta / 2))
        return found

    def derivatives(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the derivative and the curvature of each row, times its weight."""
        u = self.numbers - scores
        g = -self.weights * np.clip(u, -self.delta, self.delta)
        return g, self.weights * self.delta / np.maximum(np.abs(u), self.delta)

    @property
    def start(self) -> float:
        """The median."""
        order = np.argsort(self.numbers, kind="stable")
        below = np.cumsum(self.weights[order])
        return float(self.numbers[order[int(np.searchsorted(below, below[-1] / 2))]])

    @property
    def bound(self) -> float:
        """The weight of the rows, times delta where it is above 1."""
        return self.total * max(1.0, self.delta)
