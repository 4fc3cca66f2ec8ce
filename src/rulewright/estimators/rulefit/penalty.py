"""The penalty of a rule ensemble: a solution path, cross-validated with the rules fixed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from rulewright.estimators.folds.folds import Folds, run_parallel
from rulewright.estimators.rulefit.left_out import FoldProblem, LeftOutLoss, PenaltySearch
from rulewright.kernels import ROW, FloatArray, RowArray
from rulewright.weighting import L1Problem, L1Solution, Path, Solver, is_saturated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rulewright.weighting import Design

STRIDE = 5
"""Penalties solved before the held-out loss is checked again, while it falls."""

DUST = 1e-6
"""Share of the largest weight below which a weight is rounding."""

DEPENDENT = 1e-9
"""Eigenvalue of the correlations of columns below which columns depend on each other."""


@dataclass(frozen=True, eq=False)
class ChosenPenalty:
    """The chosen solution of a path, and the cross-validated loss of the whole path.

    Attributes
    ----------
    solution : L1Solution
        The weights.
    penalties, losses, errors : float64 arrays
        Penalties of the path, mean held-out loss (or criterion), and its standard error.
    out_of_fold : float64 array or None
        Out-of-fold scores at the chosen penalty.
    solver : Solver
        The solver; `PathBuild(tau=None)` is replaced by the chosen threshold.
    """

    solution: L1Solution
    penalties: FloatArray
    losses: FloatArray
    errors: FloatArray
    out_of_fold: FloatArray | None
    solver: Solver


@dataclass(frozen=True, eq=False)
class SolutionSearch:
    """How the weights of a rule ensemble are found; see `choose_solution`."""

    solver: Solver
    penalty: float | PenaltySearch
    folds: Folds | None
    total_weight: float
    max_rules: int | None = None
    n_threads: int = 1
    advance: Callable[[], None] = lambda: None


def choose_solution(
    problem: L1Problem, how: SolutionSearch, parts: Sequence[FoldProblem] | None = None
) -> ChosenPenalty:
    """Follow the path and choose a penalty: the given one, or by a search.

    "min" minimises the held-out criterion; "1se" is the largest penalty within one standard error
    of the minimum. Several thresholds of PATHBUILD are compared in the same way; among the largest
    penalties of each, "1se" takes the one with the fewest terms. Without folds the Bayesian
    information criterion chooses; weights then count as numbers of rows. At most `max_rules`
    weights differ from 0. `parts` are the problems of the folds, by default with the same rules.
    """
    if parts is None and how.folds is not None:
        parts = [split_problem(problem, how.folds, fold) for fold in range(len(how.folds))]
    if not isinstance(how.penalty, PenaltySearch):
        return _solve_given(problem, how, how.penalty, parts)
    variants = how.solver.variants
    if parts is None or how.folds is None:
        return min((_solve_few(problem, how, one) for one in variants), key=lambda t: t[0])[1]
    tried = [_cross_validate(problem, replace(how, solver=one), parts) for one in variants]
    least = min(tried, key=lambda one: one.losses.min())
    best = int(np.argmin(least.losses))
    if how.penalty.rule == "1se":
        bound = least.losses[best] + least.errors[best]
        within = [(one, int(np.argmax(one.losses <= bound))) for one in tried]
        near = [(one, place) for one, place in within if one.losses[place] <= bound]
        least, best = min(near, key=lambda pair: np.count_nonzero(pair[0].path[pair[1]].coef))
    return least.choose(best)


def _solve_given(
    problem: L1Problem, how: SolutionSearch, penalty: float, parts: Sequence[FoldProblem] | None
) -> ChosenPenalty:
    """Solve for a given penalty."""
    grid = problem.grid()
    falling = [*grid[grid > penalty], penalty] if how.max_rules is not None else [penalty]
    path = how.solver.path(problem, falling)
    how.advance()
    last, scores = _affordable(path.solutions, how.max_rules), None
    if parts is not None:
        scores = score_left_out(problem, how, path.penalties[: last + 1], parts)[-1]
    return ChosenPenalty(path[last], path.penalties, *_nothing(len(path)), scores, how.solver)


def _solve_few(
    problem: L1Problem, how: SolutionSearch, solver: Solver
) -> tuple[float, ChosenPenalty]:
    """Return the solution of few rows with the least information criterion, and the criterion."""
    path = solver.path(problem, _few(problem, how.total_weight))
    how.advance()
    last = _affordable(path.solutions, how.max_rules)
    values = _criterion(problem, path.solutions[: last + 1], how.total_weight)
    best = int(np.argmin(values))
    nothing = _nothing(len(path))
    return values[best], ChosenPenalty(path[best], path.penalties, *nothing, None, solver)


def split_problem(problem: L1Problem, folds: Folds, fold: int) -> FoldProblem:
    """Return the problem of a fold with the same rules."""
    held_out = problem.design.take(folds.held_out_mask(fold))
    return FoldProblem(problem.take(folds.train_mask(fold)), held_out)


@dataclass(frozen=True, eq=False)
class FollowedPath:
    """A path with its out-of-fold scores; losses and errors up to the last affordable penalty."""

    path: Path
    scores: FloatArray
    all_losses: FloatArray
    all_errors: FloatArray
    last: int
    solver: Solver

    @property
    def losses(self) -> FloatArray:
        """Mean held-out losses."""
        return self.all_losses[: self.last + 1]

    @property
    def errors(self) -> FloatArray:
        """Standard errors of the losses."""
        return self.all_errors[: self.last + 1]

    def choose(self, place: int) -> ChosenPenalty:
        """Return a solution of the path."""
        curves = self.path.penalties, self.all_losses, self.all_errors
        return ChosenPenalty(self.path[place], *curves, self.scores[place], self.solver)


def _cross_validate(
    problem: L1Problem, how: SolutionSearch, problems: Sequence[FoldProblem]
) -> FollowedPath:
    """Follow the paths of all rows and of the folds, while the held-out loss may still fall."""
    assert how.folds is not None
    assert isinstance(how.penalty, PenaltySearch)
    folds, solver = how.folds, how.solver
    left_out = LeftOutLoss(problem, folds.ever_held_out, how.penalty.criterion)
    if not problem.largest_penalty:  # nothing to explain
        left_out.add(problem.null.scores)
        scores = problem.null.scores[np.newaxis]
        return _followed(solver.path(problem), scores, left_out, how)
    grid = problem.grid()
    found: list[L1Solution] = []
    scores = np.full((len(grid), problem.design.n_rows), np.nan)

    def follow(check: Callable[[], None]) -> None:
        for solution in islice(whole, len(block)):
            check()
            found.append(solution)

    whole = solver.follow(problem, grid)
    parts = _follow_left_out(how, grid, problems)
    block = range(0)
    while block.stop < len(grid):
        start, size = block.stop, STRIDE if left_out.falls else 1
        block = range(start, min(start + size, len(grid)))
        tasks: list[Callable[[Callable[[], None]], None]] = [follow]
        tasks += [partial(_fill, scores, block, rows, part) for rows, part in parts]
        run_parallel(tasks, how.n_threads)
        if block.stop // STRIDE > start // STRIDE:
            how.advance()
        ends = (n for n in range(start + 1, len(found) + 1) if is_saturated(problem, found[:n]))
        end = next(ends, None)
        for place in range(start, len(found)):
            left_out.add(scores[place])
        too_many = _affordable(tuple(found), how.max_rules) < len(found) - 1
        if end is not None or left_out.has_risen or too_many or len(found) < block.stop:
            found = found[:end]
            break
    return _followed(Path(tuple(found)), scores[: len(found)], left_out, how)


def _followed(
    path: Path, scores: FloatArray, left_out: LeftOutLoss, how: SolutionSearch
) -> FollowedPath:
    losses, errors = (np.array(kept[: len(path)]) for kept in (left_out.losses, left_out.errors))
    last = _affordable(path.solutions, how.max_rules)
    return FollowedPath(path, scores, losses, errors, last, how.solver)


def _follow_left_out(
    how: SolutionSearch, grid: FloatArray, problems: Sequence[FoldProblem]
) -> list[tuple[RowArray, Iterator[FloatArray]]]:
    """Return the held-out rows of each fold and their scores at each penalty."""
    assert how.folds is not None
    found = []
    for fold, part in enumerate(problems):
        rows = how.folds.held_out_rows(fold).astype(ROW)
        solutions = how.solver.follow(part.problem, grid)
        found.append((rows, _scores(part.held_out, solutions)))
    return found


def _scores(held_out: Design, solutions: Iterator[L1Solution]) -> Iterator[FloatArray]:
    return (held_out.scores(one.coef, one.intercept) for one in solutions)


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
    problem: L1Problem, how: SolutionSearch, penalties: FloatArray, problems: Sequence[FoldProblem]
) -> FloatArray:
    """Return the out-of-fold scores (penalties, rows); NaN for rows in no fold."""
    scores = np.full((len(penalties), problem.design.n_rows), np.nan)
    parts, block = _follow_left_out(how, penalties, problems), range(len(penalties))
    tasks = [partial(_fill, scores, block, rows, part) for rows, part in parts]
    run_parallel(tasks, how.n_threads)
    how.advance()
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


def _criterion(problem: L1Problem, solutions: tuple[L1Solution, ...], total: float) -> FloatArray:
    """Return the Bayesian information criterion of each solution."""
    losses = np.array([solution.loss for solution in solutions])
    counts = np.array([count_free(problem.design, solution.coef) for solution in solutions])
    if problem.datafit.name != "logistic":  # log-likelihood of errors of unknown variance
        losses = 0.5 * np.log(np.maximum(losses, 1e-12 * max(float(losses.max()), 1e-300)))
    return np.asarray(losses * total + 0.5 * counts * np.log(max(total, 1.0)))


def count_free(design: Design, coef: FloatArray) -> int:
    """Return the degrees of freedom: the rank of the columns with weights above rounding.

    Few rows have dependent columns, whose weights are not unique: their number depends on the
    order of sums, the rank does not.
    """
    sizes = np.abs(coef)
    active = np.flatnonzero(sizes > DUST * sizes.max(initial=0.0)).astype(np.int32)
    if not len(active):
        return 0
    gram = design.gram(active, active)
    sizes = np.sqrt(np.diag(gram))
    values = np.linalg.eigvalsh(gram / np.outer(sizes, sizes))
    return int(np.count_nonzero(values > DEPENDENT))


def _nothing(n: int) -> tuple[FloatArray, FloatArray]:
    return np.full(n, np.nan), np.full(n, np.nan)
