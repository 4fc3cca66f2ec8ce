r"""Bounds on the expected number of useless columns that a selection on half-samples keeps.

The rows are split into random halves several times. In each half a learner selects at most q of p
columns (`n_first` of `n_columns`). A column is called useless if a half selects it no more often
than a random choice of columns would, with probability q / p at most.

`pair_bound` is the bound of stability selection with complementary pairs (Shah and Samworth, 2013,
Theorem 1): among the columns selected by a share :math:`\pi > 1/2` of all halves, the expected
number of useless ones is at most :math:`q^2 / ((2 \pi - 1) p)`, for any learner.

`path_bound` integrates over q = 1, ..., Q, as in integrated path stability selection (Melikechi and
Miller, 2024, with the function of order 1). Let s(q) be the share of halves with a column among
their first q. Its score is the mean over q of max(2 s(q) - 1, 0). 2 s(q) - 1 is at most the share
of pairs whose halves both select the column. For a useless column the expectation of this share is
at most (q / p) times the probability that a half selects it. So the expected scores of all useless
columns sum to at most the mean of :math:`q^2 / p`. By Markov's inequality, the expected number of
useless columns with a score of at least t is at most this mean divided by t.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_threshold(threshold: float) -> None:
    """Reject a share of the halves without a bound."""
    if not 0.5 < threshold <= 1:
        raise ValueError(f"threshold={threshold!r} must be above 0.5 and at most 1")


def check_max_false(max_false: float) -> None:
    """Reject an invalid bound."""
    if not 0 < max_false < math.inf:
        raise ValueError(f"max_false={max_false!r} must be a number above 0")


def first_for_bound(max_false: float, n_columns: int, threshold: float) -> int:
    """Return the number of columns that a half may select for `pair_bound` to hold; at least 1."""
    q = math.sqrt(max_false * (2 * threshold - 1) * n_columns)
    return min(max(int(q * (1 + 1e-12)), 1), n_columns)


def pair_bound(n_first: int, n_columns: int, threshold: float) -> float:
    """Bound the expected number of useless columns selected by a share of all halves."""
    return n_first**2 / ((2 * threshold - 1) * n_columns)


def path_scores(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score columns by the shares of halves with the column among the first 1, 2, ... columns.

    Parameters
    ----------
    shares : float array of shape (columns, Q)
        The shares.
    """
    return np.asarray(np.maximum(2 * shares - 1, 0.0).mean(axis=1))


def path_bound(scores: NDArray[np.float64], n_first: int, n_columns: int) -> NDArray[np.float64]:
    """Bound, for each score, the expected number of useless columns with at least this score.

    It is at most the number of columns, which is the bound for a score of 0.
    """
    total = float(np.mean(np.arange(1, n_first + 1) ** 2) / n_columns)
    with np.errstate(divide="ignore"):
        return np.asarray(np.minimum(total / np.asarray(scores, np.float64), n_columns))
