"""Charts of experiments, in Altair: shown in notebooks and saved as SVG, PNG or HTML."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from rulewright.plots import GREY, alt, chart_of, distinct, finish_layers, save_chart
from rulewright_lab.experiments.labels import place_labels
from rulewright_lab.experiments.rank_diagram import critical_difference_chart

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["critical_difference_chart", "curve_chart", "printed_versus_ours_chart", "save_chart"]

_SIDE = 400
# Lines of few points show them.
_MOST_MARKED = 25


def printed_versus_ours_chart(
    points: Iterable[Mapping[str, Any]],
    measure: str = "error",
    *,
    title: str = "",
    n_labels: int = 8,
) -> alt.LayerChart:
    """Draw our figures over the printed ones, with the diagonal on which both are equal.

    Points are mappings with "set", "printed", "ours" and, if there are several, "learner"; those
    without a figure (None, NaN) are left out. The `n_labels` points farthest from the diagonal are
    labelled with their set if there is room; all have it as a tooltip.
    """
    rows = _rows(points, ("printed", "ours"), ("set", "learner"))
    low, high = _range([row[key] for row in rows for key in ("printed", "ours")])
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    x = alt.X("printed:Q", scale=scale, title=f"{measure}, printed")
    y = alt.Y("ours:Q", scale=scale, title=f"{measure}, ours")
    ends = [{"printed": end, "ours": end} for end in (low, high)]
    dots = distinct(chart_of(rows).mark_point(filled=True, size=45, opacity=0.8), rows, "learner")
    layers = [
        chart_of(ends).mark_line(color=GREY, strokeDash=[4, 3]).encode(x=x, y=y),
        dots.encode(x=x, y=y, tooltip=["set:N", "learner:N", "printed:Q", "ours:Q"]),
    ]
    for align, names in _outliers(rows, low, high, n_labels).items():
        text = chart_of(names).mark_text(
            align=align, baseline="middle", fontSize=11, color="#444444"
        )
        layers.append(text.encode(x=x, y=y, text="set:N"))
    lower, higher = (sum(sign * (r["ours"] - r["printed"]) > 0 for r in rows) for sign in (-1, 1))
    said = f"Our {measure} against the printed one, {len(rows)} points"
    said = f"{said}: ours is lower at {lower} and higher at {higher}. Dashed: equal."
    return finish_layers(layers, title, _SIDE, _SIDE, said)


def curve_chart(
    points: Iterable[Mapping[str, Any]],
    *,
    title: str = "",
    x_title: str = "",
    y_title: str = "",
    log_x: bool = False,
    log_y: bool = False,
) -> alt.LayerChart:
    """Draw a line for each series.

    Points are mappings with "x", "y" and, if there are several, "series"; those that cannot be
    drawn (None, NaN, not positive on a logarithmic axis) are left out.
    """
    rows = _rows(points, ("x", "y"), ("series",))
    rows = [row for row in rows if (row["x"] > 0 or not log_x) and (row["y"] > 0 or not log_y)]
    x = alt.X("x:Q", scale=_scale(log_x), title=x_title, axis=_axis(rows, "x", log_x))
    y = alt.Y("y:Q", scale=_scale(log_y), title=y_title, axis=_axis(rows, "y", log_y))
    marked = len(rows) <= _MOST_MARKED * len({row["series"] for row in rows})
    lines = chart_of(rows).mark_line(point={"size": 25} if marked else False)
    lines = distinct(lines, rows, "series", lines=True)
    layers = [lines.encode(x=x, y=y, tooltip=["series:N", "x:Q", "y:Q"])]
    said = f"{y_title or 'y'} over {x_title or 'x'}. {_ends(rows)}"
    return finish_layers(layers, title, int(1.3 * _SIDE), int(0.75 * _SIDE), said)


def _ends(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say where each series starts and ends."""
    found = []
    for name in dict.fromkeys(row["series"] for row in rows):
        part = sorted((row["x"], row["y"]) for row in rows if row["series"] == name)
        (x, y), (x2, y2) = part[0], part[-1]
        found.append(f"{name or 'The line'} goes from {y:.4g} at {x:.4g} to {y2:.4g} at {x2:.4g}.")
    return " ".join(found)


def _rows(
    points: Iterable[Mapping[str, Any]], numbers: Sequence[str], texts: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the points that can be drawn as plain data: JSON has no NumPy numbers."""
    rows = []
    for point in points:
        row = {key: math.nan if point[key] is None else float(point[key]) for key in numbers}
        if all(map(math.isfinite, row.values())):
            rows.append({**row, **{key: str(point.get(key, "")) for key in texts}})
    return rows


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis, a little beyond the values."""
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    room = 0.04 * (high - low) or 0.04 * abs(high) or 1.0
    return (max(low - room, 0.0) if low >= 0 else low - room), high + room


def _outliers(
    rows: Sequence[Mapping[str, Any]], low: float, high: float, n_labels: int
) -> dict[Literal["left", "center", "right"], list[dict[str, Any]]]:
    """Return the labels of the dots farthest from the diagonal, by alignment."""
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


def _scale(log: bool) -> alt.Scale:
    return alt.Scale(type="log", nice=False) if log else alt.Scale(zero=False)


def _axis(rows: Sequence[Mapping[str, Any]], key: str, log: bool) -> alt.Axis:
    """Return an axis; a logarithmic one has ticks that leave room for their numbers."""
    if not (log and rows):
        return alt.Axis()
    ends = [math.log10(end(row[key] for row in rows)) for end in (min, max)]
    steps = (1, 2, 5) if ends[1] - ends[0] <= 3 else (1,)
    decades = range(math.floor(ends[0]), math.ceil(ends[1]) + 1)
    return alt.Axis(values=[float(f"{step}e{decade}") for decade in decades for step in steps])
