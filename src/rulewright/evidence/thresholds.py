"""Thresholds of probabilities: which ones differ, and what each finds, misses and costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray

COST_ROWS = 1000
"""Number of rows that costs refer to."""


@dataclass(frozen=True, eq=False)
class ThresholdFigures:
    """Figures of rising thresholds, one number per threshold in each array.

    Parameters
    ----------
    threshold : float array
        A row is predicted as the class if its probability is at least this.
    predicted : float array
        Share of the rows that are predicted as the class.
    recall : float array
        Share of the rows of the class that are found.
    precision : float array
        Share of the class in the predicted rows; NaN if none is predicted.
    false_positive_rate : float array
        Share of the other rows that are predicted as the class.
    accuracy, balanced_accuracy : float array
        Share of right predictions, and the mean of the shares of both classes.
    cost : float array or None
        Cost of the errors per 1,000 rows, if costs are known.
    """

    threshold: FloatArray
    predicted: FloatArray
    recall: FloatArray
    precision: FloatArray
    false_positive_rate: FloatArray
    accuracy: FloatArray
    balanced_accuracy: FloatArray
    cost: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.threshold)

    def best(self) -> dict[str, int]:
        """Return the place of the best threshold by each measure, of equal ones the lowest."""
        found = {
            "accuracy": int(np.argmax(self.accuracy)),
            "balanced accuracy": int(np.argmax(self.balanced_accuracy)),
        }
        return found if self.cost is None else found | {"cost": int(np.argmin(self.cost))}

    def take(self, places: Any) -> ThresholdFigures:
        """Return the figures of some thresholds."""
        columns = {one.name: getattr(self, one.name) for one in fields(self)}
        taken: dict[str, Any] = {k: v if v is None else v[places] for k, v in columns.items()}
        return ThresholdFigures(**taken)


def measure_thresholds(
    chances: FloatArray,
    is_class: BoolArray,
    weights: FloatArray,
    error_costs: tuple[float, float] | None = None,
) -> ThresholdFigures:
    """Measure all thresholds of probabilities that differ in some prediction.

    `error_costs` are what a missed row of the class and a false alarm cost.
    """
    values, places = np.unique(chances, return_inverse=True)
    thresholds = choose_thresholds(values)
    first = np.searchsorted(values, thresholds)  # of the values that are predicted as the class

    def sum_from(part: FloatArray) -> FloatArray:
        sums = np.bincount(places, part, len(values))
        return np.append(np.cumsum(sums[::-1])[::-1], 0.0)[first]

    hits, alarms = sum_from(weights * is_class), sum_from(weights * ~is_class)
    total, others = float(weights[is_class].sum()), float(weights[~is_class].sum())
    recall, false_positive_rate = hits / total, alarms / others
    with np.errstate(invalid="ignore"):
        precision = hits / (hits + alarms)
    cost = None
    if error_costs is not None:
        missed, alarm = error_costs
        cost = COST_ROWS * (missed * (total - hits) + alarm * alarms) / (total + others)
    return ThresholdFigures(
        thresholds,
        (hits + alarms) / (total + others),
        recall,
        precision,
        false_positive_rate,
        (hits + others - alarms) / (total + others),
        (recall + 1.0 - false_positive_rate) / 2.0,
        cost,
    )


def choose_thresholds(values: FloatArray) -> FloatArray:
    """Return a threshold up to each of some rising probabilities, and one above all: short numbers.

    Each is above the probability before it, so that ``p >= threshold`` parts the two.
    """
    ends = [*values.tolist(), 1.0]
    pairs = zip([0.0, *values.tolist()], ends, strict=True)
    found = [shorten(low, high) for low, high in pairs if low < high and high > 0.0]
    return np.array([one for one in found if one < 1.0])


def shorten(low: float, high: float) -> float:
    """Return the number with the fewest digits that is above `low` and at most `high`."""
    for digits in range(1, 17):
        scale = 10.0**digits
        for short in (math.floor(high * scale) / scale, math.floor(low * scale + 1.0) / scale):
            if low < short <= high and short < 1.0:
                return short
    return high
