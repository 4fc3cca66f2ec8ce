"""Notes on the training rows: base rates, weights, and missing values.

Learners note it in the summary when they finish a fit. Older files have less of it, and a file may
hold anything: what cannot be read is not known.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from rulewright.data import Target
from rulewright.model.scales import find_ends

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Column, RegressionSet, TrainingSet
    from rulewright.model.rule_model import RuleModel
    from rulewright.rules import Head


def describe_training(model: RuleModel, rows: TrainingSet | RegressionSet) -> dict[str, Any]:
    """Describe the rows that a model was fitted to, for its summary."""
    mean = None
    if not isinstance(rows.target, Target):
        mean = rows.target.average(rows.weights)
    columns = {name: note_column(rows.table[name]) for name in model.columns}
    told = {"weighted": not np.all(rows.weights == 1.0), "held_out": holds_out(model, rows)}
    return note_training(columns, mean, **told)


def holds_out(model: RuleModel, rows: TrainingSet | RegressionSet) -> bool:
    """Return whether rules are counted on some of the rows: others decided when to stop."""
    counted = model.summary.get("total_weight")
    return _is_number(counted) and not math.isclose(counted, rows.total_weight)


class ColumnNotes(NamedTuple):
    """What is noted of a column: missing values, ends of whole numbers, an order of labels."""

    missing: bool
    whole: list[float] | None
    ordered: bool


def note_column(column: Column) -> ColumnNotes:
    """Note what the text of models says of a column."""
    return ColumnNotes(bool(column.is_missing.any()), find_ends(column), column.schema.ranked)


def note_training(
    columns: Mapping[str, ColumnNotes], mean: float | None = None, **flags: bool
) -> dict[str, Any]:
    """Write notes on the columns of a model and the rows as an entry of its summary."""
    notes: dict[str, Any] = {
        "missing": [name for name, column in columns.items() if column.missing],
        "whole": {name: one.whole for name, one in columns.items() if one.whole is not None},
        "ordered": [name for name, column in columns.items() if column.ordered],
    }
    notes |= {name: True for name, flag in flags.items() if flag}
    if mean is not None:
        notes["mean"] = mean
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
    if isinstance(model.summary.get("training"), dict):
        return by_class or _read_note(model, "weighted") is True
    n_rows, total = (model.summary.get(key) for key in ("n_rows", "total_weight"))
    return by_class or (
        _is_number(n_rows) and _is_number(total) and not math.isclose(n_rows, total)
    )


def counts_of_known(model: RuleModel, column: str) -> NDArray[np.float64] | None:
    """Return the weights of the training rows that have a value in a column, as steps count them.

    They are known where no training row lacks the value.
    """
    missing, total = _read_note(model, "missing"), model.summary.get("total_weight")
    if not isinstance(missing, list) or column in missing or not _is_number(total):
        return None
    if _read_note(model, "held_out"):
        return None
    if model.n_classes is None:
        mean, exposure = base_mean(model), _read_note(model, "exposure")
        if mean is not None and _is_number(exposure):
            return np.array([total, exposure * mean, exposure])
        return None if mean is None else np.array([total, total * mean])
    shares: Sequence[float] | None = class_shares(model)
    return None if shares is None else np.array(shares) * total


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
