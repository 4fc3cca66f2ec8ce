"""E-processes: evidence over time that may be looked at after every period.

An e-process is nonnegative, and its expectation is at most 1 at any time, also at a time that is
chosen from the data. So it ever reaches 1/alpha with probability at most alpha (Ville's
inequality). Evidence starts at an unknown period: each start has a part of the stake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, logsumexp

from rulewright.evidence.claims import TILTS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_END = 1e-9
"""Distance that shares keep from 0 and 1."""


def share_e_process(
    counts: ArrayLike, totals: ArrayLike, low: ArrayLike, high: ArrayLike
) -> NDArray[np.float64]:
    """Return the logarithms of e-processes against shares that lie between two bounds.

    Parameters
    ----------
    counts, totals : array-like of shape (periods, shares)
        Number of rows with a property, and of rows, in each period. Rows are independent.
    low, high : array-like of shape (shares,)
        The claim is that the share of all periods lies between these bounds.

    Returns
    -------
    array of shape (periods, shares)
        The evidence against the claim up to each period: the mean of the likelihood ratios of
        larger and smaller shares, over their sizes (``TILTS``) and the periods of the change.
    """
    k, n = (np.asarray(array, np.float64) for array in (counts, totals))
    n = np.broadcast_to(n, k.shape)
    ends = (np.clip(np.asarray(end, np.float64), _END, 1 - _END) for end in (high, low))
    sides = [_one_side(k, n, end, sign) for end, sign in zip(ends, (1, -1), strict=True)]
    return np.asarray(np.logaddexp(*sides) - np.log(2))


def _one_side(
    k: NDArray[np.float64], n: NDArray[np.float64], bound: NDArray[np.float64], sign: int
) -> NDArray[np.float64]:
    """Return the evidence for shares above (sign 1) or below (sign -1) a bound."""
    other = expit(logit(bound)[:, np.newaxis] + sign * TILTS)  # (shares, tilts)
    bound = bound[:, np.newaxis]
    hit, miss = np.log(other / bound), np.log1p(-other) - np.log1p(-bound)
    steps = k[..., np.newaxis] * hit + (n - k)[..., np.newaxis] * miss
    sums = np.concatenate([np.zeros((1, *steps.shape[1:])), np.cumsum(steps, axis=0)])
    found = np.empty(k.shape)
    for t in range(len(k)):
        starts = np.arange(1, t + 2)
        stakes = -np.log(starts * (starts + 1.0))[:, np.newaxis, np.newaxis]
        begun = logsumexp(sums[t + 1] - sums[: t + 1] + stakes, axis=(0, 2)) - np.log(len(TILTS))
        found[t] = np.logaddexp(begun, -np.log(t + 2.0))  # the stake of later starts
    return found
