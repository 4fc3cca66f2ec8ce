"""Two learners against each other, on many data sets or on the folds of one.

Figures of two learners are paired, one pair for each data set or fold. Differences below 1e-12 of
the largest figure count as 0: the last digits of a mean over folds depend on the order of the sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from rulewright.comparison import DIGITS, finite, without_noise

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rulewright.kernels import FloatArray

_MOST_EXACT = 50
# Weights drawn at once, so that many samples on many sets need no large matrix.
_CELLS_AT_ONCE = 2_000_000


class WinTieLoss(NamedTuple):
    """How often the first of two learners was better, equal, worse."""

    wins: int
    ties: int
    losses: int

    def sign_test(self) -> SignTest:
        """Test whether wins and losses are equally likely; ties do not count."""
        return sign_test(self.wins, self.losses)

    def __str__(self) -> str:
        return f"{self.wins}-{self.losses}-{self.ties}"


class SignTest(NamedTuple):
    """Result of `sign_test`."""

    wins: int
    losses: int
    p_value: float


class WilcoxonTest(NamedTuple):
    """Sums of ranks where the first figure is `lower` and `higher`; `statistic` is the smaller."""

    statistic: float
    p_value: float
    lower: float
    higher: float
    n_used: int


class BayesianSignedRank(NamedTuple):
    """Probabilities that the first learner's figure is lower, about equal, higher."""

    left: float
    rope: float
    right: float


def win_tie_loss(
    first: ArrayLike, second: ArrayLike, *, lower_is_better: bool = True
) -> WinTieLoss:
    """Count the sets on which the first learner is better, equal, worse."""
    signs = np.sign(_differences(first, second)) * (1 if lower_is_better else -1)
    return WinTieLoss(*(int((signs == sign).sum()) for sign in (-1, 0, 1)))


def sign_test(wins: int, losses: int) -> SignTest:
    """Test (two-sided) whether wins and losses are equally likely."""
    if min(wins, losses) < 0:
        raise ValueError(f"wins and losses must not be negative, not {wins} and {losses}")
    played = wins + losses
    p_value = float(stats.binomtest(wins, played).pvalue) if played else 1.0
    return SignTest(wins, losses, p_value)


def wilcoxon_signed_rank(first: ArrayLike, second: ArrayLike) -> WilcoxonTest:
    """Test (two-sided) whether the differences are symmetric about 0.

    Differences of 0 are left out. Up to 50 differences the p-value is exact, also with ties, for
    which SciPy's is approximate; beyond, it is SciPy's normal approximation.
    """
    differences = _differences(first, second)
    differences = differences[differences != 0]
    ranks = stats.rankdata(np.abs(differences))
    lower = float(ranks[differences < 0].sum())
    higher = float(ranks[differences > 0].sum())
    statistic = min(lower, higher)
    if len(ranks) <= _MOST_EXACT:
        p_value = _exact_p(ranks, statistic)
    else:
        p_value = float(stats.wilcoxon(differences).pvalue)
    return WilcoxonTest(statistic, p_value, lower, higher, len(ranks))


def bayesian_signed_rank(
    first: ArrayLike,
    second: ArrayLike,
    *,
    rope: float = 0.01,
    prior_strength: float = 0.5,
    n_samples: int = 50_000,
    random_state: int = 0,
) -> BayesianSignedRank:
    """Return the probability that a learner is practically better, by Benavoli et al. (2017).

    That is the share of draws of Dirichlet weights of the differences in which the mean of two
    differences lies most probably below the region of practical equivalence, in it, or above it;
    ties are divided. `rope` is the half-width of the region, in the unit of the figures; the prior
    is one pseudo-observation of 0 with the weight `prior_strength`.
    """
    if not (rope >= 0 and prior_strength > 0 and n_samples > 0):
        raise ValueError("rope must not be negative, prior_strength and n_samples be positive")
    one, two = _pair(first, second)
    places = np.concatenate([[0.0], one - two])
    sums = places[:, None] + places
    # A sum at the border belongs to the region of practical equivalence.
    border = 2 * rope + 10.0**-DIGITS * max(float(np.abs([one, two]).max()), rope)
    below, above = (sums < -border).astype(float), (sums > border).astype(float)
    strengths = np.concatenate([[prior_strength], np.ones(len(one))])
    rng = np.random.default_rng(random_state)
    won, at_once = np.zeros(3), max(1, _CELLS_AT_ONCE // len(places))
    for start in range(0, n_samples, at_once):
        weights = rng.dirichlet(strengths, min(at_once, n_samples - start))
        left = ((weights @ below) * weights).sum(axis=1)
        right = ((weights @ above) * weights).sum(axis=1)
        won += _shared_wins(np.column_stack([left, 1 - left - right, right]))
    return BayesianSignedRank(*(float(share) for share in won / n_samples))


def _pair(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    one, two = finite(first), finite(second)
    if one.ndim != 1 or one.shape != two.shape:
        raise ValueError(f"two rows of figures must be equally long, not {one.shape}, {two.shape}")
    if len(one) < 2:
        raise ValueError("a comparison needs the figures of two sets or more")
    return one, two


def _differences(first: ArrayLike, second: ArrayLike) -> FloatArray:
    one, two = _pair(first, second)
    return without_noise(one - two, float(np.abs([one, two]).max()))


def _exact_p(ranks: FloatArray, statistic: float) -> float:
    # Distribution of the sum of ranks over all choices of signs; ranks are multiples of 1/2.
    halves = np.round(2 * ranks).astype(int)
    shares = np.zeros(int(halves.sum()) + 1)
    shares[0] = 1.0
    for rank in halves:
        shares[rank:] += shares[:-rank].copy()
        shares /= 2
    return min(1.0, 2 * float(shares[: round(2 * statistic) + 1].sum()))


def _shared_wins(shares: FloatArray) -> FloatArray:
    best = np.isclose(shares, shares.max(axis=1, keepdims=True), rtol=0, atol=1e-12)
    wins: FloatArray = (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
    return wins
