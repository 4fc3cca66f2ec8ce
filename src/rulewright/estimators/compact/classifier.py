"""Compact rules for classes, and their teacher.

The teacher is a large ensemble whose probabilities are targets beside labels. A label says what
happened in a row, the probabilities of MLRules about how often it does: few rules that learn from
both fit less noise, and the teacher's accuracy on rows left out is the price of having few. A
teacher has seen the rows that it teaches, as its pupil has, and no others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from rulewright.estimators.compact import settings
from rulewright.estimators.compact.losses import LEAST_PROBABILITY, ClassLoss
from rulewright.estimators.compact.members import Member, ResponseProblem, fitted_lines, n_lines
from rulewright.estimators.compact.settings import (
    CompactRules,
    SearchOutcome,
    Size,
    condition_charge,
    least_gain,
    ridge,
)
from rulewright.estimators.contract.base import ORDINAL
from rulewright.estimators.contract.constrained import BoostedClassifier
from rulewright.estimators.contract.parameters import OrderDomain, Parameter, Real
from rulewright.estimators.contract.weights import scale_weights
from rulewright.estimators.finishing.after_fit import OutOfFold, with_probabilities
from rulewright.estimators.folds.folds import Folds, assign_folds, choosing_rows, keep_splits
from rulewright.estimators.folds.precision import CoverComparison, MeanOptimism
from rulewright.estimators.mlrules.estimator import MLRulesClassifier
from rulewright.estimators.mlrules.settings import Growth
from rulewright.evidence import accuracy, log_loss
from rulewright.model import AdditiveRules
from rulewright.rules import Adds, Coverage, Rule
from rulewright.search import LEAST_ROWS, Constraints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import TrainingSet
    from rulewright.kernels import BoolArray, FloatArray


FEW_CLASSES = 4
"""A teacher of more classes than this is in a hurry: its time grows with their square."""

RULES_PER_CLASS, MANY_CLASSES = 100, 30
"""Rules of such a teacher: so many a class, of at most so many classes."""


class CompactRulesClassifier(CompactRules[AdditiveRules], BoostedClassifier):
    """Few rules that people can read, as good as few rules can be, for classes.

    The targets are labels mixed with the probabilities of an ensemble of many rules, the teacher,
    which have less noise. Rules are added one by one, and after each the responses of all are
    fitted together (fully corrective boosting); every condition is charged what it takes to
    describe it, so that conditions which do not pay are taken out; at the end rules are replaced as
    long as that helps. The number of rules is chosen by cross-validation of the whole search.

    Attributes
    ----------
    model_ : AdditiveRules
        The rules: prints, predicts, explains, saves and exports. Its summary has the entries
        `size`, the log-loss on rows left out for each number of rules, and `price`, accuracy and
        log-loss of few rules and of the teacher on these rows.
    classes_ : ndarray
        Class labels.
    size_ : Size
        Number of rules, with what cross-validation says of other sizes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import CompactRulesClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = CompactRulesClassifier(5, size="max", random_state=0).fit(X, y)
    >>> len(est.model_) <= 5, est.score(X, y) > 0.93
    (True, True)
    """

    l2: float = ridge(default=0.4)
    condition_cost: float = condition_charge(default=0.2)
    min_gain: float = least_gain(default=0.75)
    teacher_share: float = Parameter(
        Real(0, 1),
        "Share of the targets that are probabilities of a large ensemble, MLRules with pruning; "
        "the rest are the labels. 0 learns from labels alone.",
        default=0.75,
    )
    ordinal: Any = Parameter(OrderDomain(), ORDINAL, default=False)

    def _learn(self, rows: TrainingSet) -> AdditiveRules:
        ordinal = self.ordinal is not False
        constraints = self._checked_constraints(rows, ordinal)
        self.size_ = Size(0)
        if len(rows.classes) == 1 or len(np.unique(rows.labels)) == 1:
            return self._constant(rows, constraints)
        rows, random = scale_weights(rows), check_random_state(self.random_state)
        sample = choosing_rows(rows, random, settings.MOST_ROWS)
        folds = None
        if sample.n_rows >= LEAST_ROWS:
            folds = assign_folds(sample.labels, keep_splits(self.cv, sample.places), random)
        lessons = TeachingSample(
            sample, self.teacher_share, ordinal, self.missing_conditions, constraints
        )
        found = self._search(sample, lessons.loss, constraints, folds, random, len(rows.classes))
        model = self._model(rows, lessons, found, folds, constraints)
        answers, left_out = self.size_.out_of_fold, None
        if answers is not None and folds is not None:
            scores = np.log(np.maximum(answers, LEAST_PROBABILITY))
            left_out = OutOfFold.of(scores, folds, sample)
            price = lessons.price(answers, len(model) + n_lines(found.search.members))
            model = model.with_summary({**model.summary, "price": price})
        return with_probabilities(model, rows, None, left_out)

    def _constant(self, rows: TrainingSet, constraints: Constraints) -> AdditiveRules:
        """Return the model of rows of one class only: each class counts as having a row more."""
        shares = np.log(rows.class_weights + 1.0)
        starts = tuple((shares - shares[0]).tolist())
        summary = self._summary(rows, constraints)
        return AdditiveRules(rows.schema, rows.classes, starts, (), summary)

    def _model(
        self,
        rows: TrainingSet,
        lessons: TeachingSample,
        searched: SearchOutcome,
        folds: Folds | None,
        constraints: Constraints,
    ) -> AdditiveRules:
        """Turn the members into rules; if they were chosen on a sample, fit them to all rows."""
        search, sample = searched.search, lessons.rows
        fitted = search.fitted
        if sample is not rows:
            members = [member.on(rows.table) for member in search.members]
            targets = np.eye(len(rows.classes))[rows.labels]
            loss = ClassLoss(rows.labels, rows.weights, targets, self.l2, lessons.ordinal)
            fitted = loss.settle(ResponseProblem.of(members, rows.n_rows))
        pairs = zip(search.members, fitted.responses.tolist(), strict=True)
        kept = [(one, response) for one, response in pairs if isinstance(one, Member) and response]
        coverages = _coverages([member for member, _ in kept], rows, searched, folds, sample)
        found = [
            Rule(member.body, Adds(member.head, response), coverage)
            for (member, response), coverage in zip(kept, coverages, strict=True)
        ]
        size = self.size_.to_json(sample.weights)
        summary = {**self._summary(rows, constraints), "size": size}
        starts = tuple(fitted.intercepts.tolist())
        lines = fitted_lines(search.members, fitted.responses, len(rows.classes))
        return AdditiveRules(rows.schema, rows.classes, starts, tuple(found), summary, linear=lines)


class TeachingSample:
    """Losses of the rows of a sample, each with a teacher that learned from its training rows.

    Parameters
    ----------
    rows : TrainingSet
        The rows.
    share : float
        Share of the targets that a teacher gives.
    ordinal : bool
        Whether the classes are in an order.
    missing_conditions : bool
        Whether "is missing" is a condition.
    constraints : Constraints
        What the expert demands of the rules.

    Attributes
    ----------
    left_out : float64 array of shape (rows, classes)
        Probabilities of rows by the teacher that did not see them, NaN if all have.
    teacher : AdditiveRules or None
        The last teacher of all rows.
    """

    def __init__(
        self,
        rows: TrainingSet,
        share: float,
        ordinal: bool,
        missing_conditions: bool,
        constraints: Constraints,
    ) -> None:
        self.rows, self.share, self.ordinal = rows, share, ordinal
        self.missing_conditions, self.constraints = missing_conditions, constraints
        self.left_out = np.full((rows.n_rows, len(rows.classes)), np.nan)
        self.teacher: AdditiveRules | None = None

    def loss(self, train: BoolArray, l2: float, seed: int, n_threads: int) -> ClassLoss:
        """Return the loss of training rows; the others get answers too."""
        teacher = self._teach(train, seed, n_threads)
        p = teacher.predict_proba(self.rows.table, n_threads=n_threads)
        self.left_out[~train] = p[~train]
        if train.all():
            self.teacher = teacher
        labels, weights = self.rows.labels, np.where(train, self.rows.weights, 0.0)
        mixed = (1 - self.share) * np.eye(p.shape[1])[labels] + self.share * p
        return ClassLoss(labels, weights, np.clip(mixed, 0, 1), l2, self.ordinal, n_threads)

    def price(self, few: FloatArray, n_rules: int) -> list[dict[str, Any]]:
        """Compare the answers of few rules with those of the teachers, on rows left out."""
        seen = ~np.isnan(self.left_out[:, 0]) & ~np.isnan(few[:, 0])
        labels, weights = self.rows.labels[seen], self.rows.weights[seen]
        n_many = 0 if self.teacher is None else len(self.teacher)
        compared = (("CompactRules", n_rules, few), ("MLRules", n_many, self.left_out))
        return [
            {
                "learner": name,
                "n_rules": n,
                "accuracy": accuracy(labels, p[seen], weights),
                "log_loss": log_loss(labels, p[seen], weights),
            }
            for name, n, p in compared
        ]

    def _teach(self, train: BoolArray, seed: int, n_threads: int) -> AdditiveRules:
        rows = self.rows if train.all() else self.rows.take(np.flatnonzero(train))
        hurried = len(self.rows.classes) > FEW_CLASSES and not self.ordinal
        # Conditions that fit noise would be taught.
        growth = Growth(prune=True, class_choice="prefixed" if hurried else "auto")
        teacher = MLRulesClassifier(
            growth=growth,
            ordinal=self.ordinal,
            missing_conditions=self.missing_conditions,
            constraints=self.constraints,
            random_state=seed,
            n_jobs=n_threads,
            **self._make_quick_settings(),
        )
        return teacher._learn(rows)  # noqa: SLF001 - rows that are read and weighted already

    def _make_quick_settings(self) -> dict[str, Any]:
        """Return settings that teach many classes in a fraction of the time, about as well."""
        n_classes = len(self.rows.classes)
        if n_classes <= FEW_CLASSES:
            return {}
        return {
            "max_rules": RULES_PER_CLASS * min(n_classes, MANY_CLASSES),
            "learning_rate": 0.2,
            "max_bins": 64,
        }


def _coverages(
    members: Sequence[Member],
    rows: TrainingSet,
    searched: SearchOutcome,
    folds: Folds | None,
    sample: TrainingSet,
) -> list[Coverage]:
    """Count rules on all rows; correct their precision where models of folds tell the optimism."""
    counted_rules = [rows.weights_by_class(member.body.holds(rows.table)) for member in members]
    correction = None
    if folds is not None:
        correction = MeanOptimism.estimate(_compared(searched.left_out, folds, sample))
    if correction is None:
        return [Coverage.of(tuple(weights.tolist())) for weights in counted_rules]
    weights = np.array(counted_rules).reshape(-1, len(rows.classes))
    supports = weights.sum(axis=1).tolist()
    return correction.coverages([member.head for member in members], weights, supports)


def _compared(
    models: Sequence[Sequence[Member]], folds: Folds, rows: TrainingSet
) -> CoverComparison:
    """Count the rules of the model of each fold on its training rows and on its held-out rows."""
    heads, seen, unseen = [], [], []
    for fold, members in enumerate(models):
        held_out = folds.held_out_mask(fold)
        for member in members:
            covered = member.cover.row_mask()
            heads.append(member.head)
            seen.append(rows.weights_by_class(covered & ~held_out))
            unseen.append(rows.weights_by_class(covered & held_out))
    sides = (np.array(side).reshape(-1, len(rows.classes)) for side in (seen, unseen))
    return CoverComparison(heads, *sides)
