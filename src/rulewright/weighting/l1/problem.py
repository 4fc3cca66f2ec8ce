"""The penalised problem Q(lam), its points and certificates, and the base class of solvers.

Q(lam) is the weighted mean loss plus ``lam (al ||a||_1 + (1 - al) / 2 ||a||^2)``, where al is
`l1_ratio`, for scores ``F = level + A a``. The columns of A are centred, so the level is the
unpenalised intercept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.weighting.l1.datafits import Datafit, Squared
from rulewright.weighting.l1.design import Design, RuleScale, normalise_weights

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulewright.encoding import PackedCovers
    from rulewright.kernels import BoolArray, FloatArray, IntArray


MOST_SETTLING = 100
"""Maximum number of Newton steps for the level."""

SQUARED = Squared()

N_PENALTIES = 100
"""Number of penalties in a grid."""


@dataclass(frozen=True, eq=False)
class Point:
    """Coefficients of the columns of A with scores, residuals and gradients."""

    a: FloatArray
    level: float
    scores: FloatArray
    residual: FloatArray
    pulls: FloatArray
    """A'r / N: the gain of each coefficient per unit of growth."""

    def beyond(self, last: Point, times: float) -> Point:
        """Extrapolate from the last point through this one; exact for squared error."""
        ends = zip(vars(self).values(), vars(last).values(), strict=True)
        return Point(*(here + times * (here - there) for here, there in ends))


@dataclass(frozen=True, eq=False)
class L1Solution:
    """Coefficients for one penalty, with a certificate.

    Attributes
    ----------
    penalty : float
        lam of Q(lam).
    coef : float64 array
        Coefficients of the raw columns: on the scale 0/1 for rules.
    intercept : float, or float64 array for several classes
        Intercept for these coefficients.
    objective : float
        Q(lam) at the solution.
    loss : float
        Mean loss without the penalty.
    kkt : float
        Largest violation of the optimality conditions, in units of the penalty.
    gap : float
        Duality gap: upper bound on the distance of the objective from its minimum. NaN for
        nonconvex losses and for several classes.
    """

    penalty: float
    coef: FloatArray
    intercept: Any
    objective: float
    loss: float
    kkt: float
    gap: float


