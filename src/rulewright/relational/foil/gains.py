"""FOIL's gain of many literals at once.

The gain is T (log2(p1 / (p1 + n1)) - log2(p0 / (p0 + n0))): p and n are positive and negative
bindings before and after a literal, T the positive ones before it that are still extended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rulewright.data import Column
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.relational.foil.facts import Places


class BestChoice(NamedTuple):
    """The best of several choices."""

    gain: float
    choice: int
    n_choices: int


@dataclass(frozen=True, eq=False)
class Scope:
    """Bindings that literals are judged on, of which each may extend an older one.

    Attributes
    ----------
    positive, negative : float64 arrays
        Weight of each binding for and against the class.
    before : tuple of float
        Weights p0 and n0 before the literal.
    parents : int array, optional
        The older binding that each one extends, ascending; None if it is the same.
    weights : float64 array, optional
        Positive weights of the older bindings.
    """

    positive: FloatArray
    negative: FloatArray
    before: tuple[float, float]
    parents: Places | None = None
    weights: FloatArray | None = None

    def gain(self, t: FloatArray, p: FloatArray, n: FloatArray) -> FloatArray:
        """Return the gains of literals; one without positive bindings has none."""
        p0, n0 = self.before
        with np.errstate(divide="ignore", invalid="ignore"):
            gains = t * (np.log2(p / (p + n)) - np.log2(p0 / (p0 + n0)))
        return np.where(p > 0, gains, -np.inf)

    def of_all(self) -> float:
        """Return the gain of the new variable alone."""
        return self.of_mask(np.ones(len(self.positive), dtype=np.bool_))

    def of_mask(self, mask: BoolArray) -> float:
        """Return the gain of a literal that some bindings satisfy."""
        p, n = self.positive[mask].sum(), self.negative[mask].sum()
        t = p
        if self.parents is not None and self.weights is not None:
            kept = np.zeros(len(self.weights), dtype=np.bool_)
            kept[self.parents[mask]] = True
            t = self.weights[kept].sum()
        return float(self.gain(np.array(t), np.array(p), np.array(n)))

    def labels(self, column: Column) -> tuple[FloatArray, FloatArray]:
        """Return the gains of each label of a column, and of every other label than it."""
        known = ~column.is_missing
        codes, size = column.values[known], len(column.schema.labels)
        p, n = _sums(codes, self.positive[known], size), _sums(codes, self.negative[known], size)
        t, others = p, p.sum() - p
        if self.parents is not None and self.weights is not None:
            parents, weights = self.parents[known], self.weights
            pairs = np.unique(parents * size + codes)
            t = _sums(pairs % size, weights[pairs // size], size)
            labels_of = np.bincount(pairs // size, minlength=len(weights))
            alone = pairs[labels_of[pairs // size] == 1]
            only = _sums(alone % size, weights[alone // size], size)
            others = weights[labels_of > 0].sum() - only
        return self.gain(t, p, n), self.gain(others, p.sum() - p, n.sum() - n)

    def cuts(self, column: Column) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the values of a column, and the gains of ``>=`` and ``<=`` each of them.

        Of all values but the smallest, and but the largest: others tell nothing.
        """
        known = ~column.is_missing
        values, places = np.unique(column.values[known], return_inverse=True)
        size = len(values)
        p, n = _sums(places, self.positive[known], size), _sums(places, self.negative[known], size)
        highest = lowest = p
        if self.parents is not None and self.weights is not None:
            parents = self.parents[known]
            first = np.flatnonzero(np.diff(parents, prepend=-1))
            own = self.weights[parents[first]]
            if size:
                highest = _sums(np.maximum.reduceat(places, first), own, size)
                lowest = _sums(np.minimum.reduceat(places, first), own, size)
        above = self.gain(_from(highest), _from(p), _from(n))
        below = self.gain(np.cumsum(lowest), np.cumsum(p), np.cumsum(n))
        above[:1], below[-1:] = -np.inf, -np.inf
        return values, above, below


def best_of(gains: FloatArray) -> BestChoice | None:
    """Return the first of the best gains, if there is a choice."""
    allowed = np.isfinite(gains)
    if not allowed.any():
        return None
    choice = int(gains.argmax())
    return BestChoice(float(gains[choice]), choice, int(allowed.sum()))


def _sums(codes: Places, weights: FloatArray, size: int) -> FloatArray:
    """Sum weights by code."""
    return np.bincount(codes, weights, size).astype(np.float64)


def _from(sums: FloatArray) -> FloatArray:
    """Sum from each place to the end."""
    return np.cumsum(sums[::-1])[::-1]
