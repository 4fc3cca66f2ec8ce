"""The quantile loss: a number that a given share of rows stays below."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rulewright.weighting.likelihoods.score_loss import ScoreLoss

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray


class QuantileLoss(ScoreLoss):
    """The pinball loss, smoothed: u (q - [u < 0]) of the residual u, quadratic near 0.

    Within `width` of 0 the slope grows linearly from -(1 - q) to q. The curvature is that of the
    parabola that touches the loss and lies above it, h = w / (2 max(|u|, width)), so that Newton
    steps lower the loss. Sums of |g| are at most the weight of the rows, sums of h at most the
    weight over twice the width.

    Parameters
    ----------
    numbers, weights : float64 arrays
        Number and weight of each row.
    quantile : float
        The share of rows below, between 0 and 1.
    width : float
        Half the width of the smooth part.
    """

    has_scale: ClassVar[bool] = True

    def __init__(
        self, numbers: FloatArray, weights: FloatArray, quantile: float, width: float
    ) -> None:
        super().__init__(weights)
        self.numbers, self.quantile, self.width = numbers, quantile, width

    def losses(self, scores: FloatArray) -> FloatArray:
        """Return the losses; far from 0 they equal the pinball loss."""
        u, q, d = self.numbers - scores, self.quantile, self.width
        near = (u + d) ** 2 / (4 * d) - (1 - q) * u
        found: FloatArray = np.where(u > d, q * u, np.where(u < -d, (q - 1) * u, near))
        return found

    def derivatives(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the derivative and the curvature of each row, times its weight."""
        u, d = self.numbers - scores, self.width
        rise = np.clip((u + d) / (2 * d), 0.0, 1.0)
        h = self.weights / (2 * np.maximum(np.abs(u), d))
        return -self.weights * (rise - (1 - self.quantile)), h

    @property
    def start(self) -> float:
        """The weighted quantile."""
        order = np.argsort(self.numbers, kind="stable")
        below = np.cumsum(self.weights[order])
        place = int(np.searchsorted(below, self.quantile * below[-1]))
        return float(self.numbers[order[min(place, len(order) - 1)]])

    @property
    def bound(self) -> float:
        """The weight of the rows, times the largest curvature."""
        return self.total * max(1.0, 1 / (2 * self.width))
