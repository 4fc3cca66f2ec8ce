"""Compact rules for classes.

The targets are labels mixed with the probabilities of teachers (`teachers.py`). The accuracy of the
teachers on held-out rows shows the cost of compactness.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_random_state

from rulewright.estimators.compact import settings
from rulewright.estimators.compact.cost import (
    UnseenRows,
    compare_folds,
    describe_sample,
    fit_points,
)
from rulewright.estimators.compact.held_out import HeldOutRows
from rulewright.estimators.compact.losses import LEAST_PROBABILITY, ClassLoss
from rulewright.estimators.compact.members import Member, fitted_lines, n_lines
from rulewright.estimators.compact.settings import (
    CompactRules,
    SearchOutcome,
    condition_charge,
    least_gain,
    ridge,
)
from rulewright.estimators.compact.sizes import Size
from rulewright.estimators.compact.teachers import Teachers, ask_teacher
from rulewright.estimators.contract.base import ORDINAL
from rulewright.estimators.contract.constrained import BoostedClassifier
from rulewright.estimators.contract.parameters import CheckedByFit, OrderDomain, Parameter, Real
from rulewright.estimators.contract.work import check_work
from rulewright.estimators.finishing.after_fit import OutOfFold, with_probabilities
from rulewright.estimators.folds.folds import Folds, choosing_rows
from rulewright.estimators.folds.precision import CoverComparison, correct_by_mean
from rulewright.model import AdditiveRules
from rulewright.rules import Adds, Coverage, Rule
from rulewright.search import LEAST_ROWS, Constraints

if TYPE_CHECKING:
    from rulewright.data import TrainingSet
    from rulewright.estimators.contract.weights import WeightMeaning
    from rulewright.kernels import BoolArray, FloatArray


class CompactRulesClassifier(CompactRules[AdditiveRules], BoostedClassifier):
    """Compact classifier: a few readable rules, chosen and fitted together.

    The targets are labels mixed with the probabilities of a large ensemble, the teacher, which are
    less noisy. Rules are added one by one, and the responses of all rules are refitted after each
    addition (fully corrective boosting). Every condition is charged its description length, so
    conditions that do not improve the score are removed. After each addition, other rules are
    replaced, shortened or removed if that helps. Cross-validation of the whole search chooses the
    number of rules. If no column predicts the classes better than chance, there are no rules, and
    a warning says so.

    Attributes
    ----------
    model_ : AdditiveRules
        The rules. Its summary has three entries of this learner. `validation`: out-of-fold
        figures, corrected for the choice of the size. `size`: the uncorrected out-of-fold log-loss
        of each number of rules. `price`: out-of-fold accuracy and log-loss of the rules and of the
        teacher.
    classes_ : ndarray
        Class labels.
    size_ : Size
        Number of rules, with the cross-validated losses of other sizes.
    held_out_ : HeldOutRows or None
        Out-of-fold answers of all sizes; None if the model has no rules or there were no folds.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import CompactRulesClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = CompactRulesClassifier(5, size="max", random_state=0).fit(X, y)
    >>> len(est.model_) <= 5, est.score(X, y) > 0.93
    (True, True)
    """

    MOST_WORK = 3_000

    l2: float = ridge(default=1.0)
    condition_cost: float = condition_charge(default=0.2)
    min_gain: float = least_gain(default=0.3)
    teacher_share: float = Parameter(
        Real(0, 1),
        "Share of the targets that are probabilities of a large ensemble, MLRules with pruning; "
        "the rest are the labels. 0 learns from labels alone.",
        default=0.75,
    )
    teacher: Any = Parameter(
        CheckedByFit("a fitted classifier or None"),
        "Fitted classifier whose probabilities take the place of the ensemble's; its "
        "`predict_proba` gets X as given to `fit`. A teacher that was fitted to the same rows "
        "should not overfit them.",
        default=None,
    )
    ordinal: Any = Parameter(OrderDomain(), ORDINAL, default=False)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        weights: WeightMeaning = "importance",
    ) -> Self:
        """Learn a rule model; a given teacher gets X unchanged."""
        self._given_X = X
        try:
            return super().fit(X, y, sample_weight, groups=groups, weights=weights)
        finally:
            del self._given_X

    def _ask_teacher(self, rows: TrainingSet) -> FloatArray:
        return ask_teacher(self.teacher, self._given_X, rows.classes)

    def _learn(self, rows: TrainingSet) -> AdditiveRules:
        ordinal = self.ordinal is not False
        constraints = self._checked_constraints(rows, ordinal)
        self.size_, self.held_out_ = Size(0), None
        if len(rows.classes) == 1 or len(np.unique(rows.labels)) == 1:
            return self._constant(rows, constraints)
        check_work(
            self,
            self._count_responses(len(rows.classes)),
            "responses (rules x classes)",
            "Lower max_rules, or use MLRulesClassifier for so many classes",
        )
        random = check_random_state(self.random_state)
        sample = choosing_rows(rows, random, settings.MOST_ROWS)
        repeats: list[Folds] = []
        if sample.n_rows >= LEAST_ROWS:
            repeats = self._repeat_folds(sample, random)
        given = None if self.teacher is None else self._ask_teacher(rows)[sample.places]
        teachers = Teachers(sample, ordinal, self.missing_conditions, constraints, given)
        if repeats or self.teacher_share > 0:
            teachers.learn(repeats, random, self._n_threads)
        lessons = ClassLessons(teachers, self.teacher_share, self.l2)
        found = self._search(sample, lessons, constraints, repeats, random, len(rows.classes))
        model = self._model(rows, lessons, found, constraints)
        answers = self.size_.out_of_fold
        if answers is None:
            return with_probabilities(model, rows, None, None)
        if sample is rows:
            n_parts = len(model) + n_lines(found.model.members)
            price = compare_folds(teachers, answers, n_parts, repeats[0])
        else:
            unseen = UnseenRows.draw(rows, sample, repeats[0], random)
            seed, n_rules = int(random.randint(2**31)), self.size_.n_rules
            price = unseen.compare(rows, found, n_rules, teachers, self.l2, seed, self._n_threads)
        scores = np.log(np.maximum(answers, LEAST_PROBABILITY))
        left_out = OutOfFold.of(scores, repeats[0], sample)
        model = model.with_summary({**model.summary, "price": price})
        known = (sample.labels, sample.weights, repeats, self.size)
        self.held_out_ = HeldOutRows.of(self.size_, *known, groups=sample.groups)
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
        lessons: ClassLessons,
        outcome: SearchOutcome,
        constraints: Constraints,
    ) -> AdditiveRules:
        """Turn the members into rules; if they were chosen on a sample, fit them to all rows."""
        (members, fitted), sample = outcome.model, lessons.rows
        if sample is not rows:
            fitted = fit_points(members, rows, None, self.l2, lessons.ordinal, self._n_threads)
        pairs = zip(members, fitted.responses.tolist(), strict=True)
        kept = [(one, response) for one, response in pairs if isinstance(one, Member) and response]
        counted = [rows.weights_by_class(member.body.holds(rows.table)) for member, _ in kept]
        found = [
            Rule(member.body, Adds(member.head, response), Coverage.of(tuple(weights.tolist())))
            for (member, response), weights in zip(kept, counted, strict=True)
        ]
        size = self.size_.to_json(sample.weights)
        summary = {**self._summary(rows, constraints), "size": size}
        if sample is not rows:
            summary["sample"] = describe_sample(sample, rows)
        starts = tuple(fitted.intercepts.tolist())
        lines = fitted_lines(members, fitted.responses, len(rows.classes))
        model = AdditiveRules(
            rows.schema, rows.classes, starts, tuple(found), summary, linear=lines
        )
        if not (found and outcome.runs.repeats):
            return model
        compared = _compare_covers(outcome, self.size_.n_rules, sample)
        return correct_by_mean(model, compared, rows)


class ClassLessons:
    """Losses whose targets are labels mixed with the probabilities of teachers.

    Parameters
    ----------
    teachers : Teachers
        Learned teachers.
    share : float
        Share of the targets that teachers give.
    l2 : float
        Ridge penalty of the points.
    """

    def __init__(self, teachers: Teachers, share: float, l2: float) -> None:
        self.teachers, self.share, self.l2 = teachers, share, l2
        self.rows, self.ordinal = teachers.rows, teachers.ordinal
        self.targets = np.eye(len(self.rows.classes))[self.rows.labels]

    def loss(self, train: BoolArray, place: tuple[int, int] | None, n_threads: int) -> ClassLoss:
        """Return the loss of training rows; the others get answers too."""
        labels, weights = self.rows.labels, np.where(train, self.rows.weights, 0.0)
        targets = np.eye(len(self.rows.classes))[labels]
        if self.share > 0:
            p = self.teachers.targets(place)
            targets = np.clip((1 - self.share) * targets + self.share * p, 0, 1)
        return ClassLoss(labels, weights, targets, self.l2, self.ordinal, n_threads)


def _compare_covers(outcome: SearchOutcome, n_rules: int, rows: TrainingSet) -> CoverComparison:
    """Count the rules of the model of each fold on its training rows and on its held-out rows."""
    heads, seen, unseen = [], [], []
    for paths, folds in zip(outcome.runs.paths, outcome.runs.repeats, strict=True):
        for fold, one in enumerate(paths):
            held_out = folds.held_out_mask(fold)
            for member in one.path[n_rules].rules:
                covered = member.cover.row_mask()
                heads.append(member.head)
                seen.append(rows.weights_by_class(covered & ~held_out))
                unseen.append(rows.weights_by_class(covered & held_out))
    sides = (np.array(side).reshape(-1, len(rows.classes)) for side in (seen, unseen))
    return CoverComparison(heads, *sides)
