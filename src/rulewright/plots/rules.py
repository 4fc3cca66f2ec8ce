"""Rules as bars: which way they move predictions; their overlap as a square."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from rulewright.html import cut_line
from rulewright.model import (
    Explanation,
    RuleModel,
    direction,
    looks,
    rule_cells,
    strongest,
    write_rule,
)
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
    Draw which way each rule moves the prediction, and how far, the strongest rules first.

    With two classes, bars to the right raise the probability of the class of interest, the rarer
    one; with more classes each class has a colour.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        The model, of any form.
    n_bars : int
        Maximum number of rules.
    """
    found = plotted_model(model, "plot_rules")
    names, ids = found.head_names, strongest(found, n_bars)
    keys = {key.look: key.text for key in looks(found, ids, _target_of(found))}
    rows = []
    for i, cells in zip(ids, rule_cells(found, ids), strict=True):
        text, one = f"{found.numbers[i]}: {write_rule(found, i)}", direction(found, found.rules[i])
        row = {"text": text, "label": wrap_text(text), "value": one.amount}
        rows.append({**row, "effect": keys[one.look], **_make_tooltip(cells)})
    unit = found.effect_title if names else f"change of {_target_of(found) or 'the prediction'}"
    listed = "; ".join(f"{row['value']:+.3g} by rule {row['text']}" for row in rows)
    hidden = f"{len(rows)} of {len(found)} rules" if len(found) > len(rows) else ""
    said = f"{unit} of rules: {listed or 'there is none'}."
    return _signed_bars(rows, unit, _title_of(found), hidden, said, keys)


def _target_of(model: RuleModel) -> str:
    target = model.summary.get("target")
    return cut_line(target) if isinstance(target, str) else ""


def _title_of(model: RuleModel) -> str:
    """Describe the rules of a model in words."""
    of = _target_of(model)
    if not model.head_names:
        return f"How each rule changes {of or 'the prediction'}"
    return f"Which way each rule moves the prediction{f' of {of}' if of else ''}"


def plot_explanation(explanation: Explanation, row: int = 0, *, n_bars: int = 12) -> alt.LayerChart:
    """
    Draw what each reason changes on one row: the probability of the prediction, or the number.

    Parameters
    ----------
    explanation : Explanation
        What ``model.explain(X)`` or ``est.explain(X)`` returns, of additive rules, rule sets,
        votes or regression rules.
    row : int
        The row.
    n_bars : int
        Maximum number of reasons; the others are one bar.
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
    unit = f"change of {titles.change if titles.change else 'the prediction'}"
    listed = "; ".join(f"{one['value']:+.3g} by {one['text']}" for one in rows)
    start = f"start: {reasons[0].change or reasons[0].amount}"
    said = f"{start.capitalize()}. Changes, one after the other: {listed or 'no rule applies'}."
    return _signed_bars(rows, unit, f"Row {row}: {answer}", start, said)


def plot_sizes(model: Any) -> alt.LayerChart:
    """
    Draw the out-of-fold error by number of rules, which chose the size of a model.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        A model of compact rules whose size was chosen by cross-validation, or a compressed one.
    """
    graphs = size_drawings(plotted_model(model, "plot_sizes"))
    if not graphs:
        raise ValueError(
            "plot_sizes: the model does not store its error by size; learn compact rules with "
            'size="cv", or compress a model'
        )
    return graph_chart(graphs[0])


def _make_tooltip(cells: dict[str, str]) -> dict[str, str]:
    """Return the cells of a rule for a tooltip; their titles may hold marks that Altair reads."""
    return {f"c{place}": f"{title}: {text}" for place, (title, text) in enumerate(cells.items())}


def _signed_bars(
    rows: list[dict[str, Any]],
    unit: str,
    title: str,
    subtitle: str,
    said: str,
    keys: dict[int, str] | None = None,
) -> alt.LayerChart:
    """Draw bars to both sides of 0, so that their direction is seen without colours.

    `keys` say what the colours mean, if the rows have an effect.
    """
    for row in rows:
        row.setdefault("effect", "raises" if row["value"] >= 0 else "lowers")
    keys = keys or {0: "raises", 1: "lowers"}
    colours = alt.Scale(domain=[*keys.values()], range=[COLOURS[look] for look in keys])
    legend = alt.Legend(orient="top", direction="vertical", labelLimit=0)
    x, y = alt.X("value:Q", title=unit, axis=alt.Axis(tickCount=6)), label_axis(rows)
    told = [key for key in (rows[0] if rows else ()) if key[1:].isdigit()]
    bars = chart_of(rows).mark_bar(size=14)
    bars = bars.encode(
        x=x,
        y=y,
        color=alt.Color("effect:N", scale=colours, title=None, legend=legend),
        tooltip=["text:N", "value:Q", *(f"{key}:N" for key in told)],
    )
    zero = chart_of([{"value": 0.0}]).mark_rule(color=GREY).encode(x=x)
    return bar_chart([bars, zero], rows, title, subtitle, said)


def overlap_chart(
    found: RuleOverlap, *, n_rules: int = 30, title: str | None = None
) -> alt.LayerChart:
    """Draw how much each two rules overlap, with similar rules next to each other.

    Parameters
    ----------
    found : RuleOverlap
        The overlap, of `rule_overlap`.
    n_rules : int
        Maximum number of rules; the rules with the largest coverage come first.
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
    ids = [str(found.model.numbers[i]) for i in shown.tolist()]
    texts = [str(found.model.rules[i].body) for i in shown.tolist()]
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
        x=alt.X("a:O", title="rule (by number)", sort=ids, axis=axis),
        y=alt.Y("b:O", title="rule", sort=ids, axis=axis),
        color=colour,
        tooltip=["rule a:N", "rule b:N", alt.Tooltip("jaccard:Q", format=".2f")],
    )
    more = f", the {n_rules} that cover most" if len(found) > n_rules else ""
    title = title or f"Overlap of rules on {found.n_rows} rows{more}"
    return finish_layers(
        [cells], title, _CELL * len(ids), _CELL * len(ids), _in_words(jaccard, ids)
    )


def _in_words(jaccard: FloatArray, ids: Sequence[str]) -> str:
    """Describe which two rules overlap most."""
    if len(ids) < 2:
        return "There is one rule."
    first, second = np.triu_indices(len(ids), 1)
    most = int(np.argmax(jaccard[first, second]))
    a, b = first[most], second[most]
    return f"Rules {ids[a]} and {ids[b]} overlap most: their Jaccard index is {jaccard[a, b]:.2f}."
