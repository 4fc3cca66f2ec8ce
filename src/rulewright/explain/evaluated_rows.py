"""EvaluatedRows: rows of a table with what a model says of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.encoding import PackedCovers
from rulewright.explain.importances import importance
from rulewright.explain.targets import checked_class_codes
from rulewright.model import ClassModel, RuleModel

if TYPE_CHECKING:
    from rulewright.data import Table
    from rulewright.explain.importances import Importance
    from rulewright.kernels import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class EvaluatedRows:
    """Rows with covers and answers, each computed once, when it is first asked for.

    Attributes
    ----------
    model : RuleModel
        The model.
    table : Table
        The rows, read like those that the model was learned from.
    """

    model: RuleModel
    table: Table

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.table.n_rows

    @cached_property
    def weights(self) -> FloatArray:
        """Weights of the rows, 1 each if the table has none."""
        return np.ones(len(self)) if self.table.weights is None else self.table.weights

    @cached_property
    def decided(self) -> PackedCovers:
        """Rows that each rule has a part in: in a list those that are left to it."""
        return PackedCovers(self.model.decided_bits(self.table), len(self))

    @cached_property
    def covers(self) -> PackedCovers:
        """Rows that each rule covers, whatever other rules do."""
        if type(self.model).decided_bits is RuleModel.decided_bits:  # the same in this form
            return self.decided
        return PackedCovers(self.model.cover_bits(self.table), len(self))

    @cached_property
    def scores(self) -> FloatArray:
        """Scores of the rows."""
        return self.model.scores(self.table)

    @cached_property
    def codes(self) -> IntArray:
        """True class of each row as the model numbers it, -1 for one that it does not know."""
        assert isinstance(self.model, ClassModel)
        return checked_class_codes(self.model, self.table)

    @cached_property
    def importance(self) -> Importance:
        """Importance of the rules and lines over these rows, of models that add up."""
        return importance(self.model, self.table)

    def inside(self, rule: int) -> BoolArray:
        """Mark the rows that a rule has a part in."""
        return self.decided[rule : rule + 1].row_mask()

    def take(self, places: Any) -> EvaluatedRows:
        """Return some of the rows."""
        return EvaluatedRows(self.model, self.table.take(places))
