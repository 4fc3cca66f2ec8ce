r"""How many useless columns a selection on halves of the rows keeps, at most and on average.

The rows are halved at random several times. In each half a learner chooses at most q of p columns
(`n_first` of `n_columns`). A column is called useless here if a half chooses it no more often than
columns drawn at random would be, with probability q / p at most.

`pair_bound` is that of stability selection with complementary pairs (Shah and Samworth, 2013,
Theorem 1): of the columns that a share :math:`\pi > 1/2` of all halves choose,
:math:`q^2 / ((2 \pi - 1) p)` useless ones are expected at most, whatever the learner.

`path_bound` integrates over q = 1, ..., Q, as integrated path stability selection does (Melikechi
and Miller, 2024, with the function of order 1). Let s(q) be the share of halves that have a column
among their first q. Its score is the mean over q of max(2 s(q) - 1, 0). Since 2 s(q) - 1 is at most
the share of pairs of which both halves choose the column, whose expectation for a useless column is
at most (q / p) times the probability that a half chooses it, the expected scores of all useless
columns add up to the mean of :math:`q^2 / p` at most, and by Markov's inequality no more than this
mean divided by t useless columns with a score of at least t are expected.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_threshold(threshold: float) -> None:
    """Refuse a share of the halves for which there is no bound."""
    if not 0.5 < threshold <= 1:
        raise ValueError(f"threshold={threshold!r} must be above 0.5 and at most 1")


def check_max_false(max_false: float) -> None:
    """Refuse a number that cannot be a bound."""
    if not 0 < max_false < math.inf:
        raise ValueError(f"max_false={max_false!r} must be a number above 0")


def first_for_bound(max_false: float, n_columns: int, threshold: float) -> int:
    """Return how many columns a half may choose so that `pair_bound` holds; 1 at least."""
    q = math.sqrt(max_false * (2 * threshold - 1) * n_columns)
    return min(max(int(q * (1 + 1e-12)), 1), n_columns)


def pair_bound(n_first: int, n_columns: int, threshold: float) -> float:
    """Bound the expected number of useless columns that a share of all halves choose."""
    return n_first**2 / ((2 * threshold - 1) * n_columns)


def path_scores(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score columns by the shares of halves that have them among their first 1, 2, ... columns.

    Parameters
    ----------
    shares : float array of shape (columns, Q)
        The shares.
    """
    return np.asarray(np.maximum(2 * shares - 1, 0.0).mean(axis=1))


def path_bound(scores: NDArray[np.float64], n_first: int, n_columns: int) -> NDArray[np.float64]:
    """Bound the expected number of useless columns that score as high, for each score.

    It is never more than the number of columns, and that for a score of 0.
    """
    total = float(np.mean(np.arange(1, n_first + 1) ** 2) / n_columns)
    with np.errstate(divide="ignore"):
        return np.asarray(np.minimum(total / np.asarray(scores, np.float64), n_columns))
