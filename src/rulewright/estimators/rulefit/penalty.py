"""The penalty of a rule ensemble: a solution path, cross-validated with the rules fixed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from rulewright.estimators.folds.folds import Folds, run_parallel
from rulewright.kernels import ROW, BoolArray, FloatArray, RowArray
from rulewright.weighting import L1Problem, L1Solution, Path, Solver, is_saturated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STRIDE = 5
"""Penalties solved before the held-out loss is checked again, while it falls."""

CLEARLY = 2.0
"""Rise of the held-out loss that counts as a rise, in standard errors."""


@dataclass(frozen=True, eq=False)
class ChosenPenalty:
    """The chosen solution of a path, and the cross-validated loss of the whole path.

    Attributes
    ----------
    solution : L1Solution
        The weights.
    penalties, losses, errors : float64 arrays
        Penalties of the path, mean held-out loss, and its standard error.
    out_of_fold : float64 array or None
        Out-of-fold scores at the chosen penalty.
    """

    solution: L1Solution
    penalties: FloatArray
    losses: FloatArray
    errors: FloatArray
    out_of_fold: FloatArray | None = None


def choose_solution(
    problem: L1Problem,
    solver: Solver,
    penalty: float | str,
    folds: Folds | None,
    total_weight: float,
    max_rules: int | None = None,
    n_threads: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> ChosenPenalty:
    """Follow the path and choose a penalty: the given one, "min" or "1se".

    "min" minimises the held-out loss; "1se" is the largest penalty within one standard error of the
    minimum. Without folds the Bayesian information criterion chooses; weights then count as numbers
    of rows. At most `max_rules` weights differ from 0. `advance` is called after each part of the
    path.
    """
    if not isinstance(penalty, str):
        grid = problem.grid()
        falling = [*grid[grid > penalty], penalty] if max_rules is not None else [penalty]
        path = solver.path(problem, falling)
        advance()
        last = _affordable(path.solutions, max_rules)
        scores = None
        if folds is not None:
            followed = path.penalties[: last + 1]
            scores = score_left_out(problem, solver, followed, folds, n_threads, advance)[-1]
        return ChosenPenalty(path[last], path.penalties, *_nothing(len(path)), scores)
    if folds is None:
        path = solver.path(problem, _few(problem, total_weight))
        advance()
        last = _affordable(path.solutions, max_rules)
        best = _by_criterion(problem, path.solutions[: last + 1], total_weight)
        return ChosenPenalty(path[best], path.penalties, *_nothing(len(path)))
    path, scores, left_out = _cross_validate(problem, solver, folds, max_rules, n_threads, advance)
    last = _affordable(path.solutions, max_rules)
    losses, errors = (np.array(kept[: len(path)]) for kept in (left_out.losses, left_out.errors))
    best = int(np.argmin(losses[: last + 1]))
    if penalty == "1se":
        best = int(np.argmax(losses <= losses[best] + errors[best]))
    return ChosenPenalty(path[best], path.penalties, losses, errors, scores[best])


def _cross_validate(
    problem: L1Problem,
    solver: Solver,
    folds: Folds,
    max_rules: int | None,
    n_threads: int,
    advance: Callable[[], None],
) -> tuple[Path, FloatArray, LeftOutLoss]:
    """Follow the paths of all rows and of the folds, while the held-out loss may still fall.

    Returns the path, the out-of-fold scores (penalties, rows), and their losses.
    """
    left_out = LeftOutLoss(problem, folds.ever_held_out)
    if not problem.largest_penalty:  # nothing to explain
        left_out.add(problem.null.scores)
        return solver.path(problem), problem.null.scores[np.newaxis], left_out
    grid = problem.grid()
    found: list[L1Solution] = []
    scores = np.full((len(grid), problem.design.n_rows), np.nan)

    def follow(check: Callable[[], None]) -> None:
        for solution in islice(whole, len(block)):
            check()
            found.append(solution)

    whole = solver.follow(problem, grid)
    parts = [_follow_left_out(problem, solver, grid, folds, fold) for fold in range(len(folds))]
    block = range(0)
    while block.stop < len(grid):
        start, size = block.stop, STRIDE if left_out.falls else 1
        block = range(start, min(start + size, len(grid)))
        tasks: list[Callable[[Callable[[], None]], None]] = [follow]
        tasks += [partial(_fill, scores, block, rows, part) for rows, part in parts]
        run_parallel(tasks, n_threads)
        if block.stop // STRIDE > start // STRIDE:
            advance()
        ends = (n for n in range(start + 1, len(found) + 1) if is_saturated(problem, found[:n]))
        end = next(ends, None)
        for place in range(start, len(found)):
            left_out.add(scores[place])
        too_many = _affordable(tuple(found), max_rules) < len(found) - 1
        if end is not None or left_out.has_risen or too_many or len(found) < block.stop:
            found = found[:end]
            break
    return Path(tuple(found)), scores[: len(found)], left_out


def _follow_left_out(
    problem: L1Problem, solver: Solver, grid: FloatArray, folds: Folds, fold: int
) -> tuple[RowArray, Iterator[FloatArray]]:
    """Return the held-out rows of a fold and their scores at each penalty."""
    rows = folds.held_out_rows(fold).astype(ROW)
    solutions = solver.follow(problem.take(folds.train_mask(fold)), grid)
    held = problem.design.take(folds.held_out_mask(fold))
    return rows, (held.scores(one.coef, one.intercept) for one in solutions)


def _fill(
    scores: FloatArray,
    block: range,
    rows: RowArray,
    found: Iterator[FloatArray],
    check: Callable[[], None],
) -> None:
    """Write the scores of some rows for a block of penalties; extend paths that have ended."""
    for place in block:
        check()
        last = scores[place - 1, rows] if place else np.zeros(len(rows))
        scores[place, rows] = next(found, last)


def score_left_out(
    problem: L1Problem,
    solver: Solver,
    penalties: FloatArray,
    folds: Folds,
    n_threads: int,
    advance: Callable[[], None],
) -> FloatArray:
    """Return the out-of-fold scores (penalties, rows); NaN for rows in no fold."""
    scores = np.full((len(penalties), problem.design.n_rows), np.nan)
    parts = [
        _follow_left_out(problem, solver, penalties, folds, fold) for fold in range(len(folds))
    ]
    block = range(len(penalties))
    run_parallel([partial(_fill, scores, block, rows, part) for rows, part in parts], n_threads)
    advance()
    return scores


def _few(problem: L1Problem, total_weight: float) -> FloatArray | None:
    """Return a grid of penalties for few rows, with weights as repetitions."""
    return problem.grid(n_rows=total_weight) if problem.largest_penalty else None


def _affordable(solutions: tuple[L1Solution, ...], max_rules: int | None) -> int:
    """Return the place of the last solution that has no more than `max_rules` terms."""
    if max_rules is None:
        return len(solutions) - 1
    counts = np.array([np.count_nonzero(solution.coef) for solution in solutions])
    beyond = np.flatnonzero(counts > max_rules)
    return max(int(beyond[0]) - 1, 0) if len(beyond) else len(solutions) - 1


def _by_criterion(problem: L1Problem, solutions: tuple[L1Solution, ...], total: float) -> int:
    """Return the place of the solution with the minimum Bayesian information criterion."""
    losses = np.array([solution.loss for solution in solutions])
    counts = np.array([np.count_nonzero(solution.coef) for solution in solutions])
    if problem.datafit.name != "logistic":  # log-likelihood of errors of unknown variance
        losses = 0.5 * np.log(np.maximum(losses, 1e-12 * max(float(losses.max()), 1e-300)))
    return int(np.argmin(losses * total + 0.5 * counts * np.log(max(total, 1.0))))


class LeftOutLoss:
    """Mean held-out loss along a path, and its standard error.

    Attributes
    ----------
    losses, errors : list of float
        One per penalty so far.
    """

    def __init__(self, problem: L1Problem, seen: BoolArray) -> None:
        self.weights, self.y = problem.design.weights[seen], problem.y[seen]
        self.datafit, self.seen = problem.datafit, seen
        self.losses: list[float] = []
        self.errors: list[float] = []
        self._best = self._last = np.empty(0)

    def add(self, scores: FloatArray) -> None:
        """Add the scores of all rows at the next penalty."""
        self._last = self.datafit.value(self.y, scores[self.seen])
        mean, error = self._mean(self._last)
        if not self.losses or mean < min(self.losses):
            self._best = self._last
        self.losses.append(mean)
        self.errors.append(error)

    @property
    def falls(self) -> bool:
        """True while the last loss is the minimum."""
        return self._last is self._best

    @property
    def has_risen(self) -> bool:
        """True if the last loss is clearly above the minimum.

        The comparison is paired by row: the losses of a row are correlated along a path, so
        a rise is measured more precisely than the losses themselves.
        """
        if self.falls:
            return False
        rise, error = self._mean(self._last - self._best)
        return rise > CLEARLY * error

    def _mean(self, values: FloatArray) -> tuple[float, float]:
        mean = float(np.average(values, weights=self.weights))
        square = float(np.average((values - mean) ** 2, weights=self.weights))
        return mean, float(np.sqrt(square / len(values)))


def _nothing(n: int) -> tuple[FloatArray, FloatArray]:
    return np.full(n, np.nan), np.full(n, np.nan)
