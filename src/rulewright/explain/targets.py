"""Models and rows with their targets, as the functions of this room are given them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError, label_of, read_like
from rulewright.model import ClassModel, RuleModel

if TYPE_CHECKING:
    from rulewright.data import Table
    from rulewright.kernels import IntArray


def model_of(model: Any, step: str) -> RuleModel:
    """Return the model of a fitted estimator, or the model itself."""
    model = getattr(model, "model_", model)
    if not isinstance(model, RuleModel):
        raise ValueError(
            f"{step} needs a model with rules, or an estimator with such a model, not "
            f"{type(model).__name__}"
        )
    return model


def rows_with_target(model: RuleModel, X: Any, y: Any, sample_weight: Any = None) -> Table:
    """Read rows as the model does, with classes or numbers as their target."""
    task: Any = "classification" if isinstance(model, ClassModel) else "regression"
    return read_like(X, model.schema, model.columns, target=y, weights=sample_weight, task=task)


def class_codes(model: ClassModel, table: Table) -> IntArray:
    """Give the class of each row as the model numbers it, -1 for one that it does not know."""
    known = {label_of(value): k for k, value in enumerate(model.classes.tolist())}
    target = table.known_target
    codes = [known.get(label_of(value), -1) for value in target.classes.tolist()]
    return np.array(codes, dtype=np.int32)[target.codes]


def checked_class_codes(model: ClassModel, table: Table) -> IntArray:
    """Give the class of each row as `class_codes`; the model must know one of them."""
    codes = class_codes(model, table)
    if (codes < 0).all():
        given = ", ".join(map(label_of, table.known_target.classes[:5].tolist()))
        raise DataError(
            f"The targets have no class of the model, such as {model.class_names[0]!r}: they are "
            f"{given}. Give the column with the classes that the model predicts."
        )
    return codes
