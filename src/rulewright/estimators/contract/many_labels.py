"""The warning of columns with too many labels for their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulewright.data import DataWarning, count_labels, find_many_labels
from rulewright.estimators.contract.warn import warn_caller

if TYPE_CHECKING:
    from rulewright.data import LearningRows

POOLED = "the other labels are split as one"
EACH_LABEL = "all labels are used, and rules on rare ones fit noise"
"""How a learner treats such a column."""


def warn_of_many_labels(rows: LearningRows[Any], learner: str, what: str) -> None:
    """Warn of every column with too many labels for its rows; `what` happens to them."""
    for column in rows.columns:
        if column.schema.type.ordered:
            continue
        counts = count_labels(column.values, len(column.schema.labels), rows.weights)
        remedy = f"{what}. Group its labels or drop the column."
        if finding := find_many_labels(column.schema, counts, remedy):
            warn_caller(f"{learner}: column {finding}", DataWarning)
