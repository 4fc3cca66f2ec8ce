"""All that is measured of answers, as plain data: for files, programs and the command line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rulewright.evidence import calibration_error
from rulewright.report.answers import ClassAnswers
from rulewright.report.confusion import confusion_of
from rulewright.report.curves import calibration_curve, risk_curve
from rulewright.report.measurement import measures

if TYPE_CHECKING:
    from rulewright.report.answers import Answers

COVERAGES = (0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
"""Shares of rows with the most certain answers whose errors are told."""


def figures_of(answers: Answers) -> dict[str, Any]:
    """Give which rows were answered and all figures, each with its interval and a baseline."""
    weights = answers.weights
    return {
        "rows": answers.origin,
        "n_rows": len(weights),
        "total_weight": float(weights.sum()),
        "figures": {
            one.key: {
                "value": _none_unless_finite(one.value),
                "low": _none_unless_finite(one.low),
                "high": _none_unless_finite(one.high),
                "baseline": _none_unless_finite(one.baseline),
            }
            for one in measures(answers)
        },
    }


def evaluation(answers: Answers) -> dict[str, Any]:
    """Give the figures and, of classes, confusion, calibration and risk against coverage."""
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


def _none_unless_finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
