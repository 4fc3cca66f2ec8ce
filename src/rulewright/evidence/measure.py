"""A figure with its interval of 95 percent, and intervals of weighted shares and means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.evidence.claims import clopper_pearson, mean_interval
from rulewright.evidence.observations import Observations

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rulewright.data import Groups
    from rulewright.kernels import FloatArray

NONE = "\N{EN DASH}"
"""Stands for a number that is not known."""
Z = 1.959963984540054

BRIER = "brier_score_loss"
"""Key of the Brier score as scikit-learn's function of this name defines it."""
_BRIER_SUM = "Brier score (sum over classes)"
_NAMES = {
    "accuracy": "Accuracy",
    "log_loss": "Log-loss",
    "brier": _BRIER_SUM,  # as older models and records name it
    "brier_score": _BRIER_SUM,
    "ece": "ECE",
    "auc": "AUC",
    "average_precision": "Average precision",
    "recall": "Recall",
    "precision": "Precision",
    "balanced_accuracy": "Balanced accuracy",
    "ks": "KS",
    "gini": "Gini",
    "cost": "Cost",
    "r2": "R2",
    "mae": "MAE",
    "rmse": "RMSE",
    "d2": "D2",
    "pinball_loss": "Pinball loss",
    "share_below": "Share below",
    "concordance": "Concordance",
    "ibs": "Integrated Brier score",
    "poisson_deviance": "Poisson deviance",
    "observed_to_expected": "Observed / expected",
}
_SHARES = frozenset(
    {"accuracy", "auc", "average_precision", "recall", "precision", "balanced_accuracy", "ks"}
)


def name_figure(key: str, n_classes: int = 2, positive: str = "") -> str:
    """Return the name of a figure; recall and precision refer to the class `positive`."""
    if key == BRIER:
        return "Brier score" if n_classes == 2 else _BRIER_SUM
    of = f' of "{positive}"' if positive and key in ("recall", "precision") else ""
    return _NAMES.get(key, key.replace("_", " ")) + of


class Measure(NamedTuple):
    """A measure with its interval, and what the baseline reaches."""

    name: str
    value: float
    low: float
    high: float
    baseline: float
    better: str
    meaning: str
    word: str = ""

    @property
    def key(self) -> str:
        """The name as one word, for plain data."""
        return self.word or self.name.lower().replace(" ", "_").replace("-", "_")

    def text(self, value: float) -> str:
        """Write a value of this figure; values of similar size get the same decimals."""
        known = [x for x in (self.value, self.baseline) if math.isfinite(x)]
        if not math.isfinite(value):
            return NONE
        if max(map(abs, known), default=0.0) < 10:
            return f"{value:.3f}"
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"

    def at(self, value: float) -> Measure:
        """Return the measure with a better estimate; the interval moves along."""
        ends = [end + value - self.value for end in (self.low, self.high)]
        if self.is_share:
            ends = [min(max(end, 0.0), 1.0) for end in ends]
        return self._replace(value=value, low=ends[0], high=ends[1])

    @property
    def is_share(self) -> bool:
        """Whether the figure is between 0 and 1."""
        return self.key in _SHARES


def effective_number(
    weights: FloatArray, groups: Groups | None = None, values: ArrayLike | None = None
) -> float:
    """Return the effective number of rows (Kish).

    Rows of a group count by how alike their values are; without values, groups count.
    """
    if groups is None:
        total = float(np.square(weights).sum())
        return float(weights.sum()) ** 2 / total if total else 0.0
    if not weights.any():
        return 0.0
    rows = Observations(weights, groups)
    parts = [] if values is None else [(slice(None), np.asarray(values, dtype=np.float64))]
    return rows.count(rows.correlate(parts))


def share_interval(
    share: float,
    weights: FloatArray,
    groups: Groups | None = None,
    hits: ArrayLike | None = None,
) -> tuple[float, float]:
    """Return the interval of a weighted share of rows, the hits; rows of groups are correlated."""
    n = effective_number(weights, groups, hits)
    low, high = clopper_pearson(share * n, n)
    return float(low), float(high)


def mean_with_interval(
    values: FloatArray, weights: FloatArray, groups: Groups | None = None
) -> tuple[float, float, float]:
    """Return a weighted mean of nonnegative values, and its interval."""
    mean, n = float(np.average(values, weights=weights)), effective_number(weights, groups, values)
    variance = float(np.average(np.square(values - mean), weights=weights))
    low, high = mean_interval(mean, variance * n / (n - 1) if n > 1 else math.nan, n)
    return mean, max(0.0, low), high


def standard_error(
    influence: FloatArray, weights: FloatArray, groups: Groups | None = None
) -> float:
    """Return the standard error of a statistic from the influence of each row on it."""
    if groups is not None:
        variance = float(np.average(np.square(influence), weights=weights))
        return math.sqrt(variance / max(effective_number(weights, groups, influence), 1e-300))
    return float(np.sqrt(np.square(weights * influence).sum())) / float(weights.sum())
