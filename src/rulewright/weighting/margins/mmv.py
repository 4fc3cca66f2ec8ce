"""MMV: the mean margin minus its variance, over a ball of weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.margins.active_set import TOLERANCE, ActiveSet
from rulewright.weighting.margins.criterion import Solution
from rulewright.weighting.margins.working_set import Rows, WorkingSet, one_by_one

if TYPE_CHECKING:
    from rulewright.encoding.signed import SignedCovers
    from rulewright.kernels import FloatArray
    from rulewright.weighting.margins.criterion import State


@dataclass(frozen=True)
class MMV:
    """Maximise the mean margin minus `variance_weight` times its variance, with Lp(w) <= 1.

    Parameters
    ----------
    p : float
        Norm of the ball, 1 or more.
    variance_weight : float
        Factor of the variance, above 0. Near 0 the single best rule wins; a larger one comes closer
        to Fisher's discriminant.
    """

    p: float = 1.0
    variance_weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.p >= 1:
            raise ValueError(f"p must be 1 or more, not {self.p}")
        if not 0 < self.variance_weight < np.inf:
            raise ValueError(f"variance_weight must be above 0, not {self.variance_weight}")

    @property
    def largest_value(self) -> float:
        """Margins of weights in the 1-norm ball are at most 1."""
        return 1.0

    def start(self, y_signs: FloatArray, weights: FloatArray, n: float | None = None) -> State:
        """Begin without rules."""
        return OneNormMMV(Rows(y_signs, weights, n), self.variance_weight)


class OneNormMMV:
    """The best weights in the 1-norm ball, kept by an active set."""

    def __init__(self, rows: Rows, variance_weight: float) -> None:
        self.working = WorkingSet(rows)
        self._kappa = variance_weight
        self._active = ActiveSet(2 * variance_weight * rows.spread)
        self._w, self._lam, self._gap = np.zeros(0), 0.0, 0.0

    def add(self, covers: SignedCovers) -> bool:
        """Append rules; tell if one of them has a gradient above the multiplier."""
        changed = False
        for rule in one_by_one(covers):
            self.working.append(rule)
            self._w = np.append(self._w, 0.0)
            changed |= abs(self._slope_of_last()) > self._lam + TOLERANCE
        return changed

    def solve(self) -> None:
        """Find the best weights of the working set."""
        self._w, self._lam, self._gap = self._active.solve(
            self.working.means, self.working.products
        )

    def drop_to(self, cap: int) -> None:
        """Take the rules with the smallest |weight| out of the working set."""
        lost = False
        while len(self.working) > cap:
            j = int(np.abs(self._w).argmin())
            lost |= self._w[j] != 0
            self.working.remove(j)
            self._active.remove(j)
            self._w = np.delete(self._w, j)
        if lost:
            self.solve()

    @property
    def solution(self) -> Solution:
        """The weights, whose value is mean minus variance."""
        mean, variance = moments(self.working, self._w)
        value = mean - self._kappa * variance
        return sparse_solution(self.working, self._w, value, self._gap, mean, variance)

    def _slope_of_last(self) -> float:
        """Return the gradient of the rule that came last."""
        d, products = self.working.means, self.working.products[-1]
        covariance = products @ self._w - d[-1] * float(d @ self._w)
        return float(d[-1] - self._active.curvature * covariance)


def moments(working: WorkingSet, w: FloatArray) -> tuple[float, float]:
    """Return mean and variance of the margins of weights."""
    used = np.flatnonzero(w)
    active = w[used]
    mean = float(working.means[used] @ active)
    square = float(active @ working.products[np.ix_(used, used)] @ active)
    return mean, max(working.rows.spread * (square - mean * mean), 0.0)


def sparse_solution(
    working: WorkingSet, w: FloatArray, value: float, gap: float, mean: float, variance: float
) -> Solution:
    """State the weights other than 0 by the numbers of their rules."""
    used = np.flatnonzero(w)
    lines = np.array(working.lines, dtype=np.int32)[used]
    return Solution(lines, w[used], value, gap, mean, variance)
