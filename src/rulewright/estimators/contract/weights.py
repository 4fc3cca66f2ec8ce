"""Row weights: class weights, and weights that a method reads as numbers of rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from rulewright.data import TrainingSet
from rulewright.data import count_effective_rows as count_effective_rows
from rulewright.model import class_names

if TYPE_CHECKING:
    from rulewright.data import DescribedRows, LearningRows
    from rulewright.kernels import FloatArray

LEAST_MEAN = 0.01
"""Weights with a lower mean are shares, such as 1/n each, not numbers of rows."""

MOST_WEIGHT = 1e300
"""Sums of larger weights over many rules could overflow."""


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


def are_shares(rows: DescribedRows) -> bool:
    """Return whether the weights are too small to be numbers of rows."""
    return rows.total_weight < LEAST_MEAN * rows.n_rows


def warn_of_shares(rows: DescribedRows, what: str) -> None:
    """Warn if a fit reads weights as numbers of rows, but they are shares."""
    if are_shares(rows):
        warnings.warn(
            f"sample_weight: the weights of {rows.n_rows} rows sum to {rows.total_weight:.3g}, but "
            f"{what} reads a weight as a number of rows and finds almost no evidence. Multiply "
            f"the weights so that they sum to about {rows.n_rows}.",
            UserWarning,
            stacklevel=4,
        )


def refuse_huge(rows: TrainingSet) -> None:
    """Raise a ValueError if sums of the weights over many rules could overflow."""
    if rows.total_weight > MOST_WEIGHT:
        raise ValueError(
            f"sample_weight: the weights sum to {rows.total_weight:.3g}, which is too large to "
            f"sum over many rules; scale them down"
        )


def scale_weights(rows: TrainingSet) -> TrainingSet:
    """Return the rows; weights that are shares are scaled to sum to the number of rows."""
    if not are_shares(rows):
        return rows
    shares = rows.weights / rows.weights.max()
    return rows.with_weights(shares * (rows.n_rows / shares.sum()))
