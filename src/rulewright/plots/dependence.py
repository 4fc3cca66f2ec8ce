"""Charts of partial dependence: step curves, bars for labels, maps of two columns."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import KINDS
from rulewright.explain import Dependence, partial_dependence
from rulewright.plots.style import (
    COLOURS,
    GREY,
    alt,
    chart_of,
    distinct,
    finish_layers,
    style_chart,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.kernels import FloatArray

_WIDTH, _HEIGHT = 440, 280
_SMALL = 230
_RUG = 9
_SEAM = 0.7
_LABEL_STEP = 24
_PER_LINE = 3
"""Charts of classes in one line."""


def plot_dependence(
    model: Any,
    X: Any,
    columns: str | Sequence[str],
    *,
    target: str = "prediction",
    max_points: int | None = 60,
) -> alt.LayerChart | alt.ConcatChart:
    """
    Draw how the mean prediction of additive rules depends on one or two columns.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules or fitted estimator
        The model.
    X : table
        Rows to average over; the values of the columns are taken from them.
    columns : str or two of them
        The columns.
    target : str
        What the numbers of a regression are called, with their unit.
    max_points : int, optional
        Maximum number of values of a numeric column, besides those next to thresholds.
    """
    found = partial_dependence(model, X, columns, max_points=max_points)
    return dependence_chart(found, target=target)


def dependence_chart(
    found: Dependence, *, target: str = "prediction", title: str | None = None
) -> alt.LayerChart | alt.ConcatChart:
    """Draw the mean answer over one or two columns.

    One ordered column is a step curve (a line, if the model has a linear term in it) with the
    deciles of the rows below it; one nominal column is bars from the mean; two columns are a map.
    With two classes the second score minus the first is drawn, with more classes one line, or one
    chart, for each.

    Parameters
    ----------
    found : Dependence
        Mean answers, of `partial_dependence`.
    target : str
        What the numbers of a regression are called.
    title : str, optional
        Title; by default it names the columns.
    """
    scores, values = _scores(found)
    unit = f"mean {score_title(found.names, target)}"
    title = title or f"Partial dependence on {' and '.join(found.columns)}"
    if len(found.columns) == 2:
        return _maps(found, scores, values, unit, title)
    if _is_ordered(found, 0):
        return _lines(found, scores, values, unit, title)
    return _label_bars(found, scores, values, unit, title)


def score_title(names: Sequence[str], target: str) -> str:
    """Describe the y axis: the target, a difference of scores, or the score of a class."""
    if len(names) == 2:
        return f"score of {names[1]} minus score of {names[0]}"
    return target if len(names) == 1 else "score of the class"


def _scores(found: Dependence) -> tuple[list[str], FloatArray]:
    """Return the names and values to draw; with two classes the difference."""
    if len(found.names) == 2:
        return [""], found.values[:, 1:] - found.values[:, :1]
    return list(found.names), found.values


def _is_ordered(found: Dependence, j: int) -> bool:
    return all(isinstance(point[j], float) for point in found.points)


def _lines(
    found: Dependence, scores: Sequence[str], values: FloatArray, unit: str, title: str
) -> alt.LayerChart:
    rows = [
        {"x": x, "y": y, "score": name, "place": place}
        for k, name in enumerate(scores)
        for place, (x, y) in enumerate(_outline(found, values[:, k]))
    ]
    x = _ordered_axis(alt.X, "x", found, 0)
    y = alt.Y("y:Q", title=unit, scale=alt.Scale(zero=False, padding=_RUG + 3))
    lines = distinct(chart_of(rows).mark_line(strokeWidth=2), rows, "score", lines=True)
    tooltip = ["score:N"] * (len(scores) > 1) + [f"x:{_letter(found, 0)}", "y:Q"]
    deciles = [{"x": value} for value in found.spread[0] if math.isfinite(value)]
    rug = chart_of(deciles).mark_rule(color="#444444", strokeWidth=1.2)
    rug = rug.encode(x=x, y=alt.value(_HEIGHT), y2=alt.value(_HEIGHT - _RUG))
    text = alt.TitleParams(title, subtitle="ticks at the bottom: deciles of the rows")
    said = _extremes(found, scores, values, unit)
    return finish_layers(
        [lines.encode(x=x, y=y, order="place:Q", tooltip=tooltip), rug],
        *(text, _WIDTH, _HEIGHT, said),
    )


def _outline(found: Dependence, values: FloatArray) -> list[tuple[float, float]]:
    """Return the corners of a curve: it jumps at thresholds, not between the values that occur."""
    known = [
        (point[0], float(value))
        for point, value in zip(found.points, values, strict=True)
        if math.isfinite(point[0])
    ]
    if found.edges is None:
        return known
    edges, corners = np.array(found.edges), known[:1]
    for (x, y), (next_x, next_y) in pairwise(known):
        jumps = edges[(edges >= x) & (edges <= next_x)]
        if y != next_y and len(jumps):
            corners += [(float(jumps[0]), y), (float(jumps[0]), next_y)]
        corners.append((next_x, next_y))
    return corners


def _label_bars(
    found: Dependence, scores: Sequence[str], values: FloatArray, unit: str, title: str
) -> alt.LayerChart | alt.ConcatChart:
    """Draw bars from the mean over the rows, which is not 0, to the value at each label."""
    shares = np.array(found.spread[0])
    labels = [
        f"{point[0]} ({share:.0%})" for point, share in zip(found.points, shares, strict=True)
    ]
    ends = _pad_values(values)
    text = alt.TitleParams(title, subtitle="in brackets: share of the rows; line: their mean")

    def layers(k: int) -> list[alt.Chart]:
        mean, colour = float(values[:, k] @ shares), COLOURS[k % len(COLOURS)]
        rows = [
            {"label": label, "value": float(value), "mean": mean}
            for label, value in zip(labels, values[:, k], strict=True)
        ]
        x = alt.X("value:Q", title=unit, scale=alt.Scale(domain=ends, nice=False, zero=False))
        y = alt.Y("label:N", title=found.columns[0], sort=labels, axis=alt.Axis(labelLimit=200))
        bars = chart_of(rows).mark_bar(size=14, color=colour)
        line = chart_of([{"value": mean}]).mark_rule(color=GREY, strokeDash=[4, 3])
        tips = chart_of(rows).mark_tick(size=14, thickness=3, opacity=1, color=colour)
        return [
            bars.encode(x=x, x2="mean:Q", y=y, tooltip=["label:N", "value:Q", "mean:Q"]),
            tips.encode(x=x, y=y),  # a bar of no length would not be seen
            line.encode(x=x),
        ]

    height, said = _LABEL_STEP * len(labels), _extremes(found, scores, values, unit)
    if len(scores) == 1:
        return finish_layers(layers(0), text, _WIDTH, height, said)
    return _side_by_side([layers(k) for k in range(len(scores))], scores, text, height, said)


def _maps(
    found: Dependence, scores: Sequence[str], values: FloatArray, unit: str, title: str
) -> alt.LayerChart | alt.ConcatChart:
    """Draw a rectangle around each point, as far as half the way to the next."""
    sides = [_cells(found, j) for j in (0, 1)]
    scale = alt.Scale(scheme="viridis", domain=[float(values.min()), float(values.max())])
    colour = alt.Color("value:Q", title=unit.replace(" minus", "\nminus").split("\n"), scale=scale)

    def layer(k: int) -> alt.Chart:
        rows = [
            {"x": a, "x2": a2, "y": b, "y2": b2, "value": float(value), "at": str(point)}
            for (a, a2), (b, b2), value, point in zip(
                *sides, values[:, k], found.points, strict=True
            )
        ]
        rows = [row for row in rows if all(_drawable(side) for side in row.values())]
        # Rectangles overlap by a part of a pixel, which closes the seams between them.
        cells = chart_of(rows).mark_rect(x2Offset=_SEAM, y2Offset=-_SEAM)
        cells = cells.encode(color=colour, tooltip=["at:N", "value:Q"])
        return _place_cells(_place_cells(cells, found, 0), found, 1)

    said = _extremes(found, scores, values, unit)
    if len(scores) == 1:
        return finish_layers([layer(0)], title, int(1.2 * _HEIGHT), _HEIGHT, said)
    return _side_by_side([[layer(k)] for k in range(len(scores))], scores, title, _SMALL, said)


def _extremes(found: Dependence, scores: Sequence[str], values: FloatArray, unit: str) -> str:
    """Describe where the curve is lowest and highest."""
    said = []
    for k, name in enumerate(scores):
        low, high = int(np.argmin(values[:, k])), int(np.argmax(values[:, k]))
        (a, b), of = (_write_point(found, i) for i in (low, high)), f" of {name}" if name else ""
        ends = f"lowest at {a} ({values[low, k]:.3g}), highest at {b} ({values[high, k]:.3g})"
        said.append(f"The {unit}{of} is {ends}.")
    return " ".join(said)


def _write_point(found: Dependence, i: int) -> str:
    """Write the values of the columns at one point."""
    parts = zip(found.columns, found.points[i], strict=True)
    return " and ".join(f"{name} {_value(found, j, v)}" for j, (name, v) in enumerate(parts))


def _value(found: Dependence, j: int, value: Any) -> str:
    if _letter(found, j) == "T":
        return KINDS[found.kinds[j]].write(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _ordered_axis(channel: Any, axis: str, found: Dependence, j: int) -> Any:
    """Make a numeric axis, or a time axis in UTC."""
    letter, few = _letter(found, j), alt.Axis(tickCount=6)
    scale = alt.Scale(type="utc") if letter == "T" else alt.Scale(zero=False, nice=False)
    return channel(f"{axis}:{letter}", title=found.columns[j], scale=scale, axis=few)


def _letter(found: Dependence, j: int) -> str:
    """Return Altair's letter for the type of an ordered column: a moment or a number."""
    return "T" if found.kinds[j : j + 1] == ("date",) else "Q"


