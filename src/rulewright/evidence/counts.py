"""How good predicted rates are: deviance, calibration, ranking, and rates by decile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import xlogy

from rulewright.evidence.answers import NumberAnswers
from rulewright.evidence.measure import Measure, Z, mean_with_interval, standard_error

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray

N_BANDS = 10


@dataclass(frozen=True, eq=False)
class CountAnswers(NumberAnswers):
    """Expected counts of a model, or of the models of a cross-validation.

    `truth` are the counts, `predicted` the expected counts for the exposure of each row.
    """

    exposure: FloatArray = None  # type: ignore[assignment]


class RateBand(NamedTuple):
    """Rows of similar predicted rates: their exposure, events, expected events and interval."""

    exposure: float
    events: float
    expected: float
    low: float
    high: float


def poisson_deviances(truth: FloatArray, expected: FloatArray) -> FloatArray:
    """Return the Poisson deviance of each row."""
    found: FloatArray = 2 * (xlogy(truth, truth / expected) - truth + expected)
    return found


def deviance_explained(answers: CountAnswers) -> float:
    """Return the share of the Poisson deviance that is explained (D2), NaN without any."""
    own, base = (float(answers.weights @ one) for one in _deviances(answers))
    return 1.0 - own / base if base > 0 else math.nan


def measure_counts(answers: CountAnswers) -> list[Measure]:
    """Return the figures of expected counts, with intervals and a baseline."""
    weights, (own, base) = answers.weights, _deviances(answers)
    mean, low, high = mean_with_interval(own, weights)
    before = float(np.average(base, weights=weights))
    found = []
    if before > 0:
        half = Z * standard_error(mean * base / before**2 - own / before, weights)
        d2, text = 1 - mean / before, "share of the Poisson deviance that is explained"
        found.append(Measure("D2", d2, d2 - half, min(1.0, d2 + half), 0.0, "higher", text))
    text = "mean Poisson deviance of a row"
    found.append(Measure("Poisson deviance", mean, low, high, before, "lower", text))
    events, expected = weights @ answers.truth, weights @ answers.predicted
    if expected > 0:
        ratio = float(events / expected)
        half = Z * standard_error((answers.truth - ratio * answers.predicted), weights)
        half /= float(expected) / float(weights.sum())
        text = "observed events over expected events; 1 is calibrated"
        found.append(
            Measure(
                "Observed / expected",
                ratio,
                ratio - half,
                ratio + half,
                1.0,
                "near 1",
                text,
                "observed_to_expected",
            )
        )
    text = "how well rows are ranked by their rate (Lorenz curve)"
    found.append(Measure("Gini", lorenz_gini(answers), math.nan, math.nan, 0.0, "higher", text))
    return found


def lorenz_curve(answers: CountAnswers) -> tuple[FloatArray, FloatArray]:
    """Return shares of the exposure, lowest predicted rates first, and of the events in them."""
    order = np.argsort(_rates(answers), kind="stable")
    rates = _rates(answers)[order]
    exposure = np.cumsum((answers.weights * answers.exposure)[order])
    events = np.cumsum((answers.weights * answers.truth)[order])
    ends = np.flatnonzero(np.diff(rates, append=np.inf) > 0)  # rows of equal rates together
    start = np.zeros(1)
    return (
        np.concatenate([start, exposure[ends] / exposure[-1]]),
        np.concatenate([start, events[ends] / max(float(events[-1]), 1e-300)]),
    )


def lorenz_gini(answers: CountAnswers) -> float:
    """Return twice the area between the Lorenz curve and the diagonal."""
    x, y = lorenz_curve(answers)
    return 1.0 - float(np.sum(np.diff(x) * (y[1:] + y[:-1])))


def rate_bands(answers: CountAnswers, n_bands: int = N_BANDS) -> list[RateBand]:
    """Divide the exposure into bands of similar predicted rates, the lowest first."""
    rates = _rates(answers)
    order = np.argsort(rates, kind="stable")
    exposure = np.cumsum((answers.weights * answers.exposure)[order])
    levels = np.minimum((n_bands * exposure / exposure[-1] - 1e-9).astype(int), n_bands - 1)
    # Rows of equal rates share a band.
    first = np.concatenate([[True], np.diff(rates[order]) > 0])
    levels = levels[np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))]
    found = []
    for level in np.unique(levels):
        rows = order[levels == level]
        own = answers.weights[rows]
        total = float(own @ answers.exposure[rows])
        events = float(own @ answers.truth[rows])
        half = Z * math.sqrt(max(events, 1.0)) / total
        rate = events / total
        expected = float(own @ answers.predicted[rows])
        found.append(RateBand(total, events, expected, max(0.0, rate - half), rate + half))
    return found


def _rates(answers: CountAnswers) -> FloatArray:
    """Return predicted rates; those that differ by rounding only are equal."""
    logs = np.log(np.maximum(answers.predicted / answers.exposure, 1e-300))
    return np.asarray(np.exp(np.round(logs, 9)))


def _deviances(answers: CountAnswers) -> tuple[FloatArray, FloatArray]:
    """Return the deviances of the rows, and those of the overall rate."""
    weights, exposure = answers.weights, answers.exposure
    rate = float(weights @ answers.truth) / float(weights @ exposure)
    least = max(rate, 1e-300)
    return (
        poisson_deviances(answers.truth, np.maximum(answers.predicted, 1e-300)),
        poisson_deviances(answers.truth, least * exposure),
    )
