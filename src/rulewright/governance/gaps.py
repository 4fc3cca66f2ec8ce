"""Rates of a class within groups, and how far groups are apart: differences and ratios."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.evidence import clopper_pearson, effective_number, format_percent
from rulewright.html import cut_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.evidence import ClassAnswers
    from rulewright.kernels import BoolArray, FloatArray

ALPHA = 0.05


class Rate(NamedTuple):
    """Which rows count, as whether each has the property, and their weights."""

    hits: BoolArray
    weights: FloatArray


@dataclass(frozen=True)
class Gap:
    """The two groups that are furthest apart in a rate.

    The intervals hold for all pairs of groups together, with 95 percent.

    Parameters
    ----------
    figure : str
        The rate.
    low_group, high_group : str
        The groups with the smallest and the largest rate.
    difference, difference_low, difference_high : float
        The largest rate minus the smallest, and its interval.
    ratio, ratio_low, ratio_high : float
        The smallest rate over the largest, and its interval.
    """

    figure: str
    low_group: str
    high_group: str
    difference: float
    difference_low: float
    difference_high: float
    ratio: float
    ratio_low: float
    ratio_high: float

    def __str__(self) -> str:
        difference, _, interval = self.range.partition(" ")
        return (
            f"{self.figure}: lowest for {self.low_group}, highest for {self.high_group}; "
            f"difference {difference} percentage points {interval}, "
            f"ratio {self.ratio:.2f} [{self.ratio_low:.2f}, {self.ratio_high:.2f}]"
        )

    @property
    def range(self) -> str:
        """The difference with its interval, in percentage points."""
        parts = (self.difference, self.difference_low, self.difference_high)
        percent = [format_percent(x).removesuffix("\N{NO-BREAK SPACE}%") for x in parts]
        return f"{percent[0]} [{percent[1]}, {percent[2]}]"

    def to_json(self) -> dict[str, Any]:
        """Return the gap as plain data."""
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in vars(self).items()
        }


def rates_of(answers: ClassAnswers, k: int) -> dict[str, Rate]:
    """Return the rates of a class by name: selection rate, recall, false-positive rate."""
    known, name = answers.select_known(), cut_line(answers.names[k], 20)
    chosen, true = known.chosen == k, known.codes == k
    return {
        f"Selection rate of {name}": Rate(chosen, known.weights),
        f"Recall of {name}": Rate(chosen[true], known.weights[true]),
        f"False-positive rate of {name}": Rate(chosen[~true], known.weights[~true]),
    }


def find_gaps(groups: Mapping[str, Mapping[str, Rate]]) -> list[Gap]:
    """Return for each rate the groups that are furthest apart; none of fewer than two groups."""
    if len(groups) < 2:
        return []
    titles = next(iter(groups.values()))
    found = [
        _gap(title, {name: rates[title] for name, rates in groups.items()}) for title in titles
    ]
    return [gap for gap in found if gap is not None]


def _gap(title: str, rates: Mapping[str, Rate]) -> Gap | None:
    known = {name: rate for name, rate in rates.items() if rate.weights.sum() > 0}
    if len(known) < 2:
        return None
    level = ALPHA / math.comb(len(known), 2)
    shares = {name: _share(rate, level) for name, rate in known.items()}
    names = sorted(shares, key=lambda name: shares[name][0])
    low, high = names[0], names[-1]
    difference = difference_interval(shares[high], shares[low])
    return Gap(title, low, high, *difference, *ratio_interval(shares[low], shares[high]))


def _share(rate: Rate, level: float) -> tuple[float, float, float]:
    n = effective_number(rate.weights)
    share = float(np.average(rate.hits, weights=rate.weights))
    low, high = clopper_pearson(share * n, n, level)
    return share, float(low), float(high)


Ends = tuple[float, float, float]
"""A share and the ends of its interval."""


def difference_interval(first: Ends, second: Ends) -> Ends:
    """Return the difference of two shares with an interval, from theirs (Newcombe, 1998)."""
    (p, low, high), (q, least, most) = first, second
    difference = p - q
    below = math.hypot(p - low, most - q)
    above = math.hypot(high - p, q - least)
    return difference, max(-1.0, difference - below), min(1.0, difference + above)


def ratio_interval(first: Ends, second: Ends) -> Ends:
    """Return the ratio of two shares with an interval, from theirs on the scale of logarithms."""
    (p, low, high), (q, least, most) = first, second
    if not q:
        return math.nan, 0.0, math.inf

    def step(upper: float, lower: float) -> float:
        return math.log(upper / lower) if lower > 0 else math.inf

    ratio = p / q
    if not p:
        return 0.0, 0.0, high / least if least > 0 else math.inf
    below = math.hypot(step(p, low), step(most, q))
    above = math.hypot(step(high, p), step(q, least))
    return ratio, ratio * math.exp(-below), ratio * math.exp(above)
