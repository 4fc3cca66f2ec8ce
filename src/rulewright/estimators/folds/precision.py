"""Printed precision of rules, corrected for optimism by cross-validation.

The rows that a rule is counted on also chose the rule, so its precision there is optimistic. Models
learned without some rows provide pairs of counts: on their training rows and on held-out rows
(`CoverComparison`). A `PrecisionCorrection` estimates the optimism from these pairs:

- `MeanOptimism` subtracts one number from the precision of every rule: compact rules.
- `BaseRateShrinkage` shrinks precision towards the base rate, more strongly for rules that cover
  few rows: all other learners.

Both give coverage with ``rows="corrected"``; supports, rules and predictions do not change.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

import numpy as np

from rulewright.encoding import PackedCovers
from rulewright.estimators.contract.base import Classes, RuleClassifier
from rulewright.estimators.contract.evidence import weigh_evidence
from rulewright.estimators.contract.parameters import Integer, Parameter
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.folds.folds import (
    assign_folds,
    choosing_rows,
    divide_rows,
    stratified_folds,
)
from rulewright.evidence import HitCounts, Observations, Shrinkage
from rulewright.rules import Coverage, Head
from rulewright.search import LEAST_ROWS, MergedRows, merge_equal_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import ClassModel

MOST_ROWS = 10_000
"""Maximum number of rows that the extra models are learned from."""

LEAST_RULES = 5
"""Minimum number of compared rules for a mean optimism."""

LEAST_VARIANCE = 1e-12
"""Maximum evidence about shares, for very large weights."""

COPIES_WIDEN = 2.0
"""Factor of the variance if nearly all weight is copies.

Learners count copies as rows. They then choose rules for a few rows that no list of distinct rows
has, and shares of rules vary more than their effective numbers tell.
"""

MANY_COPIES = 4
"""Mean number of copies of a row beyond which copies become weights, to save time."""

Learner = TypeVar("Learner")


class CoverComparison(NamedTuple):
    """Covered weights of rules by class: on the rows that chose them, and on held-out rows."""

    heads: list[Head]
    seen: FloatArray
    unseen: FloatArray

    @classmethod
    def of(cls, model: ClassModel, train: TrainingSet, left_out: TrainingSet) -> Self:
        """Compare a model's counts with the counts on held-out rows, as observations."""
        unseen = decided_weights(model, left_out) * weigh_evidence(model, left_out)[:, np.newaxis]
        seen = np.array([rule.class_weights for rule in model.rules]).reshape(unseen.shape)
        seen = seen * weigh_evidence(model, train)[:, np.newaxis]
        return cls([rule.head for rule in model.rules], seen, unseen)

    @classmethod
    def join(cls, parts: Sequence[CoverComparison]) -> Self:
        """Concatenate the rules of several models."""
        heads = list(itertools.chain.from_iterable(part.heads for part in parts))
        return cls(heads, *(np.concatenate(side) for side in list(zip(*parts, strict=True))[1:]))

    def scale(self, worth: float) -> Self:
        """Return the same counts as observations, of which a weight of 1 has so many."""
        return self._replace(seen=self.seen * worth, unseen=self.unseen * worth)

    @property
    def on_both_sides(self) -> BoolArray:
        """Mark the rules that cover both training and held-out rows."""
        known: BoolArray = (self.seen.sum(axis=1) > 0) & (self.unseen.sum(axis=1) > 0)
        return known