def _place_cells(cells: alt.Chart, found: Dependence, j: int) -> alt.Chart:
    """Put the rectangles on one axis."""
    name, axis = found.columns[j], "xy"[j]
    channel = (alt.X, alt.Y)[j]
    if not _is_ordered(found, j):
        labels = list(dict.fromkeys(point[j] for point in found.points))
        order = labels if j == 0 else labels[::-1]
        at: dict[str, Any] = {axis: channel(f"{axis}:N", title=name, sort=order)}
        return cells.encode(**at)
    ends: dict[str, Any] = {axis: _ordered_axis(channel, axis, found, j), f"{axis}2": f"{axis}2"}
    return cells.encode(**ends)


def _cells(found: Dependence, j: int) -> list[tuple[Any, Any]]:
    """Return the ends of the rectangle of each point on one axis; a label is its own."""
    values = [point[j] for point in found.points]
    if not _is_ordered(found, j):
        return [(value, value) for value in values]
    grid = np.unique(values)
    middle = (grid[1:] + grid[:-1]) / 2
    edges = np.concatenate([grid[:1], middle, grid[-1:]])
    if len(grid) == 1:
        edges = np.array([grid[0] - 0.5, grid[0] + 0.5])
    places = np.searchsorted(grid, values)
    return [(float(edges[i]), float(edges[i + 1])) for i in places]


def _drawable(value: Any) -> bool:
    return isinstance(value, str) or math.isfinite(value)


def _pad_values(values: FloatArray) -> list[float]:
    low, high = float(values.min()), float(values.max())
    room = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return [low - room, high + room]


def _side_by_side(
    charts: Sequence[Sequence[alt.Chart]], names: Sequence[str], title: Any, height: int, said: str
) -> alt.ConcatChart:
    """Arrange the charts of the classes in a row."""
    parts = [
        alt.LayerChart(layer=list(layers)).properties(width=_SMALL, height=height, title=name)
        for layers, name in zip(charts, names, strict=True)
    ]
    chart: alt.ConcatChart = style_chart(alt.concat(*parts, columns=_PER_LINE), title, said)
    return chart
