"""Columns with too many labels for their rows: a warning; beyond a limit rare labels are pooled.

A pooled label is read as one that the schema does not know, in training as in prediction. So the
model treats it as any label it has never seen, and no learner needs to know about pooling.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from rulewright.data import DataWarning, count_labels, find_frequent_labels, find_many_labels
from rulewright.estimators.contract.warn import warn_caller

if TYPE_CHECKING:
    from rulewright.data import Column, LearningRows

POOLED = "the other labels are split as one"
OTHERS_UNSEEN = "the other labels are read as labels never seen"
EACH_LABEL = "all labels are used, and rules on rare ones fit noise"
"""How a learner treats such a column."""

MOST_LABELS = 1_000
"""Labels per column beyond which a learner with a condition per label pools the rare ones."""

Rows = TypeVar("Rows", bound="LearningRows[Any]")


def warn_of_many_labels(rows: LearningRows[Any], learner: str, what: str) -> None:
    """Warn of every column with too many labels for its rows; `what` happens to them."""
    for column in rows.columns:
        if column.schema.type.ordered:
            continue
        counts = count_labels(column.values, len(column.schema.labels), rows.weights)
        remedy = f"{what}. Group its labels or drop the column."
        if finding := find_many_labels(column.schema, counts, remedy):
            warn_caller(f"{learner}: column {finding}", DataWarning)


def pool_labels(rows: Rows, learner: str | None = None) -> Rows:
    """Return the rows; columns with more than 1,000 labels keep the frequent ones only.

    Given the name of a learner, warn of it.
    """
    columns = tuple(_pool(column, rows, learner) for column in rows.columns)
    if all(one is other for one, other in zip(columns, rows.columns, strict=True)):
        return rows
    return replace(rows, table=replace(rows.table, columns=columns))


def _pool(column: Column, rows: LearningRows[Any], learner: str | None) -> Column:
    schema = column.schema
    if schema.has_order or len(schema.labels) <= MOST_LABELS:
        return column
    counts = count_labels(column.values, len(schema.labels), rows.weights)
    frequent = find_frequent_labels(counts)
    if frequent is None:  # most labels of the schema have no rows
        frequent = counts.nonzero()[0]
    elif learner is not None:
        finding = find_many_labels(schema, counts, f"{OTHERS_UNSEEN}. Group its labels.")
        warn_caller(f"{learner}: column {finding}", DataWarning)
    kept = replace(schema, labels=tuple(schema.labels[i] for i in frequent.tolist()))
    return schema.type.recode(column, kept)
