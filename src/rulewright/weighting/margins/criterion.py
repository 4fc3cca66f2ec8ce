"""Protocols of criteria, and the rules of a solve: mean margins and products over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rulewright.encoding import SignedCovers, SignedStack

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class MarginWeights:
    """Weights of rules, with a certificate.

    Attributes
    ----------
    lines : int32 array
        Rules with nonzero weights, by their number in the order of addition, ascending.
    weights : float64 array
        Their weights.
    value : float
        The quantity before the penalty for the number of rules. For mean minus variance: the value
        of the weights, optimally scaled into the 1-norm ball if p > 1; otherwise the mean margin.
    gap : float
        Upper bound on the distance of the objective from its optimum.
    mean, variance : float
        Of the margins y w.x of the weights, over the rows.
    constraint_active : bool, optional
        Whether the norm of the weights is at its limit; if not, the limit has no effect. None
        without such a norm.
    """

    lines: IntArray
    weights: FloatArray
    value: float
    gap: float
    mean: float
    variance: float
    constraint_active: bool | None = None


class CriterionState(Protocol):
    """The rules added so far, and the optimal weights of the working set."""

    @property
    def solution(self) -> MarginWeights:
        """The weights of the last solve."""

    def add(self, covers: SignedCovers) -> bool:
        """Append rules to the working set; return whether the optimal weights may have changed."""

    def solve(self) -> None:
        """Find the optimal weights of the working set, starting from the last ones."""

    def drop_to(self, cap: int) -> None:
        """Drop rules from the working set: smallest |weight| first, oldest first in ties.

        If a rule with a nonzero weight is dropped, the other weights are recomputed.
        """


class Criterion(Protocol):
    """An objective for weights of rules, to be maximised."""

    @property
    def largest_value(self) -> float:
        """Upper bound of `MarginWeights.value` for any rules; infinity if unknown."""

    def start(
        self, y_signs: FloatArray, weights: FloatArray, n: float | None = None
    ) -> CriterionState:
        """Begin without rules.

        Parameters
        ----------
        y_signs : float64 array of -1 and 1
            Class of each row.
        weights : float64 array
            Weights of the rows, with sum 1.
        n : float, optional
            Number of rows that the weights represent: variances refer to a sample of n. By
            default 1 / sum of squared weights: the number of rows if all weights are equal.
        """


_FIRST_SIZE = 32
_ROUNDING = 1e-9


class MarginRows:
    """Classes and weights of the rows.

    Attributes
    ----------
    y : float64 array of -1 and 1
        Class of each row.
    a : float64 array
        Weights of the rows, with sum 1.
    equal : bool
        Whether all weights are equal, so that products are counts.
    n : float
        Number of rows that the weights represent.
    """

    def __init__(self, y_signs: FloatArray, weights: FloatArray, n: float | None = None) -> None:
        self.y = np.ascontiguousarray(y_signs, dtype=np.float64)
        self.a = np.ascontiguousarray(weights, dtype=np.float64)
        if self.y.ndim != 1 or not np.isin(self.y, (-1.0, 1.0)).all():
            raise ValueError("y_signs must be a list of -1 and 1, one per row")
        if self.a.shape != self.y.shape or not (self.a >= 0).all():
            raise ValueError(f"weights must be {len(self.y)} numbers, 0 or more, one per row")
        if not abs(self.a.sum() - 1) <= _ROUNDING:
            raise ValueError(f"weights must have the sum 1, not {self.a.sum():g}; divide by it")
        self.equal = bool((self.a == self.a[0]).all())
        self.n = float(1 / (self.a @ self.a) if n is None else n)
        if self.n <= 1 + _ROUNDING:
            raise ValueError("the variance of margins needs at least two rows with a weight")

    @property
    def spread(self) -> float:
        """The factor n / (n - 1) from mean squares to sample variances."""
        return self.n / (self.n - 1)


class KeptRules:
    """The rules of a working set, with their covers.

    Attributes
    ----------
    lines : list of int
        Number of each rule in the order of addition; ascending.
    n_added : int
        Number of rules added so far, including dropped ones.
    """

    def __init__(self, rows: MarginRows) -> None:
        self.rows, self.n_added = rows, 0
        self.lines: list[int] = []
        self._stack = SignedStack(len(rows.y))
        self._stack.append(SignedCovers.pack(rows.y[np.newaxis]))  # place 0: the classes
        self._places = np.zeros(1 + _FIRST_SIZE, dtype=np.int32)  # for the classes, then for rules
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def covers(self) -> SignedCovers:
        """The rules of the working set, in order."""
        return self._stack.covers[self._places[1 : len(self) + 1]]

    def rule(self, j: int) -> SignedCovers:
        """Return the rule in place j."""
        place = int(self._places[j + 1])
        return self._stack.covers[place : place + 1]

    def dot(self, row_numbers: FloatArray) -> FloatArray:
        """Return for each rule the sum of its values times the row numbers."""
        return self._stack.covers.dot(row_numbers, self._places[1 : len(self) + 1])

    def append(self, rule: SignedCovers) -> None:
        """Append one rule."""
        k = len(self)
        if k + 1 == len(self._places):
            self._places = np.concatenate([self._places, np.zeros(k, dtype=np.int32)])
        self._places[k + 1] = self._place(rule)
        self.lines.append(self.n_added)
        self.n_added += 1

    def remove(self, j: int) -> None:
        """Take out the rule in place j."""
        k = len(self)
        self._free.append(int(self._places[j + 1]))
        self._places[j + 1 : k] = self._places[j + 2 : k + 1]
        del self.lines[j]

    def _place(self, rule: SignedCovers) -> int:
        """Store the covers of a rule, in the place of a dropped rule if there is one."""
        if not self._free:
            self._stack.append(rule)
            return len(self._stack) - 1
        place = self._free.pop()
        self._stack.replace(place, rule)
        return place


class CappedState:
    """Base class of states: dropping rules from a working set that is too large.

    A state has `working`, the rules; `_sizes()` of their weights, `_drop(j)` and `solve()`.
    """

    working: KeptRules

    def drop_to(self, cap: int) -> None:
        """Drop the rules with the smallest |weight| from the working set."""
        lost = False
        while len(self.working) > cap:
            sizes = self._sizes()
            j = int(sizes.argmin())
            lost |= bool(sizes[j] != 0)
            self._drop(j)
        if lost:
            self.solve()

    def _sizes(self) -> FloatArray:
        raise NotImplementedError

    def _drop(self, j: int) -> None:
        raise NotImplementedError

    def solve(self) -> None:
        """Find the optimal weights of the working set."""
        raise NotImplementedError


class WorkingSet(KeptRules):
    """Rules with their mean margins d_j and their mean products M_jk."""

    def __init__(self, rows: MarginRows) -> None:
        super().__init__(rows)
        self._means = np.zeros(_FIRST_SIZE)
        self._products = np.zeros((_FIRST_SIZE, _FIRST_SIZE))

    @property
    def means(self) -> FloatArray:
        """d_j, the mean of y_i x_ij."""
        return self._means[: len(self)]

    @property
    def products(self) -> FloatArray:
        """M_jk, the mean of x_ij x_ik; the classes cancel."""
        return self._products[: len(self), : len(self)]

    @property
    def covariance(self) -> FloatArray:
        """S, the covariance of the margins of single rules."""
        return self.rows.spread * (self.products - np.outer(self.means, self.means))

    def append(self, rule: SignedCovers) -> None:
        """Append one rule."""
        super().append(rule)
        k = len(self)
        if k > len(self._means):
            self._grow()
        found = self._measure(rule, self._places[: k + 1])
        self._means[k - 1] = found[0]
        self._products[k - 1, :k] = self._products[:k, k - 1] = found[1:]

    def remove(self, j: int) -> None:
        """Take out the rule in place j."""
        super().remove(j)
        k = len(self)
        self._means[j:k] = self._means[j + 1 : k + 1]
        self._products[j:k, : k + 1] = self._products[j + 1 : k + 1, : k + 1]
        self._products[:k, j:k] = self._products[:k, j + 1 : k + 1]

    def _measure(self, rule: SignedCovers, others: IntArray) -> FloatArray:
        """Return the means of a rule times the classes, and times each rule up to itself."""
        covers = self._stack.covers
        if self.rows.equal:
            return np.asarray(covers.gram(others[-1:], others)[0] / len(self.rows.y))
        (values,) = rule.values()
        return covers.dot(self.rows.a * values, others)

    def _grow(self) -> None:
        """Double the capacity."""
        k = len(self._means)
        self._means = np.concatenate([self._means, np.zeros(k)])
        products = np.zeros((2 * k, 2 * k))
        products[:k, :k] = self._products
        self._products = products


def one_by_one(covers: SignedCovers) -> list[SignedCovers]:
    """Return each rule alone."""
    return [covers[j : j + 1] for j in range(len(covers))]
