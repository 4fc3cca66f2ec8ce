"""Evidence that some rows have higher values than others: p-values, e-values, intervals.

If a claim is not true, its p-value is at most u with probability u at most. An e-value is a
nonnegative number whose expectation is at most 1 if the claim is not true; by Markov's inequality
it reaches 1/u with probability u at most, and means of e-values are e-values. The e-values here are
likelihood ratios, averaged over the strengths ``TILTS`` of the claim.

The false discovery rate is the expected share of untrue claims among the accepted ones. Claims of
overlapping rules have unknown dependence, so all procedures here are valid under any dependence.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import betaincinv, gammaln, logsumexp, stdtrit

from rulewright.bounds import checked_delta
from rulewright.data import optional

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]


TILTS = np.arange(1, 17) / 4
"""Log odds ratios that e-values average over: from 1.3 to 55."""

_LARGEST_LN = 690.0
_LARGEST_ROOT = 1e150  # whose square is a number


def share_p_value(inside: ArrayLike, outside: ArrayLike) -> Floats:
    """Test whether the share inside is larger than outside, by Fisher's exact test.

    Parameters
    ----------
    inside, outside : array-like of shape (..., 2)
        Integer numbers of rows with the property and without it.

    Notes
    -----
    The claim is not true if the share inside is not above the share outside. Given the totals, the
    number inside is then hypergeometric or smaller.
    """
    a, covered, positives, total = _table(inside, outside)
    hypergeom = optional("scipy.stats").hypergeom  # slow to import
    return np.asarray(hypergeom.sf(a - 1, total, positives, covered), np.float64)


def share_e_value(inside: ArrayLike, outside: ArrayLike) -> Floats:
    """Return the e-value of the claim of ``share_p_value``.

    It is the mean over odds ratios psi of the likelihood ratio psi^a / E psi^A of Fisher's
    noncentral hypergeometric distribution, where a of the rows inside have the property and A is
    hypergeometric.
    """
    margins = np.stack(_table(inside, outside), axis=-1)
    found = [_ln_share_evidence(*row) for row in margins.reshape(-1, 4)]
    return np.exp(np.minimum(found, _LARGEST_LN)).reshape(margins.shape[:-1])


def rank_p_value(inside: Floats, outside: Floats) -> float:
    """Test whether numbers inside are larger than outside, by the Mann-Whitney test.

    The claim is not true if all numbers have the same distribution. The p-value is exact if one
    side has at most eight numbers and there are no ties; else it is a normal approximation.
    """
    both = np.concatenate([inside, outside])
    if not len(inside) or not len(outside) or (both == both[0]).all():
        return 1.0
    test = optional("scipy.stats").mannwhitneyu
    return float(test(inside, outside, alternative="greater").pvalue)


def rank_e_value(inside: Floats, outside: Floats) -> float:
    """Return the e-value of the claim of ``rank_p_value``.

    With s the ranks scaled to (-1, 1) and S their sum inside, it is the mean over t of exp(t S) /
    (mean of exp(t s))^n. The sum of n ranks drawn without replacement has no larger exponential
    moments than with replacement (Hoeffding, 1963), so the expected value is at most 1. The
    smaller side is used, because it loses less.
    """
    n, total = len(inside), len(inside) + len(outside)
    if not 0 < n < total:
        return 1.0
    ranks = optional("scipy.stats").rankdata(np.concatenate([inside, outside]))
    scores = (2 * ranks - total - 1) / total
    if 2 * n > total:
        n, scores = total - n, -scores[::-1]
    tilted = np.outer(TILTS, scores)
    ln_moments = logsumexp(tilted, axis=1) - np.log(total)
    return _mix_ratios(tilted[:, :n].sum(axis=1) - n * ln_moments)


def _table(inside: ArrayLike, outside: ArrayLike) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the counts: inside with the property, inside, with the property, and total."""
    a, b = np.moveaxis(np.asarray(inside, np.float64), -1, 0)
    c, d = np.moveaxis(np.asarray(outside, np.float64), -1, 0)
    return a, a + b, a + c, a + b + c + d


