"""Demsar's critical difference diagram: average ranks on a line, bars joining what does not differ.

Lengths are in pixels, converted to ranks for the horizontal axis, so that names of any length fit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rulewright.plots import alt, describe_chart
from rulewright_lab.experiments.statistics import rank_groups

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_AXIS_WIDTH = 420
_LETTER = 7.5
_FONT_SIZE = 13
_AXIS_TITLE = "average rank"
# Room above the axis for the critical difference, and from its ends to the names.
_HEAD = 70
_ELBOW = 18
_BAR_STEP = 11
_NAME_STEP = 22
# Bars reach a little beyond the ranks they join.
_OVERHANG = 4
_INK = "#222222"
_BAR_INK = "#0072B2"


def critical_difference_chart(
    ranks: Mapping[str, float], cd: float, *, title: str = ""
) -> alt.LayerChart:
    """Draw the average ranks, the best on the left.

    Thick bars join the groups of learners within the critical difference, `statistics.rank_groups`.
    """
    if len(ranks) < 2:
        raise ValueError(f"a diagram of ranks needs two learners or more, not {len(ranks)}")
    if not all(1 <= rank < math.inf for rank in ranks.values()):
        raise ValueError(f"ranks must be numbers from 1 on, not {dict(ranks)}")
    names = sorted(ranks, key=lambda name: ranks[name])
    half = (len(names) + 1) // 2
    last = max(len(ranks), ranks[names[-1]], 1 + cd)
    unit = _AXIS_WIDTH / (last - 1)
    groups = rank_groups(ranks, cd)
    floor = 12 + _BAR_STEP * len(groups)
    height = floor + _NAME_STEP * half + 10
    # From the outside in, each a step lower, so that no lines cross.
    lines, texts = _branches(ranks, names[:half], floor, 1 - _ELBOW / unit, "right")
    more_lines, more_texts = _branches(
        ranks, names[half:][::-1], floor, last + _ELBOW / unit, "left"
    )
    ruler, ticks = _ruler(len(ranks), cd, unit)
    margins = _margin([*names[:half], _AXIS_TITLE]), _margin(names[half:])
    x = alt.Scale(domain=[1 - margins[0] / unit, last + margins[1] / unit], nice=False, zero=False)
    y = alt.Scale(domain=[-_HEAD, height], reverse=True, nice=False)
    layers = [
        _segments(lines + more_lines + ruler, x, y, 1.2, _INK),
        _segments(_bars(ranks, groups, _OVERHANG / unit), x, y, 5, _BAR_INK),
        *(_texts(texts + more_texts + ticks, side, x, y) for side in ("left", "center", "right")),
    ]
    chart: alt.LayerChart = alt.LayerChart(layer=layers)
    chart = chart.configure_view(stroke=None).configure_title(fontSize=14, anchor="start")
    chart = chart.properties(width=_AXIS_WIDTH + sum(margins), height=height + _HEAD)
    chart = chart.properties(description=describe_chart(title, _text(ranks, names, groups, cd)))
    return chart.properties(title=title) if title else chart


def _text(
    ranks: Mapping[str, float], names: Sequence[str], groups: Sequence[Sequence[str]], cd: float
) -> str:
    """Say the ranks, and which do not differ."""
    listed = ", ".join(f"{name} {ranks[name]:.2f}" for name in names)
    alike = "; ".join(", ".join(group) for group in groups)
    said = f" Not significantly different: {alike}." if alike else ""
    return f"Average ranks, the best first: {listed}. Critical difference {cd:.3f}.{said}"


def _margin(names: Sequence[str]) -> float:
    """Return the width that names and their ranks need next to the axis."""
    return _ELBOW + 10 + _LETTER * (6 + max(len(name) for name in names))


def _branches(
    ranks: Mapping[str, float], names: Sequence[str], floor: float, edge: float, align: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the lines from the axis to the names at an edge, each a step below the last."""
    lines, texts = [], []
    for step, name in enumerate(names):
        rank, y = ranks[name], floor + _NAME_STEP * (step + 0.5)
        lines += [_segment(rank, 0, rank, y), _segment(rank, y, edge, y)]
        text = f"{name} {rank:.2f}" if align == "right" else f"{rank:.2f} {name}"
        texts.append({"x": edge, "y": y, "text": text, "align": align})
    return lines, texts


def _ruler(n: int, cd: float, unit: float) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the axis from 1 to n with its ticks, and the critical difference above it."""
    cap, over = 4, -48
    lines = [_segment(1, 0, n, 0), *(_segment(i, 0, i, -6) for i in range(1, n + 1))]
    lines += [_segment(i + 0.5, 0, i + 0.5, -3) for i in range(1, n)]
    lines.append(_segment(1, over, 1 + cd, over))
    lines += [_segment(end, over - cap, end, over + cap) for end in (1, 1 + cd)]
    texts = [{"x": i, "y": -15, "text": str(i), "align": "center"} for i in range(1, n + 1)]
    texts.append({"x": 1 + cd / 2, "y": -61, "text": f"CD = {cd:.3f}", "align": "center"})
    texts.append({"x": 1 - _ELBOW / unit, "y": 0, "text": _AXIS_TITLE, "align": "right"})
    return lines, texts


def _bars(
    ranks: Mapping[str, float], groups: Sequence[Sequence[str]], overhang: float
) -> list[dict[str, Any]]:
    return [
        {
            **_segment(ranks[group[0]] - overhang, y, ranks[group[-1]] + overhang, y),
            "group": ", ".join(group),
        }
        for group, y in zip(groups, range(10, 10 + _BAR_STEP * len(groups), _BAR_STEP), strict=True)
    ]


def _segment(x: float, y: float, x2: float, y2: float) -> dict[str, Any]:
    return {"x": float(x), "y": float(y), "x2": float(x2), "y2": float(y2)}


def _segments(
    rows: list[dict[str, Any]], x: alt.Scale, y: alt.Scale, width: float, ink: str
) -> alt.Chart:
    chart: alt.Chart = alt.Chart(alt.InlineData(rows)).mark_rule(strokeWidth=width, color=ink)
    chart = chart.encode(
        x=alt.X("x:Q", scale=x, axis=None),
        y=alt.Y("y:Q", scale=y, axis=None),
        x2="x2:Q",
        y2="y2:Q",
    )
    if any("group" in row for row in rows):
        return chart.encode(tooltip=alt.Tooltip("group:N", title="not different"))
    return chart


def _texts(rows: list[dict[str, Any]], align: Any, x: alt.Scale, y: alt.Scale) -> alt.Chart:
    away = {"left": 6, "right": -6}.get(align, 0)
    here = [row for row in rows if row["align"] == align]
    chart: alt.Chart = alt.Chart(alt.InlineData(here)).mark_text(
        align=align, baseline="middle", dx=away, fontSize=_FONT_SIZE, color=_INK
    )
    return chart.encode(
        x=alt.X("x:Q", scale=x, axis=None), y=alt.Y("y:Q", scale=y, axis=None), text="text:N"
    )
