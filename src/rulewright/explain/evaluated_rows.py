"""Rows of a table with their targets, the predictions of a model, and the claims of its rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError, Table, draw_one_each, label_of, read_like
from rulewright.encoding import PackedCovers
from rulewright.explain.importances import Importance, importance
from rulewright.model import ClassModel, RuleModel, escape_line
from rulewright.rules import Adds, Rule

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray, IntArray


def model_of(model: Any, step: str) -> RuleModel:
    """Return the model of a fitted estimator, or the model itself."""
    model = getattr(model, "model_", model)
    if not isinstance(model, RuleModel):
        raise ValueError(
            f"{step} needs a model with rules, or an estimator with such a model, not "
            f"{type(model).__name__}"
        )
    return model


def rows_with_target(
    model: RuleModel, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
) -> Table:
    """Read rows as the model does, with the classes or numbers as their target."""
    rows = {"target": y, "weights": sample_weight, "groups": groups}
    return read_like(X, model.schema, model.columns, task=model.task, **rows)


def independent_rows(model: RuleModel, X: Any, y: Any, groups: Any = None) -> Table:
    """Read rows with their target; of each group one row is drawn, so that rows are independent."""
    table = rows_with_target(model, X, y, groups=groups)
    return table if table.groups is None else table.take(draw_one_each(table.groups))


def class_codes(model: ClassModel, table: Table) -> IntArray:
    """Return the class of each row by the model's numbering; -1 for an unknown class."""
    known = {label_of(value): k for k, value in enumerate(model.classes.tolist())}
    target = table.known_target
    codes = [known.get(label_of(value), -1) for value in target.classes.tolist()]
    return np.array(codes, dtype=np.int32)[target.codes]


def checked_class_codes(model: ClassModel, table: Table) -> IntArray:
    """Return the class of each row, as `class_codes`; at least one must be known."""
    codes = class_codes(model, table)
    if (codes < 0).all():
        given = ", ".join(map(label_of, table.known_target.classes[:5].tolist()))
        raise DataError(
            f"The targets have no class of the model, such as {model.class_names[0]!r}: they are "
            f"{given}. Give the column with the classes that the model predicts."
        )
    return codes


def claims_less(rule: Rule) -> bool:
    """Return whether a rule lowers the probability of its head, or the predicted number."""
    outcome = rule.outcome
    return isinstance(outcome, Adds) and outcome.value < outcome.otherwise


def claim_text(model: RuleModel, rule: Rule) -> str:
    """Describe the claim of a rule."""
    names = [escape_line(name) for name in model.head_names]
    if not names:
        return "smaller" if claims_less(rule) else "larger"
    head = rule.head.text(names)
    return f"less often {head}" if claims_less(rule) else head


@dataclass(frozen=True, eq=False)
class EvaluatedRows:
    """Rows with covers and predictions, each computed once, on first use.

    Attributes
    ----------
    model : RuleModel
        The model.
    table : Table
        The rows, read like the training rows of the model.
    """

    model: RuleModel
    table: Table

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.table.n_rows

    @cached_property
    def weights(self) -> FloatArray:
        """Row weights, 1 each if the table has none."""
        return np.ones(len(self)) if self.table.weights is None else self.table.weights

    @cached_property
    def decided(self) -> PackedCovers:
        """Rows that each rule contributes to; in a list, the rows that reach the rule."""
        return PackedCovers(self.model.decided_bits(self.table), len(self))

    @cached_property
    def covers(self) -> PackedCovers:
        """Rows that each rule covers, regardless of other rules."""
        if type(self.model).decided_bits is RuleModel.decided_bits:  # equal for this form
            return self.decided
        return PackedCovers(self.model.cover_bits(self.table), len(self))

    @cached_property
    def scores(self) -> FloatArray:
        """Scores of the rows."""
        return self.model.scores(self.table)

    @cached_property
    def codes(self) -> IntArray:
        """True class of each row by the model's numbering; -1 for an unknown class."""
        assert isinstance(self.model, ClassModel)
        return checked_class_codes(self.model, self.table)

    @property
    def truth(self) -> IntArray | FloatArray:
        """True class of each row, as `codes`, or the number that statistics compare."""
        is_class = isinstance(self.model, ClassModel)
        return self.codes if is_class else self.table.known_numbers.outcomes

    @cached_property
    def importance(self) -> Importance:
        """Importance of the rules and linear terms over these rows, for additive models."""
        return importance(self.model, self.table)

    def inside(self, rule: int) -> BoolArray:
        """Mark the rows that a rule contributes to."""
        return self.decided[rule : rule + 1].row_mask()

    def take(self, places: Any) -> EvaluatedRows:
        """Return some of the rows."""
        return EvaluatedRows(self.model, self.table.take(places))
