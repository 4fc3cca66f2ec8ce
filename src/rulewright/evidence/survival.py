"""How good predicted risks and survival curves are, of times that may be censored."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.evidence.answers import NumberAnswers
from rulewright.evidence.measure import Measure, Z, standard_error

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray

MOST_PAIRS = 4_000_000
"""Pairs of rows that are compared at a time."""

SAME_RISK = 1e-8
"""Risks that differ by no more are tied, as in scikit-survival."""

N_TIMES = 50
"""Times at which the Brier score is integrated."""


@dataclass(frozen=True, eq=False)
class SurvivalAnswers(NumberAnswers):
    """Risks that a model predicts, and survival at some times.

    `truth` are the times, `predicted` the risks: higher means earlier events. `survival` has a line
    for each row and a column for each of `times`.
    """

    events: BoolArray = None  # type: ignore[assignment]
    survival: FloatArray | None = None
    times: tuple[float, ...] = ()


class Curve(NamedTuple):
    """A Kaplan-Meier curve: survival from each time on, its 95 percent interval, rows at risk."""

    times: FloatArray
    survival: FloatArray
    low: FloatArray
    high: FloatArray
    at_risk: FloatArray

    def at(self, times: FloatArray) -> FloatArray:
        """Return the survival at some times."""
        places = np.searchsorted(self.times, times, side="right")
        return np.concatenate([[1.0], self.survival])[places]

    def before(self, times: FloatArray) -> FloatArray:
        """Return the survival just before some times."""
        places = np.searchsorted(self.times, times, side="left")
        return np.concatenate([[1.0], self.survival])[places]


def kaplan_meier(times: FloatArray, events: BoolArray, weights: FloatArray) -> Curve:
    """Estimate the survival curve of rows; its intervals are of log(-log), by Greenwood.

    Rows that are censored at the time of an event are at risk then.
    """
    found, places = np.unique(times[events & (weights > 0)], return_inverse=True)
    died = np.bincount(places, weights[events & (weights > 0)], len(found))
    order = np.argsort(times, kind="stable")
    left = np.concatenate([np.cumsum(weights[order][::-1])[::-1], [0.0]])
    at_risk = left[np.searchsorted(times[order], found, side="left")]
    with np.errstate(divide="ignore", invalid="ignore"):
        survival = np.cumprod(np.maximum(1 - died / at_risk, 0.0))
        greenwood = np.cumsum(died / (at_risk * np.maximum(at_risk - died, 0.0)))
        half = Z * np.sqrt(greenwood) / np.log(survival)
        low, high = survival ** np.exp(-half), survival ** np.exp(half)
    low, high = (np.where(np.isfinite(end), end, survival) for end in (low, high))
    return Curve(found, survival, np.minimum(low, high), np.maximum(low, high), at_risk)


def concordance(
    times: FloatArray, events: BoolArray, risks: FloatArray, weights: FloatArray | None = None
) -> float:
    """Return Harrell's concordance: the share of comparable pairs that risks rank rightly.

    Of a pair the row with the earlier event should have the higher risk; equal risks count half.
    Rows censored at the time of an event are at risk then. NaN if no pair is comparable.
    """
    own = np.ones(len(times)) if weights is None else weights
    right, pairs = _pair_sums(times, events, risks, own)
    total = float(pairs.sum())
    return float(right.sum()) / total if total else math.nan


def _pair_sums(
    times: FloatArray, events: BoolArray, risks: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return for each row the weight of its right pairs, and of all its pairs."""
    right, pairs = np.zeros(len(times)), np.zeros(len(times))
    rows = np.flatnonzero(events & (weights > 0))
    step = max(1, MOST_PAIRS // max(len(times), 1))
    for start in range(0, len(rows), step):
        own = rows[start : start + step]
        later = times[own][:, np.newaxis] < times
        later |= (times[own][:, np.newaxis] == times) & ~events
        gaps = risks[own][:, np.newaxis] - risks
        score = later * ((gaps > SAME_RISK) + 0.5 * (np.abs(gaps) <= SAME_RISK))
        for sums, one in ((pairs, later), (right, score)):
            sums[own] += weights[own] * (one @ weights)
            sums += weights * (weights[own] @ one)
    return right, pairs


def brier_by_time(answers: SurvivalAnswers, other: FloatArray | None = None) -> FloatArray:
    """Return the Brier score at each time, weighted by the inverse probability of censoring.

    `other` is another survival for the rows (lines) and times (columns) of the answers.
    """
    survival = answers.survival if other is None else other
    assert survival is not None
    grid = np.array(answers.times)
    times, events, weights = answers.truth, answers.events, answers.weights
    # Rows with an event at a time are no longer at risk of being censored then.
    ends = np.where(events, times, np.nextafter(times, np.inf))
    censoring = kaplan_meier(ends, ~events, weights)
    own = censoring.before(times)[:, np.newaxis]
    at_grid = censoring.at(np.nextafter(grid, np.inf))
    died = (times[:, np.newaxis] <= grid) & events[:, np.newaxis]
    alive = times[:, np.newaxis] > grid
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(died, survival**2 / own, 0.0)
        errors += np.where(alive, (1 - survival) ** 2 / at_grid, 0.0)
    found: FloatArray = np.average(errors, axis=0, weights=weights)
    return found


def integrate(values: FloatArray, times: tuple[float, ...]) -> float:
    """Average values over time."""
    if len(times) < 2 or times[-1] <= times[0]:
        return float(np.mean(values)) if len(values) else math.nan
    return float(np.trapezoid(values, times) / (times[-1] - times[0]))


def time_grid(times: FloatArray, events: BoolArray, n: int = N_TIMES) -> tuple[float, ...]:
    """Return times between the 5th and the 90th percentile of the times of events."""
    own = times[events]
    if not len(own):
        return ()
    low, high = np.quantile(own, [0.05, 0.9])
    high = min(float(high), float(np.max(times)) * (1 - 1e-9))
    return tuple(np.unique(np.linspace(low, max(low, high), n)).tolist())


def measure_survival(answers: SurvivalAnswers) -> list[Measure]:
    """Return concordance and, where there are curves, the integrated Brier score."""
    weights = answers.weights
    right, pairs = _pair_sums(answers.truth, answers.events, answers.predicted, weights)
    found = []
    if pairs.sum() > 0:
        value = float(right.sum() / pairs.sum())
        influence = (right - value * pairs) / np.where(weights > 0, weights, 1.0)
        half = Z * standard_error(2 * influence * weights.sum() / pairs.sum(), weights)
        text = "share of pairs of rows whose earlier event has the higher risk"
        ends = max(0.0, value - half), min(1.0, value + half)
        found.append(Measure("Concordance", value, *ends, 0.5, "higher", text))
    if answers.survival is not None and answers.times:
        own = integrate(brier_by_time(answers), answers.times)
        whole = kaplan_meier(answers.truth, answers.events, weights).at(np.array(answers.times))
        base = integrate(brier_by_time(answers, np.tile(whole, (len(weights), 1))), answers.times)
        text = "squared error of the survival, averaged over time; baseline: Kaplan-Meier"
        found.append(
            Measure("Integrated Brier score", own, math.nan, math.nan, base, "lower", text, "ibs")
        )
    return found


class LogRank(NamedTuple):
    """A comparison of two groups of rows: expected and observed events of the first."""

    observed: float
    expected: float
    statistic: float
    p_value: float


def log_rank(
    times: FloatArray, events: BoolArray, inside: BoolArray, weights: FloatArray
) -> LogRank:
    """Test whether the hazard of some rows differs from that of the others."""
    from scipy.special import chdtrc  # noqa: PLC0415

    found = np.unique(times[events])
    order = np.argsort(times, kind="stable")

    def at_risk(w: FloatArray) -> FloatArray:
        left = np.concatenate([np.cumsum(w[order][::-1])[::-1], [0.0]])
        return left[np.searchsorted(times[order], found, side="left")]

    def died(w: FloatArray) -> FloatArray:
        places = np.searchsorted(found, times[events])
        return np.bincount(places, w[events], len(found)).astype(np.float64)

    own = weights * inside
    n, d, n1, d1 = at_risk(weights), died(weights), at_risk(own), died(own)
    share = n1 / n
    expected = float((d * share).sum())
    spread = np.divide(n - d, n - 1, where=n > 1, out=np.zeros_like(n))
    variance = float((d * share * (1 - share) * spread).sum())
    observed = float(d1.sum())
    statistic = (observed - expected) ** 2 / variance if variance > 0 else 0.0
    return LogRank(observed, expected, statistic, float(chdtrc(1, statistic)))