class PrecisionCorrection(ABC):
    """An estimate of the precision that finished rules lose on new rows."""

    @abstractmethod
    def expected_weights(self, heads: Sequence[Head], weights: FloatArray) -> FloatArray:
        """Return the expected weights (rules, classes) on new rows.

        `weights` were counted on the training rows. The result sums to a number of rows whose
        counting interval has the required, larger width.
        """

    def coverages(
        self,
        heads: Sequence[Head],
        weights: FloatArray,
        supports: Sequence[float],
        worth: FloatArray,
    ) -> list[Coverage]:
        """Return the coverage of each rule with corrected weights; supports and counts stay.

        `worth` is the number of observations per unit of weight, for each rule.
        """
        found = self.expected_weights(heads, weights * worth[:, np.newaxis])
        freedom = COPIES_WIDEN ** (1 - np.minimum(worth, 1.0))
        expected = (found / freedom[:, np.newaxis]).tolist()
        parts = zip(supports, weights.tolist(), expected, strict=True)
        return [
            Coverage(support, tuple(counts), "corrected", tuple(line))
            for support, counts, line in parts
        ]


@dataclass(frozen=True)
class MeanOptimism(PrecisionCorrection):
    """One optimism for all rules: the mean over rules of the folds.

    Valid for a few rules that cover many rows each, as in compact models. Rules with few rows lose
    far more than the mean, and rules with many rows less: lists need `BaseRateShrinkage`.

    `excess` is the mean difference of the precision on training rows and on held-out rows,
    `variance` its variance between rules in excess of counting noise.
    """

    excess: float
    variance: float

    @classmethod
    def estimate(cls, compared: CoverComparison) -> Self | None:
        """Average the loss of precision, each rule weighted by its certainty.

        None if too few rules cover both training and held-out rows.
        """
        known = compared.on_both_sides
        if np.count_nonzero(known) < LEAST_RULES:
            return None
        hits, hits_out = (_hits(compared.heads, side)[known] for side in compared[1:])
        total, total_out = (side.sum(axis=1)[known] for side in compared[1:])
        pooled = (hits + hits_out + 1) / (total + total_out + 2)
        chance = np.maximum(pooled * (1 - pooled) * (1 / total + 1 / total_out), LEAST_VARIANCE)
        differences = hits / total - hits_out / total_out
        excess = max(0.0, float(np.average(differences, weights=1 / chance)))
        spread = float(np.average((differences - excess) ** 2 - chance, weights=1 / chance))
        # Few rules hardly determine the variance: use at least an exponential law's.
        return cls(excess, max(spread, excess**2))

    def expected_weights(self, heads: Sequence[Head], weights: FloatArray) -> FloatArray:
        """Return the expected weights (rules, classes) on new rows."""
        lines = [self._of_rule(*pair) for pair in zip(heads, weights, strict=True)]
        return np.array(lines).reshape(weights.shape)

    def _of_rule(self, head: Head, weights: FloatArray) -> FloatArray:
        total, own = float(weights.sum()), float(weights[head.classes].sum())
        fewer = max(own - self.excess * total, 0.0)
        others = np.ones(len(weights), dtype=np.bool_)
        others[head.classes] = False
        adjusted = weights * (fewer / own if own else 0.0)
        rest = weights[others] if total > own else np.ones(int(others.sum()))
        adjusted[others] = rest * (total - fewer) / max(float(rest.sum()), 1e-300)
        share = (fewer + 1) / (total + 2)
        # The number of rows with this variance by chance alone.
        adjusted /= 1 + self.variance * total / (share * (1 - share))
        return adjusted


@dataclass(frozen=True, eq=False)
class BaseRateShrinkage(PrecisionCorrection):
    """Precision shrunk towards the base rate, as if rules covered extra rows at that rate.

    Valid for rules of any size, even of three rows. The strength is averaged over a grid by
    likelihood, which widens intervals if few rules are compared.
    """

    shrinkage: Shrinkage
    shares: FloatArray  # class shares of all rows

    @classmethod
    def estimate(cls, compared: CoverComparison, shares: FloatArray) -> Self | None:
        """Weight the grid by the held-out rows; None if no rule covers both kinds of rows."""
        if not compared.on_both_sides.any():
            return None
        held_out = _count_hits(compared.heads, compared.unseen, shares)
        seen = _count_hits(compared.heads, compared.seen, shares)
        return cls(Shrinkage.of(seen, held_out.hits, held_out.rows), shares)

    def expected_weights(self, heads: Sequence[Head], weights: FloatArray) -> FloatArray:
        """Return the expected weights (rules, classes) on new rows."""
        weights, some = weights.copy(), np.flatnonzero(weights.any(axis=1))
        counts = _count_hits([heads[i] for i in some.tolist()], weights[some], self.shares)
        found = self.shrinkage.expect_shares(counts)
        kept = weights[some] * (found.kept / counts.rows)[:, np.newaxis]
        weights[some] = (kept + np.outer(found.moved, self.shares)) * found.rows[:, np.newaxis]
        return weights


