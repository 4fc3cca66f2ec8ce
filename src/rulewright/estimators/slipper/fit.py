"""SLIPPER around its rounds: the cross-validated number of rounds, and the additive model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Units
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
"""A score of 0 predicts the negative class of two, or the heaviest of several."""


@dataclass
class BoostedRounds:
    """The rounds of one problem with their records.

    `errors` are training errors after each round; `coverages` belong to the rule of each round
    (None: the default rule). With cross-validation, `cv_error` is the mean error of the folds and
    `left_out` has the out-of-fold scores.
    """

    problem: SlipperProblem
    rounds: list[Round] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    coverages: list[Coverage | None] = field(default_factory=list)
    cv_error: FloatArray | None = None
    left_out: FloatArray | None = None


@dataclass(frozen=True)
class FoldRun:
    """The rounds of one fold, and the held-out error after each round."""

    rows: NDArray[np.intp]
    codes: CodeColumns
    rounds: list[Round]
    errors: FloatArray

    def scores(self, n_rounds: int, n_heads: int) -> FloatArray:
        """Return the held-out scores after `n_rounds` rounds."""
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
        Constraints on the form of rules.
    threshold : {"short", "observed", "midpoint"}
        Where a threshold lies between two values.
    grow_share : float
        Share of the weight that a rule is grown on; fewer than 50 rows are all used.
    stratify : bool
        Whether that split is stratified by class.
    n_threads : int
        Number of threads; folds run in parallel.
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
        """Boost `n_rounds` rounds, or the number up to `max_rounds` with minimum held-out error."""
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
        """Boost on the other folds, and record the held-out error after every round."""
        train, test = folds.train_rows(fold), folds.held_out_rows(fold)
        own_seed = (seed + (fold + 1) * 2**32) % 2**64  # each round adds 1
        boosting = self._boosting(problem.take(train), self.binned.codes.take(train), own_seed, 1)
        codes, judged = self.binned.codes.take(test), problem.take(test)
        scores = np.zeros((len(test), len(problem.heads)))
        errors = ErrorSum(judged, scores)
        run = FoldRun(test, codes, [], np.empty(n_rounds))
        for t, kept in enumerate(boosting.rounds(n_rounds)):
            check()
            errors.update(add_round(scores, kept, codes))
            run.rounds.append(kept)
            run.errors[t:] = errors.error  # repeat the last error for all later rounds
            advance()
        return run

    def _coverage(self, problem: SlipperProblem, boosting: Rounds, kept: Round) -> Coverage | None:
        """Count what the rule of a round covers, on its pruning rows where possible."""
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
        # With two classes, a rule for the first class has reversed monotone constraints.
        limits = [up.swap_sides() if head == 0 else up for head in problem.heads]
        strata = problem.labels if self.stratify else np.zeros_like(problem.labels)
        grower = RuleGrower(self.binned, self.threshold, n_threads)
        share = 1.0 if problem.few else self.grow_share
        units = Units(len(strata), problem.groups)
        return Rounds(codes, grower, limits, loss, strata, share, seed, units)


def add_round(scores: FloatArray, kept: Round, codes: CodeColumns) -> RowArray | slice:
    """Add the confidence of a round to the scores (rows, heads); return the covered rows."""
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
    """Convert rounds to a model: default rules become intercepts, equal rules are merged."""
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
    """Convert out-of-fold F (or a single row of zeros) to scores: twice F.

    With two classes and costs, subtract the effect of the costs on the row weights.
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
    """Return the scores at F = 0: with costs for two classes, both decisions cost the same."""
    offsets = np.zeros(n_classes)
    if costs is not None and len(problem.heads) == 1:
        head = problem.heads[0]
        offsets[head] = -(math.log(costs[head][1 - head]) - math.log(costs[1 - head][head]))
    return offsets


def _break_tie(intercepts: FloatArray, class_weights: FloatArray) -> None:
    """Let the heaviest class win where no rule applies and several have the highest score."""
    top = np.flatnonzero(intercepts == intercepts.max())
    if len(top) > 1:
        intercepts[top[np.argmax(class_weights[top])]] += TIE
