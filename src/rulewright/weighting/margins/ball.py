"""Weights in a ball of the p-norm: the state of a solve that is extended rule by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from rulewright.weighting.margins.criterion import (
    CappedState,
    MarginRows,
    MarginWeights,
    WorkingSet,
    one_by_one,
)

if TYPE_CHECKING:
    from rulewright.encoding import SignedCovers
    from rulewright.kernels import FloatArray

TOLERANCE = 1e-9
"""Gap at which weights count as optimal."""
_AT_LIMIT = 1e-7
"""Tolerance for a norm at its limit."""


class MarginQuadratic:
    """The objective d.w - kappa w'Sw - costs.|w| of the rules of a working set.

    Parameters
    ----------
    d, products : float64 arrays
        Mean margins and mean products of the rules.
    curvature : float
        2 kappa n / (n - 1), the factor of M - dd' in twice kappa times S.
    costs : float64 array, optional
        Cost of a unit of |weight| of each rule; only used by the active set.
    """

    def __init__(
        self,
        d: FloatArray,
        products: FloatArray,
        curvature: float,
        costs: FloatArray | None = None,
    ) -> None:
        self.d, self.products, self.curvature = d, products, curvature
        self.costs = np.zeros(len(d)) if costs is None else costs

    def gradient(self, w: FloatArray) -> FloatArray:
        """Return d - 2 kappa S w, the gradient without the costs."""
        used = np.flatnonzero(w)
        active = w[used]
        spread = self.products[:, used] @ active - float(self.d[used] @ active) * self.d
        return np.asarray(self.d - self.curvature * spread)

    @property
    def hessian(self) -> FloatArray:
        """2 kappa S."""
        return self.curvature * (self.products - np.outer(self.d, self.d))


class BallSolver(Protocol):
    """Maximises a quadratic over a ball, starting from the last weights."""

    p: float
    sphere: bool  # whether the norm is 1, not at most 1

    def solve(self, problem: MarginQuadratic, w: FloatArray) -> FloatArray:
        """Return the optimal weights; `w` are the last ones, 0 for new rules."""

    def remove(self, j: int) -> None:
        """Forget rule j; later rules move up."""


class BallState(CappedState):
    """Rules and their optimal weights in a ball, with the gradient that evaluates new rules."""

    working: WorkingSet

    def __init__(
        self,
        rows: MarginRows,
        kappa: float,
        solver: BallSolver,
        in_one_norm: bool = True,
        radius: float = 1.0,
    ) -> None:
        self.working = WorkingSet(rows)
        self._kappa, self._solver, self._in_one_norm = kappa, solver, in_one_norm
        # weights r v with Lp(v) <= 1 have r times the value of v with r times the variance weight
        self._radius, self._curvature = radius, 2 * kappa * radius * rows.spread
        self._w, self._g = np.zeros(0), np.zeros(0)

    def add(self, covers: SignedCovers) -> bool:
        """Append rules; return whether the gap of the current weights has opened."""
        for rule in one_by_one(covers):
            self.working.append(rule)
            self._w = np.append(self._w, 0.0)
            self._g = np.append(self._g, self._slope_of_last())
        return self._solver.sphere or self._gap > TOLERANCE

    def solve(self) -> None:
        """Find the best weights of the working set."""
        problem = MarginQuadratic(self.working.means, self.working.products, self._curvature)
        self._w = self._solver.solve(problem, self._w)
        self._g = problem.gradient(self._w)

    def _sizes(self) -> FloatArray:
        """Return the sizes of the weights of the working set."""
        return np.abs(self._w)

    def _drop(self, j: int) -> None:
        """Take out the rule in place j."""
        self.working.remove(j)
        self._solver.remove(j)
        self._w, self._g = np.delete(self._w, j), np.delete(self._g, j)

    @property
    def solution(self) -> MarginWeights:
        """The weights and their value, or the value of their best multiple in the 1-norm ball."""
        mean, variance = self._moments()
        cost, r = self._kappa * variance, self._radius
        scale = r
        if self._in_one_norm and (self._solver.p > 1 or r != 1) and mean > 0:
            inside = 1 / float(np.abs(self._w).sum())
            scale = min(inside, mean / (2 * cost)) if cost > 0 else inside
        used = np.flatnonzero(self._w)
        lines = np.array(self.working.lines, dtype=np.int32)[used]
        value = scale * mean - scale * scale * cost
        norm = float(np.linalg.norm(self._w, self._solver.p)) if len(used) else 0.0
        active = norm >= 1 - _AT_LIMIT
        weights = r * self._w[used]
        return MarginWeights(
            lines, weights, value, r * self._gap, r * mean, r * r * variance, active
        )

    @property
    def _gap(self) -> float:
        """Upper bound on the possible improvement: the dual norm of g minus g.w."""
        p = self._solver.p
        q = np.inf if p == 1 else 1.0 if np.isinf(p) else p / (p - 1)
        largest = float(np.linalg.norm(self._g, q)) if len(self._g) else 0.0
        slope = float(self._g @ self._w)
        return largest - (abs(slope) if self._solver.sphere else slope)

    def _slope_of_last(self) -> float:
        """Return the gradient of the rule that came last."""
        d, products = self.working.means, self.working.products[-1]
        spread = float(products @ self._w) - float(d[-1]) * float(d @ self._w)
        return float(d[-1]) - self._curvature * spread

    def _moments(self) -> tuple[float, float]:
        """Return mean and variance of the margins."""
        used = np.flatnonzero(self._w)
        active = self._w[used]
        mean = float(self.working.means[used] @ active)
        square = float(active @ self.working.products[np.ix_(used, used)] @ active)
        return mean, max(self.working.rows.spread * (square - mean * mean), 0.0)
