"""Drawings of rates and of survival on rows with known events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.evidence import (
    CountAnswers,
    SurvivalAnswers,
    brier_by_time,
    format_number,
    kaplan_meier,
    lorenz_curve,
    lorenz_gini,
    rate_bands,
)
from rulewright.report.figures import Axis, ChartLine, LineChart, percent_text

if TYPE_CHECKING:
    from rulewright.evidence import NumberAnswers

N_GROUPS = 3
_GROUPS = ("low risk", "middle risk", "high risk")


def event_drawings(answers: NumberAnswers) -> list[LineChart] | None:
    """Return the drawings of counts or of survival; None for plain numbers."""
    if isinstance(answers, CountAnswers):
        return [bands_graph(answers), lorenz_graph(answers)]
    if isinstance(answers, SurvivalAnswers):
        found = [risk_groups_graph(answers)]
        return found if answers.survival is None else [*found, brier_graph(answers)]
    return None


def bands_graph(answers: CountAnswers) -> LineChart:
    """Draw observed over predicted rates, for bands of rows of similar predicted rates."""
    bands = rate_bands(answers)
    predicted, observed, low, high = (
        np.array(values)
        for values in zip(
            *((b.expected / b.exposure, b.events / b.exposure, b.low, b.high) for b in bands),
            strict=True,
        )
    )
    ends = np.array([0.0, max(predicted.max(), observed.max())])
    text = (
        f"Rows with the highest predicted rates have {format_number(float(observed[-1]))} events "
        f"per unit of exposure, those with the lowest {format_number(float(observed[0]))}. "
        "Dashed: rates that equal the predicted ones; bars: 95 % intervals."
    )
    lines = [
        ChartLine("", ends, ends, "reference"),
        ChartLine("", predicted, observed, "points", low, high),
    ]
    x, y = Axis("predicted rate", 0.0), Axis("observed rate", 0.0)
    return LineChart("Observed rates by predicted rate", lines, x, y, text)


def lorenz_graph(answers: CountAnswers) -> LineChart:
    """Draw the share of the events in the exposure with the lowest predicted rates."""
    shares, events = lorenz_curve(answers)
    half = 1 - float(np.interp(0.5, shares, events))
    text = (
        f"The half of the exposure with the highest predicted rates has {percent_text(half)} of "
        f"the events. Gini {lorenz_gini(answers):.3f}. Dashed: without any ranking."
    )
    ends = np.array([0.0, 1.0])
    lines = [ChartLine("", shares, events), ChartLine("", ends, ends, "reference")]
    x = Axis("share of exposure, lowest predicted rates first", 0, 1, percent=True)
    return LineChart("Lorenz curve", lines, x, Axis("share of events", 0, 1, percent=True), text)


def risk_groups_graph(answers: SurvivalAnswers) -> LineChart:
    """Draw the survival of rows of low, middle and high predicted risk (Kaplan-Meier)."""
    risks, weights = answers.predicted, answers.weights
    cuts = np.unique(np.quantile(risks, [1 / N_GROUPS, 1 - 1 / N_GROUPS]))
    group = np.searchsorted(cuts, risks, side="left")
    lines, ends = [], []
    names = _GROUPS if len(np.unique(group)) == N_GROUPS else (_GROUPS[0], _GROUPS[-1])
    for name, value in zip(names, np.unique(group), strict=False):
        curve = kaplan_meier(answers.truth, answers.events, weights * (group == value))
        times = np.concatenate([[0.0], curve.times])
        lines.append(ChartLine(name, times, np.concatenate([[1.0], curve.survival]), "steps"))
        ends.append(float(curve.survival[-1]) if len(curve.survival) else 1.0)
    text = (
        f"Survival at the last event: {percent_text(ends[0])} of rows of low risk, "
        f"{percent_text(ends[-1])} of rows of high risk."
    )
    x, y = Axis("time", 0.0), Axis("survival", 0, 1, percent=True)
    return LineChart("Survival by predicted risk", lines, x, y, text)


def brier_graph(answers: SurvivalAnswers) -> LineChart:
    """Draw the Brier score over time, and that of the Kaplan-Meier curve of all rows."""
    times, own = np.array(answers.times), brier_by_time(answers)
    whole = kaplan_meier(answers.truth, answers.events, answers.weights)
    base = brier_by_time(answers, np.tile(whole.at(times), (len(answers.truth), 1)))
    lines = [ChartLine("model", times, own), ChartLine("Kaplan-Meier", times, base, "reference")]
    text = "Squared error of the predicted survival; dashed: the same survival for every row."
    y = Axis("Brier score", 0.0, float(max(base.max(), own.max(), 0.01) * 1.1))
    return LineChart("Brier score over time", lines, Axis("time"), y, text)
