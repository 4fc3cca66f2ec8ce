"""How good answers are, each figure with an interval of 95 percent and a simple baseline.

Shares have Clopper and Pearson's interval, means Student's, balanced accuracy the normal one of
Agresti and Coull's recalls, average precision Boyd's logit interval, KS Newcombe's of the two
shares that it is the difference of. The area under the ROC curve and R2 have normal intervals by
their influence functions (DeLong's of two classes); an area of 1 or 0 has the exact interval of as
many independent pairs as there are. Weighted rows count as their effective number, and so do rows
of groups. Without groups all rows count as independent of each other.

Answers may carry estimates of figures that are better than their own rows can give, such as means
over repeated folds, corrected for optimism. These are the values then, and intervals move along.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.evidence.answers import Answers, NumberAnswers
from rulewright.evidence.class_measures import measure_classes, score_classes
from rulewright.evidence.counts import CountAnswers, measure_counts
from rulewright.evidence.measure import (
    Measure,
    Z,
    mean_with_interval,
    share_interval,
    standard_error,
)
from rulewright.evidence.survival import SurvivalAnswers, measure_survival

if TYPE_CHECKING:
    from rulewright.evidence.answers import ClassAnswers
    from rulewright.kernels import FloatArray


_FIRST = {CountAnswers: "d2", SurvivalAnswers: "concordance"}
"""Keys of figures that some rows do not have."""


def measures(answers: Answers) -> list[Measure]:
    """Return all figures of answers, by their better estimates where there are any."""
    found = _of_numbers(answers) if isinstance(answers, NumberAnswers) else measure_classes(answers)
    known = answers.estimates
    return [one.at(known[one.key]) if one.key in known else one for one in found]


def score_answers(answers: Answers) -> dict[str, float]:
    """Return the values of all figures by key, NaN if there is none; of classes also the ECE."""
    if isinstance(answers, NumberAnswers):
        key = "share_below" if answers.quantile is not None else _FIRST.get(type(answers), "r2")
        return {key: math.nan} | {one.key: one.value for one in _of_numbers(answers)}
    return score_classes(answers)


def figures_of(answers: Answers) -> dict[str, Any]:
    """Return which rows were answered and all figures, each with its interval and a baseline."""
    weights = answers.weights
    return {
        "rows": answers.origin,
        "n_rows": len(weights),
        "total_weight": float(weights.sum()),
        **({} if answers.groups is None else {"n_groups": len(np.unique(answers.groups))}),
        **({} if isinstance(answers, NumberAnswers) else _note_interest(answers)),
        "figures": {
            one.key: {
                part: value if math.isfinite(value := getattr(one, part)) else None
                for part in ("value", "low", "high", "baseline")
            }
            for one in measures(answers)
        },
    }


def _note_interest(answers: ClassAnswers) -> dict[str, Any]:
    place = answers.interest
    if place is None:
        return {}
    return {"positive": answers.names[place], "positive_share": answers.interest_share}


def _of_numbers(answers: NumberAnswers) -> list[Measure]:
    if isinstance(answers, CountAnswers):
        return measure_counts(answers)
    if isinstance(answers, SurvivalAnswers):
        return measure_survival(answers)
    if answers.quantile is not None:
        return _of_quantile(answers, answers.quantile)
    truth, weights = answers.truth, answers.weights
    errors = truth - answers.predicted
    mean = float(np.average(truth, weights=weights))
    around = np.square(truth - mean)
    variance = float(np.average(around, weights=weights))
    groups = answers.groups
    mse, mse_low, mse_high = mean_with_interval(np.square(errors), weights, groups)
    figures = []
    if variance > 0:
        influence = (mse * around / variance - np.square(errors)) / variance
        half = Z * standard_error(influence, weights, groups)
        r2 = 1.0 - mse / variance
        meaning = "share of the variance that is explained; 1 is perfect"
        figures.append(Measure("R2", r2, r2 - half, min(1.0, r2 + half), 0.0, "higher", meaning))
    own = float(np.average(abs(truth - mean), weights=weights))
    absolute = mean_with_interval(abs(errors), weights, groups)
    figures.append(Measure("MAE", *absolute, own, "lower", "mean absolute error, in target units"))
    root, low, high, own = (math.sqrt(x) for x in (mse, mse_low, mse_high, variance))
    meaning = "root mean squared error, in target units"
    figures.append(Measure("RMSE", root, low, high, own, "lower", meaning))
    return figures


def _of_quantile(answers: NumberAnswers, q: float) -> list[Measure]:
    """Return the pinball loss, and the share of rows below their predicted quantile."""
    truth, weights = answers.truth, answers.weights
    order = np.argsort(truth, kind="stable")
    place = int(np.searchsorted(np.cumsum(weights[order]), q * weights.sum()))
    constant = truth[order[min(place, len(order) - 1)]]

    def losses(predicted: FloatArray | float) -> FloatArray:
        gaps = truth - predicted
        return np.asarray(np.maximum(q * gaps, (q - 1) * gaps))

    own = mean_with_interval(losses(answers.predicted), weights)
    base = float(np.average(losses(constant), weights=weights))
    below = float(np.average(truth <= answers.predicted, weights=weights))
    ends = share_interval(below, weights)
    told = f"share of rows at or below their predicted {100 * q:g} % quantile"
    return [
        Measure("Pinball loss", *own, base, "lower", "mean loss of the quantile, in target units"),
        Measure("Share below", below, *ends, q, f"near {q:g}", told),
    ]
