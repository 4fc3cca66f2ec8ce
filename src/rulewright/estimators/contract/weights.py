"""Row weights: class weights, and weights that a method reads as numbers of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from rulewright.data import DataWarning, TrainingSet
from rulewright.data import count_effective_rows as count_effective_rows
from rulewright.estimators.contract.warn import warn_caller
from rulewright.model import class_names

if TYPE_CHECKING:
    from rulewright.data import LearningRows, Table
    from rulewright.kernels import FloatArray

LEAST_MEAN = 0.01
"""Weights with a lower mean are shares, such as 1/n each, not numbers of rows."""

FEWEST_ROWS = 1.5
"""Weights with a lower sum are shares: nothing is learned from a single row."""

MOST_ROWS = 2.0**53
"""Weights with a larger sum are no numbers of rows: sums of them are not exact."""

WeightMeaning: TypeAlias = Literal["importance", "counts"]
"""Whether a row of weight 2 is one observation, or two."""

Rows = TypeVar("Rows", bound="LearningRows[Any]")


def count_weights(table: Table, meaning: WeightMeaning) -> Table:
    """Return the table; with "counts" its weights are the numbers of observations."""
    if meaning not in get_args(WeightMeaning):
        raise ValueError(f"weights={meaning!r} must be 'importance' or 'counts'")
    if meaning == "importance" or table.weights is None:
        return table
    return replace(table, repeats=table.weights)


def class_weighted(rows: TrainingSet, class_weight: Any) -> TrainingSet:
    """Return the rows with their weights multiplied by the class weights."""
    if class_weight is None:
        return rows
    try:
        factors = _class_factors(rows, class_weight)
    except (TypeError, ValueError) as error:
        raise ValueError(f"class_weight={class_weight!r}: {error}") from None
    return rows.with_weights(rows.weights * factors[rows.labels])


def _class_factors(rows: TrainingSet, class_weight: Any) -> FloatArray:
    """Return the factor of each class."""
    classes, present = rows.classes, np.unique(rows.labels)
    if isinstance(class_weight, Mapping):
        known = classes.tolist()
        if strange := [label for label in class_weight if label not in known]:
            names = ", ".join(map(repr, known))
            raise ValueError(f"{strange[0]!r} is not a target class. The classes are: {names}")
    elif not isinstance(class_weight, str) or class_weight != "balanced":
        raise ValueError('must be a dict {class: weight}, "balanced" or None')
    factors = np.ones(len(classes))
    factors[present] = compute_class_weight(
        class_weight,
        classes=classes[present],
        y=classes[rows.labels],
        sample_weight=rows.weights if class_weight == "balanced" else None,
    )
    if not (np.isfinite(factors).all() and (factors >= 0).all()):
        raise ValueError("weights must be finite and >= 0")
    if not factors[present].any():
        raise ValueError("class_weight: no row has a positive weight left")
    return factors


def note_weights(rows: LearningRows[Any], class_weight: Any) -> dict[str, str]:
    """Return the summary entries about weights; none if all rows have equal weight.

    With ``"class_weight"`` or ``"sample_weight"`` as ``summary["weights"]``, counts and shares of
    rules are sums of weights and not numbers of rows. Weights of classes hide which of two is rare:
    the summary names it as the positive class.
    """
    if class_weight is not None:
        return {"weights": "class_weight", **_name_rarer(rows)}
    weights = rows.weights
    return {"weights": "sample_weight"} if (weights != weights[0]).any() else {}


def _name_rarer(rows: LearningRows[Any]) -> dict[str, str]:
    if not isinstance(rows, TrainingSet) or len(rows.classes) != 2:
        return {}
    first, second = np.bincount(rows.labels, minlength=2).tolist()
    return {"positive_class": class_names(rows.classes)[int(first >= second)]}


def are_counts(n_rows: int, total_weight: float) -> bool:
    """Return whether the weights of some rows can be numbers of rows."""
    return max(LEAST_MEAN * n_rows, min(FEWEST_ROWS, n_rows)) <= total_weight <= MOST_ROWS


def warn_of_scaling(n_rows: int, total_weight: float, learner: str) -> None:
    """Warn that weights are read as proportions."""
    warn_caller(
        f"{learner}: sample_weight: the weights of {n_rows} rows sum to {total_weight:.3g}, which "
        f"cannot be a number of rows; they are scaled to sum to {n_rows}. Scale them to the number "
        "of rows that they stand for.",
        DataWarning,
    )


def scale_weights(rows: Rows, learner: str | None = None) -> Rows:
    """Return the rows; weights that cannot be numbers of rows are scaled to sum to it.

    Given the name of a learner, warn of it.
    """
    if are_counts(rows.n_rows, rows.total_weight):
        return rows
    if learner is not None:
        warn_of_scaling(rows.n_rows, rows.total_weight, learner)
    shares = rows.weights / rows.weights.max()
    return rows.with_weights(shares * (rows.n_rows / shares.sum()))
