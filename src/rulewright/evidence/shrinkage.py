"""How far the share of hits of chosen rules falls back on new rows, told by rules counted on both.

What was chosen because it looks good looks better than it is. Of k hits in the n rows that chose a
rule, (k + m q) / (n + m) are expected on new rows: choosing was worth m rows of the share q that
the hits have in all rows. Whether m is the same for all rules or grows with the square root of n,
and how many times the variance of n + m rows shares have, is not known: all values of a grid are
weighed by how well they predict rows that were left out (a beta-binomial likelihood), and averaged.
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
"""What choosing is worth, in rows times n to a power; and factors of the variance."""

WIDENING = 1.5
"""Factor of the variance in the end: shares of rules have longer tails than a beta distribution.

Chosen on ten made-up problems, which are not those of the figures in docs/rule-statistics.md.
"""

MOST_ROWS = 1e6
"""Counts of more rows say no more."""

NO_ROWS = 1e-9
"""Weights of fewer rows say nothing."""

_INSIDE = 1e-9
"""How far expected shares stay from 0 and 1 in the likelihood: nothing is impossible."""


class HitCounts(NamedTuple):
    """Hits among the rows of each of several rules, and the share of hits in all rows."""

    hits: FloatArray
    rows: FloatArray
    share: FloatArray


class ExpectedShare(NamedTuple):
    """A share p on new rows, as ``kept * k / n + moved * q``, and the rows that know it as well."""

    kept: FloatArray
    moved: FloatArray
    rows: FloatArray


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """Weights of the grid, by what rows left out tell."""

    weights: FloatArray

    @classmethod
    def of(cls, seen: HitCounts, hits: FloatArray, rows: FloatArray) -> Self:
        """Compare what rules show on the rows that chose them with hits among rows left out."""
        told = np.minimum(seen.rows, rows) > NO_ROWS
        made = _GridPrediction.of(HitCounts(*(column[told] for column in seen)))
        means = np.clip(made.means, _INSIDE, 1 - _INSIDE)
        right, wrong = means * made.sizes, (1 - means) * made.sizes
        hits, rows = _at_most(hits[told], rows[told])
        logs = (betaln(right + hits, wrong + rows - hits) - betaln(right, wrong)).sum(axis=1)
        weights = np.exp(logs - logs.max())
        return cls(weights / weights.sum())

    def expect_shares(self, seen: HitCounts) -> ExpectedShare:
        """Return what rules with these counts have on new rows; each has some rows."""
        made = _GridPrediction.of(seen)
        mean, kept = self.weights @ made.means, self.weights @ made.kept
        spread = made.means * (1 - made.means) / (made.sizes + 1) + (made.means - mean) ** 2
        variance = np.maximum(self.weights @ spread, 1e-300)
        rows = np.minimum(mean * (1 - mean) / variance, seen.rows)
        return ExpectedShare(kept, 1 - kept, rows / WIDENING)


class _GridPrediction(NamedTuple):
    """What each point of the grid says of each rule: mean and rows of a beta distribution.

    The mean keeps a part of the share of hits, and takes the rest from the share in all rows.
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
    """Return the same shares of no more than so many rows."""
    factor = np.minimum(1.0, MOST_ROWS / rows)
    return hits * factor, rows * factor
