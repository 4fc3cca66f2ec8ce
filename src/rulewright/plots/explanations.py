"""Charts of explanations: importances, effects on a row, and interactions, as bars."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rulewright.explain import (
    Importance,
    InteractionNull,
    Interactions,
    NullComparison,
    importance,
    interactions,
)
from rulewright.plots.dependence import score_title
from rulewright.plots.style import COLOURS, GREY, alt, bar_chart, chart_of, label_axis, wrap_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.explain import Effects

_H_TITLES = {1: "with all other columns", 2: "of pairs of columns", 3: "of three columns"}


def plot_importance(
    model: Any,
    X: Any = None,
    by: Literal["columns", "terms"] = "columns",
    *,
    n_bars: int = 15,
) -> alt.LayerChart:
    """
    Draw the importance of columns, or of rules and linear terms, in an additive model.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules or fitted estimator
        The model.
    X : table, optional
        Rows to compute the importance on; by default the training rows.
    by : {"columns", "terms"}
        What the bars represent.
    n_bars : int
        Maximum number of bars, most important first.
    """
    return importance_chart(importance(model, X), by, n_bars=n_bars)


def importance_chart(
    found: Importance,
    by: Literal["columns", "terms"] = "columns",
    *,
    n_bars: int = 15,
    title: str | None = None,
) -> alt.LayerChart:
    """Draw the importance of columns, or of rules and linear terms, in percent of the largest.

    Parameters
    ----------
    found : Importance
        Importances, of `importance`.
    by : {"columns", "terms"}
        What the bars represent.
    n_bars : int
        Maximum number of bars, most important first.
    title : str, optional
        Title; by default it says what is drawn.
    """
    if by not in ("columns", "terms"):
        raise ValueError(f"by={by!r} must be 'columns' or 'terms'")
    values = {str(term): float(v) for term, v in zip(found.terms, found.values, strict=True)}
    if by == "columns":
        values = found.by_column()
    largest = max(values.values(), default=0.0) or 1.0
    order = sorted(values, key=lambda name: -values[name])
    rows = [
        {"text": name, "label": wrap_text(name), "value": 100 * values[name] / largest}
        for name in order[:n_bars]
    ]
    x = alt.X("value:Q", title="importance (largest = 100)", scale=alt.Scale(domain=[0, 100]))
    bars = chart_of(rows).mark_bar(color=COLOURS[0], size=14)
    tooltip = [alt.Tooltip("text:N", title=by[:-1]), alt.Tooltip("value:Q", format=".1f")]
    layers = [bars.encode(x=x, y=label_axis(rows), tooltip=tooltip)]
    what = "columns" if by == "columns" else "rules and lines"
    listed = ", ".join(f"{row['text']} {row['value']:.0f}" for row in rows)
    said = f"Importance, the largest is 100: {listed}."
    hidden = _count_left_out(order, n_bars, what)
    return bar_chart(layers, rows, title or f"Importance of {what}", hidden, said)


def effects_chart(
    found: Effects,
    row: int = 0,
    *,
    class_name: str | None = None,
    target: str = "prediction",
    n_bars: int = 12,
    title: str | None = None,
) -> alt.LayerChart:
    """Draw the contributions that move the prediction of a row away from the mean.

    Rules with the same conditions have separate bars; ``model.merged()`` merges them beforehand.

    Parameters
    ----------
    found : Effects
        Effects of terms on rows, of `local_effects`.
    row : int
        The row.
    class_name : str, optional
        The class to explain, of three or more; by default the one with the highest score. With two
        classes, the second score minus the first is explained.
    target : str
        Name of the target, for regression.
    n_bars : int
        Maximum number of bars; the last one sums the remaining terms.
    title : str, optional
        Title; by default it names the row.
    """
    if not -len(found.values) <= row < len(found.values):
        raise ValueError(f"row={row}: there are {len(found.values)} rows, numbered from 0")
    values, mean, called = _one_score(found, row, class_name, target)
    order = np.argsort(-abs(values), kind="stable").tolist()
    order = [i for i in order if values[i]]
    shown = order if len(order) <= n_bars else order[: n_bars - 1]
    rows = [_effect(str(found.terms[i]), values[i], holds=bool(found.holds[row, i])) for i in shown]
    if rest := order[len(shown) :]:
        rows.append(_effect(f"{len(rest)} other terms", float(values[rest].sum()), holds=True))
    answer = mean + float(values.sum())
    text = alt.TitleParams(
        title or f"Row {row}: what each rule and line does",
        subtitle=f"{called}: {answer:.4g} for this row, {mean:.4g} on average",
    )
    listed = "; ".join(f"{row['value']:+.3g} by {row['text']} ({row['rule']})" for row in rows)
    said = f"{text.subtitle}. Effects: {listed or 'none'}."
    return _effect_bars(rows, f"effect on {called}", text, said)


def plot_interactions(
    model: Any, X: Any, columns: Sequence[str] | None = None, *, n_bars: int = 15
) -> alt.LayerChart:
    """
    Draw which pairs of columns interact most in an additive model.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules or fitted estimator
        The model.
    X : table
        Rows to average over.
    columns : sequence of str, optional
        The columns; by default all columns that occur together in a rule.
    n_bars : int
        Maximum number of bars.
    """
    return interaction_chart(interactions(model, X, columns), n_bars=n_bars)


def interaction_chart(
    found: Interactions | InteractionNull,
    n_columns: int = 2,
    *,
    n_bars: int = 15,
    title: str | None = None,
) -> alt.LayerChart:
    """Draw H statistics, with their null distribution if there is one.

    Parameters
    ----------
    found : Interactions or InteractionNull
        H statistics, of `interactions` or `interaction_null`.
    n_columns : {1, 2, 3}
        One column with all others, pairs or triples.
    n_bars : int
        Maximum number of bars: by the largest H, or the largest excess over the null mean.
    title : str, optional
        Title; by default it describes the chart.
    """
    if n_columns not in _H_TITLES:
        raise ValueError(f"n_columns={n_columns} must be 1, 2 or 3")
    rows = [row for row in _statistics(found) if row["n_columns"] == n_columns]
    what = {1: "columns", 2: "pairs", 3: "triples"}[n_columns]
    hidden = _count_left_out(rows, n_bars, what)
    rows = rows[:n_bars]
    y, kinds = label_axis(rows), ["H of the model", "without interactions: mean ± sd"]
    scale = alt.Scale(domain=kinds, range=[COLOURS[0], COLOURS[1]])
    legend = alt.Legend(orient="bottom", direction="horizontal", symbolOpacity=1)
    null = isinstance(found, InteractionNull)
    colour = alt.Color("kind:N", scale=scale, title=None, legend=legend if null else None)
    # The p-values stand beyond the bars.
    end = 1.15 * max((row.get("end", row["h"]) for row in rows), default=0.0) or 1.0
    limits = alt.Scale(domain=[0, end], nice=False)
    x = alt.X("h:Q", title="H (0: additive, 1: interaction only)", scale=limits)
    bars = chart_of([{**row, "kind": kinds[0]} for row in rows]).mark_bar(size=14)
    tooltip = [alt.Tooltip(f"{key}:Q", format=".3f") for key in _figures(rows)]
    layers = [bars.encode(x=x, y=y, color=colour, tooltip=["text:N", *tooltip])]
    if null:
        layers += _null_marks([{**row, "kind": kinds[1]} for row in rows], y, colour)
    listed = "; ".join(f"{row['text']} {row['h']:.3f}{_null_text(row)}" for row in rows)
    said = f"H, from 0 (additive) to 1 (interaction only): {listed or 'none'}."
    return bar_chart(layers, rows, title or f"Interactions {_H_TITLES[n_columns]}", hidden, said)


def _count_left_out(items: Sequence[Any], most: int, what: str) -> str:
    return f"the first {most} of {len(items)} {what}" if len(items) > most else ""


def _one_score(
    found: Effects, row: int, class_name: str | None, target: str
) -> tuple[Any, float, str]:
    """Return the effects on one score, its mean, and its name."""
    values, mean, names = found.values[row], found.mean, found.names
    if len(names) == 2 and class_name is None:
        title = score_title(names, target)
        return values[:, 1] - values[:, 0], float(mean[1] - mean[0]), title
    if class_name is not None and class_name not in names:
        raise ValueError(f"class_name={class_name!r} is not one of {', '.join(names)}")
    best = int(np.argmax(mean + values.sum(axis=0)))
    k = best if class_name is None else names.index(class_name)
    title = target if len(names) == 1 else f"score of {names[k]}"
    return values[:, k], float(mean[k]), title


def _effect(text: str, value: float, *, holds: bool) -> dict[str, Any]:
    says = "applies (or is a line)" if holds else "does not apply"
    kind = "raises" if value > 0 else "lowers"
    return {
        "text": text,
        "label": wrap_text(text),
        "value": float(value),
        "kind": kind,
        "rule": says,
    }


def _effect_bars(rows: list[dict[str, Any]], x_title: str, title: Any, said: str) -> alt.LayerChart:
    scale = alt.Scale(domain=["raises", "lowers"], range=[COLOURS[0], COLOURS[1]])
    faint = alt.Scale(domain=["applies (or is a line)", "does not apply"], range=[1.0, 0.4])
    x, y = alt.X("value:Q", title=x_title), label_axis(rows)
    bars = (
        chart_of(rows)
        .mark_bar(size=14)
        .encode(
            x=x,
            y=y,
            color=alt.Color("kind:N", scale=scale, title="effect"),
            opacity=alt.Opacity("rule:N", scale=faint, title="rule on this row"),
            tooltip=["text:N", "value:Q", "rule:N"],
        )
    )
    zero = chart_of([{"value": 0.0}]).mark_rule(color=GREY).encode(x=x)
    return bar_chart([bars, zero], rows, title, "", said)


def _statistics(found: Interactions | InteractionNull) -> list[dict[str, Any]]:
    """Return the figures of all statistics, largest first."""
    figures: dict[tuple[str, ...], dict[str, Any]]
    if isinstance(found, InteractionNull):
        figures = {names: _null_figures(one) for names, one in found.compare().items()}
    else:
        order = sorted(found.statistics().items(), key=lambda item: -item[1])
        figures = {names: {"h": h} for names, h in order}
    return [
        {
            "text": ", ".join(names),
            "label": ", ".join(names),
            "n_columns": len(names),
            **one,
        }
        for names, one in figures.items()
    ]


def _null_figures(one: NullComparison) -> dict[str, Any]:
    """Return the figures of a statistic and the places of its marks."""
    # JSON has no NaN, the deviation of a single replication.
    figures = {key: value for key, value in one._asdict().items() if not math.isnan(value)}
    sd = figures.get("null_sd", 0.0)
    low, high = max(0.0, one.null_mean - sd), one.null_mean + sd
    marks = {"low": low, "high": high, "end": max(one.h, high), "p": f"p = {one.p_value:.2f}"}
    return figures | marks


def _null_text(row: Mapping[str, Any]) -> str:
    return f" (without interactions {row['null_mean']:.3f}, {row['p']})" if "p" in row else ""


def _figures(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [key for key in ("h", "null_mean", "null_sd", "p_value") if rows and key in rows[0]]


def _null_marks(rows: list[dict[str, Any]], y: alt.Y, colour: alt.Color) -> list[alt.Chart]:
    """Draw the mean of the null distribution, one deviation to each side, and the p-value."""
    base = chart_of(rows)
    marks = [
        base.mark_rule(strokeWidth=3).encode(x="low:Q", x2="high:Q", y=y, color=colour),
        base.mark_tick(thickness=3, size=16, opacity=1).encode(x="null_mean:Q", y=y, color=colour),
    ]
    text = base.mark_text(align="left", baseline="middle", dx=5, fontSize=11, color="#444444")
    return [*marks, text.encode(x="end:Q", y=y, text="p:N")]
