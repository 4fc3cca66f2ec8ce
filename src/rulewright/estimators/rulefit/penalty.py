"""The penalty of a rule ensemble: a path of solutions, cross-validated with the rules fixed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from rulewright.estimators.common.folds import run_parallel
from rulewright.kernels import ROW
from rulewright.weighting.l1 import Path
from rulewright.weighting.l1.solver import is_saturated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rulewright.kernels import BoolArray, FloatArray, IntArray, RowArray
    from rulewright.weighting.l1 import Problem, Solution, Solver

STRIDE = 10
"""Penalties that are solved before looking at the rows left out."""


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen solution of a path, and what cross-validation says of all of them.

    Attributes
    ----------
    solution : Solution
        The weights.
    penalties, losses, errors : float64 arrays
        Penalties of the path, mean loss of the rows left out, and its standard error.
    out_of_fold : float64 array or None
        Scores of the rows by the fold that left them out, at the chosen penalty.
    """

    solution: Solution
    penalties: FloatArray
    losses: FloatArray
    errors: FloatArray
    out_of_fold: FloatArray | None = None


def choose_solution(
    problem: Problem,
    solver: Solver,
    penalty: float | str,
    folds: IntArray | None,
    total_weight: float,
    max_terms: int | None = None,
    n_threads: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> Choice:
    """Follow the path and choose a penalty: the one given, "min" or "1se".

    "min" has the least loss of rows left out; "1se" is the largest penalty whose loss is within one
    standard error of that. Without folds the Bayesian information criterion chooses, with weights
    read as counts of rows. At most `max_terms` weights differ from 0. `advance` is called after
    each part of the path.
    """
    if not isinstance(penalty, str):
        grid = problem.grid()
        falling = [*grid[grid > penalty], penalty] if max_terms is not None else [penalty]
        path = solver.path(problem, falling)
        advance()
        last = _affordable(path.solutions, max_terms)
        scores = None
        if folds is not None:
            followed = path.penalties[: last + 1]
            scores = left_out_scores(problem, solver, followed, folds, n_threads, advance)[-1]
        return Choice(path[last], path.penalties, *_nothing(len(path)), scores)
    if folds is None:
        path = solver.path(problem, _few(problem, total_weight))
        advance()
        last = _affordable(path.solutions, max_terms)
        best = _by_criterion(problem, path.solutions[: last + 1], total_weight)
        return Choice(path[best], path.penalties, *_nothing(len(path)))
    path, scores = _cross_validated(problem, solver, folds, max_terms, n_threads, advance)
    last = _affordable(path.solutions, max_terms)
    losses, errors = _mean_losses(problem, scores, folds >= 0)
    best = int(np.argmin(losses[: last + 1]))
    if penalty == "1se":
        best = int(np.argmax(losses <= losses[best] + errors[best]))
    return Choice(path[best], path.penalties, losses, errors, scores[best])


def _cross_validated(
    problem: Problem,
    solver: Solver,
    folds: IntArray,
    max_terms: int | None,
    n_threads: int,
    advance: Callable[[], None],
) -> tuple[Path, FloatArray]:
    """Follow the path of all rows beside those of the folds, while rows left out may gain.

    Returns the path and the scores (penalties, rows) of the rows by the fold that left them out.
    """
    if not problem.largest_penalty:  # nothing to explain
        return solver.path(problem), problem.null.scores[np.newaxis]
    grid = problem.grid()
    found: list[Solution] = []
    scores = np.full((len(grid), problem.design.n_rows), np.nan)

    def follow(check: Callable[[], None]) -> None:
        for solution in islice(whole, STRIDE):
            check()
            found.append(solution)

    whole = solver.follow(problem, grid)
    parts = [_left_out(problem, solver, grid, folds, fold) for fold in range(int(folds.max()) + 1)]
    for start in range(0, len(grid), STRIDE):
        block = range(start, min(start + STRIDE, len(grid)))
        tasks: list[Callable[[Callable[[], None]], None]] = [follow]
        tasks += [partial(_fill, scores, block, rows, part) for rows, part in parts]
        run_parallel(tasks, n_threads)
        advance()
        ends = (n for n in range(start + 1, len(found) + 1) if is_saturated(problem, found[:n]))
        end = next(ends, None)
        losses, errors = _mean_losses(problem, scores[: len(found)], folds >= 0)
        best = int(np.argmin(losses))
        rises = best < start and losses[-1] > losses[best] + errors[best]
        too_many = _affordable(tuple(found), max_terms) < len(found) - 1
        if end is not None or rises or too_many or len(found) < start + STRIDE:
            found = found[:end]
            break
    return Path(tuple(found)), scores[: len(found)]


def _left_out(
    problem: Problem, solver: Solver, grid: FloatArray, folds: IntArray, fold: int
) -> tuple[RowArray, Iterator[FloatArray]]:
    """Return the rows of a fold, and their scores by the others for each penalty."""
    rows = np.flatnonzero(folds == fold).astype(ROW)
    solutions = solver.follow(problem.take(folds != fold), grid)
    design = problem.design
    return rows, (design.scores(one.coef, one.intercept)[rows] for one in solutions)


def _fill(
    scores: FloatArray,
    block: range,
    rows: RowArray,
    found: Iterator[FloatArray],
    check: Callable[[], None],
) -> None:
    """Write the scores of some rows for a block of penalties; a path that has ended stays there."""
    for place in block:
        check()
        last = scores[place - 1, rows] if place else np.zeros(len(rows))
        scores[place, rows] = next(found, last)


def left_out_scores(
    problem: Problem,
    solver: Solver,
    penalties: FloatArray,
    folds: IntArray,
    n_threads: int,
    advance: Callable[[], None],
) -> FloatArray:
    """Return the scores (penalties, rows) by the fold that left a row out; NaN where none did."""
    scores = np.full((len(penalties), problem.design.n_rows), np.nan)
    n_folds = int(folds.max()) + 1
    parts = [_left_out(problem, solver, penalties, folds, fold) for fold in range(n_folds)]
    block = range(len(penalties))
    run_parallel([partial(_fill, scores, block, rows, part) for rows, part in parts], n_threads)
    advance()
    return scores


def _few(problem: Problem, total_weight: float) -> FloatArray | None:
    """Return a grid of penalties for few rows, whose weights count as repetitions."""
    return problem.grid(n_rows=total_weight) if problem.largest_penalty else None


def _affordable(solutions: tuple[Solution, ...], max_terms: int | None) -> int:
    """Return the place of the last solution before one has too many terms."""
    if max_terms is None:
        return len(solutions) - 1
    counts = np.array([np.count_nonzero(solution.coef) for solution in solutions])
    beyond = np.flatnonzero(counts > max_terms)
    return max(int(beyond[0]) - 1, 0) if len(beyond) else len(solutions) - 1


def _by_criterion(problem: Problem, solutions: tuple[Solution, ...], total: float) -> int:
    """Return the place of the solution with the least Bayesian information criterion."""
    losses = np.array([solution.loss for solution in solutions])
    counts = np.array([np.count_nonzero(solution.coef) for solution in solutions])
    if problem.datafit.name != "logistic":  # the log-likelihood of errors of unknown variance
        losses = 0.5 * np.log(np.maximum(losses, 1e-12 * max(float(losses.max()), 1e-300)))
    return int(np.argmin(losses * total + 0.5 * counts * np.log(max(total, 1.0))))


def _mean_losses(
    problem: Problem, scores: FloatArray, seen: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the weighted mean loss of the rows left out for every penalty, and its error."""
    weights, y = problem.design.weights[seen], problem.y[seen]
    losses = np.array([problem.datafit.value(y, line[seen]) for line in scores])
    means = np.average(losses, axis=1, weights=weights)
    squares = np.average((losses - means[:, None]) ** 2, axis=1, weights=weights)
    return means, np.sqrt(squares / np.count_nonzero(seen))


def _nothing(n: int) -> tuple[FloatArray, FloatArray]:
    return np.full(n, np.nan), np.full(n, np.nan)
