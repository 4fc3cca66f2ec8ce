"""Warnings of a fit: data that look wrong, and models that are of no use.

``DataWarning`` and ``ModelWarning`` are their categories, so that a filter can silence either:
``warnings.simplefilter("ignore", rulewright.DataWarning)``.
"""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, TypeVar

from sklearn.base import clone

from rulewright.data import LEAST_ROWS, DataWarning, ModelWarning, find_signs

if TYPE_CHECKING:
    from rulewright.data import Table
    from rulewright.model import RuleModel

NO_RULES = (
    "the model has no rules and predicts the same for every row. Add rows or columns, or let the "
    "learner keep rules with less evidence."
)
_ID = "Drop it: rules on it do not carry over to new rows."
_REMEDIES = {
    "constant target": "There is nothing to learn.",
    "copy": "Drop it.",
    "leak": "Drop it, unless it is known before the target is.",
    "repeated rows": (
        "Held-out rows are then no new rows: deduplicate them, or pass groups= to fit."
    ),
    "row number": _ID,
    "id": _ID,
    "free text": "Drop it, or derive columns from it.",
}
_SHOWN = 5
Learner = TypeVar("Learner")


def nested_copy(learner: Learner) -> Learner:
    """Return an unfitted copy that warns of nothing: the fit that makes it does."""
    copy: Learner = clone(learner)
    vars(copy)["_is_nested"] = True
    return copy


def warn_caller(text: str, category: type[UserWarning]) -> None:
    """Warn with the line outside of this package that called it."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals["__name__"].startswith("rulewright."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def warn_of_data(table: Table, learner: str) -> bool:
    """Warn of the findings of `find_signs`; return whether the target is constant."""
    found = find_signs(table)
    for one in found[:_SHOWN]:
        where = "" if one.column is None else f"column {one.column!r}: "
        warn_caller(f"{learner}: {where}{one.text}. {_REMEDIES[one.kind]}", DataWarning)
    if len(found) > _SHOWN:
        more = len(found) - _SHOWN
        warn_caller(f"{learner}: column checks found {more} more like these.", DataWarning)
    return any(one.kind == "constant target" for one in found)


def warn_of_no_rules(model: RuleModel, n_rows: int, learner: str, text: str) -> None:
    """Warn of a model that uses no column, from 50 rows on."""
    if n_rows >= LEAST_ROWS and not model.columns:
        warn_caller(f"{learner}: {text}", ModelWarning)
