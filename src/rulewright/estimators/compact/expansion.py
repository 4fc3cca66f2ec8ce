"""The loss to second order around a fit: what adding, removing and swapping rules would change.

A fit of all points for each change that a search considers takes most of its time. The derivatives
at the current fit tell nearly as much: after a change, the points of all other rules move to the
minimum of the quadratic approximation. Only the change that looks best is then fitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulewright.kernels import FloatArray, IntArray
    from rulewright.rules import Head

LEAST_CURVATURE = 1e-9
"""Second derivatives count as no less, as a share of the largest: rules may cover the same rows."""


class Expansion(NamedTuple):
    """Derivatives of the loss at a fit, along its members and along candidates.

    Attributes
    ----------
    points : float64 array
        Points of the members, each in the direction of its head.
    inverse : float64 array of shape (members and intercepts, members and intercepts)
        Inverse of the second derivatives.
    pulls : float64 array
        How fast the loss falls along each candidate.
    own : float64 array
        Second derivative along each candidate.
    across : float64 array of shape (candidates, members and intercepts)
        Mixed second derivatives.
    """

    points: FloatArray
    inverse: FloatArray
    pulls: FloatArray
    own: FloatArray
    across: FloatArray

    @classmethod
    def of(
        cls,
        points: FloatArray,
        second: FloatArray,
        pulls: FloatArray,
        own: FloatArray,
        across: FloatArray,
    ) -> Expansion:
        """Invert the second derivatives of the members and intercepts."""
        least = LEAST_CURVATURE * max(float(np.diag(second).max(initial=0.0)), 1e-300)
        found = np.linalg.pinv(second + least * np.eye(len(second)), hermitian=True)
        return cls(points, np.asarray(found, dtype=np.float64), pulls, own, across)

    @property
    def moved(self) -> FloatArray:
        """The backward move of each member or intercept per unit of each candidate."""
        return self.across @ self.inverse

    @property
    def added(self) -> FloatArray:
        """The gain of adding each candidate."""
        return _gain(self.pulls, self._stiffness(self.moved))

    @property
    def removed(self) -> FloatArray:
        """The loss of removing each member."""
        n = len(self.points)
        return 0.5 * self.points**2 / self._own_inverse()[:n]

    @property
    def swapped(self) -> FloatArray:
        """The loss of replacing a member (line) by a candidate (column); gains are negative."""
        n, moved = len(self.points), self.moved
        along, inverse = moved[:, :n].T, self._own_inverse()[:n, np.newaxis]
        pulls = self.pulls + along * (self.points[:, np.newaxis] / inverse)
        stiffness = self._stiffness(moved) + along**2 / inverse
        return self.removed[:, np.newaxis] - _gain(pulls, stiffness)

    def _own_inverse(self) -> FloatArray:
        found: FloatArray = np.maximum(np.diag(self.inverse), 1e-300)
        return found

    def _stiffness(self, moved: FloatArray) -> FloatArray:
        """Return second derivatives along candidates while all members follow."""
        left = self.own - np.einsum("ij,ij->i", moved, self.across)
        found: FloatArray = np.maximum(left, LEAST_CURVATURE * np.maximum(self.own, 1e-300))
        return found


def _gain(pulls: FloatArray, stiffness: FloatArray) -> FloatArray:
    """Return what Newton steps gain; steps against the direction of a head are not taken."""
    gains: FloatArray = np.where(pulls > 0, 0.5 * pulls * (pulls / stiffness), 0.0)
    return gains


class HeadCurvature:
    """Second derivatives of the log-likelihood between columns that add to classes.

    Between head A in one column and head B in another, a row of probabilities p has the second
    derivative p(A and B) - p(A) p(B).
    """

    def __init__(self, probabilities: FloatArray) -> None:
        self._below = np.zeros((probabilities.shape[1] + 1, len(probabilities)))
        np.cumsum(probabilities.T, axis=0, out=self._below[1:])

    def expect(self, heads: Sequence[Head], weights: FloatArray) -> FloatArray:
        """Sum weight times probability of its head, for each line of weights."""
        sums, places = sum_products(weights, self._below), np.arange(len(heads))
        firsts, lasts = _ends(heads)
        found: FloatArray = sums[places, lasts + 1] - sums[places, firsts]
        return found

    def own(self, heads: Sequence[Head], weights: FloatArray) -> FloatArray:
        """Return the second derivatives of columns along themselves, for lines of squares."""
        found = np.empty(len(heads))
        for head, mine in _places(heads):
            p = self._between(np.array([head.first]), np.array([head.last]))[0]
            found[mine] = sum_products(weights[mine], (p * (1 - p))[np.newaxis])[:, 0]
        return found

    def across(
        self,
        heads: Sequence[Head],
        weights: FloatArray,
        other_heads: Sequence[Head],
        values: FloatArray,
    ) -> FloatArray:
        """Return the second derivatives between columns with weights and columns with values."""
        found = np.empty((len(heads), len(other_heads)))
        firsts, lasts = _ends(other_heads)
        p = self._between(firsts, lasts)
        for head, mine in _places(heads):
            shared = np.maximum(firsts, head.first), np.minimum(lasts, head.last)
            own = self._between(np.array([head.first]), np.array([head.last]))
            found[mine] = sum_products(weights[mine], values * (self._between(*shared) - own * p))
        return found

    def _between(self, firsts: IntArray, lasts: IntArray) -> FloatArray:
        """Return the probabilities (ranges, rows) of ranges of classes; an empty one has none."""
        found: FloatArray = self._below[np.maximum(lasts + 1, firsts)] - self._below[firsts]
        return found


def sum_products(lines: FloatArray, others: FloatArray) -> FloatArray:
    """Sum the products of each of the lines with each of the others.

    BLAS has threads of its own for this, which for so few lines wait longer than they compute, and
    whose number would change the last bits of the sums.
    """
    sums: FloatArray = np.einsum("ag,bg->ab", lines, others)
    return sums


def _ends(heads: Sequence[Head]) -> tuple[IntArray, IntArray]:
    """Return the first and the last class of each head."""
    ends = np.array(heads, dtype=np.int32).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def _places(heads: Sequence[Head]) -> Iterator[tuple[Head, IntArray]]:
    """Return each head once, with where it occurs."""
    for head in sorted(set(heads)):
        yield head, np.flatnonzero([one == head for one in heads]).astype(np.int32)
