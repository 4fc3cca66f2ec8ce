"""The 1-norm SVM: the least mean hinge loss of weights with L1(w) <= s, a linear program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog

from rulewright.weighting.margins.criterion import Solution
from rulewright.weighting.margins.working_set import KeptRules, Rows, one_by_one

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.encoding.signed import SignedCovers
    from rulewright.kernels import FloatArray

TOLERANCE = 1e-7
"""Gap at which weights count as best: as exact as the solver of linear programs is."""

_NEW_COLUMNS = 20
_ROUNDS = 200


@dataclass(frozen=True)
class OneNormSVM:
    """Minimise the mean of max(0, 1 - y w.x) with L1(w) <= `budget`.

    Parameters
    ----------
    budget : float
        s, the sum of the |weights| that may be used.
    """

    budget: float = 10.0

    def __post_init__(self) -> None:
        if not 0 < self.budget < np.inf:
            raise ValueError(f"budget must be above 0, not {self.budget}")

    @property
    def largest_value(self) -> float:
        """Margins of weights in the 1-norm ball are at most 1."""
        return 1.0

    def start(
        self, y_signs: FloatArray, weights: FloatArray, n: float | None = None
    ) -> OneNormSVMState:
        """Begin without rules."""
        return OneNormSVMState(Rows(y_signs, weights, n), self.budget)


class OneNormSVMState:
    """Weights of the rules, prices of the rows and the cost of a unit of weight.

    The dual is to maximise sum u_i - s t with |sum_i u_i y_i x_ij| <= t and 0 <= u_i <= a_i. A
    rule whose price |sum_i u_i y_i x_ij| is above t becomes a column of the program; the largest
    price takes the place of t in the certificate.
    """

    def __init__(self, rows: Rows, budget: float) -> None:
        self.working, self._budget = KeptRules(rows), budget
        self._w, self._prices = np.zeros(0), np.zeros(0)
        self._u = rows.a.copy()
        self._scores = np.zeros(len(rows.y))

    def add(self, covers: SignedCovers) -> bool:
        """Append rules; tell if the gap of the weights so far has opened."""
        prices = covers.dot(self._u * self.working.rows.y)
        for rule in one_by_one(covers):
            self.working.append(rule)
        self._w = np.concatenate([self._w, np.zeros(len(prices))])
        self._prices = np.concatenate([self._prices, prices])
        return self._gap > TOLERANCE

    def solve(self) -> None:
        """Solve programs of few columns until no rule outside has a price above t."""
        columns = np.flatnonzero(self._w)
        for _ in range(_ROUNDS):
            outside = np.abs(self._prices)
            outside[columns] = -np.inf
            dearest = np.argsort(-outside, kind="stable")[:_NEW_COLUMNS]
            level = np.abs(self._prices[columns]).max(initial=0.0)
            new = dearest[outside[dearest] > level]
            if not len(new) or self._gap <= TOLERANCE:
                break
            columns = np.sort(np.concatenate([columns, new]))
            self._solve_columns(columns)

    def drop_to(self, cap: int) -> None:
        """Take the rules with the smallest |weight| out of the working set."""
        lost = False
        while len(self.working) > cap:
            j = int(np.abs(self._w).argmin())
            lost |= self._w[j] != 0
            self.working.remove(j)
            self._w, self._prices = np.delete(self._w, j), np.delete(self._prices, j)
        if lost:
            self._solve_columns(np.flatnonzero(self._w))
            self.solve()

    @property
    def objective(self) -> float:
        """The mean hinge loss."""
        rows = self.working.rows
        return float(rows.a @ np.maximum(1 - rows.y * self._scores, 0))

    @property
    def solution(self) -> Solution:
        """The weights, whose value is the mean margin after division by L1(w)."""
        rows, used = self.working.rows, np.flatnonzero(self._w)
        margins = rows.y * self._scores
        mean = float(rows.a @ margins)
        variance = rows.spread * float(rows.a @ (margins - mean) ** 2)
        norm = float(np.abs(self._w).sum())
        lines = np.array(self.working.lines, dtype=np.int32)[used]
        value = mean / norm if norm > 0 else 0.0
        return Solution(lines, self._w[used], value, self._gap, mean, variance)

    @property
    def _gap(self) -> float:
        """The hinge loss minus that of the dual with these prices."""
        cost = float(np.abs(self._prices).max(initial=0.0))
        return self.objective - (float(self._u.sum()) - self._budget * cost)

    def _solve_columns(self, columns: NDArray[np.intp]) -> None:
        """Solve the dual of the program of some rules; its multipliers are their weights."""
        rows, covers = self.working.rows, self.working.covers[columns]
        x, n = covers.values() * rows.y, len(rows.y)
        limits = np.column_stack([np.zeros(n + 1), np.append(rows.a, np.inf)])
        found = linprog(
            np.append(-np.ones(n), self._budget),
            A_ub=np.column_stack([np.vstack([x, -x]), -np.ones(2 * len(x))]),
            b_ub=np.zeros(2 * len(x)),
            bounds=limits,
            method="highs",
        )
        if found.status != 0:
            raise RuntimeError(f"the linear program was not solved: {found.message}")
        plus, minus = -np.asarray(found.ineqlin.marginals).reshape(2, -1)
        self._u = np.clip(found.x[:-1], 0, rows.a)
        self._w = np.zeros(len(self.working))
        self._w[columns] = _within(plus - minus, self._budget)
        self._scores = covers.scores(self._w[columns])
        self._prices = self.working.dot(self._u * rows.y)


def _within(w: FloatArray, budget: float) -> FloatArray:
    """Return weights with an L1 norm of the budget at most, which rounding may have exceeded."""
    w = np.where(np.abs(w) <= 1e-12 * budget, 0.0, w)
    return w * min(1.0, budget / max(float(np.abs(w).sum()), 1e-300))
