"""The Poisson loss of counts with exposure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scipy.special import gammaln, xlogy

from rulewright.weighting.likelihoods.score_loss import LogLink

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray


class PoissonLoss(LogLink):
    """mu - y log mu + log y!, where mu is the exposure times the exponential of the score.

    g = w (mu - y), h = w mu. Where the intercept is fitted the sums of w mu and w y are equal, so
    that sums of |g| are at most twice the weighted events and sums of h at most once.
    """

    def losses(self, scores: FloatArray) -> FloatArray:
        """Return the negative log-likelihoods."""
        y, mu = self.numbers, self.means(scores)
        found: FloatArray = mu - xlogy(y, self.exposure) - y * scores + gammaln(y + 1)
        return found

    def derivatives(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return w (mu - y) and w mu."""
        mu = self.means(scores)
        return self.weights * (mu - self.numbers), self.weights * mu

    @property
    def bound(self) -> float:
        """Twice the weighted events, or the weight of the rows."""
        return max(2 * float(self.weights @ self.numbers), self.total)
