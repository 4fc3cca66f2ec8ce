"""Weights of rules with individual priors instead of a prefix, and greedy rounding to few rules.

With probability 1 - delta, for all w with L1(w) <= 1, the true mean margin is at least the mean
margin on the rows minus sum_j |w_j| c_j, where c_j = sqrt(2 ln(2 / (pi_j delta)) / n) for priors
pi_j that sum to at most 1. A late or long rule has a small prior and must gain more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.bounds import prior_costs
from rulewright.weighting.margins.ball import TOLERANCE, MarginQuadratic
from rulewright.weighting.margins.criterion import MarginRows, MarginWeights, WorkingSet, one_by_one
from rulewright.weighting.margins.mmv import ActiveSet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rulewright.encoding import SignedCovers
    from rulewright.kernels import FloatArray
    from rulewright.weighting.margins.criterion import Criterion


_NEW_RULES = 10
_ROUNDS = 1000


def prior_weights(
    covers: SignedCovers,
    y_signs: FloatArray,
    weights: FloatArray,
    ln_inverse_priors: ArrayLike,
    *,
    delta: float = 0.05,
    variance_weight: float = 1.0,
    n: float | None = None,
) -> MarginWeights:
    """Maximise mean margin - `variance_weight` variance - sum_j |w_j| c_j with L1(w) <= 1.

    Without the variance the single rule with the largest |d_j| - c_j would be optimal.

    Parameters
    ----------
    covers : SignedCovers
        All rules.
    y_signs, weights, n
        Rows, as in `Criterion.start`.
    ln_inverse_priors : list of float
        ln(1 / pi_j) of each rule; the priors sum to at most 1.
    delta : float
        Probability that the bound on the mean margin fails.
    variance_weight : float
        Factor of the variance, above 0.

    Returns
    -------
    Solution
        `lines` are places in `covers`; `value` is the objective. The corresponding bound is
        `rulewright.bounds.prior_margin_bound`.
    """
    if not 0 < variance_weight < np.inf:
        raise ValueError(f"variance_weight must be above 0, not {variance_weight}")
    problem = _Problem(covers, MarginRows(y_signs, weights, n), variance_weight)
    costs = prior_costs(ln_inverse_priors, problem.working.rows.n, delta)
    if len(costs) != len(covers):
        raise ValueError(f"{len(costs)} priors for {len(covers)} rules")
    for _ in range(_ROUNDS):
        gains = np.abs(problem.gradient()) - costs
        gap = max(float(gains.max(initial=0.0)), 0.0) - problem.level(costs)
        gains[problem.lines] = -np.inf
        best = np.argsort(-gains, kind="stable")[:_NEW_RULES]
        new = best[gains[best] > problem.level(costs)]
        if gap <= TOLERANCE or not len(new):
            break
        problem.solve_with(new.tolist(), costs)
    return problem.solution(costs, gap)


class _Problem:
    """The candidate rules with nonzero weights, among all."""

    def __init__(self, covers: SignedCovers, rows: MarginRows, kappa: float) -> None:
        self.covers, self.kappa, self.working = covers, kappa, WorkingSet(rows)
        self.lines: list[int] = []
        self._active, self._w = ActiveSet(), np.zeros(0)
        self._curvature = 2 * kappa * rows.spread
        self._d = covers.dot(rows.a * rows.y)

    def gradient(self) -> FloatArray:
        """Return the gradient of all rules, without costs."""
        rows, mean = self.working.rows, float(self._d[self.lines] @ self._w)
        spread = self.covers.dot(rows.a * self._scores()) - mean * self._d
        return np.asarray(self._d - self._curvature * spread)

    def level(self, costs: FloatArray) -> float:
        """Return the gain of a unit of weight at the current weights."""
        mean, variance = self._moments()
        return mean - 2 * self.kappa * variance - float(costs[self.lines] @ np.abs(self._w))

    def solve_with(self, new: list[int], costs: FloatArray) -> None:
        """Find the optimal weights of the current rules and some more."""
        for rule in one_by_one(self.covers[new]):
            self.working.append(rule)
        self.lines += new
        found = MarginQuadratic(
            self.working.means, self.working.products, self._curvature, costs[self.lines]
        )
        self._w = self._active.solve(found, self._w)

    def solution(self, costs: FloatArray, gap: float) -> MarginWeights:
        """Return the weights in the order of the rules."""
        mean, variance = self._moments()
        value = mean - self.kappa * variance - float(costs[self.lines] @ np.abs(self._w))
        lines = np.array(self.lines, dtype=np.int32)
        order = np.argsort(lines)
        order = order[self._w[order] != 0]
        return MarginWeights(lines[order], self._w[order], value, gap, mean, variance)

    def _scores(self) -> FloatArray:
        return self.covers[self.lines].scores(self._w)

    def _moments(self) -> tuple[float, float]:
        """Return mean and variance of the margins."""
        rows = self.working.rows
        margins = rows.y * self._scores()
        mean = float(rows.a @ margins)
        return mean, rows.spread * float(rows.a @ (margins - mean) ** 2)


def keep_few(
    criterion: Criterion,
    covers: SignedCovers,
    y_signs: FloatArray,
    weights: FloatArray,
    n_rules: int,
    n: float | None = None,
) -> list[MarginWeights]:
    """Set the smallest weight to 0 and refit, until few rules remain.

    Parameters
    ----------
    criterion : Criterion
        The objective of the weights.
    covers : SignedCovers
        The rules to choose from.
    y_signs, weights, n
        Rows, as in `Criterion.start`.
    n_rules : int
        Maximum number of rules with nonzero weights at the end.

    Returns
    -------
    list of Solution
        The optimal weights of all rules, then after each step; `lines` are places in `covers`.
    """
    if n_rules < 0:
        raise ValueError(f"n_rules must be 0 or more, not {n_rules}")
    state = criterion.start(y_signs, weights, n)
    state.add(covers)
    state.solve()
    state.drop_to(len(state.solution.lines))
    found = [state.solution]
    while len(found[-1].lines) > n_rules:
        state.drop_to(len(found[-1].lines) - 1)
        found.append(state.solution)
    return found
