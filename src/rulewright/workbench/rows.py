"""The rows of a session: targets, folds, covers of rules, and a final part."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError, RegressionSet, read_like
from rulewright.estimators import Folds, assign_folds, number_folds, read_model_rows
from rulewright.evidence import ClassAnswers, NumberAnswers
from rulewright.model import ClassModel

if TYPE_CHECKING:
    from collections.abc import Hashable

    from rulewright.data import LearningRows, Table
    from rulewright.evidence import Answers
    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.model import RuleModel
    from rulewright.rules import Formula


def read_rows(model: RuleModel, X: Any, y: Any, sample_weight: Any) -> LearningRows[Any]:
    """Read rows with their targets, with all columns that the model's schema has."""
    if isinstance(model, ClassModel):
        return read_model_rows(model, X, y, sample_weight, "Session", every_column=True)
    table = read_like(X, model.schema, target=y, weights=sample_weight, task="regression")
    if table.target is None:
        raise ValueError("Session needs y: the numbers, or the name of their column in X")
    return RegressionSet.of(table)


class SessionRows:
    """Rows that points are fitted to and figures are measured on.

    Parameters
    ----------
    given : TrainingSet or RegressionSet
        All rows.
    holdout : float
        Share of the rows in the final part.
    cv : int or splitter
        Folds of the other rows.
    random_state : int, RandomState or None
        Seed of the final part and the folds.
    """

    def __init__(self, given: Any, holdout: float, cv: Any, random_state: Any) -> None:
        random = random_state
        if not isinstance(random, np.random.RandomState):  # scikit-learn takes a second to import
            random = np.random.RandomState(random_state)
        self.given = given
        nothing = np.zeros(given.n_rows, dtype=np.int32)
        labels: IntArray = nothing if self.has_numbers else self.given.labels
        final = np.zeros(given.n_rows, dtype=np.bool_)
        units = given.units
        of_units = units.labels(labels)
        for label in np.unique(of_units).tolist() if holdout else ():
            own = np.flatnonzero(of_units == label)
            final[units.rows(random.permutation(own)[: round(holdout * len(own))])] = True
        self.used: Any = given.take(np.flatnonzero(~final))
        self.final: Any = given.take(np.flatnonzero(final)) if final.any() else None
        labels, groups = labels[~final], self.used.groups
        folds = (
            number_folds(len(labels), cv, np.arange(len(labels)), random, groups)
            if self.has_numbers
            else assign_folds(labels, cv, random, groups=groups)
        )
        if folds is None:
            raise DataError(
                f"{len(labels)} rows are too few for held-out figures: give two rows of two "
                "classes at least."
            )
        self.folds: Folds = folds
        self._held: dict[Hashable, BoolArray] = {}

    @property
    def has_numbers(self) -> bool:
        """Whether the target is a number."""
        return isinstance(self.given, RegressionSet)

    @property
    def table(self) -> Table:
        """The rows outside the final part."""
        table: Table = self.used.table
        return table

    @property
    def n_rows(self) -> int:
        """Number of rows outside the final part."""
        return int(self.used.n_rows)

    @property
    def weights(self) -> FloatArray:
        """Weights of the rows."""
        weights: FloatArray = self.used.weights
        return weights

    @property
    def targets(self) -> Any:
        """Class codes or numbers of the rows."""
        return self.used.numbers if self.has_numbers else self.used.labels

    @property
    def fold_of_rows(self) -> IntArray:
        """The fold that holds each row out; rows in no fold use the first one."""
        return np.maximum(self.folds.of_rows, 0)

    @cached_property
    def slots(self) -> IntArray:
        """Fold and class of each row as one number; rows in no fold come last."""
        folds = np.where(self.folds.of_rows < 0, len(self.folds), self.folds.of_rows)
        return folds if self.has_numbers else folds * len(self.used.classes) + self.targets

    def holds(self, body: Formula) -> BoolArray:
        """Return where a body holds; the answer is kept."""
        key = (True, body.key)
        if key not in self._held:
            self._held[key] = body.holds(self.table)
        return self._held[key]

    def fails(self, body: Formula) -> BoolArray:
        """Return where a body is known not to hold; the answer is kept."""
        key = (False, body.key)
        if key not in self._held:
            self._held[key] = body.fails(self.table)
        return self._held[key]

    def sum_groups(self, groups: IntArray, n_groups: int) -> FloatArray:
        """Sum weights by group, fold and class, or weights and weighted numbers."""
        n_folds = len(self.folds) + 1
        n_slots = n_folds if self.has_numbers else n_folds * len(self.used.classes)
        places = groups.astype(np.int64) * n_slots + self.slots
        sums = np.bincount(places, self.weights, n_groups * n_slots)
        if not self.has_numbers:
            return np.asarray(sums.reshape(n_groups, n_folds, -1), dtype=np.float64)
        totals = np.bincount(places, self.weights * self.targets, n_groups * n_slots)
        return np.stack([sums, totals], axis=1).reshape(n_groups, n_folds, 2).astype(np.float64)

    def weights_by_class(self, rows: BoolArray) -> FloatArray:
        """Sum the weights of some rows by class."""
        found: FloatArray = self.used.weights_by_class(rows)
        return found

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all given rows: columns, target and weights."""
        found = hashlib.sha256()
        for name, column in zip(self.given.schema.names, self.given.columns, strict=True):
            found.update(name.encode())
            found.update(np.ascontiguousarray(column.values).tobytes())
        target = self.given.target
        codes = target.values if self.has_numbers else target.codes
        found.update(np.ascontiguousarray(codes).tobytes())
        found.update(self.given.weights.tobytes())
        return found.hexdigest()


def judge_rows(rows: Any, model: RuleModel, scores: FloatArray) -> Answers:
    """Put the answers that follow from scores together with what is true."""
    if not isinstance(model, ClassModel):
        of_rows = rows.numbers, scores, rows.weights
        return NumberAnswers("rows of the session", *of_rows, groups=rows.groups)
    chances, chosen = model.probabilities(scores), model.decide(scores)
    names = model.class_names
    known = names, rows.labels, chances, chosen, rows.weights
    return ClassAnswers("rows of the session", *known, groups=rows.groups)
