"""The Tweedie loss: amounts that are often 0, such as the costs of claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.likelihoods.score_loss import LARGEST_SCORE, LogLink

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray


class TweedieLoss(LogLink):
    """Half the deviance over the dispersion d of amounts whose variance is d mu^power.

    With 1 < power < 2 an amount is a sum of gamma amounts, of a Poisson number of events. The
    dispersion is Pearson's at the overall rate, so that values are in nats (quasi-likelihood).
    g = w (mu^(2-p) - y mu^(1-p)) / d, and h = w ((2-p) mu^(2-p) + (p-1) y mu^(1-p)) / d. At the
    overall rate both sums are at most twice the first term, which is the bound.

    Parameters
    ----------
    power : float
        Above 1 and below 2.
    """

    def __init__(
        self,
        numbers: FloatArray,
        weights: FloatArray,
        exposure: FloatArray | None = None,
        power: float = 1.5,
        dispersion: float | None = None,
    ) -> None:
        super().__init__(numbers, weights, exposure)
        self.power = power
        mu = self.means(np.full(len(numbers), self.start))
        squares = self.weights * (numbers - mu) ** 2 / mu**power
        self.dispersion = float(squares.sum()) / self.total if dispersion is None else dispersion
        self._bound = max(2 * float(weights @ mu ** (2 - power)) / self.dispersion, self.total)

    def losses(self, scores: FloatArray) -> FloatArray:
        """Return half the deviances, but for a constant of each row, over the dispersion."""
        p, mu = self.power, self.means(scores)
        found: FloatArray = mu ** (2 - p) / (2 - p) + self.numbers * mu ** (1 - p) / (p - 1)
        return found / self.dispersion

    def derivatives(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives, times the weights."""
        p, mu = self.power, self.means(np.maximum(scores, -LARGEST_SCORE))
        first, second = mu ** (2 - p), self.numbers * mu ** (1 - p)
        w = self.weights / self.dispersion
        return w * (first - second), w * ((2 - p) * first + (p - 1) * second)

    @property
    def bound(self) -> float:
        """Twice the first term at the overall rate, or the weight of the rows."""
        return self._bound