@dataclass(frozen=True, eq=False)
class L1Problem:
    """A design, a target and a loss.

    Attributes
    ----------
    design : Design
        Columns and weights of the rows.
    y : float64 array
        Target: numbers, or -1 and 1 for two classes.
    datafit : Datafit
        Loss.
    l1_ratio : float
        al of the elastic net: 1 is the lasso; above 0.
    """

    design: Design
    y: FloatArray
    datafit: Datafit = SQUARED
    l1_ratio: float = 1.0

    @classmethod
    def of(
        cls,
        covers: PackedCovers,
        y: Any,
        *,
        dense: Any = None,
        sample_weight: Any = None,
        rule_scale: RuleScale = "none",
        datafit: Datafit | None = None,
        l1_ratio: float = 1.0,
        n_threads: int = 1,
    ) -> L1Problem:
        """Create a problem from rows; rows of weight 0 are dropped. See `Design.of`."""
        target = np.asarray(y, dtype=np.float64)
        if target.shape != (covers.n_rows,):
            raise ValueError(f"y must have one number for each of the {covers.n_rows} rows")
        if not np.isfinite(target).all():
            row = int(np.flatnonzero(~np.isfinite(target))[0])
            raise ValueError(f"y must be finite: row {row} has {target[row]}")
        if not 0 < l1_ratio <= 1:
            raise ValueError(f"l1_ratio must be above 0 and at most 1, not {l1_ratio}")
        normalise_weights(sample_weight, covers.n_rows)  # validates the weights
        kept = (
            np.ones(covers.n_rows, bool) if sample_weight is None else np.asarray(sample_weight) > 0
        )
        if not kept.all():
            covers, target, sample_weight = (
                covers.take(kept),
                target[kept],
                np.asarray(sample_weight)[kept],
            )
            dense = None if dense is None else np.asarray(dense)[kept]
        loss = SQUARED if datafit is None else datafit
        loss.check(target)
        design = Design.of(covers, dense, sample_weight, rule_scale, n_threads)
        return cls(design, target, loss, l1_ratio)

    def take(self, rows: IntArray | BoolArray) -> L1Problem:
        """Return the problem for a subset of the rows, such as a fold."""
        return L1Problem(self.design.take(rows), self.y[rows], self.datafit, self.l1_ratio)

    @cached_property
    def null(self) -> Point:
        """The point with all coefficients 0."""
        level = self.datafit.constant(self.y, self.design.weights)
        return self.point(np.zeros(self.design.n_columns), level)

    @cached_property
    def null_loss(self) -> float:
        """Mean loss of the best constant."""
        return self.loss(self.null.scores)

    @cached_property
    def largest_penalty(self) -> float:
        """The smallest penalty at which all coefficients are 0; 0 if no column helps."""
        largest = float(np.abs(self.null.pulls).max(initial=0.0))
        rounding = 1e-14 * (1.0 + float(np.abs(self.y).max(initial=0.0)))
        return largest / self.l1_ratio if largest > rounding else 0.0

    def grid(self, n_penalties: int = N_PENALTIES, n_rows: float | None = None) -> FloatArray:
        """Return log-spaced penalties from the largest to a small share of it.

        The share is smaller with more rows than columns; `n_rows` is the number of rows that
        weights represent.
        """
        if self.largest_penalty == 0:
            return np.zeros(1)
        least = 1e-4 if (n_rows or self.design.n_rows) > self.design.n_columns else 1e-2
        return np.asarray(self.largest_penalty * np.geomspace(1.0, least, n_penalties))

    def point(self, a: FloatArray, level: float | None = None) -> Point:
        """Evaluate coefficients; the default level is the mean of y, as for squared error."""
        if level is None:
            level = self.null.level
        scores = level + self.design.dot(a)
        residual = self.datafit.residual(self.y, scores)
        return Point(a, level, scores, residual, self.design.adjoint(residual) / self.design.total)

    def settle_level(self, scores: FloatArray) -> float:
        """Return the best change of the level: the residuals then sum to 0."""
        level = 0.0
        for _ in range(MOST_SETTLING):
            moved = scores + level
            mean = self.design.mean(self.datafit.residual(self.y, moved))
            if abs(mean) <= 1e-15:
                break
            level += mean / self.design.mean(self.datafit.curvature(self.y, moved))
        return level

    def loss(self, scores: FloatArray) -> float:
        """Return the mean loss of scores."""
        return self.design.mean(self.datafit.value(self.y, scores))

    def penalty_of(self, a: FloatArray) -> float:
        """Return the elastic net penalty of coefficients, for lam = 1."""
        ridge = 0.5 * (1 - self.l1_ratio) * float(a @ a)
        return self.l1_ratio * float(np.abs(a).sum()) + ridge

    def solution(self, point: Point, penalty: float) -> L1Solution:
        """Describe a point as a solution of Q(penalty), with its certificate."""
        loss = self.loss(point.scores)
        return L1Solution(
            penalty,
            self.design.coef(point.a),
            self.design.intercept(point.a, point.level),
            loss + penalty * self.penalty_of(point.a),
            loss,
            self.kkt(point, penalty),
            self.gap(point, penalty),
        )

    def gap(self, point: Point, penalty: float) -> float:
        """Return the duality gap; NaN for nonconvex losses."""
        if not self.datafit.is_convex:
            return np.nan
        primal = self.loss(point.scores) + penalty * self.penalty_of(point.a)
        return primal - self._dual(point, penalty)

    def kkt(self, point: Point, penalty: float) -> float:
        """Return the largest violation of the Karush-Kuhn-Tucker conditions."""
        l1 = penalty * self.l1_ratio
        slopes = point.pulls - penalty * (1 - self.l1_ratio) * point.a
        inside, outside = np.abs(slopes - l1 * np.sign(point.a)), np.abs(slopes) - l1
        violations = np.where(point.a != 0, inside, outside)
        level = abs(self.design.mean(point.residual))
        return max(level, float(violations.max(initial=0.0)))

    def _dual(self, point: Point, penalty: float) -> float:
        """Return the dual objective at the residuals, scaled to be feasible."""
        theta = point.residual - self.design.mean(point.residual)
        pulls, l1, l2 = np.abs(point.pulls), penalty * self.l1_ratio, penalty * (1 - self.l1_ratio)
        charged = 0.0
        if l2 > 0:
            charged = float((np.maximum(pulls - l1, 0.0) ** 2).sum()) / (2 * l2)
        else:
            theta = theta * min(1.0, l1 / max(float(pulls.max(initial=0.0)), 1e-300))
        return -self.design.mean(self.datafit.conjugate(self.y, theta)) - charged