def has_enough(rows: TrainingSet) -> bool:
    """Return whether there are enough rows for training and held-out parts."""
    return Observations.of(rows).count(0.0) >= LEAST_ROWS


def decided_weights(model: ClassModel, rows: TrainingSet) -> FloatArray:
    """Sum the weights of the rows that each rule contributes to, by class."""
    covers = PackedCovers(model.decided_bits(rows.table, n_threads=1), rows.n_rows)
    weights = np.zeros((len(covers), len(rows.classes)))
    for i in range(len(covers)):
        weights[i] = rows.weights_by_class(covers[i : i + 1].row_mask())
    return weights


def correct_by_mean(model: Classes, compared: CoverComparison, rows: TrainingSet) -> Classes:
    """Correct the coverage of a model by `MeanOptimism`, from counts by weight."""
    worth = weigh_evidence(model, rows)
    correction = MeanOptimism.estimate(compared.scale(float(worth.mean())))
    return model if correction is None else _correct(model, correction, worth)


def correct_weighed(
    model: Classes, compared: Sequence[CoverComparison], rows: TrainingSet
) -> Classes:
    """Correct the coverage of a model by comparisons that were counted by weight."""
    worth = float(weigh_evidence(model, rows).mean()) if model.rules else 1.0
    return correct_precision(model, [one.scale(worth) for one in compared], rows)


def correct_precision(
    model: Classes, compared: Sequence[CoverComparison], rows: TrainingSet
) -> Classes:
    """Correct the coverage of a finished model by `BaseRateShrinkage`."""
    if not (compared and model.rules and has_enough(rows)):
        return model
    shares = rows.class_weights / rows.total_weight
    correction = BaseRateShrinkage.estimate(CoverComparison.join(compared), shares)
    if correction is None:
        return model
    return _correct(model, correction, weigh_evidence(model, rows))


def _correct(model: Classes, correction: PrecisionCorrection, worth: FloatArray) -> Classes:
    heads, weights = [rule.head for rule in model.rules], [r.class_weights for r in model.rules]
    supports = [rule.coverage.support for rule in model.rules]
    return model.with_coverages(correction.coverages(heads, np.array(weights), supports, worth))


def _count_hits(heads: Sequence[Head], weights: FloatArray, shares: FloatArray) -> HitCounts:
    """Count the rows of the heads as hits."""
    of_all = np.array([shares[head.classes].sum() for head in heads])
    return HitCounts(_hits(heads, weights), weights.sum(axis=1), of_all)


def _hits(heads: Sequence[Head], weights: FloatArray) -> FloatArray:
    """Sum the weights (rules, classes) of each rule's own classes."""
    pairs = zip(weights, heads, strict=True)
    return np.array([line[head.classes].sum() for line, head in pairs])


