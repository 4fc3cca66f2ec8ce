"""Curves of answers: ROC, precision against recall, calibration, risk against coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.evidence import count_risk_coverage
from rulewright.report.measurement import effective_number, share_interval

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray
    from rulewright.report.answers import ClassAnswers, Places

MOST_CURVES = 6
"""Classes that are drawn, the most frequent ones."""
_POINTS = 150
_BINS = 10


class Curve(NamedTuple):
    """Points of a curve, with intervals of y and the weight of their rows if there are any."""

    name: str
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    weights: FloatArray | None = None

    def at(self, x: float) -> float:
        """Give y at a place between the points."""
        return float(np.interp(x, self.x, self.y))


def drawn_classes(answers: ClassAnswers) -> list[int]:
    """Give the classes that have curves: of two the second, else the most frequent ones."""
    totals = np.bincount(answers.codes, answers.weights, len(answers.names))
    ranked = [int(k) for k in np.argsort(-totals, kind="stable") if 0 < totals[k] < totals.sum()]
    return [1][: len(ranked)] if len(answers.names) == 2 else ranked[:MOST_CURVES]


def roc_curves(answers: ClassAnswers) -> list[Curve]:
    """Give the share of rows of a class found against the share of other rows taken for it."""
    found = []
    for k in drawn_classes(answers):
        hits, misses = _above(answers, k)
        start = np.zeros(1)
        x, y = (np.append(start, part / part[-1]) for part in (misses, hits))
        found.append(Curve(answers.names[k], *_thin_points(x, y)))
    return found


def precision_curves(answers: ClassAnswers) -> list[Curve]:
    """Give the share of right ones among rows taken for a class against the share found."""
    found = []
    for k in drawn_classes(answers):
        hits, misses = _above(answers, k)
        some = hits + misses > 0
        x, y = hits[some] / hits[-1], hits[some] / (hits + misses)[some]
        x, y = np.append(0.0, x), np.append(y[0], y)  # fewer rows, as precise
        found.append(Curve(answers.names[k], *_thin_points(x, y)))
    return found


def calibration_curve(answers: ClassAnswers) -> Curve:
    """Give the share of rows that are right in bins of like probability, with intervals.

    The probability is that of the second of two classes, of more classes that of the most probable.
    """
    two = len(answers.names) == 2
    chance = answers.probabilities[:, 1] if two else answers.probabilities.max(axis=1)
    right = answers.codes == (1 if two else answers.probabilities.argmax(axis=1))
    edges = np.unique(np.quantile(chance, np.linspace(0, 1, _BINS + 1)[1:-1], method="nearest"))
    bins = np.searchsorted(edges, chance)
    points = []
    for b in np.unique(bins):
        weights = answers.weights[bins == b]
        share = float(np.average(right[bins == b], weights=weights))
        mean = float(np.average(chance[bins == b], weights=weights))
        points.append((mean, share, *share_interval(share, weights), weights.sum()))
    return Curve("", *np.array(points).T)


def risk_curve(answers: ClassAnswers) -> Curve:
    """Give the error among the rows with the most certain answers against their share."""
    certain = answers.probabilities.max(axis=1)
    curve = count_risk_coverage(answers.wrong, certain, answers.weights)
    x, y = curve.coverage[::-1], curve.error[::-1]
    # The error among very few rows says nothing.
    enough = x * effective_number(answers.weights) >= min(20.0, len(certain) / 5)
    return Curve("", *_thin_points(x[enough], y[enough]))


def confusion(answers: ClassAnswers, kept: Places) -> FloatArray:
    """Give the weight of rows by true class (kept ones, others) and predicted class (the same)."""
    places = np.full(len(answers.names) + 1, len(kept))
    places[kept] = np.arange(len(kept))
    truth, found = places[answers.codes], places[answers.chosen]
    table = np.zeros((len(kept) + 1, len(kept) + 1))
    np.add.at(table, (truth, found), answers.weights)
    return table


def _above(answers: ClassAnswers, k: int) -> tuple[FloatArray, FloatArray]:
    """Give the weight of rows of a class, and of others, from each probability of it upwards."""
    values, places = np.unique(-answers.probabilities[:, k], return_inverse=True)
    ours = answers.codes == k
    hits, misses = np.zeros(len(values)), np.zeros(len(values))
    np.add.at(hits, places, answers.weights * ours)
    np.add.at(misses, places, answers.weights * ~ours)
    return np.cumsum(hits), np.cumsum(misses)


def _thin_points(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    if len(x) > _POINTS:
        kept = np.unique(np.linspace(0, len(x) - 1, _POINTS).round().astype(np.intp))
        x, y = x[kept], y[kept]
    return x, y
