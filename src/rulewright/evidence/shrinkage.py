"""Shrinkage of the hit share of chosen rules on new rows, estimated from held-out rows.

A rule that was chosen because it looks good looks better than it is. Of k hits in the n rows that
chose a rule, a share of (k + m q) / (n + m) is expected on new rows: as if m rows had the overall
share q. It is unknown whether m is constant or grows with the square root of n, and by how much
shares vary more than with n + m rows. Therefore all values of a grid are weighted by how
well they predict held-out rows (a beta-binomial likelihood), and averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from scipy.special import betaln

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray

_ROWS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_POWERS = (0.0, 0.5)
_FACTORS = (1.0, 2.0, 4.0, 8.0)
_GRID = np.array(np.meshgrid(_ROWS, _POWERS, _FACTORS)).reshape(3, -1, 1)
"""Grid: the number of shrinkage rows, as a factor times n to a power, and variance factors."""

WIDENING = 1.5
"""Final factor of the variance: shares of rules have longer tails than a beta distribution.

Chosen on ten synthetic problems; docs/research/precision.md uses other problems.
"""

MOST_ROWS = 1e6
"""Larger counts are clipped at this number of rows."""

NO_ROWS = 1e-9
"""Smaller weights are ignored."""

_INSIDE = 1e-9
"""Minimum distance of expected shares from 0 and 1 in the likelihood."""


class HitCounts(NamedTuple):
    """Hits among the rows of each of several rules, and the share of hits in all rows."""

    hits: FloatArray
    rows: FloatArray
    share: FloatArray


class ExpectedShare(NamedTuple):
    """A share p on new rows, as ``kept * k / n + moved * q``, and its effective number of rows."""

    kept: FloatArray
    moved: FloatArray
    rows: FloatArray


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """Weights of the grid, learned from held-out rows."""

    weights: FloatArray

    @classmethod
    def of(cls, seen: HitCounts, hits: FloatArray, rows: FloatArray) -> Self:
        """Compare the hits of rules on their training rows with those on held-out rows."""
        told = np.minimum(seen.rows, rows) > NO_ROWS
        made = _GridPrediction.of(HitCounts(*(column[told] for column in seen)))
        means = np.clip(made.means, _INSIDE, 1 - _INSIDE)
        right, wrong = means * made.sizes, (1 - means) * made.sizes
        hits, rows = _at_most(hits[told], rows[told])
        logs = (betaln(right + hits, wrong + rows - hits) - betaln(right, wrong)).sum(axis=1)
        weights = np.exp(logs - logs.max())
        return cls(weights / weights.sum())

    def expect_shares(self, seen: HitCounts) -> ExpectedShare:
        """Return the expected shares of rules on new rows; each has at least one row."""
        made = _GridPrediction.of(seen)
        mean, kept = (np.minimum(self.weights @ part, 1.0) for part in (made.means, made.kept))
        spread = made.means * (1 - made.means) / (made.sizes + 1) + (made.means - mean) ** 2
        chance, variance = mean * (1 - mean), self.weights @ spread
        certain = (chance == 0) | (variance <= 0)  # all points of the grid expect a share of 0 or 1
        rows = np.where(certain, 1 / (self.weights @ (1 / (made.sizes + 1))), chance)
        rows = np.minimum(rows / np.where(certain, 1.0, np.maximum(variance, 1e-300)), seen.rows)
        return ExpectedShare(kept, 1 - kept, rows / WIDENING)


class _GridPrediction(NamedTuple):
    """Prediction of each grid point for each rule: mean and rows of a beta distribution.

    The mean is a mixture of the rule's share of hits and the overall share.
    """

    kept: FloatArray
    means: FloatArray
    sizes: FloatArray

    @classmethod
    def of(cls, seen: HitCounts) -> Self:
        least, power, factor = _GRID
        hits, rows = _at_most(seen.hits, seen.rows)
        worth = least * rows**power
        kept = rows / (rows + worth)
        means = kept * hits / rows + (1 - kept) * seen.share
        return cls(kept, means, (rows + worth) / factor)


def _at_most(hits: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the same shares, with at most this number of rows."""
    factor = np.minimum(1.0, MOST_ROWS / rows)
    return hits * factor, rows * factor
