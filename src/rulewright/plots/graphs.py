"""The graphs of reports as Altair charts: the same lines, axes and words."""

from __future__ import annotations

import itertools
import math
import textwrap
from typing import TYPE_CHECKING, Any, Literal

from rulewright.model import RuleModel
from rulewright.plots.late_altair import alt
from rulewright.plots.style import COLOURS, GREY, chart_of, distinct, finish_layers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.report import Axis, ChartLine, LineChart

_WIDTH, _HEIGHT = 420, 300
_LETTERS = 72


def model_of(model: Any, what: str) -> RuleModel:
    """Return the model of a fitted estimator, or the model itself."""
    found = getattr(model, "model_", model)
    if not isinstance(found, RuleModel):
        raise ValueError(
            f"{what} needs a model with rules or a fitted estimator, not {type(model).__name__}"
        )
    return found


def wrapped_title(title: str, text: str) -> alt.TitleParams:
    """Make a title with what a chart shows in words below it."""
    return alt.TitleParams(title, subtitle=textwrap.wrap(text, _LETTERS))


def graph_chart(graph: LineChart) -> alt.LayerChart:
    """Draw a graph."""
    x, y = _channel(alt.X, "x", graph.x), _channel(alt.Y, "y", graph.y)
    lines = [line for line in graph.lines if line.kind in ("line", "steps")]
    others = [line for line in graph.lines if line.kind not in ("line", "steps")]
    # Lines that follow others have the next colours, as in reports.
    colours = itertools.cycle(COLOURS[1:] if lines else COLOURS)
    drawn = [layer for line in others for layer in _marks(line, x, y, colours)]
    if lines:
        drawn.insert(0, _lines(lines, x, y))
    return finish_layers(drawn, wrapped_title(graph.title, graph.text), _WIDTH, _HEIGHT, graph.text)


def _lines(lines: Sequence[ChartLine], x: Any, y: Any) -> alt.Chart:
    rows = [row for line in lines for row in _rows(line)]
    steps: Literal["step-after", "linear"] = "step-after" if lines[0].kind == "steps" else "linear"
    drawn = distinct(chart_of(rows).mark_line(interpolate=steps), rows, "name", lines=True)
    tooltip = ["name:N"] * (len(lines) > 1) + ["x:Q", "y:Q"]
    return drawn.encode(x=x, y=y, order="place:Q", tooltip=tooltip)


def _marks(line: ChartLine, x: Any, y: Any, colours: Any) -> list[alt.Chart]:
    chart = chart_of(_rows(line))
    if line.kind == "reference":
        return [chart.mark_line(color=GREY, strokeDash=[4, 3]).encode(x=x, y=y, order="place:Q")]
    colour, dots = next(colours), line.kind == "dots"
    size, opacity = (18, 0.5) if dots else (60, 1.0)
    mark = chart.mark_point(filled=True, size=size, opacity=opacity, color=colour)
    layers = [mark.encode(x=x, y=y, tooltip=["x:Q", "y:Q"])]
    if line.low is not None and line.high is not None:
        ends = chart.mark_rule(color=colour).encode(x=x, y="low:Q", y2="high:Q")
        layers.insert(0, ends)
    return layers


def _rows(line: ChartLine) -> list[dict[str, Any]]:
    """Give the points of a line that can be drawn, as plain data."""
    numbers = {"x": line.x, "y": line.y, "low": line.low, "high": line.high}
    columns = {key: part.tolist() for key, part in numbers.items() if part is not None}
    rows = [dict(zip(columns, point, strict=True)) for point in zip(*columns.values(), strict=True)]
    return [
        {**row, "name": line.name, "place": place}
        for place, row in enumerate(rows)
        if all(map(math.isfinite, row.values()))
    ]


def _channel(kind: Any, name: str, axis: Axis) -> Any:
    ends = [end for end in (axis.low, axis.high) if end is not None]
    scale = alt.Scale(domain=ends, nice=False) if len(ends) == 2 else alt.Scale(zero=False)
    return kind(
        f"{name}:Q",
        title=axis.title,
        scale=scale,
        axis=alt.Axis(format="~%") if axis.percent else alt.Axis(),
    )
