"""How good the answers are: figures, charts with what they show in words, the confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rulewright.evidence import Answers, ClassAnswers, Measure, NumberAnswers, measures
from rulewright.html import cut_line
from rulewright.model import write_count
from rulewright.report.curves import (
    Confusion,
    calibration_curve,
    confusion_of,
    drawn_classes,
    precision_curves,
    risk_curve,
    roc_curves,
)
from rulewright.report.figures import Axis, ChartLine, LineChart, percent_text
from rulewright.report.numbers import format_number
from rulewright.trust import certify_held_out

_SHOWN_POINTS = 600


@dataclass(frozen=True)
class Performance:
    """All that is told about how good answers are."""

    origin: str
    n_rows: int
    figures: list[Measure]
    drawings: list[LineChart]
    confusion: Confusion | None = None
    notes: list[str] = field(default_factory=list)


def performance(answers: Answers, *, fresh: bool, target: str = "") -> Performance:
    """Measure answers and draw them.

    With `fresh` rows, which played no part in learning, an exact bound of the error is stated.
    `target` is the name of the numbers.
    """
    if isinstance(answers, ClassAnswers):
        return _of_classes(answers, fresh=fresh)
    drawings = [predictions_graph(answers, target), residuals_graph(answers, target)]
    return Performance(answers.origin, len(answers.truth), measures(answers), drawings)


def _of_classes(answers: ClassAnswers, *, fresh: bool) -> Performance:
    known = answers.select_known()
    drawings = [calibration_graph(known), risk_graph(known)]
    if drawn_classes(known):
        drawings = [roc_graph(known), precision_graph(known), *drawings]
    return Performance(
        answers.origin,
        len(answers.codes),
        measures(answers),
        drawings,
        confusion_of(answers),
        _notes(answers, fresh=fresh),
    )


def _notes(answers: ClassAnswers, *, fresh: bool) -> list[str]:
    notes = []
    abstains = answers.flags.get("abstains")
    if abstains is not None and abstains.any():
        rest = ~abstains
        share = f"the model abstains on {percent_text(float(abstains.mean()))} of the rows"
        wrong = (
            f"; of the others {percent_text(float(answers.wrong[rest].mean()))} are wrong"
            if rest.any()
            else ""
        )
        notes.append(share + wrong + " (the figures here count all rows)")
    if fresh and len(np.unique(answers.weights)) == 1:
        predicted = np.ones(len(answers.codes), dtype=np.bool_)
        bound = certify_held_out(answers.wrong, predicted, 0.05).error
        notes.append(
            f"with 95 % confidence at most {percent_text(bound.value)} of new rows from the same "
            "source are predicted wrongly (exact binomial bound)"
        )
    return notes


def roc_graph(answers: ClassAnswers) -> LineChart:
    """Draw the share of a class found over the share of other rows taken for it."""
    curves = roc_curves(answers)
    lines = [ChartLine("" if len(curves) == 1 else c.name, c.x, c.y) for c in curves]
    chance = ChartLine("", np.array([0.0, 1.0]), np.array([0.0, 1.0]), "reference")
    at = [f"{percent_text(c.at(0.1))} of {cut_line(c.name, 24)}" for c in curves]
    text = f"Where 10 % of other rows are taken for it, the model finds {', '.join(at)}."
    x = Axis("share of other rows taken for the class", 0, 1, percent=True)
    y = Axis("share of the class found", 0, 1, percent=True)
    return LineChart("ROC curve", [*lines, chance], x, y, f"{text} Dashed: guessing.")


def precision_graph(answers: ClassAnswers) -> LineChart:
    """Draw precision over recall."""
    curves = precision_curves(answers)
    lines = [ChartLine("" if len(curves) == 1 else c.name, c.x, c.y) for c in curves]
    at = [f"{percent_text(c.at(0.5))} for {cut_line(c.name, 24)}" for c in curves]
    text = f"Where half of the rows of a class are found, precision is {', '.join(at)}."
    if len(curves) == 1:
        base = float(np.average(answers.codes == 1, weights=answers.weights))
        level = ChartLine("", np.array([0.0, 1.0]), np.array([base, base]), "reference")
        lines, text = [*lines, level], f"{text} Dashed: guessing ({percent_text(base)})."
    x = Axis("recall: share of the class found", 0, 1, percent=True)
    y = Axis("precision: share that is right", 0, 1, percent=True)
    return LineChart("Precision and recall", lines, x, y, text)


def calibration_graph(answers: ClassAnswers) -> LineChart:
    """Draw how often something is so over how probable the model says it is."""
    curve, two = calibration_curve(answers), len(answers.names) == 2
    of = f"of {cut_line(answers.names[1], 18)}" if two else "of the most probable class"
    gaps = abs(curve.x - curve.y)
    worst = int(np.argmax(gaps))
    said, seen = percent_text(curve.x[worst]), percent_text(curve.y[worst])
    text = (
        f"{write_count(len(curve.x), 'group')} of rows by their probability {of}: "
        f"where the model says "
        f"{said}, {seen} are so (the largest gap). Bars are 95 % intervals; a calibrated model is "
        "on the dashed line."
    )
    line = ChartLine("", curve.x, curve.y, "points", curve.low, curve.high)
    right = ChartLine("", np.array([0.0, 1.0]), np.array([0.0, 1.0]), "reference")
    x = Axis(f"mean probability {of}", 0, 1, percent=True)
    y = Axis("share of rows where it is so", 0, 1, percent=True)
    return LineChart("Calibration", [right, line], x, y, text)


def risk_graph(answers: ClassAnswers) -> LineChart:
    """Draw the error over the share of rows that are answered, the most certain first."""
    curve = risk_curve(answers)
    all_rows, half = percent_text(curve.y[-1]), percent_text(curve.at(0.5))
    text = (
        f"All rows: {all_rows} wrong. The half with the most certain answers: {half} wrong. "
        "A model that may abstain trades coverage for errors."
    )
    x = Axis("share of rows answered, the most certain first", 0, 1, percent=True)
    y = Axis("share of wrong answers", 0, float(max(curve.y.max() * 1.15, 0.02)), percent=True)
    return LineChart(
        "Errors if the model may abstain", [ChartLine("", curve.x, curve.y)], x, y, text
    )


def _select_points(answers: NumberAnswers) -> tuple[np.ndarray, np.ndarray]:
    rows = np.linspace(0, len(answers.truth) - 1, min(len(answers.truth), _SHOWN_POINTS))
    places = rows.astype(np.intp)
    return answers.predicted[places], answers.truth[places]


def predictions_graph(answers: NumberAnswers, target: str = "") -> LineChart:
    """Draw true over predicted numbers."""
    predicted, truth = _select_points(answers)
    ends = np.array([min(predicted.min(), truth.min()), max(predicted.max(), truth.max())])
    correlation = 0.0
    if np.ptp(answers.predicted) > 0 and np.ptp(answers.truth) > 0:
        correlation = float(np.corrcoef(answers.predicted, answers.truth)[0, 1])
    text = f"Correlation {correlation:.2f}. Dashed: predictions that equal the true value."
    lines = [ChartLine("", ends, ends, "reference"), ChartLine("", predicted, truth, "dots")]
    name = _axis_name(target)
    x, y = Axis(f"predicted {name}"), Axis(f"true {name}")
    return LineChart("Predicted and true values", lines, x, y, text)


def _axis_name(target: str) -> str:
    return cut_line(target, 22) if target else "value"


def residuals_graph(answers: NumberAnswers, target: str = "") -> LineChart:
    """Draw errors over predicted numbers."""
    predicted, truth = _select_points(answers)
    errors = answers.truth - answers.predicted
    low, high = np.quantile(errors, [0.05, 0.95])
    ends_text = f"{format_number(low)} and {format_number(high)}"
    text = f"Nine of ten errors are between {ends_text}. Dashed: no error."
    ends = np.array([predicted.min(), predicted.max()])
    zero = ChartLine("", ends, np.zeros(2), "reference")
    lines = [zero, ChartLine("", predicted, truth - predicted, "dots")]
    x, y = Axis(f"predicted {_axis_name(target)}"), Axis("true minus predicted value")
    return LineChart("Residuals", lines, x, y, text)
