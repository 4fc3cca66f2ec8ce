"""The 1-norm SVM: weights with L1(w) <= s and minimum mean hinge loss, by a simplex method.

The ball is the convex hull of the signed rules and of 0, times the budget: weights of atoms sum to
the budget. The kernel (`native/weighting/elbow.hpp`) moves between vertices; this module prices
rules and adds them.

Rules are 1 or -1 on most rows, so margins are often tied: the 1 of each row is raised by a tiny
individual amount. Prices stay feasible for the true loss, and its gap includes the effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog

from rulewright import kernels
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


TOLERANCE = 1e-7
"""Gap at which weights count as optimal: the precision of linear programming solvers."""

MOST_STEPS = 20_000
"""Maximum number of simplex steps per solve."""

_ROUNDING = 1e-12


@dataclass(frozen=True)
class OneNormSVM:
    """Minimise the mean of max(0, 1 - y w.x) with L1(w) <= `budget`.

    Parameters
    ----------
    s, the maximum sum of absolute weights.
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
        return OneNormSVMState(MarginRows(y_signs, weights, n), self.budget)


class OneNormSVMState(CappedState):
    """Weights of the rules, prices of the rows and resulting values of the rules.

    The dual is to maximise sum u_i - s t with |sum_i u_i y_i x_ij| <= t and 0 <= u_i <= a_i. In the
    certificate the largest |sum_i u_i y_i x_ij| replaces t.
    """

    def __init__(self, rows: MarginRows, budget: float) -> None:
        self.working, self._budget = KeptRules(rows), budget
        self._simplex = Simplex(rows, budget)
        self._w, self._paid = np.zeros(0), np.zeros(0)
        self._u = rows.a.copy()
        self._scores = np.zeros(len(rows.y))

    def add(self, covers: SignedCovers) -> bool:
        """Append rules; return whether the gap of the current weights has opened."""
        paid = covers.dot(self._u * self.working.rows.y)
        for rule in one_by_one(covers):
            self.working.append(rule)
        self._w = np.concatenate([self._w, np.zeros(len(paid))])
        self._paid = np.concatenate([self._paid, paid])
        return self._gap > TOLERANCE

    def solve(self) -> None:
        """Find the optimal weights of the working set, from the last vertex.

        If rounding keeps the simplex method from closing the gap, HiGHS solves the whole program.
        """
        working = self.working
        self._simplex.solve(working, MOST_STEPS)
        self._take(self._simplex.weights(len(working)), self._simplex.prices)
        if self._gap > TOLERANCE:
            self._simplex.reset()
            self._take(*dual_program(working.covers, working.rows, self._budget))

    def _sizes(self) -> FloatArray:
        """Return the sizes of the weights of the working set."""
        return np.abs(self._w)

    def _drop(self, j: int) -> None:
        """Take out the rule in place j."""
        self.working.remove(j)
        self._simplex.remove(j)
        self._w, self._paid = np.delete(self._w, j), np.delete(self._paid, j)

    @property
    def objective(self) -> float:
        """The mean hinge loss."""
        rows = self.working.rows
        return float(rows.a @ np.maximum(1 - rows.y * self._scores, 0))

    @property
    def solution(self) -> MarginWeights:
        """The weights; their value is the mean margin after division by L1(w)."""
        rows, used = self.working.rows, np.flatnonzero(self._w)
        margins = rows.y * self._scores
        mean = float(rows.a @ margins)
        variance = rows.spread * float(rows.a @ (margins - mean) ** 2)
        norm = float(np.abs(self._w).sum())
        lines = np.array(self.working.lines, dtype=np.int32)[used]
        value = mean / norm if norm > 0 else 0.0
        return MarginWeights(lines, self._w[used], value, self._gap, mean, variance)

    @property
    def _gap(self) -> float:
        """The hinge loss minus the dual objective for these prices."""
        cost = float(np.abs(self._paid).max(initial=0.0))
        return self.objective - (float(self._u.sum()) - self._budget * cost)

    def _take(self, w: FloatArray, u: FloatArray) -> None:
        """Store weights and prices, with derived quantities."""
        w = np.where(np.abs(w) <= _ROUNDING * self._budget, 0.0, w)
        w *= min(1.0, self._budget / max(float(np.abs(w).sum()), _ROUNDING))
        used = np.flatnonzero(w)
        self._w, self._u = w, u
        self._scores = self.working.covers[used].scores(w[used])
        self._paid = self.working.dot(u * self.working.rows.y)


def dual_program(
    covers: SignedCovers, rows: MarginRows, budget: float
) -> tuple[FloatArray, FloatArray]:
    """Solve the dual by HiGHS; return the weights (its multipliers) and the prices."""
    x, n = covers.values() * rows.y, len(rows.y)
    found = linprog(
        np.append(-np.ones(n), budget),
        A_ub=np.column_stack([np.vstack([x, -x]), -np.ones(2 * len(x))]),
        b_ub=np.zeros(2 * len(x)),
        bounds=np.column_stack([np.zeros(n + 1), np.append(rows.a, np.inf)]),
        method="highs",
    )
    if found.status != 0:
        raise RuntimeError(f"the linear program was not solved: {found.message}")
    plus, minus = -np.asarray(found.ineqlin.marginals).reshape(2, -1)
    return np.asarray(plus - minus), np.clip(found.x[:-1], 0, rows.a)


NOTHING = -1
"""The atom 0, which is not a rule."""

_RAISED = 3e-8
_TINY = 1e-10


class Simplex:
    """Weights of rules at a vertex of the program.

    Parameters
    ----------
    rows : MarginRows
        Classes and weights of the rows.
    budget : float
        The maximum sum of absolute weights.
    """

    def __init__(self, rows: MarginRows, budget: float) -> None:
        self._y = rows.y
        targets = 1 + _RAISED * np.random.default_rng(0).random(len(rows.y))
        self._elbow = kernels.Elbow(rows.a, targets, budget)

    def solve(self, rules: KeptRules, most_steps: int) -> None:
        """Move between vertices towards the optimum, for a maximum number of steps."""
        while most_steps > 0:
            most_steps -= 1 + self._elbow.settle(most_steps)
            level, paid = self._elbow.level(), rules.dot(self.prices * self._y)
            j = int(np.abs(paid).argmax()) if len(paid) else NOTHING
            gain = float(abs(paid[j])) - level if len(paid) else 0.0
            if -level > max(gain, _TINY):
                self._elbow.enter(NOTHING, 1.0, np.zeros(len(self._y)), -level)
            elif gain > _TINY:
                sign = 1.0 if paid[j] > 0 else -1.0
                self._elbow.enter(j, sign, sign * self._y * rules.rule(j).values()[0], gain)
            else:
                break

    def weights(self, n_rules: int) -> FloatArray:
        """Return the weights of all rules."""
        atoms, weights = self._elbow.support()
        w = np.zeros(n_rules)
        np.add.at(w, atoms, weights)
        return w

    @property
    def prices(self) -> FloatArray:
        """The value of a unit of margin of each row."""
        return self._elbow.prices()

    def reset(self) -> None:
        """Reset all weights to 0."""
        self._elbow.reset()

    def remove(self, j: int) -> None:
        """Forget rule j and redistribute its weight; later rules move up."""
        self._elbow.remove(j)
