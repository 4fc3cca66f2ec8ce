"""Intervals of shares and of means from counts, which may be effective numbers of weighted rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import betaincinv, stdtrit

from rulewright.bounds import checked_delta

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]


def clopper_pearson(count: ArrayLike, n: ArrayLike, alpha: float = 0.05) -> tuple[Floats, Floats]:
    """Give the exact interval of the share behind ``count`` of ``n`` independent rows.

    Each end is missed with probability alpha / 2 at most. Both numbers may be fractions, such as
    effective numbers of weighted rows; the interval is then no longer exact. Without rows it is
    from 0 to 1.
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
    """Give Student's interval of a mean of ``n`` numbers with this unbiased variance."""
    return _student(mean, variance / n if n else 0.0, n - 1, alpha)


def difference_interval(
    means: tuple[float, float],
    variances: tuple[float, float],
    sizes: tuple[float, float],
    alpha: float = 0.05,
) -> tuple[float, float]:
    """Give Welch's interval of the difference of two means, the first minus the second."""
    if min(sizes) <= 1:
        return -np.inf, np.inf
    parts = [variance / n for variance, n in zip(variances, sizes, strict=True)]
    squares = sum(part**2 / (n - 1) for part, n in zip(parts, sizes, strict=True))
    freedom = sum(parts) ** 2 / squares if squares else min(sizes) - 1
    return _student(means[0] - means[1], sum(parts), freedom, alpha)


def _student(
    center: float, square_error: float, freedom: float, alpha: float
) -> tuple[float, float]:
    tail = checked_delta(alpha, "alpha") / 2
    if not freedom > 0:
        return -np.inf, np.inf
    half = float(stdtrit(freedom, 1 - tail)) * float(np.sqrt(square_error))
    return center - half, center + half
