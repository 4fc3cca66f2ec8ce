"""The negative binomial loss: counts that vary more than Poisson's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, xlogy

from rulewright.weighting.likelihoods.score_loss import LogLink

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray

LEAST_DISPERSION, LARGEST_DISPERSION = 1e-6, 1e4


class NegativeBinomialLoss(LogLink):
    """The variance of a count is mu + dispersion mu^2 (NB2).

    g = w (mu - y) / (1 + a mu) and h = w mu (1 + a y) / (1 + a mu)^2 with the dispersion a. Both
    shrink as a grows; for every a, |g| <= w max(mu, y) and h <= w max(mu, y), so that at the
    overall rate the sums are at most twice the weighted events.

    Parameters
    ----------
    dispersion : float, optional
        By default the most likely one at the overall rate; `with_dispersion` estimates it anew.
    """

    def __init__(
        self,
        numbers: FloatArray,
        weights: FloatArray,
        exposure: FloatArray | None = None,
        dispersion: float | None = None,
    ) -> None:
        super().__init__(numbers, weights, exposure)
        constant = np.full(len(numbers), self.start)
        self.dispersion = self.estimate(constant) if dispersion is None else dispersion

    def estimate(self, scores: FloatArray) -> float:
        """Return the most likely dispersion at some scores."""
        kept = self.weights > 0
        y, mu, w = (own[kept] for own in (self.numbers, self.means(scores), self.weights))
        ends = np.log([LEAST_DISPERSION, LARGEST_DISPERSION])

        def value(log_a: float) -> float:
            return float(w @ _losses(y, mu, float(np.exp(log_a))))

        found = minimize_scalar(value, bounds=ends, method="bounded", options={"xatol": 1e-10})
        return float(np.exp(found.x))

    def with_dispersion(self, scores: FloatArray) -> NegativeBinomialLoss:
        """Return the loss with the most likely dispersion at some scores."""
        a = self.estimate(scores)
        return NegativeBinomialLoss(self.numbers, self.weights, self.exposure, a)

    def losses(self, scores: FloatArray) -> FloatArray:
        """Return the negative log-likelihoods."""
        return _losses(self.numbers, self.means(scores), self.dispersion)

    def derivatives(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives, times the weights."""
        y, mu, a = self.numbers, self.means(scores), self.dispersion
        g = self.weights * (mu - y) / (1 + a * mu)
        return g, self.weights * (mu / (1 + a * mu)) * ((1 + a * y) / (1 + a * mu))

    @property
    def bound(self) -> float:
        """Twice the weighted events, or the weight of the rows."""
        return max(2 * float(self.weights @ self.numbers), self.total)


def _losses(y: FloatArray, mu: FloatArray, a: float) -> FloatArray:
    size = 1 / a
    found: FloatArray = gammaln(size) + gammaln(y + 1) - gammaln(y + size)
    found += (y + size) * np.log1p(a * mu) - xlogy(y, a * mu)
    return found
