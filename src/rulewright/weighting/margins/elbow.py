"""A simplex method for the hinge loss in the 1-norm ball, which goes on when rules come.

The ball is the convex hull of the signed rules and of 0, times the budget s: atoms have weights
v >= 0 with sum s. At a vertex as many rows as there are atoms, less one, have the margin 1: the
elbow. Rows below it cost their share a_i of the loss, with prices u_i = a_i; rows above cost
nothing, with u_i = 0; rows in the elbow have the prices with which all atoms pay the same. A row
whose price leaves [0, a_i] leaves the elbow, an atom that pays more than the others enters, and the
loss falls along the edge of the polytope until it would rise again.

Rules are 1 or -1 on most rows, so that margins coincide everywhere: the 1 of each row is raised by
a tiny amount of its own. Prices stay feasible for the true loss, whose gap tells what that cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.encoding.signed import SignedCovers
    from rulewright.kernels import FloatArray
    from rulewright.weighting.margins.working_set import Rows

NOTHING = -1
"""The atom 0, which is no rule."""

_RAISED = 3e-8
_TINY = 1e-10
_REFACTOR = 60


class _Stop(NamedTuple):
    """Where a line search ends: at a row that reaches the elbow, or at an atom without weight."""

    step: float
    row: int | None
    atom: int | None


class Elbow:
    """The atoms with a weight, the rows in the elbow, and the inverse of their system.

    Parameters
    ----------
    rows : Rows
        Classes and weights of the rows.
    budget : float
        s, the sum of the |weights| that may be used.
    """

    def __init__(self, rows: Rows, budget: float) -> None:
        self._rows, self._budget = rows, budget
        raised = np.random.default_rng(0).random(len(rows.y))
        self._target = 1 + _RAISED * raised
        self.reset()

    def reset(self) -> None:
        """Begin with no weights."""
        n = len(self._rows.y)
        self.atoms, self.signs, self.elbow = [NOTHING], [1.0], list[int]()
        self._columns: FloatArray = np.zeros((1, n))  # signed margins of the atoms
        self._v: FloatArray = np.array([self._budget])
        self._margins: FloatArray = np.zeros(n)
        self._below = np.ones(n, dtype=np.bool_)
        self._inverse: FloatArray = np.ones((1, 1))  # atoms x (sum of weights, rows in the elbow)
        self._updates = 0

    def solve(
        self,
        pay: Callable[[FloatArray], FloatArray],
        rule: Callable[[int], SignedCovers],
        most_steps: int,
    ) -> bool:
        """Go from vertex to vertex; tell if the last one is the best.

        Parameters
        ----------
        pay : callable
            Returns sum_i u_i y_i x_ij of all rules, for numbers u_i y_i.
        rule : callable
            Returns the covers of a rule.
        most_steps : int
            Steps at most.
        """
        for _ in range(most_steps):
            lam, u = self._prices()
            within = np.minimum(u, self._rows.a[self.elbow] - u)
            if len(u) and within.min() < -_TINY:
                self._release(int(within.argmin()), u)
                continue
            paid = pay(self.prices * self._rows.y)
            j = int(np.abs(paid).argmax()) if len(paid) else NOTHING
            gain = float(abs(paid[j])) - lam if len(paid) else 0.0
            if -lam > max(gain, _TINY):
                self._enter(NOTHING, 1.0, np.zeros_like(self._margins), -lam)
            elif gain > _TINY:
                sign = 1.0 if paid[j] > 0 else -1.0
                self._enter(j, sign, sign * self._rows.y * rule(j).values()[0], gain)
            else:
                return True
        return False

    def weights(self, n_rules: int) -> FloatArray:
        """Return the weights of all rules."""
        w = np.zeros(n_rules)
        for atom, sign, v in zip(self.atoms, self.signs, self._v.tolist(), strict=True):
            if atom != NOTHING:
                w[atom] += sign * max(v, 0.0)
        return w

    @property
    def prices(self) -> FloatArray:
        """Return u_i of all rows."""
        u = np.where(self._below, self._rows.a, 0.0)
        u[self.elbow] = np.clip(self._prices()[1], 0, self._rows.a[self.elbow])
        return u

    def remove(self, j: int) -> None:
        """Forget rule j, whose weight others take; later rules move up."""
        while j in self.atoms:
            self._expel(self.atoms.index(j))
        self.atoms = [atom - (atom > j) for atom in self.atoms]

    def _expel(self, atom: int) -> None:
        """Let a row out of the elbow so that an atom loses weight, until some atom has none."""
        if not self.elbow:
            return self.reset()
        place = int(np.abs(self._inverse[atom, 1:]).argmax())
        way = self._inverse[:, place + 1]
        dv = -way if way[atom] > 0 else way
        falling = np.flatnonzero(dv < 0)
        limits = self._v[falling] / -dv[falling]
        first = int(limits.argmin())
        self._move(max(float(limits[first]), 0.0), dv, dv @ self._columns)
        del self.elbow[place]
        self._drop(int(falling[first]), place + 1)
        return self._finish()

    def _prices(self) -> tuple[float, FloatArray]:
        """Return what each atom pays, and the prices of the rows in the elbow."""
        paid = self._columns @ np.where(self._below, self._rows.a, 0.0)
        found = -paid @ self._inverse
        return -float(found[0]), found[1:]

    def _release(self, place: int, u: FloatArray) -> None:
        """Let a row out of the elbow, upwards if its price is negative."""
        row, up = self.elbow[place], u[place] < 0
        share = float(self._rows.a[row])
        dv = self._inverse[:, place + 1] * (1.0 if up else -1.0)
        slope = float(u[place]) if up else share - float(u[place])
        dm = dv @ self._columns
        stop = self._search(dv, dm, slope)
        self._move(stop.step, dv, dm)
        if stop.row is not None:
            self.elbow[place] = stop.row
            change = self._columns[:, stop.row] @ self._inverse
            change[place + 1] -= 1
            column = self._inverse[:, place + 1] / (1 + change[place + 1])
            self._inverse = self._inverse - np.outer(column, change)
        else:
            assert stop.atom is not None
            del self.elbow[place]
            self._drop(stop.atom, place + 1)
        self._finish()

    def _enter(self, j: int, sign: float, column: FloatArray, gain: float) -> None:
        """Give weight to an atom."""
        right = np.concatenate([[1.0], column[self.elbow]])
        dv = -self._inverse @ right
        dm = column + dv @ self._columns
        stop = self._search(dv, dm, -gain)
        self._move(stop.step, dv, dm)
        if stop.row is not None:
            self._border(dv, self._columns[:, stop.row], dm[stop.row])
            self.elbow.append(stop.row)
            self.atoms.append(j)
            self.signs.append(sign)
            self._columns = np.vstack([self._columns, column])
            self._v = np.append(self._v, stop.step)
        else:
            assert stop.atom is not None
            line = self._inverse[stop.atom] / -dv[stop.atom]
            self._inverse = self._inverse + np.outer(dv, line)
            self._inverse[stop.atom] = line
            self.atoms[stop.atom], self.signs[stop.atom] = j, sign
            self._columns[stop.atom], self._v[stop.atom] = column, stop.step
        self._finish()

    def _search(self, dv: FloatArray, dm: FloatArray, slope: float) -> _Stop:
        """Find where the loss stops falling, or an atom has no weight left."""
        falling = np.flatnonzero(dv < -_TINY)
        limits = self._v[falling] / -dv[falling]
        first = int(limits.argmin())
        most, atom = max(float(limits[first]), 0.0), int(falling[first])
        crossing = np.where(self._below, dm > _TINY, dm < -_TINY)
        crossing[self.elbow] = False
        rows = np.flatnonzero(crossing)
        steps = (self._target[rows] - self._margins[rows]) / dm[rows]
        near = steps < most
        rows, steps = rows[near], np.maximum(steps[near], 0.0)
        order = np.argsort(steps, kind="stable")
        slopes = slope + np.cumsum(self._rows.a[rows[order]] * np.abs(dm[rows[order]]))
        end = int(np.searchsorted(slopes, 0.0))
        if end == len(order):
            return _Stop(most, None, atom)
        return _Stop(float(steps[order[end]]), int(rows[order[end]]), None)

    def _move(self, step: float, dv: FloatArray, dm: FloatArray) -> None:
        self._v = self._v + step * dv
        self._margins = self._margins + step * dm

    def _border(self, dv: FloatArray, row: FloatArray, pivot: float) -> None:
        """Add an atom, which moves the others by dv, and a row to the system."""
        k = len(dv)
        inverse = np.empty((k + 1, k + 1))
        line = row @ self._inverse / pivot
        inverse[:k, :k] = self._inverse - np.outer(dv, line)
        inverse[:k, k], inverse[k, :k] = dv / pivot, -line
        inverse[k, k] = 1 / pivot
        self._inverse = inverse

    def _drop(self, atom: int, column: int) -> None:
        """Take an atom and a row out of the system."""
        scaled = self._inverse[:, column] / self._inverse[atom, column]
        inverse = self._inverse - np.outer(scaled, self._inverse[atom])
        self._inverse = np.delete(np.delete(inverse, atom, axis=0), column, axis=1)
        self._columns, self._v = np.delete(self._columns, atom, axis=0), np.delete(self._v, atom)
        del self.atoms[atom], self.signs[atom]

    def _finish(self) -> None:
        """Sort the rows after a move, and clean up rounding now and then."""
        self._updates += 1
        if self._updates >= _REFACTOR:
            self._refine()
        self._below = self._margins < self._target
        self._below[self.elbow] = False

    def _refine(self) -> None:
        """Improve the inverse by Newton's method, and find weights and margins by it."""
        system = np.vstack([np.ones(len(self.atoms)), self._columns[:, self.elbow].T])
        rest = 2 * np.eye(len(system)) - np.einsum("ij,jk->ik", system, self._inverse)
        self._inverse = np.einsum("ij,jk->ik", self._inverse, rest)  # no threads, unlike @
        right = np.concatenate([[self._budget], self._target[self.elbow]])
        self._v = self._inverse @ right
        self._margins = self._v @ self._columns
        self._updates = 0