EXPLAINED = 0.999
"""A path stops when the model explains this share of the loss..."""

LEAST_GAIN = 1e-5
"""...or, after five points, when a further penalty adds less than this share."""


@dataclass(frozen=True)
class Path:
    """Solutions for decreasing penalties."""

    solutions: tuple[L1Solution, ...]

    def __len__(self) -> int:
        return len(self.solutions)

    def __getitem__(self, place: int) -> L1Solution:
        return self.solutions[place]

    @property
    def penalties(self) -> FloatArray:
        """Penalties lam."""
        return np.array([solution.penalty for solution in self.solutions])

    @property
    def coefs(self) -> FloatArray:
        """Coefficients, one line for each penalty."""
        return np.array([solution.coef for solution in self.solutions])

    @property
    def intercepts(self) -> FloatArray:
        """Intercepts."""
        return np.array([solution.intercept for solution in self.solutions])


class Solver(ABC):
    """A solver of Q(lam); all solvers use the same grid of penalties."""

    losses: tuple[str, ...] = ("squared",)
    """Names of the supported datafits."""

    @property
    def variants(self) -> tuple[Solver, ...]:
        """The solvers that cross-validation compares: this one, unless a setting is open."""
        return (self,)

    def solve(self, problem: L1Problem, penalty: float) -> L1Solution:
        """Solve for one penalty."""
        return self.path(problem, [penalty])[0]

    def path(self, problem: L1Problem, penalties: Any = None) -> Path:
        """Solve for a decreasing grid of penalties.

        Without `penalties` the problem's grid is used, and the path stops when nothing more is
        gained; a given grid is solved completely.
        """
        solutions: list[L1Solution] = []
        for solution in self.follow(problem, penalties):
            solutions.append(solution)
            if penalties is None and is_saturated(problem, solutions):
                break
        return Path(tuple(solutions))

    def follow(self, problem: L1Problem, penalties: Any = None) -> Iterator[L1Solution]:
        """Yield the solutions for a decreasing grid of penalties, one at a time."""
        self._check(problem)
        grid = problem.grid() if penalties is None else _check_penalties(penalties)
        empty = grid >= problem.largest_penalty
        for penalty in grid[empty].tolist():
            yield problem.solution(problem.null, penalty)
        falling = grid[~empty]
        points = self._follow(problem, falling)
        for penalty, point in zip(falling.tolist(), points, strict=False):
            yield problem.solution(point, penalty)

    @abstractmethod
    def _follow(self, problem: L1Problem, penalties: FloatArray) -> Iterator[Point]:
        """Yield the point of each penalty, all below the largest, from warm starts."""

    def _check(self, problem: L1Problem) -> None:
        name = type(self).__name__
        if problem.datafit.name not in self.losses:
            raise ValueError(
                f"{name} supports the loss {' or '.join(self.losses)}, not "
                f"{problem.datafit.name}: choose another loss or CoordinateDescent"
            )


def strong_columns(pulls: FloatArray, l1: float, before: float) -> BoolArray:
    """Return which columns may become active below the given penalty (sequential strong rule)."""
    return np.asarray(pulls >= 2 * l1 - before)


def violators(pulls: FloatArray, l1: float, chosen: BoolArray) -> BoolArray:
    """Return which unchosen columns should be active."""
    return np.asarray(~chosen & (pulls > l1))


def _check_penalties(penalties: Any) -> FloatArray:
    grid = np.atleast_1d(np.asarray(penalties, dtype=np.float64))
    if grid.ndim != 1 or not np.all(np.isfinite(grid)) or not np.all(grid > 0):
        raise ValueError("penalties must be finite numbers above 0")
    if np.any(np.diff(grid) > 0):
        raise ValueError("penalties must decrease: sort them from the largest to the smallest")
    return grid


def is_saturated(problem: L1Problem, solutions: Sequence[L1Solution]) -> bool:
    """Return whether the path explains nearly everything, or no longer improves."""
    if solutions[-1].penalty >= problem.largest_penalty:
        return False
    explained = [1 - solution.loss / problem.null_loss for solution in solutions[-2:]]
    gained = explained[-1] - explained[0]
    return explained[-1] > EXPLAINED or (len(solutions) > 5 and gained < LEAST_GAIN)
