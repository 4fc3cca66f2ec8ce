"""Rules as bars: what those of a model say or change on a row; their overlap as a square."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from rulewright.model import Explanation, claim, escape_line, rule_cells, strongest
from rulewright.plots.style import (
    COLOURS,
    GREY,
    alt,
    bar_chart,
    chart_of,
    finish_layers,
    graph_chart,
    label_axis,
    plotted_model,
    wrap_text,
)
from rulewright.report import size_drawings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.explain import RuleOverlap
    from rulewright.kernels import FloatArray

_CELL = 16


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
    found = plotted_model(model, "plot_rules")
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
    graphs = size_drawings(plotted_model(model, "plot_sizes"))
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


def overlap_chart(
    found: RuleOverlap, *, n_rules: int = 30, title: str | None = None
) -> alt.LayerChart:
    """Draw how much each two rules overlap, rules that are alike beside each other.

    Parameters
    ----------
    found : RuleOverlap
        The overlap, of `rule_overlap`.
    n_rules : int
        Rules at most: those that cover most rows.
    title : str, optional
        Title; by default it says what is drawn.
    """
    if len(found) == 0:
        raise ValueError("overlap_chart needs a model with at least one rule")
    shown = np.sort(np.argsort(-found.covered, kind="stable")[:n_rules])
    jaccard = found.jaccard[np.ix_(shown, shown)]
    np.fill_diagonal(jaccard, 1.0)
    if len(shown) > 2:
        tree = linkage(squareform(1.0 - jaccard, checks=False), "average")
        order = leaves_list(tree)
        shown, jaccard = shown[order], jaccard[np.ix_(order, order)]
    ids = [str(i) for i in shown.tolist()]
    texts = [f"IF {found.model.rules[i].body}" for i in shown.tolist()]
    rows = [
        {"a": a, "b": b, "rule a": text, "rule b": other, "jaccard": float(jaccard[i, j])}
        for i, (a, text) in enumerate(zip(ids, texts, strict=True))
        for j, (b, other) in enumerate(zip(ids, texts, strict=True))
    ]
    colour = alt.Color(
        "jaccard:Q",
        title=["Jaccard", "index"],
        scale=alt.Scale(scheme="viridis", domain=[0, 1]),
    )
    axis = alt.Axis(labelOverlap=True, labelAngle=0)
    cells = chart_of(rows).mark_rect()
    cells = cells.encode(
        x=alt.X("a:O", title="rule (its number in the model)", sort=ids, axis=axis),
        y=alt.Y("b:O", title="rule", sort=ids, axis=axis),
        color=colour,
        tooltip=["rule a:N", "rule b:N", alt.Tooltip("jaccard:Q", format=".2f")],
    )
    more = f", the {n_rules} with most rows" if len(found) > n_rules else ""
    title = title or f"Overlap of rules on {found.n_rows} rows{more}"
    return finish_layers(
        [cells], title, _CELL * len(ids), _CELL * len(ids), _in_words(jaccard, ids)
    )


def _in_words(jaccard: FloatArray, ids: Sequence[str]) -> str:
    """Say which two rules overlap most."""
    if len(ids) < 2:
        return "There is one rule."
    first, second = np.triu_indices(len(ids), 1)
    most = int(np.argmax(jaccard[first, second]))
    a, b = first[most], second[most]
    return f"Rules {ids[a]} and {ids[b]} overlap most: their Jaccard index is {jaccard[a, b]:.2f}."
