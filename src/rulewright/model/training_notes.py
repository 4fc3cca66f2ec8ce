"""Notes on the training rows: base rates, weights, and missing values.

Learners note it in the summary when they finish a fit. Older files have less of it, and a file may
hold anything: what cannot be read is not known.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from rulewright.model.scales import find_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.data import RegressionSet, TrainingSet
    from rulewright.model.rule_model import RuleModel
    from rulewright.rules import Head


def describe_training(model: RuleModel, rows: TrainingSet | RegressionSet) -> dict[str, Any]:
    """Describe the rows that a model was fitted to, for its summary."""
    missing = [name for name in model.columns if rows.table[name].is_missing.any()]
    notes: dict[str, Any] = {"missing": missing}
    whole = {name: find_ends(rows.table[name]) for name in model.columns}
    notes["whole"] = {name: ends for name, ends in whole.items() if ends is not None}
    notes["ordered"] = [name for name in model.columns if rows.table[name].schema.ranked]
    if not np.all(rows.weights == 1.0):
        notes["weighted"] = True
    if model.n_classes is None:
        notes["mean"] = float(np.average(rows.target.values, weights=rows.weights))
    return {"training": notes}


def _read_note(model: RuleModel, key: str) -> Any:
    notes = model.summary.get("training")
    return notes.get(key) if isinstance(notes, dict) else None


def class_shares(model: RuleModel) -> tuple[float, ...] | None:
    """Return the share of each class in all training rows, by weight, if it is known."""
    shares = model.summary.get("class_shares")
    if not isinstance(shares, list) or len(shares) != model.n_classes:
        return None
    return tuple(map(float, shares)) if all(map(_is_number, shares)) else None


def base_rate(model: RuleModel, head: Head) -> float | None:
    """Return the share of the classes of a head in all training rows, if it is known."""
    shares = class_shares(model)
    return None if shares is None else math.fsum(shares[head.classes])


def base_mean(model: RuleModel) -> float | None:
    """Return the mean of the target in all training rows, if it is known."""
    mean = _read_note(model, "mean")
    return float(mean) if _is_number(mean) else None


def are_weighted(model: RuleModel) -> bool:
    """Return whether training rows had weights, so that counts are no numbers of rows."""
    settings = model.summary.get("settings")
    by_class = isinstance(settings, dict) and settings.get("class_weight") is not None
    n_rows, total = (model.summary.get(key) for key in ("n_rows", "total_weight"))
    sums = _is_number(n_rows) and _is_number(total) and not math.isclose(n_rows, total)
    return by_class or sums or _read_note(model, "weighted") is True


def counts_of_known(model: RuleModel, column: str) -> NDArray[np.float64] | None:
    """Return the weights of the training rows that have a value in a column, as steps count them.

    They are known where no training row lacks the value.
    """
    missing, total = _read_note(model, "missing"), model.summary.get("total_weight")
    if not isinstance(missing, list) or column in missing or not _is_number(total):
        return None
    if model.n_classes is None:
        mean = base_mean(model)
        return None if mean is None else np.array([total, total * mean])
    shares: Sequence[float] | None = class_shares(model)
    return None if shares is None else np.array(shares) * total


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
