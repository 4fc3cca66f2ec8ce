"""How well a model predicts: figures, charts with captions, confusion, deciles, thresholds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rulewright.data import draw_one_each
from rulewright.evidence import (
    Answers,
    ClassAnswers,
    Decile,
    Measure,
    NumberAnswers,
    RecallAt,
    format_number,
    measures,
    rank_interest,
)
from rulewright.html import cut_line
from rulewright.model import write_count
from rulewright.report.curves import (
    Confusion,
    Curve,
    calibration_curve,
    confusion_of,
    drawn_classes,
    gain_curve,
    precision_curves,
    risk_curve,
    roc_curves,
)
from rulewright.report.event_curves import event_drawings
from rulewright.report.figures import Axis, ChartLine, LineChart, percent_text
from rulewright.trust import ThresholdTable, certify_held_out, tabulate_thresholds

_SHOWN_POINTS = 600


@dataclass(frozen=True)
class Interest:
    """How well the class of interest, of two, is ranked and found.

    Parameters
    ----------
    name : str
        The class.
    share : float
        Its share of the rows.
    rule : str
        Why it is the class of interest, as a sentence.
    deciles : list of Decile
        Gain and lift of ten groups of rows, the most probable first.
    facts : list of str
        Gain of the first decile, and recall at chosen precisions, as sentences.
    thresholds : ThresholdTable
        What each threshold finds, misses and costs.
    """

    name: str
    share: float
    rule: str
    deciles: list[Decile]
    facts: list[str]
    thresholds: ThresholdTable


@dataclass(frozen=True)
class Performance:
    """The performance section of a report."""

    origin: str
    n_rows: int
    figures: list[Measure]
    drawings: list[LineChart]
    confusion: Confusion | None = None
    interest: Interest | None = None
    notes: list[str] = field(default_factory=list)


def performance(answers: Answers, *, fresh: bool, target: str = "") -> Performance:
    """Measure answers and draw them.

    With `fresh` rows, which played no part in learning, an exact bound of the error is stated.
    `target` is the name of the numbers.
    """
    if isinstance(answers, ClassAnswers):
        return _of_classes(answers, fresh=fresh)
    drawings = event_drawings(answers)
    if drawings is None:
        drawings = [predictions_graph(answers, target), residuals_graph(answers, target)]
    return Performance(answers.origin, len(answers.truth), measures(answers), drawings)


def _of_classes(answers: ClassAnswers, *, fresh: bool) -> Performance:
    known = answers.select_known()
    drawings = [calibration_graph(known), risk_graph(known)]
    if drawn_classes(known):
        gain = [] if known.interest is None else [gain_graph(known)]
        drawings = [roc_graph(known), precision_graph(known), *gain, *drawings]
    return Performance(
        answers.origin,
        len(answers.codes),
        measures(answers),
        drawings,
        confusion_of(answers),
        describe_interest(known),
        _notes(answers, fresh=fresh),
    )


def describe_interest(known: ClassAnswers) -> Interest | None:
    """Describe how the class of interest is found; None without rows of both classes."""
    ranking, place = rank_interest(known), known.interest
    if ranking is None or place is None:
        return None
    name = cut_line(known.names[place], 24)
    named = known.positive is not None and ranking.share > 0.5
    why = "it was named" if named else "the rarer of the two classes"
    share = percent_text(ranking.share)
    rule = f'The class of interest ("positive") is "{name}", {share} of the rows: {why}.'
    deciles, thresholds = ranking.deciles(), tabulate_thresholds(known)
    top = (
        f"The 10 % of rows with the highest probability hold {percent_text(deciles[0].gain)} of "
        f'the "{name}" rows (lift {deciles[0].lift:.2f}).'
    )
    recalls = ranking.recalls(known.precisions)
    reached = [one for one in recalls if one.threshold is not None]
    facts = [top, *(_recall_text(one, name) for one in (*reached, *recalls[len(reached) :][:1]))]
    return Interest(name, ranking.share, rule, deciles, facts, thresholds)


def _recall_text(found: RecallAt, name: str) -> str:
    at = f"at a precision of at least {percent_text(found.precision)}"
    if found.threshold is None:
        return f'No threshold finds "{name}" rows {at}.'
    return (
        f'{at.capitalize()}, the model finds {percent_text(found.recall)} of the "{name}" rows '
        f"(threshold {found.threshold:.3g})."
    )


def _notes(answers: ClassAnswers, *, fresh: bool) -> list[str]:
    notes = []
    if answers.estimates:
        notes.append(
            "the figures are averaged over repeated folds and corrected for the choice of the "
            "size; charts, deciles, thresholds and the confusion matrix show the first repetition"
        )
    abstains = answers.flags.get("abstains")
    if abstains is not None and abstains.any():
        rest = ~abstains
        share = f"the model abstains on {percent_text(float(abstains.mean()))} of the rows"
        wrong = (
            f", and {percent_text(float(answers.wrong[rest].mean()))} of its predictions are wrong"
            if rest.any()
            else ""
        )
        notes.append(share + wrong + " (the figures here count all rows)")
    if fresh and len(np.unique(answers.weights)) == 1:
        drawn = slice(None) if answers.groups is None else draw_one_each(answers.groups)
        errors = answers.wrong[drawn]
        bound = certify_held_out(errors, np.ones(len(errors), dtype=np.bool_), 0.05).error
        notes.append(
            f"with 95 % confidence at most {percent_text(bound.value)} of new rows from the same "
            "source are predicted wrongly (exact binomial bound)"
        )
    return notes


def roc_graph(answers: ClassAnswers) -> LineChart:
    """Draw the recall of a class over the false-positive rate."""
    curves = roc_curves(answers)
    lines = [ChartLine("" if len(curves) == 1 else c.name, c.x, c.y) for c in curves]
    chance = ChartLine("", np.array([0.0, 1.0]), np.array([0.0, 1.0]), "reference")
    text = f"At a false-positive rate of 10 %, the model finds {_at_each(curves, 0.1)}."
    x = Axis("false-positive rate", 0, 1, percent=True)
    y = Axis("recall: share of the class found", 0, 1, percent=True)
    return LineChart("ROC curve", [*lines, chance], x, y, f"{text} Dashed: random ranking.")


def _at_each(curves: list[Curve], x: float) -> str:
    """Write what share of the rows of each class is found at a place."""
    return ", ".join(
        f'{percent_text(c.at(x))} of the "{cut_line(c.name, 24)}" rows' for c in curves
    )


def precision_graph(answers: ClassAnswers) -> LineChart:
    """Draw precision over recall."""
    curves = precision_curves(answers)
    lines = [ChartLine("" if len(curves) == 1 else c.name, c.x, c.y) for c in curves]
    at = ", ".join(f'{percent_text(c.at(0.5))} for "{cut_line(c.name, 24)}"' for c in curves)
    text = f"At a recall of 50 %, precision is {at}."
    if len(curves) == 1:
        base = float(answers.class_shares[drawn_classes(answers)[0]])
        level = ChartLine("", np.array([0.0, 1.0]), np.array([base, base]), "reference")
        lines, text = [*lines, level], f"{text} Dashed: random ranking ({percent_text(base)})."
    x = Axis("recall: share of the class found", 0, 1, percent=True)
    y = Axis("precision", 0, 1, percent=True)
    return LineChart("Precision and recall", lines, x, y, text)


def gain_graph(answers: ClassAnswers) -> LineChart:
    """Draw the share of the class of interest found over the share of rows, ranked by it."""
    curve = gain_curve(answers)
    chance = ChartLine("", np.array([0.0, 1.0]), np.array([0.0, 1.0]), "reference")
    found, name = curve.at(0.1), cut_line(curve.name, 24)
    text = (
        f'The 10 % of rows with the highest probability hold {percent_text(found)} of the "{name}" '
        f"rows. Dashed: random ranking."
    )
    x = Axis("share of rows, the most probable first", 0, 1, percent=True)
    y = Axis("gain: share of the class found", 0, 1, percent=True)
    return LineChart("Gain", [ChartLine("", curve.x, curve.y), chance], x, y, text)


def calibration_graph(answers: ClassAnswers) -> LineChart:
    """Draw observed frequencies over predicted probabilities."""
    curve, place = calibration_curve(answers), answers.interest
    of = "of the most probable class"
    if place is not None:
        of = f"of {cut_line(answers.names[place], 18)}"
    gaps = abs(curve.x - curve.y)
    worst = int(np.argmax(gaps))
    said, seen = percent_text(curve.x[worst]), percent_text(curve.y[worst])
    text = (
        f"{write_count(len(curve.x), 'group')} of rows by their probability {of}. Largest gap: "
        f"predicted {said}, observed {seen}. Bars are 95 % intervals; a calibrated model is on the "
        "dashed line."
    )
    line = ChartLine("", curve.x, curve.y, "points", curve.low, curve.high)
    right = ChartLine("", np.array([0.0, 1.0]), np.array([0.0, 1.0]), "reference")
    x = Axis(f"mean probability {of}", 0, 1, percent=True)
    y = Axis("observed frequency", 0, 1, percent=True)
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
