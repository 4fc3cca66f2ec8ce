"""Maximise d.w - h/2 w'Cw over the 1-norm ball by an active set that is kept between problems.

The ball is the convex hull of the signed rules and of 0, the atom that takes up what a solution
inside the ball leaves over. Weights v >= 0 of atoms have the sum 1. On the atoms with a weight the
conditions of optimality are a bordered system, K [lam, v] = [1, c] with K = [0 1'; 1 H]; its
inverse follows each atom that enters or leaves.

K is never singular: H may be, but an atom that enters along a direction without curvature gains
linearly until another atom has no weight left, and takes its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray, IntArray

TOLERANCE = 1e-9
"""Gap at which weights count as best."""

NOTHING = -1
"""The atom 0, which is no rule."""

_FLAT = 1e-10
_REFACTOR = 50


class ActiveSet:
    """The atoms with a weight, and the inverse of their bordered system.

    Parameters
    ----------
    curvature : float
        h, the factor of the covariance C = M - dd' of the rules.
    """

    def __init__(self, curvature: float) -> None:
        self.curvature, self._updates = curvature, 0
        self._d, self._products = np.zeros(0), np.zeros((0, 0))
        self.atoms: IntArray
        self.signs: FloatArray
        self.v: FloatArray
        self._inverse: FloatArray
        self._take_alone(NOTHING, 1.0)

    def solve(self, d: FloatArray, products: FloatArray) -> tuple[FloatArray, float, float]:
        """Return the best weights of the rules, their multiplier and their gap.

        Only rules behind the others may be new since the last call.
        """
        self._d, self._products = d, products
        lam = self._settle()
        for _ in range(100 + 20 * len(d)):
            w, g = self._gradient()
            j = int(np.abs(g).argmax()) if len(g) else NOTHING
            largest = abs(g[j]) if len(g) else 0.0
            gap = float(largest - g @ w)
            if gap <= TOLERANCE:
                break
            if lam < 0 and NOTHING not in self.atoms:
                lam = self._enter(NOTHING, 1.0, -lam)
            else:
                lam = self._enter(j, 1.0 if g[j] > 0 else -1.0, largest - lam)
        return w, float(g @ w), gap

    def remove(self, j: int) -> None:
        """Forget rule j, whose weight the other atoms share; later rules move up."""
        if j in self.atoms:
            place = int(np.flatnonzero(self.atoms == j)[0])
            if len(self.atoms) == 1:
                return self._take_alone(NOTHING, 1.0)
            self.v = self.v / (1 - self.v[place])
            self._leave(place)
        self.atoms[self.atoms > j] -= 1
        return None

    def _take_alone(self, j: int, sign: float) -> None:
        """Give all weight to one atom."""
        self.atoms = np.array([j], dtype=np.int32)
        self.signs, self.v = np.array([sign]), np.ones(1)
        self._refactor()

    def _gradient(self) -> tuple[FloatArray, FloatArray]:
        """Return the weights of all rules and the gradient there."""
        w, rules = np.zeros(len(self._d)), self.atoms != NOTHING
        places = self.atoms[rules]
        w[places] = active = (self.signs * self.v)[rules]
        mean = float(self._d[places] @ active)
        return w, self._d - self.curvature * (self._products[:, places] @ active - mean * self._d)

    def _enter(self, j: int, sign: float, slope: float) -> float:
        """Move weight to an atom along which the objective grows; return the multiplier."""
        column, own = self._column(j, sign)
        z = self._inverse @ column
        bend = own - float(column @ z)
        u = -z[1:]
        flat = bend <= _FLAT * max(own, _FLAT)
        step, blocking = _longest_step(self.v, u)
        if not flat and slope / bend < step:
            step, blocking = slope / bend, None
        self.v = self.v + step * u
        if blocking is not None:
            if len(self.atoms) == 1:
                self._take_alone(j, sign)
                return self._settle()
            self._leave(blocking)
            column, own = self._column(j, sign)
            z = self._inverse @ column
            bend = own - float(column @ z)
        self._border(j, sign, step, z, bend)
        return self._settle()

    def _settle(self) -> float:
        """Find the best weights of the atoms; those that would fall below 0 leave."""
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
        return np.where(self.atoms == NOTHING, 0.0, self.signs * self._padded(self._d, self.atoms))

    def _column(self, j: int, sign: float) -> tuple[FloatArray, float]:
        """Return the bordered column of an atom, and its own entry of H."""
        column = np.ones(1 + len(self.atoms))
        if j == NOTHING:
            column[1:] = 0
            return column, 0.0
        d, products, h = self._d, self._products[j], self.curvature
        other = self._padded(products, self.atoms) - d[j] * self._padded(d, self.atoms)
        column[1:] = np.where(self.atoms == NOTHING, 0.0, h * sign * self.signs * other)
        return column, float(h * (products[j] - d[j] * d[j]))

    def _border(self, j: int, sign: float, v: float, z: FloatArray, bend: float) -> None:
        """Add an atom to the system."""
        self.atoms = np.append(self.atoms, np.int32(j))
        self.signs, self.v = np.append(self.signs, sign), np.append(self.v, v)
        self._updates += 1
        if self._updates > _REFACTOR or bend <= 0:
            return self._refactor()
        k = len(z)
        inverse = np.empty((k + 1, k + 1))
        inverse[:k, :k] = self._inverse + np.outer(z, z / bend)
        inverse[:k, k] = inverse[k, :k] = -z / bend
        inverse[k, k] = 1 / bend
        self._inverse = inverse
        return None

    def _leave(self, place: int) -> None:
        """Take an atom out of the system."""
        kept = np.arange(len(self.atoms)) != place
        self.atoms, self.signs, self.v = self.atoms[kept], self.signs[kept], self.v[kept]
        self._updates += 1
        row = self._inverse[place + 1]
        pivot = row[place + 1]
        if self._updates > _REFACTOR or pivot <= 0:
            return self._refactor()
        inverse = self._inverse - np.outer(row, row / pivot)
        rest = np.concatenate([[True], kept])
        self._inverse = inverse[np.ix_(rest, rest)]
        return None

    def _refactor(self) -> None:
        """Find the inverse from scratch."""
        k = len(self.atoms)
        system = np.ones((k + 1, k + 1))
        system[0, 0] = 0
        for i in range(k):
            system[1:, i + 1] = self._column(int(self.atoms[i]), self.signs[i])[0][1:]
        try:
            self._inverse = np.linalg.inv(system)
        except np.linalg.LinAlgError:
            self._inverse = np.linalg.pinv(system, hermitian=True)
        self._updates = 0

    @staticmethod
    def _padded(values: FloatArray, atoms: IntArray) -> FloatArray:
        """Return the values of the atoms; that of the atom 0 has no meaning."""
        return values[np.maximum(atoms, 0)] if len(values) else np.zeros(len(atoms))


def _longest_step(v: FloatArray, u: FloatArray) -> tuple[float, int | None]:
    """Return how far v may move along u before a weight is 0, and the place of that weight."""
    falling = np.flatnonzero(u < 0)
    if not len(falling):
        return np.inf, None
    steps = v[falling] / -u[falling]
    first = int(steps.argmin())
    return max(float(steps[first]), 0.0), int(falling[first])
