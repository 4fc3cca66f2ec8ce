"""Training rows in a form that depends neither on their order nor on how they are repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.estimators.dnf_rows import merge_equal_rows

if TYPE_CHECKING:
    from rulewright.data import Table

NEGLIGIBLE = 1e-6
"""Share of the heaviest row below which a row counts for nothing: searches weigh no finer."""


def ordered_rows(table: Table) -> Table:
    """Merge equal rows, leave out those of next to no weight, and sort the rest."""
    rows = merge_equal_rows(table)
    assert rows.target is not None
    assert rows.weights is not None
    order = np.lexsort([rows.target.codes, *(column.values for column in rows.columns)])
    heavy = rows.weights >= NEGLIGIBLE * rows.weights.max()
    return rows.take(order[heavy[order]])
