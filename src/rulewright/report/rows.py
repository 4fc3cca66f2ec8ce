"""Rows that a model is judged by: read like its training rows, or found to be these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Derivable, Table, open_table, read_like
from rulewright.model import ClassModel

if TYPE_CHECKING:
    from rulewright.explain import EvaluatedRows
    from rulewright.model import RuleModel


def read_report_rows(model: RuleModel, X: Any, y: Any, sample_weight: Any) -> Table:
    """Read rows with all columns of the model that they have, and with their target."""
    task: Any = "classification" if isinstance(model, ClassModel) else "regression"
    if isinstance(X, Derivable):
        X = X.derive(model.schema)
    given = X if isinstance(X, Table) else open_table(X)
    needed = set(model.columns)
    if given.named and model.schema.named:
        needed |= set(given.names) & set(model.schema.names)
    else:
        needed = set(model.schema.names)
    return read_like(given, model.schema, needed, target=y, weights=sample_weight, task=task)


def is_learned_from(rows: EvaluatedRows) -> bool:
    """Tell whether rows are those that a model was learned from: all its counts are the same."""
    counted = [rule.coverage for rule in rows.model.rules]
    if not counted or {one.rows for one in counted} & {"left out", "given"}:
        return False
    if rows.model.summary.get("n_rows") != len(rows):
        return False
    found = [rows.weights[rows.inside(i)].sum() for i in range(len(counted))]
    return bool(np.allclose(found, [one.support for one in counted], rtol=1e-6))
