"""How good answers are, each figure with an interval of 95 percent and a simple baseline.

Shares have Clopper and Pearson's interval, means Student's, balanced accuracy the normal one of
Agresti and Coull's recalls. The area under the ROC curve and R2
have normal intervals by their influence functions (DeLong's of two classes); an area of 1 or 0 has
the exact interval of as many independent pairs as there are. Weighted rows count as their effective
number. All rows count as independent of each other.

Answers may carry estimates of figures that are better than their own rows can give, such as means
over repeated folds, corrected for optimism. These are the values then, and intervals move along.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.evidence.answers import Answers, ClassAnswers, NumberAnswers
from rulewright.evidence.claims import clopper_pearson, mean_interval
from rulewright.evidence.predictions import auc, calibration_error, row_losses

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray

NONE = "\N{EN DASH}"
"""Stands for a number that is not known."""
_Z = 1.959963984540054


class Measure(NamedTuple):
    """A measure with its interval, and what the baseline reaches."""

    name: str
    value: float
    low: float
    high: float
    baseline: float
    better: str
    meaning: str

    @property
    def key(self) -> str:
        """The name as one word, for plain data."""
        return self.name.lower().replace(" ", "_").replace("-", "_")

    def text(self, value: float) -> str:
        """Write a number of this figure: those of like size with like decimals."""
        known = [x for x in (self.value, self.baseline) if math.isfinite(x)]
        if not math.isfinite(value):
            return NONE
        if max(map(abs, known), default=0.0) < 10:
            return f"{value:.3f}"
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"

    def at(self, value: float) -> Measure:
        """Give the measure with a better estimate; the interval moves along."""
        ends = [end + value - self.value for end in (self.low, self.high)]
        if self.is_share:
            ends = [min(max(end, 0.0), 1.0) for end in ends]
        return self._replace(value=value, low=ends[0], high=ends[1])

    @property
    def is_share(self) -> bool:
        """Whether the figure is between 0 and 1."""
        return self.key in ("accuracy", "auc", "balanced_accuracy")


def measures(answers: Answers) -> list[Measure]:
    """Give all figures of answers, by their better estimates where there are any."""
    found = _of_numbers(answers) if isinstance(answers, NumberAnswers) else _of_classes(answers)
    known = answers.estimates
    return [one.at(known[one.key]) if one.key in known else one for one in found]


def score_answers(answers: Answers) -> dict[str, float]:
    """Give the values of all figures by key, NaN if there is none; of classes also the ECE."""
    if isinstance(answers, NumberAnswers):
        return {"r2": math.nan} | {one.key: one.value for one in _of_numbers(answers)}
    known = answers.select_known()
    rows = (known.codes, known.probabilities, known.weights)
    hit = known.codes[:, None] == np.arange(len(known.names))
    squares = np.square(known.probabilities - hit).sum(axis=1)
    found = {
        "accuracy": float(np.average(~answers.wrong, weights=answers.weights)),
        "log_loss": float(np.average(row_losses(*rows[:2]), weights=known.weights)),
        "brier_score": float(np.average(squares, weights=known.weights)),
        "ece": calibration_error(*rows),
        "auc": auc(*rows),
        "balanced_accuracy": float(np.mean(_recalls(known))),
    }
    if known.costs is not None:
        paid = np.array(known.costs)[known.codes, known.chosen]
        found["cost"] = float(np.average(paid, weights=known.weights))
    return found


def figures_of(answers: Answers) -> dict[str, Any]:
    """Give which rows were answered and all figures, each with its interval and a baseline."""
    weights = answers.weights
    return {
        "rows": answers.origin,
        "n_rows": len(weights),
        "total_weight": float(weights.sum()),
        "figures": {
            one.key: {
                part: value if math.isfinite(value := getattr(one, part)) else None
                for part in ("value", "low", "high", "baseline")
            }
            for one in measures(answers)
        },
    }


def effective_number(weights: FloatArray) -> float:
    """Give the number of rows of equal weight that say as much (Kish)."""
    total = float(np.square(weights).sum())
    return float(weights.sum()) ** 2 / total if total else 0.0


def share_interval(share: float, weights: FloatArray) -> tuple[float, float]:
    """Give the interval of a weighted share of rows."""
    n = effective_number(weights)
    low, high = clopper_pearson(share * n, n)
    return float(low), float(high)


def _of_classes(answers: ClassAnswers) -> list[Measure]:
    right = float(np.average(~answers.wrong, weights=answers.weights))
    known = answers.select_known()
    rows = (known.codes, known.probabilities, known.weights)
    shares = np.bincount(known.codes, known.weights, len(known.names)) / known.weights.sum()
    some = shares[shares > 0]
    losses = row_losses(known.codes, known.probabilities)
    hit = known.codes[:, None] == np.arange(len(known.names))
    squares = np.square(known.probabilities - hit).sum(axis=1)
    figures = [
        Measure(
            "Accuracy",
            right,
            *share_interval(right, answers.weights),
            float(shares.max()),
            "higher",
            "share of rows whose predicted class is right",
        ),
        Measure(
            "Log-loss",
            *_mean(losses, known.weights),
            float(-(some * np.log(some)).sum()),
            "lower",
            "mean of -log of the probability of the true class",
        ),
        Measure(
            "Brier score",
            *_mean(squares, known.weights),
            float(1.0 - np.square(shares).sum()),
            "lower",
            "mean squared error of the probabilities, summed over classes (0 to 2)",
        ),
    ]
    area = auc(*rows)
    if not math.isnan(area):
        against = "" if len(known.names) == 2 else ", mean of each class against the rest"
        meaning = f"chance that the right one of two rows ranks higher{against}"
        ends = _area_interval(area, known)
        figures.append(Measure("AUC", area, *ends, 0.5, "higher", meaning))
    figures.append(_balanced_accuracy(known))
    if known.costs is not None:
        figures.append(_cost(known, np.array(known.costs)))
    return figures


def _balanced_accuracy(known: ClassAnswers) -> Measure:
    """Give the mean of the recalls of the classes that there are."""
    parts, recalls = [known.codes == k for k in np.unique(known.codes)], _recalls(known)
    sizes = np.array([effective_number(known.weights[part]) for part in parts])
    shrunk = (np.array(recalls) * sizes + 2) / (sizes + 4)
    half = _Z * math.sqrt(float((shrunk * (1 - shrunk) / (sizes + 4)).sum())) / len(parts)
    value, middle = float(np.mean(recalls)), float(shrunk.mean())
    low, high = max(0.0, min(middle - half, value)), min(1.0, max(middle + half, value))
    meaning = "mean over the classes of the share of their rows that are found"
    return Measure("Balanced accuracy", value, low, high, 1 / len(parts), "higher", meaning)


def _recalls(known: ClassAnswers) -> list[float]:
    """Give the share of each class that is found, of the classes that there are."""
    totals = np.bincount(known.codes, known.weights, len(known.names))
    found = np.bincount(known.codes, known.weights * ~known.wrong, len(known.names))
    recalls: list[float] = (found[totals > 0] / totals[totals > 0]).tolist()
    return recalls


def _cost(known: ClassAnswers, costs: FloatArray) -> Measure:
    """Give the mean cost of the decisions; the baseline decides alike for all rows."""
    totals = np.bincount(known.codes, known.weights, len(known.names))
    best = float((totals @ costs).min()) / float(totals.sum())
    mean = _mean(costs[known.codes, known.chosen], known.weights)
    return Measure("Cost", *mean, best, "lower", "mean cost of a decision, by the given costs")


def _of_numbers(answers: NumberAnswers) -> list[Measure]:
    truth, weights = answers.truth, answers.weights
    errors = truth - answers.predicted
    mean = float(np.average(truth, weights=weights))
    around = np.square(truth - mean)
    variance = float(np.average(around, weights=weights))
    mse, mse_low, mse_high = _mean(np.square(errors), weights)
    figures = []
    if variance > 0:
        influence = (mse * around / variance - np.square(errors)) / variance
        half = _Z * _standard_error(influence, weights)
        r2 = 1.0 - mse / variance
        meaning = "share of the variance that is explained; 1 is perfect"
        figures.append(Measure("R2", r2, r2 - half, min(1.0, r2 + half), 0.0, "higher", meaning))
    own = float(np.average(abs(truth - mean), weights=weights))
    absolute = _mean(abs(errors), weights)
    figures.append(Measure("MAE", *absolute, own, "lower", "mean absolute error, in target units"))
    root, low, high, own = (math.sqrt(x) for x in (mse, mse_low, mse_high, variance))
    meaning = "root mean squared error, in target units"
    figures.append(Measure("RMSE", root, low, high, own, "lower", meaning))
    return figures


def _mean(values: FloatArray, weights: FloatArray) -> tuple[float, float, float]:
    """Give a weighted mean of numbers that are not negative, and its interval."""
    mean, n = float(np.average(values, weights=weights)), effective_number(weights)
    variance = float(np.average(np.square(values - mean), weights=weights))
    low, high = mean_interval(mean, variance * n / (n - 1) if n > 1 else math.nan, n)
    return mean, max(0.0, low), high


def _standard_error(influence: FloatArray, weights: FloatArray) -> float:
    """Give the standard error of a statistic from the influence of each row on it."""
    return float(np.sqrt(np.square(weights * influence).sum())) / float(weights.sum())


def _area_interval(area: float, known: ClassAnswers) -> tuple[float, float]:
    n_classes, weights = len(known.names), known.weights
    kinds = [1] if n_classes == 2 else range(n_classes)
    parts = [known.codes == k for k in kinds]
    pairs = [
        _influence(known.probabilities[:, k], positive, weights)
        for k, positive in zip(kinds, parts, strict=True)
        if positive.any() and not positive.all()
    ]
    if not 0.0 < area < 1.0:
        fewest = min(min(p.sum(), (~p).sum()) for p in parts if p.any() and not p.all())
        exact = clopper_pearson(area * fewest, fewest)
        return float(exact[0]), float(exact[1])
    error = _standard_error(np.mean(pairs, axis=0), weights) / (area * (1.0 - area))
    middle = math.log(area / (1.0 - area))
    low, high = (1.0 / (1.0 + math.exp(-(middle + sign * _Z * error))) for sign in (-1, 1))
    return low, high


def _influence(scores: FloatArray, positive: BoolArray, weights: FloatArray) -> FloatArray:
    """Give the influence of each row on the area: its place among the rows of the other kind."""
    _, places = np.unique(scores, return_inverse=True)
    ours = np.bincount(places, weights * positive)
    others = np.bincount(places, weights * ~positive)
    below = (np.cumsum(others) - others / 2) / others.sum()
    above = 1.0 - (np.cumsum(ours) - ours / 2) / ours.sum()
    area = float(ours @ below) / ours.sum()
    share, rest = ours.sum() / weights.sum(), others.sum() / weights.sum()
    found: FloatArray = np.where(
        positive, (below[places] - area) / share, (above[places] - area) / rest
    )
    return found
