"""The empirical margin: weights in the 2-norm ball with maximum mean margin, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.margins.criterion import (
    CappedState,
    KeptRules,
    MarginRows,
    MarginWeights,
    one_by_one,
)

if TYPE_CHECKING:
    from rulewright.encoding import SignedCovers
    from rulewright.kernels import FloatArray

_ROUNDING = 1e-13


@dataclass(frozen=True)
class EmpiricalMargin:
    """Maximise the mean margin with L2(w) <= 1: w is d, divided by its norm.

    Parameters
    ----------
    balance : bool
        Give both classes equal weight, so that the constant rule has mean margin 0. Has no effect
        with a single class.
    """

    balance: bool = True

    @property
    def largest_value(self) -> float:
        """The norm of the mean margins grows with the number of rules."""
        return np.inf

    def start(
        self, y_signs: FloatArray, weights: FloatArray, n: float | None = None
    ) -> EmpiricalMarginState:
        """Begin without rules."""
        rows = MarginRows(y_signs, weights, n)
        if self.balance:
            rows = MarginRows(rows.y, balance_weights(rows.y, rows.a), n)
        return EmpiricalMarginState(rows)


def balance_weights(y_signs: FloatArray, weights: FloatArray) -> FloatArray:
    """Return row weights with half of the total for each class, if both occur."""
    positive = y_signs > 0
    share = float(weights[positive].sum())
    if not 0 < share < 1 or positive.all() or not positive.any():
        return weights
    scaled = np.where(positive, weights / (2 * share), weights / (2 * weights[~positive].sum()))
    return np.asarray(scaled / scaled.sum())


class EmpiricalMarginState(CappedState):
    """Mean margins d_j of the rules, and the sum of d_j x_ij for each row."""

    def __init__(self, rows: MarginRows) -> None:
        self.working = KeptRules(rows)
        self._d, self._sums = np.zeros(0), np.zeros(len(rows.y))
        self._w = np.zeros(0)

    def add(self, covers: SignedCovers) -> bool:
        """Append rules; any rule with a nonzero mean margin changes the weights."""
        rows = self.working.rows
        found = covers.dot(rows.a * rows.y)
        found[np.abs(found) <= _ROUNDING] = 0.0  # balanced classes
        for rule in one_by_one(covers):
            self.working.append(rule)
        self._sums += covers.scores(found)
        self._d = np.concatenate([self._d, found])
        self._w = np.concatenate([self._w, np.zeros(len(found))])
        return bool(found.any())

    def solve(self) -> None:
        """Divide the mean margins by their norm."""
        norm = float(np.linalg.norm(self._d))
        self._w = self._d / norm if norm > 0 else np.zeros(len(self._d))

    def _sizes(self) -> FloatArray:
        """Return the sizes of the weights of the working set."""
        return np.abs(self._d)

    def _drop(self, j: int) -> None:
        """Take out the rule in place j."""
        self._sums -= self.working.covers[j : j + 1].scores(self._d[j : j + 1])
        self.working.remove(j)
        self._d, self._w = np.delete(self._d, j), np.delete(self._w, j)

    @property
    def solution(self) -> MarginWeights:
        """The weights, whose value is the mean margin; the gap is 0."""
        rows, used = self.working.rows, np.flatnonzero(self._w)
        norm = float(np.linalg.norm(self._d))
        margins = rows.y * self._sums / (norm if norm > 0 else 1.0)
        mean = float(self._d @ self._w)
        variance = rows.spread * float(rows.a @ (margins - norm) ** 2)
        lines = np.array(self.working.lines, dtype=np.int32)[used]
        return MarginWeights(lines, self._w[used], mean, 0.0, mean, variance)
