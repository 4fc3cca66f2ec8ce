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
    Ranking,
    calibration_error,
    count_risk_coverage,
    effective_number,
    figures_of,
    rank_interest,
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
"""Shares of most certain rows whose errors are reported."""


class Curve(NamedTuple):
    """Points of a curve, with intervals of y and the weight of their rows if there are any."""

    name: str
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    weights: FloatArray | None = None

    def at(self, x: float) -> float:
        """Return y at a place between the points."""
        return float(np.interp(x, self.x, self.y))


def drawn_classes(answers: ClassAnswers) -> list[int]:
    """Return the classes with curves: the class of interest, or the most frequent classes."""
    shares = answers.class_shares
    ranked = [int(k) for k in np.argsort(-shares, kind="stable") if 0 < shares[k] < 1]
    place = answers.interest
    return ranked[:MOST_CURVES] if place is None else [place][: len(ranked)]


def roc_curves(answers: ClassAnswers) -> list[Curve]:
    """Return the recall of a class against the false-positive rate."""
    found = []
    for k in drawn_classes(answers):
        ranking = _ranking(answers, k)
        x, y = (np.append(0.0, part) for part in (ranking.false_positive_rate, ranking.recall))
        found.append(Curve(answers.names[k], *_thin_points(x, y)))
    return found


def precision_curves(answers: ClassAnswers) -> list[Curve]:
    """Return the precision of a class against its recall."""
    found = []
    for k in drawn_classes(answers):
        ranking = _ranking(answers, k)
        some = ranking.hits + ranking.alarms > 0
        x, y = ranking.recall[some], ranking.precision[some]
        x, y = np.append(0.0, x), np.append(y[0], y)  # fewer rows, as precise
        found.append(Curve(answers.names[k], *_thin_points(x, y)))
    return found


def gain_curve(answers: ClassAnswers) -> Curve:
    """Return the share of the class of interest found against the share of rows, ranked by it."""
    (k,) = drawn_classes(answers)
    ranking = _ranking(answers, k)
    taken = np.append(0.0, ranking.hits + ranking.alarms)
    x, y = taken / taken[-1], np.append(0.0, ranking.recall)
    return Curve(answers.names[k], *_thin_points(x, y))


def calibration_curve(answers: ClassAnswers) -> Curve:
    """Return observed frequencies in bins of the predicted probability, with intervals.

    The class of interest is used; with several classes, the most probable class of each row.
    """
    place, p = answers.interest, answers.probabilities
    chance = p.max(axis=1) if place is None else p[:, place]
    right = answers.codes == (p.argmax(axis=1) if place is None else place)
    edges = np.unique(np.quantile(chance, np.linspace(0, 1, _BINS + 1)[1:-1], method="nearest"))
    bins = np.searchsorted(edges, chance)
    points = []
    for b in np.unique(bins):
        weights = answers.weights[bins == b]
        share = float(np.average(right[bins == b], weights=weights))
        mean = float(np.average(chance[bins == b], weights=weights))
        groups = None if answers.groups is None else answers.groups[bins == b]
        ends = share_interval(share, weights, groups, right[bins == b])
        points.append((mean, share, *ends, weights.sum()))
    return Curve("", *np.array(points).T)


def risk_curve(answers: ClassAnswers) -> Curve:
    """Return the error among the rows with the most certain answers against their share."""
    certain = answers.probabilities.max(axis=1)
    curve = count_risk_coverage(answers.wrong, certain, answers.weights)
    x, y = curve.coverage[::-1], curve.error[::-1]
    # The error among very few rows says nothing.
    enough = x * effective_number(answers.weights) >= min(20.0, len(certain) / 5)
    return Curve("", *_thin_points(x[enough], y[enough]))


def confusion(answers: ClassAnswers, kept: Places) -> FloatArray:
    """Return the weight of rows by true and predicted class, with the others as one class."""
    places = np.full(len(answers.names) + 1, len(kept))
    places[kept] = np.arange(len(kept))
    truth, found = places[answers.codes], places[answers.chosen]
    table = np.zeros((len(kept) + 1, len(kept) + 1))
    np.add.at(table, (truth, found), answers.weights)
    return table


def _ranking(answers: ClassAnswers, k: int) -> Ranking:
    return Ranking.of(answers.probabilities[:, k], answers.codes == k, answers.weights)


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
    """Count rows by class; beyond `most` classes the rarest are counted together."""
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
    """Return the figures and, of classes, confusion, calibration and risk against coverage.

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
        **_interest(answers.select_known()),
        "confusion": {"classes": found.names, "true_by_predicted": found.table},
        "calibration": _calibration(answers.select_known()),
        "coverage": _coverage(answers.select_known()),
    }


def _interest(known: ClassAnswers) -> dict[str, Any]:
    """Return gain and lift by decile and recall at some precisions for the class of interest."""
    ranking = rank_interest(known)
    if ranking is None:
        return {}
    return {
        "deciles": [one._asdict() for one in ranking.deciles()],
        "recall_at_precision": [one._asdict() for one in ranking.recalls(known.precisions)],
    }


def _calibration(known: ClassAnswers) -> dict[str, Any]:
    curve, place = calibration_curve(known), known.interest
    parts = (curve.x, curve.y, curve.low, curve.high, curve.weights)
    bins = zip(*(part.tolist() for part in parts if part is not None), strict=True)
    keys = ("probability", "share", "low", "high", "weight")
    return {
        "ece": calibration_error(known.codes, known.probabilities, known.weights),
        "of": "the most probable class" if place is None else known.names[place],
        "bins": [dict(zip(keys, one, strict=True)) for one in bins],
    }


def _coverage(known: ClassAnswers) -> list[dict[str, float]]:
    curve = risk_curve(known)
    shown = [share for share in COVERAGES if share >= curve.x[0]]
    return [{"coverage": share, "error": curve.at(share)} for share in shown]
