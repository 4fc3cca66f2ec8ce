"""Curves of answers: ROC, precision against recall, calibration, risk against coverage.

With the confusion of classes and all figures they are an evaluation, as plain data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.evidence import (
    Answers,
    ClassAnswers,
    calibration_error,
    count_risk_coverage,
    effective_number,
    figures_of,
    share_interval,
)
from rulewright.html import cut_line

if TYPE_CHECKING:
    from rulewright.evidence import Places
    from rulewright.kernels import FloatArray

MOST_CURVES = 6
"""Classes that are drawn, the most frequent ones."""
_POINTS = 150
_BINS = 10
SHOWN_CLASSES = 10
_SHOWN_LETTERS = 24
COVERAGES = (0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
"""Shares of rows with the most certain answers whose errors are told."""


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


@dataclass(frozen=True)
class Confusion:
    """Weight of rows by true (first) and by predicted class; the last may stand for all others.

    Recall, precision and F1 are None where they are not defined.
    """

    names: list[str]
    table: list[list[float]]
    recall: list[float | None]
    precision: list[float | None]
    f1: list[float | None]

    @property
    def support(self) -> list[float]:
        """Weight of the rows of each class."""
        return [sum(row) for row in self.table]


def confusion_of(answers: ClassAnswers, most: int = SHOWN_CLASSES) -> Confusion:
    """Count rows by class; of more than `most` classes the rarest are counted together."""
    totals = np.bincount(answers.codes + 1, answers.weights, len(answers.names) + 1)[1:]
    ranked = np.argsort(-totals, kind="stable")
    kept = np.sort(ranked[: most - 1] if len(ranked) > most else ranked)
    table = confusion(answers, kept)
    others = bool(table[-1].any() or table[:, -1].any())
    size = len(kept) + others
    names = [cut_line(answers.names[k], _SHOWN_LETTERS) for k in kept] + ["other classes"] * others
    table = table[:size, :size]
    right, of_row, of_column = np.diag(table), table.sum(axis=1), table.sum(axis=0)
    return Confusion(
        names,
        table.tolist(),
        _shares(right, of_row, len(kept)),
        _shares(right, of_column, len(kept)),
        _shares(2 * right, of_row + of_column, len(kept)),
    )


def _shares(part: FloatArray, whole: FloatArray, n_kept: int) -> list[float | None]:
    """Divide; what stands for other classes has no share, because they are many."""
    return [
        float(part[i] / whole[i]) if whole[i] and i < n_kept else None for i in range(len(part))
    ]


def evaluation(answers: Answers) -> dict[str, Any]:
    """Give the figures and, of classes, confusion, calibration and risk against coverage.

    With the confusion of classes and all figures they are an evaluation, as plain data.
    """
    if not isinstance(answers, ClassAnswers):
        return figures_of(answers)
    found = confusion_of(answers, len(answers.names))
    rows = zip(found.names, found.support, found.precision, found.recall, found.f1, strict=True)
    keys = ("class", "support", "precision", "recall", "f1")
    return {
        **figures_of(answers),
        "classes": [dict(zip(keys, row, strict=True)) for row in rows],
        "confusion": {"classes": found.names, "true_by_predicted": found.table},
        "calibration": _calibration(answers.select_known()),
        "coverage": _coverage(answers.select_known()),
    }


def _calibration(known: ClassAnswers) -> dict[str, Any]:
    curve, two = calibration_curve(known), len(known.names) == 2
    parts = (curve.x, curve.y, curve.low, curve.high, curve.weights)
    bins = zip(*(part.tolist() for part in parts if part is not None), strict=True)
    keys = ("probability", "share", "low", "high", "weight")
    return {
        "ece": calibration_error(known.codes, known.probabilities, known.weights),
        "of": known.names[1] if two else "the most probable class",
        "bins": [dict(zip(keys, one, strict=True)) for one in bins],
    }


def _coverage(known: ClassAnswers) -> list[dict[str, float]]:
    curve = risk_curve(known)
    shown = [share for share in COVERAGES if share >= curve.x[0]]
    return [{"coverage": share, "error": curve.at(share)} for share in shown]
