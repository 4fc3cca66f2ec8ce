"""What all charts share: their look, bars with texts as labels, graphs of reports, files.

Altair, an extra, is loaded at its first use: it takes longer to load than all the rest.
"""

from __future__ import annotations

import io
import itertools
import json
import math
import re
import textwrap
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from markupsafe import Markup

from rulewright.data import replace_file
from rulewright.model import RuleModel

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from altair.typing import ChartType

    from rulewright.report import Axis, ChartLine, LineChart


def import_extra(name: str) -> ModuleType:
    """Import a module of the extra ``plots``; the error says how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            f"charts need the package {name!r}: pip install 'rulewright[plots]'"
        ) from error


if TYPE_CHECKING:
    import altair

    alt = altair  # which other modules may import from here
else:

    class _Altair:
        def __getattr__(self, name: str) -> Any:
            return getattr(import_extra("altair"), name)

    alt = _Altair()

Whole = TypeVar("Whole", "alt.LayerChart", "alt.ConcatChart")

# Okabe and Ito's colours, which the colour-blind can distinguish; shapes and dashes help in print.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3], [4, 6], [1, 4]]
_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
GREY = "#888888"
_BAR_WIDTH, _BAR_STEP = 380, 22
_LABEL, _LINE = 370, 52
"""Width of a label, and letters of its line; a text has two lines at most."""
_FORMATS: dict[str, dict[str, Any]] = {
    ".svg": {"format": "svg"},
    ".png": {"format": "png", "scale_factor": 2},
    ".html": {"format": "html", "inline": True},
}
_GRAPH, _LETTERS = (420, 300), 72
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def chart_of(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """Make a chart of plain data, which stay in the chart."""
    return alt.Chart(alt.InlineData(rows))


def distinct(
    chart: alt.Chart, rows: Sequence[Mapping[str, Any]], key: str, *, lines: bool = False
) -> alt.Chart:
    """Draw the values of `key` in different colours, and with different shapes or dashes (lines).

    Values keep the order of the rows; a single value needs no legend.
    """
    kinds = list(dict.fromkeys(row[key] for row in rows))
    if len(kinds) < 2:
        return chart.encode(color=alt.value(COLOURS[0]))

    def scale(looks: Sequence[Any]) -> alt.Scale:
        return alt.Scale(domain=kinds, range=[looks[i % len(looks)] for i in range(len(kinds))])

    if not lines:
        colour = alt.Color(f"{key}:N", scale=scale(COLOURS), title=None, legend=alt.Legend())
        shape = alt.Shape(f"{key}:N", scale=scale(_SHAPES), title=None)
        return chart.encode(color=colour, shape=shape)
    legend = alt.Legend(symbolType="stroke", symbolSize=300, symbolOpacity=1)
    colour = alt.Color(f"{key}:N", scale=scale(COLOURS), title=None, legend=legend)
    dash = alt.StrokeDash(f"{key}:N", scale=scale(_DASHES), title=None, legend=legend)
    return chart.encode(color=colour, strokeDash=dash)


def finish_layers(
    layers: Sequence[alt.Chart], title: Any, width: int, height: int, text: str
) -> alt.LayerChart:
    """Put layers over each other and give the chart its look; a title may be empty."""
    chart = alt.LayerChart(layer=list(layers)).properties(width=width, height=height)
    return style_chart(chart, title, text)


def style_chart(chart: Whole, title: Any, text: str) -> Whole:
    """Style a whole chart, and add a description for screen readers."""
    chart = chart.configure_axis(
        labelFontSize=12, titleFontSize=13, titleFontWeight="normal", labelFlush=False
    )
    chart = chart.configure_legend(labelFontSize=12, symbolStrokeWidth=2, labelLimit=0)
    chart = chart.configure_title(fontSize=14, anchor="start")
    chart = chart.properties(description=describe_chart(title, text))
    styled: Whole = without_tags(chart.properties(title=title) if title else chart)
    return styled


def without_tags(part: Any) -> Any:
    """Return a chart, or a part of it, whose texts hold no tags: Altair writes them into pages.

    Names of columns and labels may come from anywhere. A bracket before a letter, a slash or a
    mark becomes one that only looks like it; `x < 3` stays what it is.
    """
    if isinstance(part, str):
        return _TAG.sub("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", part)
    if isinstance(part, list | tuple):
        return [without_tags(one) for one in part]
    if isinstance(part, dict):
        return {key: without_tags(one) for key, one in part.items()}
    if isinstance(part, alt.SchemaBase):
        part = part.copy(deep=False)
        for name, value in part._kwds.items():  # noqa: SLF001 - Altair has no other way to all parts
            part._kwds[name] = without_tags(value)  # noqa: SLF001
    return part


def describe_chart(title: Any, text: str) -> str:
    """Describe a chart: its title and some sentences."""
    name = title if isinstance(title, str) else title.text
    return f"{name}. {text}" if name else text


def wrap_text(text: str) -> str:
    """Break a text into two lines between its conditions, and count the others."""
    parts = text.split(" and ")
    lines = [parts[0]]
    for place, part in enumerate(parts[1:], start=1):
        joined = f"{lines[-1]} and {part}"
        if len(joined) <= _LINE:
            lines[-1] = joined
        elif len(lines) == 1:
            lines.append(f"and {part}")
        else:
            lines[-1] += f" and {len(parts) - place} more"
            break
    return "\n".join(line if len(line) <= _LINE + 12 else f"{line[:_LINE]}…" for line in lines)


def label_axis(rows: Sequence[dict[str, Any]]) -> alt.Y:
    """Make an axis of texts, in the order of the rows and on two lines if they are long."""
    # Texts that differ may be alike when they are cut, so the axis has places and looks them up.
    names = [row["label"] for row in rows]
    axis = alt.Axis(
        labelExpr=f"split({json.dumps(names)}[datum.value], '\\n')",
        labelLimit=_LABEL,
        labelLineHeight=12,
        ticks=False,
        domain=False,
    )
    for place, row in enumerate(rows):
        row["place"] = place
    return alt.Y("place:O", axis=axis, title=None, sort=None)


def bar_chart(
    layers: Sequence[alt.Chart], rows: Sequence[Any], title: Any, subtitle: str, said: str
) -> alt.LayerChart:
    """Finish a chart of horizontal bars, with room for labels of two lines."""
    tall = 34 if any("\n" in row["label"] for row in rows) else _BAR_STEP
    text = alt.TitleParams(title, subtitle=subtitle) if subtitle else title
    return finish_layers(layers, text, _BAR_WIDTH, tall * max(1, len(rows)), said)


def save_chart(chart: ChartType, path: str | os.PathLike[str]) -> None:
    """Write a chart as .svg, .png or .html, whole or not at all; HTML opens without a network.

    Screen readers read its description (PNG has none).
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in _FORMATS:
        raise ValueError(f"a chart is saved as .svg, .png or .html, not {target.name!r}")
    import_extra("vl_convert")
    drawn = io.BytesIO() if kind == ".png" else io.StringIO()
    without_tags(chart).save(drawn, **_FORMATS[kind])
    content = drawn.getvalue()
    if kind == ".svg" and isinstance(chart.description, str):
        label = Markup('<svg role="img" aria-label="{}" ').format(chart.description)
        content = str(content).replace("<svg ", label, 1)
    replace_file(target, content if isinstance(content, bytes) else content.encode())


def plotted_model(model: Any, what: str) -> RuleModel:
    """Return the model of a fitted estimator, or the model itself."""
    found = getattr(model, "model_", model)
    if not isinstance(found, RuleModel):
        raise ValueError(
            f"{what} needs a model with rules or a fitted estimator, not {type(model).__name__}"
        )
    return found


def wrapped_title(title: str, text: str) -> alt.TitleParams:
    """Make a title with a description of the chart below it."""
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
    return finish_layers(drawn, wrapped_title(graph.title, graph.text), *_GRAPH, graph.text)


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
    """Return the points of a line that can be drawn, as plain data."""
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