def _ln_share_evidence(a: float, covered: float, positives: float, total: float) -> float:
    """Return the logarithm of the e-value of one table."""
    least, most = max(0.0, covered + positives - total), min(covered, positives)
    if least == most:
        return 0.0
    # A hypergeometric number, tilted or not, is a sum of at most `most - least` uncertain
    # independent events: by Hoeffding's inequality the window misses a share below e^-70.
    half = 6 * np.sqrt(most - least) + 2
    steps = np.arange(-half // 1, half // 1 + 1)
    window = _modes(covered, positives, total)[:, None] + steps
    valid = (window >= least) & (window <= most)
    inside = np.clip(window, least, most)
    ln_chances = _ln_choices(covered, inside) + _ln_choices(total - covered, positives - inside)
    ln_chances -= _ln_choices(total, positives)
    terms = np.where(valid, ln_chances + TILTS[:, None] * (inside - a), -np.inf)
    return _ln_mean(-logsumexp(terms, axis=1))


def _modes(covered: float, positives: float, total: float) -> Floats:
    """Return the most probable number for each odds ratio."""
    ratio = np.exp(TILTS)
    linear = covered + positives - total - (covered + positives + 2) * ratio
    product = (covered + 1) * (positives + 1) * ratio
    return np.floor(-2 * product / (linear - np.sqrt(linear**2 - 4 * (ratio - 1) * product)))


def _ln_choices(n: float, k: Floats | float) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _ln_mean(ln_ratios: Floats) -> float:
    return float(logsumexp(ln_ratios) - np.log(len(ln_ratios)))


def _mix_ratios(ln_ratios: Floats) -> float:
    return float(np.exp(min(_ln_mean(ln_ratios), _LARGEST_LN)))


def benjamini_yekutieli(p_values: ArrayLike) -> Floats:
    """Return p-values adjusted for their number (Benjamini and Yekutieli, 2001).

    Accepting claims with adjusted p-values of at most q keeps the false discovery rate at q.
    """
    p = np.asarray(p_values, np.float64)
    order, ranks = np.argsort(p, kind="stable"), np.arange(1, len(p) + 1)
    scaled = p[order] * len(p) * (1.0 / ranks).sum() / ranks
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return adjusted


def e_bh(e_values: ArrayLike, q: float) -> NDArray[np.bool_]:
    """Return which claims to accept by their e-values (e-BH, Wang and Ramdas, 2022).

    These are the k largest, for the largest k whose smallest is at least m / (q k) for m claims.
    """
    e, level = np.asarray(e_values, np.float64), checked_delta(q, "q")
    order, ranks = np.argsort(-e, kind="stable"), np.arange(1, len(e) + 1)
    enough = np.flatnonzero(e[order] * level * ranks >= len(e))
    believed = np.zeros(len(e), dtype=np.bool_)
    believed[order[: enough[-1] + 1 if len(enough) else 0]] = True
    return believed


def clopper_pearson(count: ArrayLike, n: ArrayLike, alpha: float = 0.05) -> tuple[Floats, Floats]:
    """Return the exact interval of the share behind ``count`` of ``n`` independent rows.

    Each end is missed with probability at most alpha / 2. Both numbers may be fractions, such as
    effective numbers of weighted rows; the interval is then approximate. Without rows it is [0, 1].
    """
    k, total = np.broadcast_arrays(np.asarray(count, np.float64), np.asarray(n, np.float64))
    tail = checked_delta(alpha, "alpha") / 2
    low, high = np.zeros(k.shape), np.ones(k.shape)
    some, rest = k > 0, total - k > 0
    low[some] = betaincinv(k[some], (total - k)[some] + 1, tail)
    high[rest] = betaincinv(k[rest] + 1, (total - k)[rest], 1 - tail)
    return low, high


def mean_interval(
    mean: float, variance: float, n: float, alpha: float = 0.05
) -> tuple[float, float]:
    """Return Student's interval of the mean of ``n`` numbers, given the unbiased variance."""
    return _student(mean, variance / n if n else 0.0, n - 1, alpha)


def difference_interval(
    means: tuple[float, float],
    variances: tuple[float, float],
    sizes: tuple[float, float],
    alpha: float = 0.05,
) -> tuple[float, float]:
    """Return Welch's interval of the difference of two means, first minus second."""
    if min(sizes) <= 1:
        return -np.inf, np.inf
    parts = [variance / n for variance, n in zip(variances, sizes, strict=True)]
    if not math.isfinite(sum(parts)):
        return -np.inf, np.inf
    unit = 1.0 if 1 / _LARGEST_ROOT < max(parts) < _LARGEST_ROOT else max(parts) or 1.0
    squares = sum((part / unit) ** 2 / (n - 1) for part, n in zip(parts, sizes, strict=True))
    freedom = (sum(parts) / unit) ** 2 / squares if squares else min(sizes) - 1
    return _student(means[0] - means[1], sum(parts), freedom, alpha)


def _student(
    center: float, square_error: float, freedom: float, alpha: float
) -> tuple[float, float]:
    tail = checked_delta(alpha, "alpha") / 2
    if not freedom > 0:
        return -np.inf, np.inf
    half = float(stdtrit(freedom, 1 - tail)) * float(np.sqrt(square_error))
    return center - half, center + half
