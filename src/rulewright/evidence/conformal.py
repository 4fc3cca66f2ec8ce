"""Split conformal prediction: thresholds of scores from calibration rows, as functions of numbers.

If calibration rows and a new row are exchangeable, the score of the new one is at most the k-th
smallest of n calibration scores, k = ceil((n + 1) (1 - alpha)), with probability 1 - alpha at least
(Vovk, Gammerman and Shafer, 2005; Papadopoulos et al., 2002).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray


def rank_of(n: int, alpha: float) -> int:
    """Return which of n scores in ascending order is the threshold; n + 1 for none of them."""
    # Products such as 10 * 0.7 may lie just above the whole number that they stand for.
    return max(1, math.ceil((n + 1) * (1 - alpha) - 1e-9))


def conformal_threshold(scores: FloatArray, alpha: float) -> float:
    """Return the threshold of calibration scores; infinite if they are too few."""
    rank = rank_of(len(scores), alpha)
    return math.inf if rank > len(scores) else float(np.sort(scores)[rank - 1])


def coverage_bound(n: int, alpha: float, delta: float) -> float:
    """Bound the coverage that calibration rows, once drawn, have on all new rows.

    Coverage is 1 - alpha on average over draws of the calibration rows. Given n of them it is
    distributed at least as Beta(k, n + 1 - k) if rows are independent, so that it is below this
    bound with probability `delta` at most (Vovk, 2012).
    """
    rank = rank_of(n, alpha)
    return 1.0 if rank > n else float(betaincinv(rank, n + 1 - rank, delta))
