"""Compact rules for classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_random_state

from rulewright.encoding.covers import PackedCovers
from rulewright.estimators.common.boosted import BoostedClassifier
from rulewright.estimators.common.folds import assign_folds, choosing_rows, kept_splits
from rulewright.estimators.common.probabilities import OutOfFold, with_probabilities
from rulewright.estimators.common.weights import counted
from rulewright.estimators.compact.losses import LEAST_PROBABILITY, ClassLoss
from rulewright.estimators.compact.settings import RIDGES, CompactRules, Size
from rulewright.model import AdditiveRules
from rulewright.rules import Adds, Coverage, Rule
from rulewright.search import LEAST_ROWS

if TYPE_CHECKING:
    from rulewright.data import TrainingSet
    from rulewright.estimators.compact.search import CompactSearch
    from rulewright.kernels import FloatArray
    from rulewright.search import Constraints


class CompactRulesClassifier(CompactRules[AdditiveRules], BoostedClassifier):
    """Few rules that people can read, as good as few rules can be, for classes.

    Rules are added one by one, and after each the responses of all are fitted together (fully
    corrective boosting); every condition is charged what it takes to describe it, so that
    conditions which do not pay are taken out; at the end rules are replaced as long as that helps.
    The number of rules is chosen by cross-validation of the whole search.

    Attributes
    ----------
    model_ : AdditiveRules
        The rules: prints, predicts, explains, saves and exports. Its summary has the entry `size`:
        the log-loss on rows left out for each number of rules.
    classes_ : ndarray
        Class labels.
    size_ : Size
        Number of rules and ridge penalty, with what cross-validation says of other sizes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import CompactRulesClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = CompactRulesClassifier(5, random_state=0).fit(X, y)
    >>> len(est.model_) <= 5, est.score(X, y) > 0.93
    (True, True)
    """

    def _learn(self, rows: TrainingSet) -> AdditiveRules:
        constraints = self._checked_constraints(rows)
        n_classes = len(rows.classes)
        self.size_ = Size(0, RIDGES[0])
        if n_classes == 1 or len(np.unique(rows.labels)) == 1:
            return self._constant(rows, constraints)
        rows, random = counted(rows), check_random_state(self.random_state)
        sample = choosing_rows(rows, random)
        folds = None
        if sample.n_rows >= LEAST_ROWS:
            folds = assign_folds(sample.labels, kept_splits(self.cv, sample.places), random)

        def loss(weights: FloatArray, l2: float, n_threads: int) -> ClassLoss:
            return ClassLoss(sample.labels, weights, n_classes, l2, n_threads=n_threads)

        search = self._search(sample, loss, constraints, folds, random, n_classes)
        model = self._model(rows, sample, search, constraints)
        answers, left_out = self.size_.out_of_fold, None
        if answers is not None and folds is not None:
            scores = np.log(np.maximum(answers, LEAST_PROBABILITY))
            left_out = OutOfFold.of(scores, folds, sample)
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
        sample: TrainingSet,
        search: CompactSearch,
        constraints: Constraints,
    ) -> AdditiveRules:
        """Turn the members into rules; if they were chosen on a sample, fit them to all rows."""
        bodies = [member.body for member in search.members]
        heads = [member.head for member in search.members]
        fitted = search.fitted
        if sample is not rows:
            lines = (body.holds(rows.table) for body in bodies)
            covers = PackedCovers.pack_lines(lines, rows.n_rows)
            loss = ClassLoss(rows.labels, rows.weights, len(rows.classes), search.loss.l2)
            fitted = loss.fit(covers, heads, 1e-20)
        found = []
        for body, head, response in zip(bodies, heads, fitted.responses.tolist(), strict=True):
            if response != 0:
                weights = rows.weights_by_class(body.holds(rows.table))
                coverage = Coverage.of(tuple(weights.tolist()))
                found.append(Rule(body, Adds(head, response), coverage))
        summary = {**self._summary(rows, constraints), "size": self.size_.to_json(sample.weights)}
        starts = tuple(fitted.intercepts.tolist())
        return AdditiveRules(rows.schema, rows.classes, starts, tuple(found), summary)
