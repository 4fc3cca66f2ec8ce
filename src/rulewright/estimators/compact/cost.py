"""The cost of compactness: few rules against MLRules, on rows that neither has seen.

If all rows choose the rules, the folds that chose the size are compared. If a sample chooses them,
some of the other rows are held out: the points of the rules are fitted, and MLRules is learned,
without these rows. A rare class may be in the sample with all of its rows. Then a fold of the
sample is held out with its share of the other rows, and the rules of that fold are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.estimators.compact.losses import ClassLoss, FittedResponses
from rulewright.estimators.compact.members import LineMember, Member, ResponseProblem
from rulewright.evidence import accuracy, log_loss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import TrainingSet
    from rulewright.estimators.compact.settings import SearchOutcome
    from rulewright.estimators.compact.teachers import Teachers
    from rulewright.estimators.folds.folds import Folds
    from rulewright.kernels import BoolArray, FloatArray

HELD_OUT, LEAST_HELD_OUT = 0.2, 0.05
"""Share of the rows that is held out, and the smallest share that will do."""


class Answers(NamedTuple):
    """Probabilities (rows, classes) by a learner, and its number of rules."""

    learner: str
    n_rules: int
    probabilities: FloatArray


def compare_answers(rows: TrainingSet, seen: BoolArray, *compared: Answers) -> list[dict[str, Any]]:
    """Return accuracy and log-loss of each learner on some rows, as plain data."""
    labels, weights = rows.labels[seen], rows.weights[seen]
    return [
        {
            "learner": one.learner,
            "n_rules": one.n_rules,
            "accuracy": accuracy(labels, one.probabilities[seen], weights),
            "log_loss": log_loss(labels, one.probabilities[seen], weights),
        }
        for one in compared
    ]


def compare_folds(
    teachers: Teachers, few: FloatArray, n_rules: int, folds: Folds
) -> list[dict[str, Any]]:
    """Compare the rules with the teachers by their out-of-fold answers."""
    parts = [
        teachers.probabilities(0, fold)[folds.held_out_mask(fold)] for fold in range(len(folds))
    ]
    many = Answers("MLRules", teachers.n_rules, folds.scatter(parts))
    few_rules = Answers("CompactRules", n_rules, few)
    return compare_answers(teachers.rows, folds.ever_held_out, few_rules, many)


class UnseenRows(NamedTuple):
    """Held-out rows if a sample chose the rules, and the models that did not see them."""

    mask: BoolArray
    of_fold: bool

    @classmethod
    def draw(
        cls, rows: TrainingSet, sample: TrainingSet, folds: Folds, random: np.random.RandomState
    ) -> UnseenRows:
        """Hold out rows outside the sample, or a fold where a class has hardly any of them.

        With groups, hold out a fold and all groups that its training rows do not have.
        """
        if rows.groups is not None and sample.groups is not None:
            return cls(~np.isin(rows.groups, sample.groups[folds.train_mask(0)]), True)
        inside = np.isin(rows.places, sample.places)
        counts, outside = (
            np.bincount(rows.labels[mask], minlength=len(rows.classes))
            for mask in (np.ones(rows.n_rows, dtype=np.bool_), ~inside)
        )
        present = counts > 0
        share = min(HELD_OUT, float((outside[present] / counts[present]).min()))
        of_fold = share < LEAST_HELD_OUT
        mask = np.zeros(rows.n_rows, dtype=np.bool_)
        if of_fold:
            share = 1 / len(folds)
            mask[np.flatnonzero(inside)[folds.held_out_mask(0)]] = True
        for label in np.flatnonzero(present).tolist():
            own = np.flatnonzero(~inside & (rows.labels == label))
            wanted = round(share * (len(own) if of_fold else int(counts[label])))
            mask[random.permutation(own)[:wanted]] = True
        return cls(mask, of_fold)

    def compare(
        self,
        rows: TrainingSet,
        outcome: SearchOutcome,
        n_rules: int,
        teachers: Teachers,
        l2: float,
        seed: int,
        n_threads: int,
    ) -> list[dict[str, Any]]:
        """Fit points and learn MLRules without the held-out rows, and compare both there."""
        model = outcome.runs.paths[0][0].path[n_rules] if self.of_fold else outcome.model
        train = ~self.mask
        few = fit_points(model.members, rows, train, l2, teachers.ordinal, n_threads).answers
        many = teachers.make(seed, n_threads)
        learned = many._learn(rows.take(np.flatnonzero(train)))  # noqa: SLF001 - weighted already
        p = np.full(few.shape, np.nan)
        p[self.mask] = learned.predict_proba(rows.table.take(np.flatnonzero(self.mask)))
        few_rules = Answers("CompactRules", len(outcome.model.members), few)
        return compare_answers(rows, self.mask, few_rules, Answers("MLRules", len(learned), p))


def fit_points(
    members: Sequence[Member | LineMember],
    rows: TrainingSet,
    train: BoolArray | None,
    l2: float,
    ordinal: bool,
    n_threads: int,
) -> FittedResponses:
    """Fit the points of rules to the labels of some rows, or of all; all rows get answers."""
    weights = rows.weights if train is None else np.where(train, rows.weights, 0.0)
    shares = np.eye(len(rows.classes))[rows.labels]
    loss = ClassLoss(rows.labels, weights, shares, l2, ordinal, n_threads)
    placed = [member.on(rows.table) for member in members]
    return loss.settle(ResponseProblem.of(placed, rows.n_rows))


def describe_sample(sample: TrainingSet, rows: TrainingSet) -> dict[str, Any]:
    """Return as plain data how many rows of each class chose the rules, and of how many."""
    drawn, known = (np.bincount(one.labels, minlength=len(rows.classes)) for one in (sample, rows))
    return {
        "rows": sample.n_rows,
        "of": rows.n_rows,
        "by_class": drawn.tolist(),
        "all": known.tolist(),
    }
