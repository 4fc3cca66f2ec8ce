"""How figures change from one model to another on the same rows, with paired intervals.

A figure is a mean over the rows or, to first order, a sum of the influences of the rows on it. The
interval of a change of 95 percent comes from the differences of these influences, row by row.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.evidence.answers import NumberAnswers
from rulewright.evidence.class_measures import influence_on_area, rank_interest
from rulewright.evidence.measure import BRIER, Z, name_figure, standard_error
from rulewright.evidence.predictions import brier_scores, calibration_error, row_losses

if TYPE_CHECKING:
    from rulewright.evidence.answers import Answers
    from rulewright.kernels import FloatArray

ECE = "ece"


class InfluencedFigure(NamedTuple):
    """A figure, and the influence of each row on it; None if it is unknown."""

    value: float
    influence: FloatArray | None


class Change(NamedTuple):
    """A figure before and after a change, and the interval of their difference."""

    key: str
    name: str
    before: float
    after: float
    low: float
    high: float

    @property
    def difference(self) -> float:
        """Return how much the figure rises."""
        return self.after - self.before

    def to_json(self) -> dict[str, Any]:
        """Return the change as plain data; what is unknown is None."""
        numbers = {key: getattr(self, key) for key in ("before", "after", "low", "high")}
        known = {k: v if math.isfinite(v) else None for k, v in numbers.items()}
        return {"figure": self.key, **known}


def influenced_figures(answers: Answers) -> dict[str, InfluencedFigure]:
    """Return the figures of answers whose changes have intervals, and the calibration error."""
    if isinstance(answers, NumberAnswers):
        errors = answers.truth - answers.predicted
        squares = _mean_of(np.square(errors), answers.weights)
        root = math.sqrt(squares.value)
        assert squares.influence is not None
        influence = squares.influence / (2 * root) if root else squares.influence
        return {
            "rmse": InfluencedFigure(root, influence),
            "mae": _mean_of(np.abs(errors), answers.weights),
        }
    weights, known = answers.weights, (answers.codes, answers.probabilities)
    found = {
        "log_loss": _mean_of(row_losses(*known), weights),
        "accuracy": _mean_of((~answers.wrong).astype(np.float64), weights),
    }
    if (ranking := rank_interest(answers)) is not None:
        place = answers.interest
        scores, ours = answers.probabilities[:, place], answers.codes == place
        found["auc"] = InfluencedFigure(ranking.auc, influence_on_area(scores, ours, weights))
    found[BRIER] = _mean_of(brier_scores(*known), weights)
    found[ECE] = InfluencedFigure(calibration_error(*known, weights), None)
    return found


def compare_figures(
    before: dict[str, InfluencedFigure],
    after: dict[str, InfluencedFigure],
    weights: FloatArray,
    n_classes: int = 2,
) -> list[Change]:
    """Return the change of each figure on the same rows."""
    changes = []
    for key, new in after.items():
        old, half = before[key], math.nan
        if old.influence is not None and new.influence is not None:
            half = Z * standard_error(new.influence - old.influence, weights)
        rise = new.value - old.value
        name = "Calibration error" if key == ECE else name_figure(key, n_classes)
        changes.append(Change(key, name, old.value, new.value, rise - half, rise + half))
    return changes


def _mean_of(values: FloatArray, weights: FloatArray) -> InfluencedFigure:
    mean = float(np.average(values, weights=weights))
    return InfluencedFigure(mean, values - mean)
