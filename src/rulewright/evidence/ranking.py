"""Rows ranked by their probability of a class: ROC, precision and recall, gain and lift, KS.

Rows of equal probability are one step of every curve: between the ends of the step only their order
is unknown, so gain and lift take them in proportion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.kernels import BoolArray, FloatArray

N_GROUPS = 10
"""Deciles."""
PRECISIONS = (0.25, 0.5, 0.75, 0.9)
"""Precisions whose recall is reported."""


class Decile(NamedTuple):
    """One of ten groups of rows of equal weight, the most probable first.

    `found` is the weight of the class in the group, `share` its share there, `lift` that share over
    the share in all rows; `gain` is the share of the class found in this and all groups before.
    """

    group: int
    weight: float
    found: float
    share: float
    lift: float
    gain: float


class RecallAt(NamedTuple):
    """Maximum recall of a class at a precision; `threshold` is None if there is none."""

    precision: float
    recall: float
    threshold: float | None


@dataclass(frozen=True, eq=False)
class Ranking:
    """Rows in falling order of their probability of a class.

    Parameters
    ----------
    values : float array
        The different probabilities, falling.
    hits, alarms : float array
        Weight of the rows of the class, and of the others, down to each probability.
    """

    values: FloatArray
    hits: FloatArray
    alarms: FloatArray

    @classmethod
    def of(cls, chances: FloatArray, is_class: BoolArray, weights: FloatArray) -> Self:
        """Rank rows."""
        values, places = np.unique(-chances, return_inverse=True)

        def sum_down(part: FloatArray) -> FloatArray:
            return np.cumsum(np.bincount(places, part, len(values)), dtype=np.float64)

        return cls(-values, sum_down(weights * is_class), sum_down(weights * ~is_class))

    @property
    def total(self) -> float:
        """Weight of the rows of the class."""
        return float(self.hits[-1])

    @property
    def others(self) -> float:
        """Weight of the other rows."""
        return float(self.alarms[-1])

    @property
    def share(self) -> float:
        """Share of the class in all rows."""
        return self.total / (self.total + self.others)

    @property
    def recall(self) -> FloatArray:
        """Share of the class found, down to each probability."""
        return self.hits / self.total

    @property
    def false_positive_rate(self) -> FloatArray:
        """Share of the other rows taken for the class, down to each probability."""
        return self.alarms / self.others

    @cached_property
    def precision(self) -> FloatArray:
        """Share of the class in the rows down to each probability; NaN before any weight."""
        with np.errstate(invalid="ignore"):
            return self.hits / (self.hits + self.alarms)

    @cached_property
    def auc(self) -> float:
        """Share of pairs in which the row of the class ranks higher; ties count half."""
        steps = np.diff(self.alarms, prepend=0.0)
        above = self.hits - np.diff(self.hits, prepend=0.0) / 2
        return float((steps / self.others) @ (above / self.total))

    @property
    def gini(self) -> float:
        """Twice the area, less 1."""
        return 2.0 * self.auc - 1.0

    @cached_property
    def average_precision(self) -> float:
        """Mean precision at the rows of the class, without interpolation as in scikit-learn."""
        steps = np.diff(self.recall, prepend=0.0)
        return float(steps[steps > 0] @ self.precision[steps > 0])

    @cached_property
    def ks_place(self) -> int:
        """Place of the probability at which recall and false-positive rate differ most."""
        return int(np.argmax(abs(self.recall - self.false_positive_rate)))

    @property
    def ks(self) -> float:
        """Kolmogorov and Smirnov's distance of the probabilities of the class and the others."""
        place = self.ks_place
        return float(abs(self.recall[place] - self.false_positive_rate[place]))

    def gain_at(self, depth: float) -> float:
        """Return the share of the class in the given share of rows, the most probable first."""
        taken = np.append(0.0, self.hits + self.alarms) / (self.total + self.others)
        return float(np.interp(depth, taken, np.append(0.0, self.recall)))

    def deciles(self) -> list[Decile]:
        """Return gain and lift of ten groups of rows of equal weight."""
        gains = [self.gain_at(k / N_GROUPS) for k in range(N_GROUPS + 1)]
        weight = (self.total + self.others) / N_GROUPS
        found = [(after - before) * self.total for before, after in pairwise(gains)]
        return [
            Decile(k + 1, weight, own, own / weight, own / weight / self.share, gains[k + 1])
            for k, own in enumerate(found)
        ]

    def recall_at(self, precision: float) -> RecallAt:
        """Return the largest recall of the thresholds with at least a precision."""
        enough = np.flatnonzero(self.precision >= precision)
        if not len(enough) or self.hits[enough[-1]] == 0:
            return RecallAt(precision, 0.0, None)
        last = int(enough[-1])
        return RecallAt(precision, float(self.recall[last]), float(self.values[last]))

    def recalls(self, precisions: Sequence[float] = ()) -> list[RecallAt]:
        """Return the recall at precisions; by default at some above the share of the class."""
        chosen = precisions or [precision for precision in PRECISIONS if precision > self.share]
        return [self.recall_at(precision) for precision in chosen]


def boyd_interval(average_precision: float, n: float) -> tuple[float, float]:
    """Return the 95 % interval of an average precision with `n` rows of the class.

    The logit interval of Boyd, Eng and Page (2013); (NaN, NaN) where it does not exist.
    """
    if not 0.0 < average_precision < 1.0 or n <= 0:
        return math.nan, math.nan
    middle = math.log(average_precision / (1.0 - average_precision))
    half = 1.959963984540054 / math.sqrt(n * average_precision * (1.0 - average_precision))
    low, high = (0.5 + 0.5 * math.tanh(end / 2.0) for end in (middle - half, middle + half))
    return low, high
