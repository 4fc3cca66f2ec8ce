"""MMV: the mean margin minus its variance, over a ball of weights.

For p = 1 the ball is the convex hull of the signed rules and of 0, the atom that takes the slack of
interior solutions. Weights v >= 0 of atoms sum to 1. On the active atoms the optimality conditions
are a bordered system, K [lam, v] = [1, c] with K = [0 1'; 1 H]; its inverse is updated for each
atom that enters or leaves.

K is never singular. H may be, but an atom that enters along a direction without curvature gains
linearly until another atom has no weight left, and replaces it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.margins.ball import TOLERANCE, BallSolver, BallState, MarginQuadratic
from rulewright.weighting.margins.criterion import CriterionState, MarginRows
from rulewright.weighting.margins.p_norms import Box, FrankWolfe, Secular, Sphere

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray, IntArray


NOTHING = -1
"""The atom 0, which is not a rule."""

_FLAT = 1e-10
_REFACTOR = 50


class ActiveSet:
    """The atoms with nonzero weights, and the inverse of their bordered system."""

    p = 1.0
    sphere = False

    def __init__(self) -> None:
        nothing = np.zeros(0)
        self._problem, self._updates = MarginQuadratic(nothing, np.zeros((0, 0)), 1.0), 0
        self.atoms: IntArray
        self.signs: FloatArray
        self.v: FloatArray
        self._inverse: FloatArray
        self._take_alone(NOTHING, 1.0)

    def solve(self, problem: MarginQuadratic, w: FloatArray) -> FloatArray:
        """Return the optimal weights; rules are the ones of the last call, then new ones."""
        self._problem = problem
        lam, n = self._settle(), len(problem.d)
        for _ in range(100 + 20 * n):
            w = self._weights(n)
            g = problem.gradient(w)
            gains = np.abs(g) - problem.costs
            j = int(gains.argmax()) if n else NOTHING
            largest = max(float(gains[j]), 0.0) if n else 0.0
            if largest - float(g @ w - problem.costs @ np.abs(w)) <= TOLERANCE:
                break
            if lam < 0 and NOTHING not in self.atoms:
                lam = self._enter(NOTHING, 1.0, -lam)
            else:
                lam = self._enter(j, 1.0 if g[j] > 0 else -1.0, largest - lam)
        return w

    def remove(self, j: int) -> None:
        """Forget rule j and redistribute its weight; later rules move up."""
        if j in self.atoms:
            place = int(np.flatnonzero(self.atoms == j)[0])
            if len(self.atoms) == 1:
                return self._take_alone(NOTHING, 1.0)
            self.v = self.v / (1 - self.v[place])
            self._leave(place)
        self.atoms[self.atoms > j] -= 1
        return None

    def _take_alone(self, j: int, sign: float) -> None:
        """Put all weight on one atom."""
        self.atoms, self.signs = np.zeros(0, dtype=np.int32), np.zeros(0)
        own = self._column(j, sign)[1]
        self.atoms, self.signs = np.array([j], dtype=np.int32), np.array([sign])
        self.v, self._updates = np.ones(1), 0
        self._inverse = np.array([[-own, 1.0], [1.0, 0.0]])

    def _weights(self, n_rules: int) -> FloatArray:
        """Return the weights of all rules."""
        w, rules = np.zeros(n_rules), self.atoms != NOTHING
        w[self.atoms[rules]] = (self.signs * self.v)[rules]
        return w

    def _enter(self, j: int, sign: float, slope: float) -> float:
        """Move weight to an atom that raises the objective; return the multiplier."""
        z, bend, flat = self._bend(j, sign)
        step, blocking = _longest_step(self.v, -z[1:])
        if not flat and slope / bend < step:
            step, blocking = slope / bend, None
        if math.isinf(step):  # only rounding makes a flat direction unbounded
            self._take_alone(j, sign)
            return self._settle()
        self.v = self.v - step * z[1:]
        if blocking is not None and len(self.atoms) == 1:
            self._take_alone(j, sign)
            return self._settle()
        if blocking is not None:
            self._leave(blocking)
            z, bend, _ = self._bend(j, sign)
        self._border(j, sign, step, z, bend)
        if self._updates > _REFACTOR:
            self._refactor()
        return self._settle()

    def _bend(self, j: int, sign: float) -> tuple[FloatArray, float, bool]:
        """Return the weights that an atom would replace, and the curvature in that direction.

        The direction is flat if there is no curvature, up to rounding.
        """
        column, own = self._column(j, sign)
        z = self._inverse @ column
        bend = own - float(column @ z)
        return z, bend, bend <= _FLAT * max(own, _FLAT)

    def _settle(self) -> float:
        """Find the optimal weights of the atoms; atoms that would become negative leave."""
        while True:
            right = np.concatenate([[1.0], self._slopes()])
            found = self._inverse @ right
            step, blocking = _longest_step(self.v, found[1:] - self.v)
            if blocking is None or step >= 1:
                self.v = found[1:]
                return float(found[0])
            self.v = self.v + step * (found[1:] - self.v)
            self._leave(blocking)

    def _slopes(self) -> FloatArray:
        """Return c of the atoms."""
        problem = self._problem
        return self.signs * self._of_atoms(problem.d) - self._of_atoms(problem.costs)

    def _column(self, j: int, sign: float) -> tuple[FloatArray, float]:
        """Return the bordered column of an atom, and its own entry of H."""
        column = np.ones(1 + len(self.atoms))
        if j == NOTHING:
            column[1:] = 0
            return column, 0.0
        d, products = self._problem.d, self._problem.products[j]
        h = self._problem.curvature
        spread = self._of_atoms(products) - d[j] * self._of_atoms(d)
        column[1:] = h * sign * self.signs * spread
        return column, float(h * (products[j] - d[j] * d[j]))

    def _border(self, j: int, sign: float, v: float, z: FloatArray, bend: float) -> None:
        """Add an atom to the system."""
        self.atoms = np.append(self.atoms, np.int32(j))
        self.signs, self.v = np.append(self.signs, sign), np.append(self.v, v)
        k = len(z)
        inverse = np.empty((k + 1, k + 1))
        inverse[:k, :k] = self._inverse + np.outer(z, z / bend)
        inverse[:k, k] = inverse[k, :k] = -z / bend
        inverse[k, k] = 1 / bend
        self._inverse, self._updates = inverse, self._updates + 1

    def _leave(self, place: int) -> None:
        """Remove an atom from the system; it is not the only one."""
        kept = np.arange(len(self.atoms)) != place
        self.atoms, self.signs, self.v = self.atoms[kept], self.signs[kept], self.v[kept]
        row = self._inverse[place + 1]
        inverse = self._inverse - np.outer(row, row / row[place + 1])
        rest = np.concatenate([[True], kept])
        self._inverse, self._updates = inverse[np.ix_(rest, rest)], self._updates + 1

    def _refactor(self) -> None:
        """Rebuild the inverse atom by atom, without linearly dependent atoms."""
        given = zip(self.atoms.tolist(), self.signs.tolist(), self.v.tolist(), strict=True)
        (first, sign, v), *others = given
        self._take_alone(first, sign)
        self.v[0] = v
        for j, sign, v in others:
            z, bend, flat = self._bend(j, sign)
            if not flat:
                self._border(j, sign, v, z, bend)
        self.v, self._updates = self.v / self.v.sum(), 0

    def _of_atoms(self, values: FloatArray) -> FloatArray:
        """Return the values of the atoms, 0 for the atom 0."""
        found = np.zeros(len(self.atoms))
        rules = self.atoms != NOTHING
        found[rules] = values[self.atoms[rules]]
        return found


def _longest_step(v: FloatArray, u: FloatArray) -> tuple[float, int | None]:
    """Return how far v can move along u until a weight is 0, and the place of that weight."""
    falling = np.flatnonzero(u < 0)
    if not len(falling):
        return np.inf, None
    steps = v[falling] / -u[falling]
    first = int(steps.argmin())
    return max(float(steps[first]), 0.0), int(falling[first])


@dataclass(frozen=True)
class MMV:
    """Maximise the mean margin minus `variance_weight` times its variance, with Lp(w) <= radius.

    Parameters
    ----------
    p : float
        Norm of the ball, 1 or more.
    variance_weight : float
        Factor of the variance, above 0. Near 0 the best single rule wins; larger values approach
        Fisher's discriminant.
    in_one_norm : bool
        Whether weights are valued by their best multiple in the 1-norm ball, as required
        by the penalties. Otherwise it is the maximised objective, which further rules cannot lower.
    radius : float
        Maximum norm, above 0.
    sphere : bool
        Whether the norm equals the radius instead of being at most the radius; only for p = 2.
    """

    p: float = 1.0
    variance_weight: float = 1.0
    in_one_norm: bool = True
    radius: float = 1.0
    sphere: bool = False

    def __post_init__(self) -> None:
        if not self.p >= 1:
            raise ValueError(f"p must be 1 or more, not {self.p}")
        if not 0 < self.variance_weight < np.inf:
            raise ValueError(f"variance_weight must be above 0, not {self.variance_weight}")
        if not 0 < self.radius < np.inf:
            raise ValueError(f"radius must be above 0, not {self.radius}")
        if self.sphere and self.p != 2:
            raise ValueError(f"shape='sphere' needs p=2, not p={self.p:g}; or use 'ball'")

    @property
    def largest_value(self) -> float:
        """Margins of weights in the 1-norm ball are at most 1."""
        return 1.0 if self.in_one_norm or (self.p == 1 and self.radius == 1) else np.inf

    def start(
        self, y_signs: FloatArray, weights: FloatArray, n: float | None = None
    ) -> CriterionState:
        """Begin without rules."""
        rows = MarginRows(y_signs, weights, n)
        solver = self._solver()
        return BallState(rows, self.variance_weight, solver, self.in_one_norm, self.radius)

    def _solver(self) -> BallSolver:
        if self.p == 1:
            return ActiveSet()
        if self.p == 2:
            return Sphere() if self.sphere else Secular()
        return Box() if np.isinf(self.p) else FrankWolfe(self.p)
