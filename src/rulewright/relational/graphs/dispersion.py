"""Dispersion scores: features that resemble the columns of a Hadamard matrix are worth most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.encoding import PackedCovers, SignedCovers, SignedStack

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray, StatArray, WordArray


class Dispersion:
    r"""How far a feature is from being orthogonal to others, :math:`d(s) = \sum_i (s_i \cdot s)^2`.

    Features are 1 where a pattern occurs and -1 elsewhere. With classes t in {-1, 1} the score is
    :math:`d(s) - m (t \cdot s)^2`, of m features. Without features the first one is nearest to
    balance, or to the classes. Small scores are good.

    Parameters
    ----------
    n_rows : int
        Number of graphs.
    signs : float array, optional
        Class of each graph, -1 or 1.
    constant_column : bool
        The constant feature is among the others, so that features are balanced too. The paper has
        it not.
    """

    def __init__(
        self, n_rows: int, signs: FloatArray | None = None, constant_column: bool = True
    ) -> None:
        self._n_rows, self._signs, self._constant = n_rows, signs, constant_column
        self._stack = SignedStack(n_rows)
        self._active: list[int] = []

    @property
    def n_features(self) -> int:
        """Features that the sum is over, with the constant one."""
        return len(self._active) + self._constant

    def add(self, words: WordArray) -> None:
        """Take a feature into the sum."""
        self._active.append(len(self._stack))
        self._stack.append(_sign_covers(words[np.newaxis], self._n_rows))

    def keep(self, places: list[int]) -> None:
        """Take all features out of the sum but some, by the order in which they were added."""
        self._active = places

    def scores(self, words: WordArray, n_threads: int = 1) -> StatArray:
        """Return the scores of features, as words of their graphs; they are whole numbers."""
        given, n_given = _sign_covers(words, self._n_rows), len(words)
        both = given.stack(self._stack.covers[self._active])
        lines, others = np.arange(n_given), np.arange(n_given, len(both))
        squares = (both.gram(lines, others, n_threads) ** 2).sum(axis=1)
        sums = (2 * given.holds.count().astype(np.int64) - self._n_rows) ** 2
        if self._constant or not (self._active or self._signs is not None):
            squares = squares + sums
        if self._signs is not None:
            agreement = np.rint(given.dot(self._signs, n_threads=n_threads)).astype(np.int64)
            squares = squares - max(self.n_features, 1) * agreement**2
        return np.asarray(squares)

    @property
    def least(self) -> int:
        """The score that none is below: a search that has found it ends."""
        m, n = self.n_features, self._n_rows
        if self._signs is not None:
            return -max(m, 1) * n * n
        return max(m, 1) if n % 2 else 0


def _sign_covers(words: WordArray, n_rows: int) -> SignedCovers:
    holds = PackedCovers(np.ascontiguousarray(words), n_rows)
    return SignedCovers(holds, ~holds)
