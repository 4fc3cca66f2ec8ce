"""What all solvers have in common: a path of solutions for penalties that fall."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.weighting.l1.problem import L1Problem, L1Solution, Point

EXPLAINED = 0.999
"""A path ends when the model explains this share of the loss..."""

LEAST_GAIN = 1e-5
"""...or when a further penalty explains less than this share more, after five points."""


@dataclass(frozen=True)
class Path:
    """Solutions for penalties that fall."""

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
    """A way to solve Q(lam); all take the same grid of penalties."""

    losses: tuple[str, ...] = ("squared",)
    """Names of the datafits that the solver is made for."""

    def solve(self, problem: L1Problem, penalty: float) -> L1Solution:
        """Solve for one penalty."""
        return self.path(problem, [penalty])[0]

    def path(self, problem: L1Problem, penalties: Any = None) -> Path:
        """Solve for a falling grid of penalties.

        Without `penalties` the grid is that of the problem, and the path ends where nothing more is
        gained; a given grid is solved to its end.
        """
        solutions: list[L1Solution] = []
        for solution in self.follow(problem, penalties):
            solutions.append(solution)
            if penalties is None and is_saturated(problem, solutions):
                break
        return Path(tuple(solutions))

    def follow(self, problem: L1Problem, penalties: Any = None) -> Iterator[L1Solution]:
        """Yield the solutions for a falling grid of penalties, each when it is asked for."""
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
                f"{name} is made for the loss {' or '.join(self.losses)}, not "
                f"{problem.datafit.name}: choose another loss or CoordinateDescent"
            )


def strong_columns(pulls: FloatArray, l1: float, before: float) -> BoolArray:
    """Tell which columns may become active below the penalty before (sequential strong rule)."""
    return np.asarray(pulls >= 2 * l1 - before)


def violators(pulls: FloatArray, l1: float, chosen: BoolArray) -> BoolArray:
    """Tell which columns were not chosen, but should be active."""
    return np.asarray(~chosen & (pulls > l1))


def _check_penalties(penalties: Any) -> FloatArray:
    grid = np.atleast_1d(np.asarray(penalties, dtype=np.float64))
    if grid.ndim != 1 or not np.all(np.isfinite(grid)) or not np.all(grid > 0):
        raise ValueError("penalties must be finite numbers above 0")
    if np.any(np.diff(grid) > 0):
        raise ValueError("penalties must fall: sort them from the largest to the smallest")
    return grid


def is_saturated(problem: L1Problem, solutions: Sequence[L1Solution]) -> bool:
    """Tell whether the path explains almost everything or has stopped to explain more."""
    if solutions[-1].penalty >= problem.largest_penalty:
        return False
    explained = [1 - solution.loss / problem.null_loss for solution in solutions[-2:]]
    gained = explained[-1] - explained[0]
    return explained[-1] > EXPLAINED or (len(solutions) > 5 and gained < LEAST_GAIN)
