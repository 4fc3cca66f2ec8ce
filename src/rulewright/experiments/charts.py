"""Charts of experiments, in Altair: they show in notebooks and are saved as SVG, PNG or HTML."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import altair as alt

from rulewright.data.writing import replace_file
from rulewright.experiments.labels import place_labels
from rulewright.experiments.rank_diagram import critical_difference_chart

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from altair.typing import ChartType

__all__ = [
    "critical_difference_chart",
    "curve_chart",
    "dot_chart",
    "printed_versus_ours_chart",
    "save_chart",
]

# Okabe and Ito's colours, which the colour-blind can tell apart; shapes and dashes help in print.
_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3], [4, 6], [1, 4]]
_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
_GREY = "#888888"
_SIDE = 400
_ROW = 18
# Lines of few points show them.
_MOST_MARKED = 25
_PNG_SCALE = 2


def printed_versus_ours_chart(
    points: Iterable[Mapping[str, Any]],
    measure: str = "error",
    *,
    title: str = "",
    n_labels: int = 8,
) -> alt.LayerChart:
    """Draw our figures over the printed ones, with the diagonal on which both are the same.

    Parameters
    ----------
    points : iterable of mappings
        Each with "set", "printed", "ours" and, where there are several, "learner". Points without
        a figure (None, NaN) are left out.
    measure : str
        What is measured, with its unit.
    title : str
        Heading.
    n_labels : int
        Number of points farthest from the diagonal that get the name of their set, as far as there
        is room. All have it as a tooltip.
    """
    rows = _rows(points, ("printed", "ours"), ("set", "learner"))
    low, high = _range([row[key] for row in rows for key in ("printed", "ours")])
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    x = alt.X("printed:Q", scale=scale, title=f"{measure}, printed")
    y = alt.Y("ours:Q", scale=scale, title=f"{measure}, ours")
    ends = [{"printed": end, "ours": end} for end in (low, high)]
    dots = _told_apart(_chart(rows).mark_point(filled=True, size=45, opacity=0.8), rows, "learner")
    layers = [
        _chart(ends).mark_line(color=_GREY, strokeDash=[4, 3]).encode(x=x, y=y),
        dots.encode(x=x, y=y, tooltip=["set:N", "learner:N", "printed:Q", "ours:Q"]),
    ]
    for align, names in _outliers(rows, low, high, n_labels).items():
        text = _chart(names).mark_text(align=align, baseline="middle", fontSize=11, color="#444444")
        layers.append(text.encode(x=x, y=y, text="set:N"))
    return _finished(layers, title, _SIDE, _SIDE)


def curve_chart(
    points: Iterable[Mapping[str, Any]],
    *,
    title: str = "",
    x_title: str = "",
    y_title: str = "",
    log_x: bool = False,
    log_y: bool = False,
    reference: float | None = None,
    reference_title: str = "",
) -> alt.LayerChart:
    """Draw a line for each series.

    Parameters
    ----------
    points : iterable of mappings
        Each with "x", "y" and, where there are several, "series"; "spread" draws a band of that
        half-width around the line. Points that cannot be drawn (None, NaN, not positive on a
        logarithmic axis) are left out.
    title, x_title, y_title : str
        Heading, and what the axes measure, with units.
    log_x, log_y : bool
        Logarithmic axes.
    reference : float or None
        Draw a horizontal line here.
    reference_title : str
        Text on that line.
    """
    rows = _rows(points, ("x", "y"), ("series",), optional=("spread",))
    rows = [row for row in rows if (row["x"] > 0 or not log_x) and (row["y"] > 0 or not log_y)]
    x = alt.X("x:Q", scale=_scale(log_x), title=x_title, axis=_axis(rows, "x", log_x))
    y = alt.Y("y:Q", scale=_scale(log_y), title=y_title, axis=_axis(rows, "y", log_y))
    marked = len(rows) <= _MOST_MARKED * len({row["series"] for row in rows})
    lines = _chart(rows).mark_line(point={"size": 25} if marked else False)
    lines = _told_apart(lines, rows, "series", "dash")
    layers = [lines.encode(x=x, y=y, tooltip=["series:N", "x:Q", "y:Q"])]
    if bands := [_band(row, log_y) for row in rows if row.get("spread")]:
        area = _told_apart(_chart(bands).mark_area(opacity=0.2), rows, "series", "colour")
        layers.insert(0, area.encode(x=x, y=alt.Y("low:Q", title=y_title), y2="high:Q"))
    if reference is not None:
        layers += _reference(reference, reference_title, y)
    return _finished(layers, title, int(1.3 * _SIDE), int(0.75 * _SIDE))


def dot_chart(
    points: Iterable[Mapping[str, Any]], measure: str = "error", *, title: str = ""
) -> alt.LayerChart:
    """Draw a line of dots for each data set, a dot for each learner.

    Parameters
    ----------
    points : iterable of mappings
        Each with "set", "learner" and "value"; those without a value (None, NaN) are left out.
    measure : str
        What is measured, with its unit.
    title : str
        Heading.
    """
    rows = _rows(points, ("value",), ("set", "learner"))
    sets = list(dict.fromkeys(row["set"] for row in rows))
    dots = _told_apart(_chart(rows).mark_point(filled=True, size=55, opacity=0.85), rows, "learner")
    dots = dots.encode(
        x=alt.X("value:Q", scale=alt.Scale(zero=False), title=measure),
        y=alt.Y(
            "set:N", sort=sets, title=None, axis=alt.Axis(grid=True, domain=False, ticks=False)
        ),
        tooltip=["set:N", "learner:N", "value:Q"],
    )
    return _finished([dots], title, int(1.3 * _SIDE), _ROW * max(len(sets), 1))


def save_chart(chart: ChartType, path: str | os.PathLike[str]) -> None:
    """Write a chart whole or not at all, as the ending of the path asks: .svg, .png or .html.

    The HTML holds all it needs, so it opens without a network.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind == ".png":
        drawn = io.BytesIO()
        chart.save(drawn, format="png", scale_factor=_PNG_SCALE)
        replace_file(target, drawn.getvalue())
    elif kind in (".svg", ".html"):
        text = io.StringIO()
        if kind == ".svg":
            chart.save(text, format="svg")
        else:
            chart.save(text, format="html", inline=True)
        replace_file(target, text.getvalue().encode())
    else:
        raise ValueError(f"a chart is saved as .svg, .png or .html, not {target.name!r}")


