"""The limit on the work of a fit: counted before learning, and refused with a remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.data import DataError

if TYPE_CHECKING:
    from rulewright.data import Column, Table
    from rulewright.estimators.contract.base import TableEstimator

_SEEN = 2_000
"""Rows that show how many values a column has."""


def check_work(learner: TableEstimator, amount: float, what: str, remedy: str) -> None:
    """Raise a DataError if a fit needs more than the `MOST_WORK` of its learner."""
    if amount > learner.MOST_WORK:
        name = type(learner).__name__
        raise DataError(
            f"{name}: the table needs about {amount:,.0f} {what}, more than the limit "
            f"{name}.MOST_WORK = {learner.MOST_WORK:,.0f}. {remedy}; or raise the limit, if memory "
            "and time are no problem."
        )


def count_features(table: Table, max_bins: int) -> int:
    """Return about how many labels and intervals the columns of a table have."""
    return sum(_count_values(column, max_bins) for column in table.columns)


def _count_values(column: Column, max_bins: int) -> int:
    if not column.schema.type.ordered:
        return len(column.schema.labels)
    n_values = min(len(np.unique(column.values[:_SEEN])), max_bins)
    return n_values if n_values > 2 else n_values - 1  # of two opposite intervals one is kept
