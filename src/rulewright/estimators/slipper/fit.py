"""How many rounds SLIPPER boosts, and the boosting itself: cross-validation, then all rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rulewright.estimators.slipper.problem import ErrorSum
from rulewright.estimators.slipper.rounds import Round, Rounds
from rulewright.rules import Coverage
from rulewright.search import RuleGrower

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rulewright.encoding import BinnedColumns, Threshold
    from rulewright.estimators.folds.folds import Folds
    from rulewright.estimators.slipper.problem import SlipperProblem
    from rulewright.kernels import CodeColumns, FloatArray, RowArray
    from rulewright.search import SearchLimits


@dataclass
class BoostedRounds:
    """The rounds of one problem, and what was seen on the way.

    `errors` are those on the training rows after each round, `coverages` what the rule of each
    covers (None: the default rule); `cv_error`, with cross-validation, the mean of the folds, and
    `left_out` the scores of every row by the fold that left it out.
    """

    problem: SlipperProblem
    rounds: list[Round] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    coverages: list[Coverage | None] = field(default_factory=list)
    cv_error: FloatArray | None = None
    left_out: FloatArray | None = None


@dataclass(frozen=True)
class FoldRun:
    """The rounds of one fold and the error on the rows it left out after each."""

    rows: NDArray[np.intp]
    codes: CodeColumns
    rounds: list[Round]
    errors: FloatArray

    def scores(self, n_rounds: int, n_heads: int) -> FloatArray:
        """Return the scores of the rows left out after so many rounds."""
        scores = np.zeros((len(self.rows), n_heads))
        for kept in self.rounds[:n_rounds]:
            add_round(scores, kept, self.codes)
        return scores


@dataclass
class SlipperFit:
    """Boosts problems on binned columns.

    Parameters
    ----------
    binned : BinnedColumns
        The training table.
    limits : SearchLimits
        What rules may look like.
    threshold : {"short", "observed", "midpoint"}
        Where between two values a cut lies.
    grow_share : float
        Share of the weight that a rule is grown on; fewer than 50 rows are taken whole.
    stratify : bool
        Whether that share is taken of every class.
    n_threads : int
        Threads; folds run side by side.
    """

    binned: BinnedColumns
    limits: SearchLimits
    threshold: Threshold
    grow_share: float
    stratify: bool
    n_threads: int

    def run(
        self,
        problem: SlipperProblem,
        n_rounds: int | None,
        max_rounds: int,
        folds: Folds | None,
        seed: int,
        advance: Callable[[], None],
    ) -> BoostedRounds:
        """Boost `n_rounds` rounds, or as many of `max_rounds` as err least on the folds."""
        result = BoostedRounds(problem)
        if folds is not None:
            runs = self._run_folds(problem, n_rounds or max_rounds, folds, seed, advance)
            result.cv_error = np.mean([run.errors for run in runs], axis=0)
            if n_rounds is None:
                n_rounds = int(np.argmin(result.cv_error)) + 1
            result.left_out = folds.scatter(
                [run.scores(n_rounds, len(problem.heads)) for run in runs]
            )
        boosting = self._boosting(problem, self.binned.codes, seed, self.n_threads)
        errors = ErrorSum(problem, boosting.loss.scores)
        for kept in boosting.rounds(n_rounds or max_rounds):
            errors.update(boosting.cover(kept.rule))
            result.rounds.append(kept)
            result.errors.append(errors.error)
            result.coverages.append(self._coverage(problem, boosting, kept))
            advance()
        return result

    def _run_folds(
        self,
        problem: SlipperProblem,
        n_rounds: int,
        folds: Folds,
        seed: int,
        advance: Callable[[], None],
    ) -> list[FoldRun]:
        run = partial(self._run_fold, problem, n_rounds, folds, seed, advance)
        return folds.run(run, self.n_threads)

    def _run_fold(
        self,
        problem: SlipperProblem,
        n_rounds: int,
        folds: Folds,
        seed: int,
        advance: Callable[[], None],
        fold: int,
        check: Callable[[], None],
    ) -> FoldRun:
        """Boost on the other folds; one pass gives the error after every number of rounds."""
        train, test = folds.train_rows(fold), folds.held_out_rows(fold)
        own_seed = (seed + (fold + 1) * 2**32) % 2**64  # a round adds one
        boosting = self._boosting(problem.take(train), self.binned.codes.take(train), own_seed, 1)
        codes, judged = self.binned.codes.take(test), problem.take(test)
        scores = np.zeros((len(test), len(problem.heads)))
        errors = ErrorSum(judged, scores)
        run = FoldRun(test, codes, [], np.empty(n_rounds))
        for t, kept in enumerate(boosting.rounds(n_rounds)):
            check()
            errors.update(add_round(scores, kept, codes))
            run.rounds.append(kept)
            run.errors[t:] = errors.error  # of all later rounds too, if this is the last
            advance()
        return run

    def _coverage(self, problem: SlipperProblem, boosting: Rounds, kept: Round) -> Coverage | None:
        """Count what the rule of a round covers, as far as possible on rows that pruned it."""
        if kept.rule is None:
            return None
        cover = boosting.cover(kept.rule)
        if boosting.grown.all():
            return Coverage.of(tuple(problem.weigh(cover).tolist()))
        return Coverage.outside(problem.weigh(cover), problem.weigh(cover[~boosting.grown[cover]]))

    def _boosting(
        self, problem: SlipperProblem, codes: CodeColumns, seed: int, n_threads: int
    ) -> Rounds:
        loss = problem.loss(self.limits.min_weight > 0, n_threads)
        up = self.limits.compile(self.binned.schema, loss.weight_unit)
        # Of two classes the first is voted for by what lowers an increasing column's class.
        limits = [up.swap_sides() if head == 0 else up for head in problem.heads]
        strata = problem.labels if self.stratify else np.zeros_like(problem.labels)
        grower = RuleGrower(self.binned, self.threshold, n_threads)
        share = 1.0 if problem.few else self.grow_share
        return Rounds(codes, grower, limits, loss, strata, share, seed)


def add_round(scores: FloatArray, kept: Round, codes: CodeColumns) -> RowArray | slice:
    """Add what a round kept to the scores (rows, heads) of other rows; return the rows covered."""
    rows = slice(None) if kept.rule is None else kept.rule.cover(codes)
    scores[rows, kept.place] += kept.confidence
    return rows