def _rows(
    points: Iterable[Mapping[str, Any]],
    numbers: Sequence[str],
    texts: Sequence[str],
    optional: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Give plain data of the points that can be drawn: NumPy's numbers are none in JSON."""
    rows = []
    for point in points:
        given = [*numbers, *(key for key in optional if point.get(key) is not None)]
        row = {key: math.nan if point[key] is None else float(point[key]) for key in given}
        if all(math.isfinite(row[key]) for key in numbers):
            rows.append({**row, **{key: str(point.get(key, "")) for key in texts}})
    return rows


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Give the ends of an axis, with a little room beyond the values."""
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    room = 0.04 * (high - low) or 0.04 * abs(high) or 1.0
    return (max(low - room, 0.0) if low >= 0 else low - room), high + room


def _outliers(
    rows: Sequence[Mapping[str, Any]], low: float, high: float, n_labels: int
) -> dict[Literal["left", "center", "right"], list[dict[str, Any]]]:
    """Give the names of the dots farthest from the diagonal, by alignment, with their places."""
    pixel = (high - low) / _SIDE

    def place(row: Mapping[str, Any]) -> tuple[float, float]:
        return (row["printed"] - low) / pixel, (high - row["ours"]) / pixel

    far = sorted(rows, key=lambda row: -abs(row["ours"] - row["printed"]))[:n_labels]
    # The diagonal is kept free too.
    taken = [place(row) for row in rows] + [(i, _SIDE - i) for i in range(0, _SIDE, 5)]
    labels = place_labels(taken, [(*place(row), row["set"]) for row in far], _SIDE, _SIDE)
    names: dict[Literal["left", "center", "right"], list[dict[str, Any]]] = {}
    for x, y, text, align in labels:
        spot = {"printed": low + x * pixel, "ours": high - y * pixel, "set": text}
        names.setdefault(align, []).append(spot)
    return names


def _band(row: Mapping[str, Any], log_y: bool) -> dict[str, Any]:
    low = row["y"] - row["spread"]
    # A logarithmic axis has no place for what is not positive.
    low = max(low, row["y"] / 10) if log_y else low
    return {"x": row["x"], "low": low, "high": row["y"] + row["spread"], "series": row["series"]}


def _reference(value: float, text: str, y: alt.Y) -> list[alt.Chart]:
    base = _chart([{"y": float(value), "text": text}]).encode(y=y)
    rule = base.mark_rule(color=_GREY, strokeDash=[4, 3])
    if not text:
        return [rule]
    words = base.mark_text(align="right", baseline="bottom", dx=-4, dy=-2, color=_GREY, fontSize=11)
    return [rule, words.encode(x=alt.value("width"), text="text:N")]


def _chart(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(rows))


def _scale(log: bool) -> alt.Scale:
    return alt.Scale(type="log", nice=False) if log else alt.Scale(zero=False)


def _axis(rows: Sequence[Mapping[str, Any]], key: str, log: bool) -> alt.Axis:
    """Give an axis; on a logarithmic one, ticks that have room for their numbers."""
    if not (log and rows):
        return alt.Axis()
    ends = [math.log10(end(row[key] for row in rows)) for end in (min, max)]
    steps = (1, 2, 5) if ends[1] - ends[0] <= 3 else (1,)
    decades = range(math.floor(ends[0]), math.ceil(ends[1]) + 1)
    return alt.Axis(values=[float(f"{step}e{decade}") for decade in decades for step in steps])


def _told_apart(
    chart: alt.Chart, rows: Sequence[Mapping[str, Any]], key: str, by: str = "shape"
) -> alt.Chart:
    """Draw the kinds of `key` differently, in the order they come; one kind needs no legend.

    They differ in colour, and `by` says in what else: "shape" for points, "dash" for lines,
    "colour" for the bands behind them.
    """
    kinds = list(dict.fromkeys(row[key] for row in rows))
    if len(kinds) < 2:
        return chart.encode(color=alt.value(_COLOURS[0]))

    def scale(looks: Sequence[Any]) -> alt.Scale:
        return alt.Scale(domain=kinds, range=[looks[i % len(looks)] for i in range(len(kinds))])

    # One legend for lines and bands: both must ask for the same.
    legend = (
        alt.Legend()
        if by == "shape"
        else alt.Legend(symbolType="stroke", symbolSize=300, symbolOpacity=1)
    )
    chart = chart.encode(
        color=alt.Color(f"{key}:N", scale=scale(_COLOURS), title=None, legend=legend)
    )
    if by == "shape":
        return chart.encode(shape=alt.Shape(f"{key}:N", scale=scale(_SHAPES), title=None))
    if by == "dash":
        dash = alt.StrokeDash(f"{key}:N", scale=scale(_DASHES), title=None, legend=legend)
        return chart.encode(strokeDash=dash)
    return chart


def _finished(layers: Sequence[alt.Chart], title: str, width: int, height: int) -> alt.LayerChart:
    chart: alt.LayerChart = alt.LayerChart(layer=list(layers))
    chart = chart.properties(width=width, height=height)
    chart = chart.configure_axis(
        labelFontSize=12, titleFontSize=13, titleFontWeight="normal", labelFlush=False
    )
    chart = chart.configure_legend(labelFontSize=12, symbolStrokeWidth=2, labelLimit=0)
    chart = chart.configure_title(fontSize=14, anchor="start")
    return chart.properties(title=title) if title else chart
