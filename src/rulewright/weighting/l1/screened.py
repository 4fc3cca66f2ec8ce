"""The squared loss on some columns, by their cross-products.

First-order solvers take many steps on the few columns that may be active. With G = A'A of these
columns, a gradient costs the square of their number, whatever the number of rows and columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.weighting.l1.problem import L1Problem, Point

POWERS = 50
"""Maximum number of power iterations."""


@dataclass(frozen=True, eq=False)
class Screened:
    """The problem of the chosen columns.

    Attributes
    ----------
    columns : int array
        Places of the columns.
    gram : float64 array
        A'A of the columns.
    linear : float64 array
        A'b.
    square : float
        ||b||^2.
    """

    columns: IntArray
    gram: FloatArray
    linear: FloatArray
    square: float

    def pulls(self, a: FloatArray) -> FloatArray:
        """Return A'r at these coefficients."""
        # BLAS would divide so few products among threads that wait for each other.
        return np.asarray(self.linear - np.einsum("jk,k->j", self.gram, a))

    def half_square(self, a: FloatArray, pulls: FloatArray) -> float:
        """Return ||r||^2 / 2."""
        return 0.5 * (self.square - float(a @ (self.linear + pulls)))

    @cached_property
    def step(self) -> float:
        """The step length 1 / lambda_max(A'A), by power iteration."""
        v, value = np.sqrt(self.gram.diagonal()), 0.0
        for _ in range(POWERS):
            norm = float(np.linalg.norm(v))
            if norm == 0:
                return 1.0
            v = np.einsum("jk,k->j", self.gram, v / norm)
            before, value = value, float(np.linalg.norm(v))
            if value - before <= 1e-4 * value:
                break
        return 1.0 / value if value else 1.0

    def point(self, problem: L1Problem, a: FloatArray) -> Point:
        """Return the point with these coefficients and 0 elsewhere."""
        whole = np.zeros(problem.design.n_columns)
        whole[self.columns] = a
        return problem.point(whole)


class Screening:
    """Cross-products of all columns that were ever chosen, computed as columns enter."""

    def __init__(self, problem: L1Problem) -> None:
        self.problem = problem
        self.linear = problem.null.pulls * problem.design.total
        self.square = problem.design.total * problem.design.mean(problem.null.residual**2)
        self.entered: IntArray = np.empty(0, dtype=np.int32)
        self.rank = np.full(problem.design.n_columns, -1, dtype=np.int32)
        self.gram = np.empty((0, 0))

    def choose(self, chosen: BoolArray) -> Screened:
        """Return the problem of the chosen columns."""
        self._enter(np.flatnonzero(chosen & (self.rank < 0)).astype(np.int32))
        columns = np.flatnonzero(chosen).astype(np.int32)
        places = self.rank[columns]
        gram = np.ascontiguousarray(self.gram[np.ix_(places, places)])
        return Screened(columns, gram, self.linear[columns], self.square)

    def _enter(self, columns: IntArray) -> None:
        n, m = len(self.entered), len(columns)
        if not m:
            return
        self.rank[columns] = np.arange(n, n + m)
        self.entered = np.concatenate([self.entered, columns])
        cross = self.problem.design.gram(columns, self.entered)
        self.gram = np.block([[self.gram, cross[:, :n].T], [cross[:, :n], cross[:, n:]]])
