"""How all charts look: colours, dashes and shapes, sizes of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from rulewright.plots.late_altair import alt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Whole = TypeVar("Whole", "alt.LayerChart", "alt.ConcatChart")

# Okabe and Ito's colours, which the colour-blind can distinguish; shapes and dashes help in print.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3], [4, 6], [1, 4]]
_SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
GREY = "#888888"


def chart_of(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """Make a chart of plain data, which stay in the chart."""
    return alt.Chart(alt.InlineData(rows))


def distinct(
    chart: alt.Chart, rows: Sequence[Mapping[str, Any]], key: str, *, lines: bool = False
) -> alt.Chart:
    """Draw the values of `key` in different colours, and with different shapes or dashes (lines).

    The order is that of the rows; a single value needs no legend.
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
    """Give a whole chart the look of all charts, and what it shows in words for the blind."""
    chart = chart.configure_axis(
        labelFontSize=12, titleFontSize=13, titleFontWeight="normal", labelFlush=False
    )
    chart = chart.configure_legend(labelFontSize=12, symbolStrokeWidth=2, labelLimit=0)
    chart = chart.configure_title(fontSize=14, anchor="start")
    chart = chart.properties(description=describe_chart(title, text))
    return chart.properties(title=title) if title else chart


def describe_chart(title: Any, text: str) -> str:
    """Say what a chart shows: its title and some sentences."""
    name = title if isinstance(title, str) else title.text
    return f"{name}. {text}" if name else text
