"""The penalty of a rule ensemble: a path of solutions, cross-validated with the rules fixed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rulewright.estimators.common.folds import run_parallel

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.weighting.l1 import Problem, Solution, Solver


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
    each path.
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
    path = solver.path(problem)
    advance()
    last = _affordable(path.solutions, max_terms)
    if len(path) == 1:
        return Choice(path[0], path.penalties, *_nothing(1), problem.null.scores)
    scores = left_out_scores(problem, solver, path.penalties, folds, n_threads, advance)
    seen = folds >= 0
    losses, errors = _mean_losses(problem, scores, seen)
    best = int(np.argmin(losses[: last + 1]))
    if penalty == "1se":
        best = int(np.argmax(losses <= losses[best] + errors[best]))
    return Choice(path[best], path.penalties, losses, errors, scores[best])


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

    def run(fold: int, check: Callable[[], None]) -> None:
        check()
        path = solver.path(problem.take(folds != fold), penalties)
        left_out = np.flatnonzero(folds == fold)
        for place, solution in enumerate(path.solutions):
            found = problem.design.scores(solution.coef, solution.intercept)
            scores[place, left_out] = found[left_out]
        advance()

    n_folds = int(folds.max()) + 1
    run_parallel([partial(run, fold) for fold in range(n_folds)], n_threads)
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
