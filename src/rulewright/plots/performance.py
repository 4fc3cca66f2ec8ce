"""How good a model is on rows with a target, with the measures of reports."""

from __future__ import annotations

from typing import Any

from rulewright.data import DataError
from rulewright.evidence import ClassAnswers, NumberAnswers
from rulewright.plots.style import (
    COLOURS,
    GREY,
    alt,
    chart_of,
    finish_layers,
    graph_chart,
    plotted_model,
    wrapped_title,
)
from rulewright.report import (
    Confusion,
    ask_model,
    calibration_graph,
    confusion_of,
    drawn_classes,
    gain_graph,
    precision_graph,
    predictions_graph,
    read_report_rows,
    residuals_graph,
    risk_graph,
    roc_graph,
    with_positive,
)

_CELL = 56


def plot_roc(
    model: Any, X: Any, y: Any = None, *, sample_weight: Any = None, positive: Any = None
) -> alt.LayerChart:
    """
    Draw the ROC curve: the recall of a class over the false-positive rate.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        A classification model. With two classes the curve of the rarer class is drawn, with
        several classes the curves of the six most frequent.
    X : table
        Rows that the model was not learned from: anything ``read_table`` reads.
    y : array-like or str, optional
        Their classes, or the name of the column of X that holds them; by default the target that
        a Table was read with.
    sample_weight : array-like or str, optional
        Weights of the rows, or the name of their column in X.
    positive : label, optional
        The class of interest, of two; by default the rarer one.
    """
    known = _classes("plot_roc", model, X, y, sample_weight, positive, curves=True)
    return graph_chart(roc_graph(known))


def plot_precision_recall(
    model: Any, X: Any, y: Any = None, *, sample_weight: Any = None, positive: Any = None
) -> alt.LayerChart:
    """Draw precision over recall; parameters as in `plot_roc`."""
    name = "plot_precision_recall"
    known = _classes(name, model, X, y, sample_weight, positive, curves=True)
    return graph_chart(precision_graph(known))


def plot_gain(
    model: Any, X: Any, y: Any = None, *, sample_weight: Any = None, positive: Any = None
) -> alt.LayerChart:
    """Draw the share of a class found over the share of rows; parameters as in `plot_roc`.

    Rows are ranked by the probability of the class, of two: the most probable come first.
    """
    known = _classes("plot_gain", model, X, y, sample_weight, positive, curves=True)
    if known.interest is None:
        raise ValueError("plot_gain needs a model of two classes; plot_roc draws several")
    return graph_chart(gain_graph(known))


def plot_calibration(
    model: Any, X: Any, y: Any = None, *, sample_weight: Any = None, positive: Any = None
) -> alt.LayerChart:
    """Draw observed frequencies over predicted probabilities; parameters as in `plot_roc`."""
    known = _classes("plot_calibration", model, X, y, sample_weight, positive)
    return graph_chart(calibration_graph(known))


def plot_risk_coverage(
    model: Any, X: Any, y: Any = None, *, sample_weight: Any = None
) -> alt.LayerChart:
    """Draw the error of a model that may abstain over the share of rows that it answers.

    The most certain rows are answered first; parameters as in `plot_roc`.
    """
    return graph_chart(risk_graph(_classes("plot_risk_coverage", model, X, y, sample_weight)))


def plot_confusion(
    model: Any, X: Any, y: Any = None, *, sample_weight: Any = None
) -> alt.LayerChart:
    """Draw the confusion matrix; parameters as in `plot_roc`.

    Cells are shaded by their share of the row. With many classes the nine most frequent are shown.
    """
    found = confusion_of(_classes("plot_confusion", model, X, y, sample_weight))
    rows = _cells(found)
    slanted, percents = alt.Axis(labelAngle=-45), alt.Legend(format=".0%")
    x = alt.X("predicted:N", title="predicted class", sort=found.names, axis=slanted)
    shade = alt.Scale(domain=[0, 1], range=["#ffffff", COLOURS[0]], interpolate="rgb")
    colour = alt.Color("share:Q", title="share of the class", scale=shade, legend=percents)
    tooltip = ["true:N", "predicted:N", "rows:Q", alt.Tooltip("share:Q", format=".1%")]
    base = chart_of(rows).encode(x=x, y=alt.Y("true:N", title="true class", sort=found.names))
    ink = alt.condition("datum.share > 0.55", alt.value("white"), alt.value("black"))
    layers = [
        base.mark_rect(stroke=GREY).encode(color=colour, tooltip=tooltip),
        base.mark_text(fontSize=13).encode(text="text:N", color=ink),
    ]
    text = _confusion_text(found)
    size = _CELL * len(found.names)
    return finish_layers(layers, wrapped_title("Confusion matrix", text), size, size, text)


def plot_predictions(
    model: Any, X: Any, y: Any = None, *, sample_weight: Any = None
) -> alt.LayerChart:
    """Draw true over predicted values of a regression model; parameters as in `plot_roc`."""
    return graph_chart(predictions_graph(_numbers("plot_predictions", model, X, y, sample_weight)))


def plot_residuals(
    model: Any, X: Any, y: Any = None, *, sample_weight: Any = None
) -> alt.LayerChart:
    """Draw errors over predicted values of a regression model; parameters as in `plot_roc`."""
    return graph_chart(residuals_graph(_numbers("plot_residuals", model, X, y, sample_weight)))


def _answers(
    what: str, model: Any, X: Any, y: Any, sample_weight: Any
) -> ClassAnswers | NumberAnswers:
    found = plotted_model(model, what)
    rows = read_report_rows(found, X, y, sample_weight)
    if rows.target is None:
        raise DataError(f"{what} needs y: the target, or the name of its column in X.")
    return ask_model(found, rows, "the given rows")


def _classes(
    what: str,
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    positive: Any = None,
    *,
    curves: bool = False,
) -> ClassAnswers:
    """Predict the rows whose class the classifier knows."""
    answers = with_positive(_answers(what, model, X, y, sample_weight), positive)
    if not isinstance(answers, ClassAnswers):
        raise ValueError(
            f"{what} needs a classifier; use plot_predictions or plot_residuals for regression"
        )
    known = answers.select_known()
    if curves and not drawn_classes(known):
        raise DataError(f"{what} needs rows of two classes or more that the model knows.")
    return known


def _numbers(what: str, model: Any, X: Any, y: Any, sample_weight: Any) -> NumberAnswers:
    answers = _answers(what, model, X, y, sample_weight)
    if not isinstance(answers, NumberAnswers):
        raise ValueError(f"{what} needs a regression model; plot_confusion and others draw classes")
    return answers


def _cells(found: Confusion) -> list[dict[str, Any]]:
    """Return the cells of a confusion matrix, with a mark on the diagonal."""
    cells = []
    for i, (name, line) in enumerate(zip(found.names, found.table, strict=True)):
        for j, weight in enumerate(line):
            text = f"{weight:,.6g}" + (" \N{CHECK MARK}" if i == j else "")
            share = weight / sum(line) if any(line) else 0.0
            at = {"true": name, "predicted": found.names[j]}
            cells.append({**at, "rows": weight, "share": share, "text": text})
    return cells


def _confusion_text(found: Confusion) -> str:
    known = zip(found.names, found.recall, strict=True)
    listed = ", ".join(f"{name} {share:.1%}" for name, share in known if share is not None)
    return f"Recall, the share of a class that is found: {listed}. Cells with a check are right."
