"""Twin of `native/weighting/elbow.cpp`: vertices of the program of least hinge loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rulewright.kernels.structs import FloatArray, IntArray

NOTHING = -1

_TINY = 1e-10
_LEVEL = 1e-13  # a slope that is 0 but for rounding
_REFINE = 60


class _Stop(NamedTuple):
    """Where a line search ends: at a row that reaches the elbow, or at an atom without weight."""

    step: float
    row: int | None
    atom: int


class Elbow:
    """The atoms with a weight, the rows in the elbow, and the inverse of their system."""

    def __init__(self, shares: FloatArray, targets: FloatArray, budget: float) -> None:
        self._shares, self._targets, self._budget = shares, targets, budget
        self.reset()

    def reset(self) -> None:
        """Give all weight to the atom 0."""
        n = len(self._shares)
        self._atoms, self._signs, self._elbow = [NOTHING], [1.0], list[int]()
        self._columns: FloatArray = np.zeros((1, n))
        self._v: FloatArray = np.array([self._budget])
        self._margins: FloatArray = np.zeros(n)
        self._below = np.ones(n, dtype=np.bool_)
        self._inverse: FloatArray = np.ones((1, 1))  # atoms x (sum of weights, rows in the elbow)
        self._updates = 0

    def settle(self, most_steps: int) -> int:
        """Let rows out of the elbow until all prices are within bounds; return the steps."""
        for step in range(most_steps):
            u = self._prices()[1:]
            within = np.minimum(u, self._shares[self._elbow] - u)
            if not len(u) or within.min() >= -_TINY:
                return step
            self._release(int(within.argmin()), u)
        return most_steps

    def remove(self, atom: int) -> None:
        """Take an atom out, whose weight others take; later atoms move up."""
        while atom in self._atoms:
            self._expel(self._atoms.index(atom))
        self._atoms = [other - (other > atom) for other in self._atoms]

    def level(self) -> float:
        """Return what each atom pays."""
        return -float(self._prices()[0])

    def prices(self) -> FloatArray:
        """Return the prices of all rows."""
        u = np.where(self._below, self._shares, 0.0)
        u[self._elbow] = np.clip(self._prices()[1:], 0, self._shares[self._elbow])
        return u

    def support(self) -> tuple[IntArray, FloatArray]:
        """Return the atoms but for the atom 0, and their weights."""
        rules = [a for a, atom in enumerate(self._atoms) if atom != NOTHING]
        atoms = np.array(self._atoms, dtype=np.int32)[rules]
        return atoms, np.array(self._signs)[rules] * np.maximum(self._v[rules], 0.0)

    def _prices(self) -> FloatArray:
        """Return minus what each atom pays, and the prices of the rows in the elbow."""
        paid = self._columns @ np.where(self._below, self._shares, 0.0)
        return np.asarray(-paid @ self._inverse)

    def _expel(self, atom: int) -> None:
        """Let a row out of the elbow so that an atom loses weight, until some atom has none."""
        if not self._elbow:
            return self.reset()
        place = int(np.abs(self._inverse[atom, 1:]).argmax())
        way = self._inverse[:, place + 1]
        dv = -way if way[atom] > 0 else way
        most, first = self._first_to_fall(dv, 0.0)
        self._move(most, dv, dv @ self._columns)
        self._drop(first, place)
        return self._sort_rows()

    def _release(self, place: int, u: FloatArray) -> None:
        """Let a row out of the elbow, upwards if its price is negative."""
        row, up = self._elbow[place], u[place] < 0
        share = float(self._shares[row])
        dv = self._inverse[:, place + 1] * (1.0 if up else -1.0)
        slope = float(u[place]) if up else share - float(u[place])
        dm = dv @ self._columns
        stop = self._search(dv, dm, slope)
        self._move(stop.step, dv, dm)
        if stop.row is not None:
            self._elbow[place] = stop.row
            change = self._columns[:, stop.row] @ self._inverse
            change[place + 1] -= 1
            column = self._inverse[:, place + 1] / (1 + change[place + 1])
            self._inverse = self._inverse - np.outer(column, change)
        else:
            self._drop(stop.atom, place)
        self._sort_rows()

    def enter(self, atom: int, sign: float, column: FloatArray, gain: float) -> None:
        """Give weight to an atom that pays more than the others."""
        right = np.concatenate([[1.0], column[self._elbow]])
        dv = -self._inverse @ right
        dm = column + dv @ self._columns
        stop = self._search(dv, dm, -gain)
        self._move(stop.step, dv, dm)
        if stop.row is not None:
            self._border(dv, self._columns[:, stop.row], dm[stop.row])
            self._elbow.append(stop.row)
            self._atoms.append(atom)
            self._signs.append(sign)
            self._columns = np.vstack([self._columns, column])
            self._v = np.append(self._v, stop.step)
        else:
            line = self._inverse[stop.atom] / -dv[stop.atom]
            self._inverse = self._inverse + np.outer(dv, line)
            self._inverse[stop.atom] = line
            self._atoms[stop.atom], self._signs[stop.atom] = atom, sign
            self._columns[stop.atom], self._v[stop.atom] = column, stop.step
        self._sort_rows()

    def _search(self, dv: FloatArray, dm: FloatArray, slope: float) -> _Stop:
        """Find where the loss stops falling, or an atom has no weight left."""
        most, atom = self._first_to_fall(dv, _TINY)
        crossing = np.where(self._below, dm > _TINY, dm < -_TINY)
        crossing[self._elbow] = False
        rows = np.flatnonzero(crossing)
        steps = (self._targets[rows] - self._margins[rows]) / dm[rows]
        near = steps < most
        rows, steps = rows[near], np.maximum(steps[near], 0.0)
        order = np.argsort(steps, kind="stable")
        slopes = slope + np.cumsum(self._shares[rows[order]] * np.abs(dm[rows[order]]))
        end = int(np.searchsorted(slopes, -_LEVEL))
        if end == len(order):
            return _Stop(most, None, atom)
        return _Stop(float(steps[order[end]]), int(rows[order[end]]), atom)

    def _first_to_fall(self, dv: FloatArray, tiny: float) -> tuple[float, int]:
        """Return how far the weights may move, and the atom that has none left then."""
        falling = np.flatnonzero(dv < -tiny)
        limits = self._v[falling] / -dv[falling]
        first = int(limits.argmin())
        return max(float(limits[first]), 0.0), int(falling[first])

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

    def _drop(self, atom: int, place: int) -> None:
        """Take an atom and a row of the elbow out of the system."""
        scaled = self._inverse[:, place + 1] / self._inverse[atom, place + 1]
        inverse = self._inverse - np.outer(scaled, self._inverse[atom])
        self._inverse = np.delete(np.delete(inverse, atom, axis=0), place + 1, axis=1)
        self._columns, self._v = np.delete(self._columns, atom, axis=0), np.delete(self._v, atom)
        del self._atoms[atom], self._signs[atom], self._elbow[place]

    def _sort_rows(self) -> None:
        """Sort the rows after a move, and clean up rounding now and then."""
        self._updates += 1
        if self._updates >= _REFINE:
            self._refine()
        self._below = self._margins < self._targets
        self._below[self._elbow] = False

    def _refine(self) -> None:
        """Improve the inverse by Newton's method, and find weights and margins by it."""
        system = np.vstack([np.ones(len(self._atoms)), self._columns[:, self._elbow].T])
        rest = 2 * np.eye(len(system)) - system @ self._inverse
        self._inverse = self._inverse @ rest
        right = np.concatenate([[self._budget], self._targets[self._elbow]])
        self._v = self._inverse @ right
        self._margins = self._v @ self._columns
        self._updates = 0
