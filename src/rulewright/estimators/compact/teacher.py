"""The teacher of compact rules: a large ensemble whose probabilities are targets beside labels.

A label says what happened in a row, the probabilities of MLRules about how often it does: few rules
that learn from both fit less noise, and the teacher's accuracy on rows left out is the price of
having few. A teacher has seen the rows that it teaches, as its pupil has, and no others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.estimators.compact.losses import ClassLoss
from rulewright.estimators.mlrules.estimator import MLRulesClassifier
from rulewright.estimators.mlrules.settings import Growth
from rulewright.evidence import accuracy, log_loss

if TYPE_CHECKING:
    from rulewright.data import TrainingSet
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import AdditiveRules
    from rulewright.search import Constraints

FEW_CLASSES = 4
"""A teacher of more classes than this is in a hurry: its time grows with their square."""

RULES_PER_CLASS, MANY_CLASSES = 100, 30
"""Rules of such a teacher: so many a class, of at most so many classes."""


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
