"""Rules as bars: what those of a model say, and what those of a row change."""

from __future__ import annotations

from typing import Any

from rulewright.model import Explanation, claim, escape_line, rule_cells, strongest
from rulewright.plots.style import (
    COLOURS,
    GREY,
    alt,
    bar_chart,
    chart_of,
    graph_chart,
    label_axis,
    model_of,
    wrap_text,
)
from rulewright.report import size_drawings


def plot_rules(model: Any, *, n_bars: int = 15) -> alt.LayerChart:
    """
    Draw what the rules to read first say: the points, votes or probabilities that they come to.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        The model, of any form.
    n_bars : int
        Rules at most.
    """
    found = model_of(model, "plot_rules")
    names, ids = [escape_line(name) for name in found.head_names], strongest(found, n_bars)
    rows = []
    for i, cells in zip(ids, rule_cells(found, ids), strict=True):
        text = f"{i}: {claim(found.rules[i], names)}"
        value = float(found.rules[i].outcome.value)
        rows.append(
            {"text": text, "label": wrap_text(text), "value": value, **_make_tooltip(cells)}
        )
    unit = found.effect_title if names else "adds (units of the target)"
    listed = "; ".join(f"{row['value']:+.3g} by rule {row['text']}" for row in rows)
    hidden = f"{len(rows)} of {len(found)} rules" if len(found) > len(rows) else ""
    said = f"{unit} of rules: {listed or 'there is none'}."
    return _signed_bars(rows, unit, f"Rules of {type(found).__name__}", hidden, said)


def plot_explanation(explanation: Explanation, row: int = 0, *, n_bars: int = 12) -> alt.LayerChart:
    """
    Draw what each reason changes on one row: the probability of the answer, or the number.

    Parameters
    ----------
    explanation : Explanation
        What ``model.explain(X)`` or ``est.explain(X)`` gives, of a form that tells what reasons
        change: additive rules, rule sets, votes and rules of numbers.
    row : int
        The row.
    n_bars : int
        Reasons at most; the others are one bar.
    """
    if not 0 <= row < len(explanation):
        raise ValueError(f"row={row}: there are {len(explanation)} rows, numbered from 0")
    answer = explanation.answer(row)
    titles, *reasons = explanation.reason_table(row, n_bars)
    rows = [
        {"text": one.text, "label": wrap_text(one.text), "value": one.moves, "amount": one.amount}
        for one in reasons
        if one.moves is not None
    ]
    if not rows and len(reasons) > 1:
        raise ValueError(
            "plot_explanation: the reasons of this form have no numbers; print the explanation"
        )
    unit = f"change of {titles.change}" if titles.change else "adds (units of the target)"
    listed = "; ".join(f"{one['value']:+.3g} by {one['text']}" for one in rows)
    start = f"start: {reasons[0].change or reasons[0].amount}"
    said = f"{start.capitalize()}. Changes, one after the other: {listed or 'no rule holds'}."
    return _signed_bars(rows, unit, f"Row {row}: {answer}", start, said)


def plot_sizes(model: Any) -> alt.LayerChart:
    """
    Draw the error on rows left out over the number of rules, which chose the size of a model.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        A model of compact rules whose size was chosen by cross-validation, or a compressed one.
    """
    graphs = size_drawings(model_of(model, "plot_sizes"))
    if not graphs:
        raise ValueError(
            "plot_sizes: the model does not tell its error by size; learn compact rules with "
            'size="cv", or compress a model'
        )
    return graph_chart(graphs[0])


def _make_tooltip(cells: dict[str, str]) -> dict[str, str]:
    """Give the cells of a rule for a tooltip; their titles may hold marks that Altair reads."""
    return {f"c{place}": f"{title}: {text}" for place, (title, text) in enumerate(cells.items())}


def _signed_bars(
    rows: list[dict[str, Any]], unit: str, title: str, subtitle: str, said: str
) -> alt.LayerChart:
    """Draw bars to both sides of 0, so that their direction is seen without colours."""
    for row in rows:
        row["sign"] = "up" if row["value"] >= 0 else "down"
    colours = alt.Scale(domain=["up", "down"], range=COLOURS[:2])
    x, y = alt.X("value:Q", title=unit, axis=alt.Axis(tickCount=6)), label_axis(rows)
    told = [key for key in (rows[0] if rows else ()) if key[1:].isdigit()]
    bars = chart_of(rows).mark_bar(size=14)
    bars = bars.encode(
        x=x,
        y=y,
        color=alt.Color("sign:N", scale=colours, legend=None),
        tooltip=["text:N", "value:Q", *(f"{key}:N" for key in told)],
    )
    zero = chart_of([{"value": 0.0}]).mark_rule(color=GREY).encode(x=x)
    return bar_chart([bars, zero], rows, title, subtitle, said)