class CheckedClassifier(RuleClassifier[Classes]):
    """Base class of learners whose rules are chosen on all rows."""

    precision_cv: int | None = Parameter(
        Integer(2, optional=True),
        "Folds that estimate how much precision rules lose on new rows; the printed precision is "
        "corrected by it, nothing else changes. None prints precision on training rows, as with "
        "fewer than 50 rows, and saves the extra fits.",
        default=3,
    )

    def _finished(self, model: Classes, rows: TrainingSet) -> Classes:
        """Correct the precision of the rules, unless `_learn` has done it."""
        done = any(rule.coverage.rows == "corrected" for rule in model.rules)
        if done or self.precision_cv is None or not (model.rules and has_enough(rows)):
            return model
        return correct_precision(model, list(self._compare_folds(rows)), rows)

    def _compare_folds(self, rows: TrainingSet) -> Iterator[CoverComparison]:
        """Learn without each fold, and count the rules on held-out rows."""
        n_folds = int(self.precision_cv or 0)
        repeat = self.class_weight is None and Observations.of(rows).are_rows
        random = np.random.RandomState(0)  # deterministic learners need no seed
        with progress_bar("checking precision", n_folds, bool(self.verbose)) as advance:
            for train, left_out in _parts(rows, n_folds, repeat, random):
                learner = counting_training_rows(self)
                learner.set_params(random_state=int(random.randint(2**31)), verbose=0)
                learner.classes_ = self.classes_
                model = learner._learn(train)  # noqa: SLF001 - rows are already weighted
                yield CoverComparison.of(model, train, left_out)
                advance()


def counting_training_rows(learner: Learner) -> Learner:
    """Return an unfitted copy that learns once, without correcting the precision of its rules.

    A learner without correction is returned unchanged.
    """
    if not isinstance(learner, CheckedClassifier):
        return learner
    return type(learner)(**{**learner.get_params(deep=False), "precision_cv": None})


def _parts(
    rows: TrainingSet, n_folds: int, repeat: bool, random: np.random.RandomState
) -> Iterator[tuple[TrainingSet, TrainingSet]]:
    """Yield the training rows and held-out rows of each fold.

    Groups stay whole. Without groups, weights that are counts are copies of a row, each of which
    may be held out alone; so the folds depend neither on the order of rows nor on repetitions.
    Large data are sampled.
    """
    if rows.groups is not None:
        sample = choosing_rows(rows, random, MOST_ROWS)
        whole = divide_rows(sample, n_folds, random)
        for fold in range(0 if whole is None else len(whole)):
            assert whole is not None
            yield sample.take(whole.train_rows(fold)), sample.take(whole.held_out_rows(fold))
        return
    merged = merge_equal_rows(rows, repeat=repeat).sort_rows()
    chosen = np.arange(len(merged.place))
    if len(chosen) > MOST_ROWS:
        drawn = stratified_folds(merged.labels, -(-len(chosen) // MOST_ROWS), random)
        chosen = np.flatnonzero(drawn == 0)
    folds = assign_folds(merged.labels[chosen], n_folds, random)
    if folds is None:
        return
    for fold in range(len(folds)):
        train, held_out = folds.train_rows(fold), folds.held_out_rows(fold)
        parts = (chosen[train], chosen[held_out])
        first, second = (_take_copies(merged, part, counted=repeat) for part in parts)
        yield first, second


def _take_copies(merged: MergedRows, copies: NDArray[np.intp], *, counted: bool) -> TrainingSet:
    """Return some copies as rows, or as row weights if there are many copies per row.

    If they are `counted`, a copy is as many observations as its weight. Otherwise it is one, and
    merged copies are their effective number.
    """
    weights = merged.weights[copies]
    if len(merged.place) <= MANY_COPIES * len(merged.rows):
        rows = replace(merged.rows.take(merged.place[copies]), weights=weights)
        return _with_repeats(rows, weights if counted else np.ones(len(copies)))
    chosen = np.zeros(len(merged.place), dtype=np.bool_)
    chosen[copies] = True
    sums = merged.part(chosen)
    squares = np.bincount(merged.place[copies], weights**2, minlength=len(sums))
    repeats = sums if counted else sums**2 / np.where(squares > 0, squares, 1.0)
    return _with_repeats(merged.rows, repeats).with_weights(sums)


def _with_repeats(rows: TrainingSet, repeats: FloatArray) -> TrainingSet:
    return replace(rows, table=replace(rows.table, repeats=repeats))
