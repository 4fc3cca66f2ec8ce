"""Precision of rules that were chosen by all rows, corrected by models learned without some.

What a finished rule was counted on also chose it. Models that are learned without some of the rows
tell what that is worth: their rules are counted as the finished ones are, and on the rows that they
were learned without (`rulewright.capacity.shrinkage`).
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

import numpy as np

from rulewright.capacity.shrinkage import Counted, Shrinkage
from rulewright.encoding.covers import PackedCovers
from rulewright.estimators.common.base import Classes, RuleClassifier
from rulewright.estimators.common.boolean_rows import merge_equal_rows
from rulewright.estimators.common.folds import assign_folds, stratified_folds
from rulewright.estimators.common.parameters import Integer, Parameter
from rulewright.estimators.common.progress import progress_bar
from rulewright.estimators.common.weights import are_shares, counted_rows
from rulewright.rules import Coverage
from rulewright.search import LEAST_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.estimators.common.boolean_rows import MergedRows
    from rulewright.kernels import FloatArray
    from rulewright.model import ClassModel
    from rulewright.rules import Head

MOST_ROWS = 10_000
"""Rows at most that models are learned from once more."""

MANY_COPIES = 4
"""Copies of a row, on average, beyond which they are not worth the time to learn from each."""

Learner = TypeVar("Learner")


class Compared(NamedTuple):
    """What rules cover, by class: of the rows that chose them, and of rows left out."""

    heads: list[Head]
    seen: FloatArray
    unseen: FloatArray

    @classmethod
    def of(cls, model: ClassModel, left_out: TrainingSet) -> Self:
        """Compare what a model counted with rows that it was learned without."""
        seen = np.array([rule.class_weights for rule in model.rules])
        unseen = decided_weights(model, left_out)
        return cls([rule.head for rule in model.rules], seen.reshape(unseen.shape), unseen)

    @classmethod
    def joined(cls, parts: Sequence[Compared]) -> Self:
        """Put the rules of several models together."""
        heads = list(itertools.chain.from_iterable(part.heads for part in parts))
        return cls(heads, *(np.concatenate(side) for side in list(zip(*parts, strict=True))[1:]))

    def shrinkage(self, shares: FloatArray) -> Shrinkage | None:
        """Tell what choosing is worth; None if no rule covers rows left out."""
        known = (self.seen.sum(axis=1) > 0) & (self.unseen.sum(axis=1) > 0)
        if not known.any():
            return None
        left_out = _counted(self.heads, self.unseen, shares)
        seen = _counted(self.heads, self.seen, shares)
        return Shrinkage.of(seen, left_out.hits, left_out.rows)


def has_enough(rows: TrainingSet) -> bool:
    """Tell whether some of the rows say anything of the others."""
    return not are_shares(rows) and counted_rows(rows.weights) >= LEAST_ROWS


def decided_weights(model: ClassModel, rows: TrainingSet) -> FloatArray:
    """Sum the weights of the rows that each rule has a part in, by class."""
    covers = PackedCovers(model.decided_bits(rows.table, n_threads=1), rows.n_rows)
    weights = np.zeros((len(covers), len(rows.classes)))
    for i in range(len(covers)):
        weights[i] = rows.weights_by_class(covers[i : i + 1].row_mask())
    return weights


def corrected(model: Classes, compared: Sequence[Compared], rows: TrainingSet) -> Classes:
    """Correct the coverage of a finished model by what others lose on rows left out.

    Supports stay; the weights of the classes are those expected on new rows, of as many rows as
    have the wider interval by counting alone.
    """
    if not (compared and model.rules and has_enough(rows)):
        return model
    shares = rows.class_weights / rows.total_weight
    shrinkage = Compared.joined(compared).shrinkage(shares)
    if shrinkage is None:
        return model
    weights = np.array([rule.class_weights for rule in model.rules])
    some = np.flatnonzero(weights.any(axis=1))
    heads = [model.rules[i].head for i in some.tolist()]
    counts = _counted(heads, weights[some], shares)
    found = shrinkage.expected(counts)
    kept = weights[some] * (found.kept / counts.rows)[:, np.newaxis]
    weights[some] = (kept + np.outer(found.moved, shares)) * found.rows[:, np.newaxis]
    pairs = zip(model.rules, weights.tolist(), strict=True)
    return model.with_coverages(
        [Coverage(rule.coverage.support, tuple(line), "corrected") for rule, line in pairs]
    )


def _counted(heads: Sequence[Head], weights: FloatArray, shares: FloatArray) -> Counted:
    """Count the rows of the heads as hits."""
    pairs = zip(weights, heads, strict=True)
    hits = np.array([line[head.classes].sum() for line, head in pairs])
    of_all = np.array([shares[head.classes].sum() for head in heads])
    return Counted(hits, weights.sum(axis=1), of_all)


class CheckedClassifier(RuleClassifier[Classes]):
    """Base of the learners whose rules are chosen by all rows."""

    precision_cv: int | None = Parameter(
        Integer(2, optional=True),
        "Folds that models are learned without, to tell how much of the precision of rules is "
        "left on new rows; the printed precision is corrected by that, and nothing else changes. "
        "None prints precision on training rows, as for fewer than 50 rows, and learns once.",
        default=3,
    )

    def _finished(self, model: Classes, rows: TrainingSet) -> Classes:
        """Correct the precision of the rules, unless `_learn` has done it."""
        done = any(rule.coverage.rows == "corrected" for rule in model.rules)
        if done or self.precision_cv is None or not (model.rules and has_enough(rows)):
            return model
        return corrected(model, list(self._compared(rows)), rows)

    def _compared(self, rows: TrainingSet) -> Iterator[Compared]:
        """Learn without each fold, and count rules on the rows left out."""
        n_folds, repeat = int(self.precision_cv or 0), self.class_weight is None
        random = np.random.RandomState(0)  # a learner that draws nothing has no need of a seed
        with progress_bar("checking precision", n_folds, bool(self.verbose)) as advance:
            for train, left_out in _parts(rows, n_folds, repeat, random):
                learner = counting_training_rows(self)
                learner.set_params(random_state=int(random.randint(2**31)), verbose=0)
                learner.classes_ = self.classes_
                model = learner._learn(train)  # noqa: SLF001 - rows that are weighted already
                yield Compared.of(model, left_out)
                advance()


def counting_training_rows(learner: Learner) -> Learner:
    """Return an unfitted copy that learns once, because nobody reads the precision of its rules.

    A learner that always does is returned as it is.
    """
    if not isinstance(learner, CheckedClassifier):
        return learner
    return type(learner)(**{**learner.get_params(deep=False), "precision_cv": None})


def _parts(
    rows: TrainingSet, n_folds: int, repeat: bool, random: np.random.RandomState
) -> Iterator[tuple[TrainingSet, TrainingSet]]:
    """Give for each fold the rows to learn from and those left out.

    Whole weights are copies of a row, each of which may be left out alone; so neither the order of
    rows nor how they are repeated makes a difference. Of very many rows some are drawn.
    """
    merged = merge_equal_rows(rows, repeat=repeat).sorted()
    chosen = np.arange(len(merged.place))
    if len(chosen) > MOST_ROWS:
        drawn = stratified_folds(merged.labels, -(-len(chosen) // MOST_ROWS), random)
        chosen = np.flatnonzero(drawn == 0)
    folds = assign_folds(merged.labels[chosen], n_folds, random)
    if folds is None:
        return
    for fold in range(len(folds)):
        train, held_out = folds.train_rows(fold), folds.held_out_rows(fold)
        yield _taken(merged, chosen[train]), _taken(merged, chosen[held_out])


def _taken(merged: MergedRows, copies: NDArray[np.intp]) -> TrainingSet:
    """Return some copies as rows, or as weights of rows where most rows have many copies."""
    if len(merged.place) <= MANY_COPIES * len(merged.rows):
        return replace(merged.rows.take(merged.place[copies]), weights=merged.weights[copies])
    chosen = np.zeros(len(merged.place), dtype=np.bool_)
    chosen[copies] = True
    return merged.rows.weighted(merged.part(chosen))
