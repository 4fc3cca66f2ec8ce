"""PATHBUILD: gradient steps on the coefficients with large gradients (gradient-directed path).

    g = A'r / N;  h_k = g_k if |g_k| >= tau max|g| else 0;  a += step h;  g -= step G h

with G = A'A / N, whose columns are computed only for coefficients that move. tau = 0 is gradient
descent; tau = 1 moves one coefficient at a time and follows the lasso path. There is no penalty:
the solution for lam is the point where max|g| has decreased to lam. With the ramp loss, rows with
|F| >= 1 have no gradient; when a row crosses that boundary, g and G are corrected.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.l1.problem import L1Problem, L1Solution, Point, Solver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import BoolArray, FloatArray, IntArray

TAUS = 0.0, 0.2, 0.4, 0.6, 0.8, 1.0
"""The thresholds that cross-validation compares."""

WORSE = 1.1
"""A path stops when its validation loss is this many times the best."""

CHECK_EVERY = 50
"""Number of steps between evaluations of the validation rows."""

SMALL = 1e-5
"""A path stops when the largest gradient has decreased to this share of the first."""


@dataclass(frozen=True)
class PathBuild(Solver):
    """Gradient-directed path with threshold.

    Parameters
    ----------
    tau : float or None
        Minimum gradient of a coefficient that moves, as a share of the largest, from 0 to 1. None
        leaves it to the cross-validation of a rule ensemble, out of `TAUS`, together with the
        penalty at which the path stops.
    step : float
        Maximum step length; shorter where this length would overshoot.
    max_steps : int
        Maximum number of steps; later penalties then get the last point.
    """

    tau: float | None = 0.4
    step: float = 0.01
    max_steps: int = 100_000

    losses = ("squared", "ramp")

    def __post_init__(self) -> None:
        if self.tau is not None and not 0 <= self.tau <= 1:
            raise ValueError(f"tau must be between 0 and 1, not {self.tau}")
        if not self.step > 0:
            raise ValueError(f"step must be above 0, not {self.step}")

    @property
    def variants(self) -> tuple[Solver, ...]:
        """A solver for each threshold, if it is open."""
        return (self,) if self.tau is not None else tuple(replace(self, tau=tau) for tau in TAUS)

    def _walk(self, problem: L1Problem) -> PathWalk:
        if self.tau is None:
            raise ValueError("PathBuild: tau=None needs a penalty that is cross-validated")
        return PathWalk(problem, self.tau, self.step)

    def _follow(self, problem: L1Problem, penalties: FloatArray) -> Iterator[Point]:
        walk = self._walk(problem)
        for penalty in penalties.tolist():
            while walk.largest > penalty and walk.n_steps < self.max_steps:
                walk.advance()
            yield problem.point(walk.a.copy(), walk.level)

    def search(self, problem: L1Problem, validation: L1Problem) -> L1Solution:
        """Follow the path until the validation loss has risen by a tenth; return the best point."""
        self._check(problem)
        walk = self._walk(problem)
        first, (best, least) = walk.largest, (problem.null, np.inf)
        while walk.n_steps < self.max_steps:
            if walk.n_steps % CHECK_EVERY == 0:
                coef = problem.design.coef(walk.a)
                intercept = problem.design.intercept(walk.a, walk.level)
                loss = validation.loss(validation.design.scores(coef, intercept))
                if loss < least:
                    best, least = problem.point(walk.a.copy(), walk.level), loss
                if loss > WORSE * least:
                    break
            if walk.largest <= SMALL * first:
                break
            walk.advance()
        return problem.solution(best, float(np.abs(best.pulls).max(initial=0.0)))


class PathWalk:
    """State of the path: coefficients, level and gradients, updated together.

    The level is an additional last coordinate, which always moves; with squared error its gradient
    is 0. `gram` has the columns of G for coefficients that have moved, over the rows inside the
    ramp.
    """

    def __init__(self, problem: L1Problem, tau: float, step: float) -> None:
        design = problem.design
        self.problem, self.tau, self.n_steps = problem, tau, 0
        self.a, self.level = np.zeros(design.n_columns), problem.null.level
        start = problem.null
        self.gradient: FloatArray = np.append(start.pulls, design.mean(start.residual))
        curvature = max(
            design.largest_eigenvalue() / design.total, 1.0
        )  # 1 is the curvature of the level
        self.step = min(step, 1.0 / curvature)
        self.is_ramp = problem.datafit.name == "ramp"
        self.scores = start.scores.copy()
        self.inside: BoolArray = np.abs(self.scores) < 1
        self.moved: IntArray = np.empty(0, dtype=np.int32)
        self.seen = np.zeros(design.n_columns, dtype=np.bool_)
        self.gram = np.empty((design.n_columns + 1, 0))

    @property
    def largest(self) -> float:
        """The largest gradient of a coefficient."""
        return float(np.abs(self.gradient[:-1]).max(initial=0.0))

    def advance(self) -> None:
        """Take one step."""
        pulls = self.gradient[:-1]
        h = np.where(np.abs(pulls) >= self.tau * self.largest, pulls, 0.0)
        rise = float(self.gradient[-1])
        self._enter(np.flatnonzero((h != 0) & ~self.seen).astype(np.int32))
        self.a += self.step * h
        self.level += self.step * rise
        self.gradient = self.gradient - self.step * (self.gram @ h[self.moved])
        if self.is_ramp:
            self.gradient -= self.step * rise * self._level_column
            self.scores += self.step * (rise + self.problem.design.dot(h))
            self._cross()
        self.n_steps += 1

    def _enter(self, columns: IntArray) -> None:
        """Compute the columns of G for coefficients that move for the first time."""
        if not len(columns):
            return
        design = self.problem.design
        if not self.is_ramp or self.inside.all():
            made = np.vstack([design.gram(columns).T, np.zeros(len(columns))]) / design.total
        else:
            rows = design.rows(np.flatnonzero(self.inside).astype(np.int32))
            made = self._augment(rows).T @ (self._weights(self.inside) * rows[:, columns])
        self.moved = np.concatenate([self.moved, columns])
        self.seen[columns] = True
        self.gram = np.hstack([self.gram, made])

    def _cross(self) -> None:
        """Correct g and G for the rows that have entered or left the ramp."""
        now = np.abs(self.scores) < 1
        crossed = np.flatnonzero(now != self.inside).astype(np.int32)
        if not len(crossed):
            return
        rows = self.problem.design.rows(crossed)
        signs = np.where(now[crossed], 1.0, -1.0)[:, None]
        weighted = signs * self._weights(crossed)
        self.gram += self._augment(rows).T @ (weighted * rows[:, self.moved])
        residual = (self.problem.y - self.scores)[crossed]
        self.gradient += self._augment(rows).T @ (weighted[:, 0] * residual)
        self.inside = now

    @property
    def _level_column(self) -> FloatArray:
        """The column of G that belongs to the level, over the rows inside the ramp."""
        design, inside = self.problem.design, self.inside.astype(np.float64)
        return np.append(design.adjoint(inside) / design.total, design.mean(inside))

    def _weights(self, rows: IntArray | BoolArray) -> FloatArray:
        return self.problem.design.weights[rows, None] / self.problem.design.total

    @staticmethod
    def _augment(rows: FloatArray) -> FloatArray:
        """Add the column of the level."""
        return np.hstack([rows, np.ones((len(rows), 1))])
