"""SLIPPER after its rounds are known: how many, by cross-validation, and the additive model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.estimators.slipper.rounds import ErrorSum, Round, Rounds, SlipperProblem
from rulewright.model import AdditiveRules, Costs, LowestCost
from rulewright.rules import Coverage, Head, Rule
from rulewright.search import RuleGrower, SearchLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.encoding import BinnedColumns, Threshold
    from rulewright.estimators.folds.folds import Folds
    from rulewright.kernels import CodeColumns, FloatArray, RowArray

TIE = 1e-12
"""Of two classes a score of 0 is a vote against the positive one, of several for the heaviest."""


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


def additive_model(
    rows: TrainingSet,
    boosted: Sequence[BoostedRounds],
    binned: BinnedColumns,
    costs: Costs | None,
    summary: dict[str, Any],
) -> AdditiveRules:
    """Turn rounds into a model: default rules into intercepts, equal rules into one."""
    intercepts = scores_from_f([BoostedRounds(result.problem) for result in boosted], costs)[0]
    rules: list[Rule] = []
    for result in boosted:
        for kept, coverage in zip(result.rounds, result.coverages, strict=True):
            head = result.problem.heads[kept.place]
            if kept.rule is None or coverage is None:
                intercepts[head] += 2 * kept.confidence
            else:
                rules.append(kept.rule.rule(Head(head, head), 2 * kept.confidence, coverage))
    _break_tie(intercepts, rows.class_weights)
    n_rounds = [len(result.rounds) for result in boosted]
    return AdditiveRules(
        rows.schema,
        rows.classes,
        tuple(intercepts.tolist()),
        tuple(rules),
        {**summary, "bins": binned.describe(), "n_rounds": n_rounds},
        decision=None if costs is None else LowestCost(costs),
    ).merge_rules()


def scores_from_f(boosted: Sequence[BoostedRounds], costs: Costs | None) -> FloatArray:
    """Turn F of the out-of-fold rows (of one row, if there are none) into scores: twice F.

    Costs of two classes, which weighed the rows, are taken off again.
    """
    parts, problem = [result.left_out for result in boosted], boosted[0].problem
    n_rows, n_classes = 1 if parts[0] is None else len(parts[0]), problem.n_classes
    scores = np.zeros((n_rows, n_classes))
    for part, result in zip(parts, boosted, strict=True):
        if part is not None:
            scores[:, list(result.problem.heads)] = 2 * part
    if len(boosted) == 1 and len(problem.heads) == 1:
        scores[:, problem.heads[0]] -= TIE
        scores += cost_offsets(problem, costs, n_classes)
    return scores


def cost_offsets(problem: SlipperProblem, costs: Costs | None, n_classes: int) -> FloatArray:
    """Return the scores where F = 0: with costs of two classes, where both cost the same."""
    offsets = np.zeros(n_classes)
    if costs is not None and len(problem.heads) == 1:
        head = problem.heads[0]
        offsets[head] = -(math.log(costs[head][1 - head]) - math.log(costs[1 - head][head]))
    return offsets


def _break_tie(intercepts: FloatArray, class_weights: FloatArray) -> None:
    """Let the heaviest class win where no rule fires and several have the highest score."""
    top = np.flatnonzero(intercepts == intercepts.max())
    if len(top) > 1:
        intercepts[top[np.argmax(class_weights[top])]] += TIE
