"""A small chart of one figure over time, as one of many that are compared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH, _HEIGHT, _EDGE = 150.0, 34.0, 4.0


def draw_series(
    values: Sequence[float],
    text: str,
    *,
    band: tuple[float, float] | None = None,
    top: float = math.nan,
    mark: int | None = None,
    zero: bool = True,
) -> Markup:
    """
    Draw a figure over time as a line.

    Parameters
    ----------
    values : sequence of float
        The figure of each period; NaN leaves a gap.
    text : str
        What the chart shows, for readers who cannot see it.
    band : pair of float, optional
        Where the figure is expected, drawn as a ground.
    top : float
        The value at the top; by default the largest one.
    mark : int, optional
        A period to mark.
    zero : bool
        Whether the bottom is 0 unless a value is below it.
    """
    known = [value for value in (*values, *(band or ())) if math.isfinite(value)]
    low: float = min([*known, 0.0] if zero or not known else known)
    high: float = max([*known, 1e-9 if math.isnan(top) else top])

    def x(i: int) -> float:
        return _EDGE + (_WIDTH - 2 * _EDGE) * i / max(len(values) - 1, 1)

    def y(value: float) -> float:
        return _HEIGHT - _EDGE - (_HEIGHT - 2 * _EDGE) * (value - low) / ((high - low) or 1.0)

    parts = []
    if band is not None:
        upper, lower = y(band[1]), y(band[0])
        parts.append(
            Markup(
                '<rect x="0" y="{:.1f}" width="{:.0f}" height="{:.1f}" fill="var(--raised)"/>'
            ).format(upper, _WIDTH, max(lower - upper, 1.0))
        )
    points = [(x(i), y(value)) for i, value in enumerate(values) if math.isfinite(value)]
    joined = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
    line = '<polyline points="{}" fill="none" stroke="var(--c0)" stroke-width="1.6"/>'
    parts.append(Markup(line).format(joined))
    if mark is not None and math.isfinite(values[mark]):
        dot = '<circle cx="{:.1f}" cy="{:.1f}" r="3.2" fill="var(--c1)"/>'
        parts.append(Markup(dot).format(x(mark), y(values[mark])))
    elif len(points) == 1:
        dot = '<circle cx="{:.1f}" cy="{:.1f}" r="2" fill="var(--c0)"/>'
        parts.append(Markup(dot).format(*points[0]))
    svg = (
        '<svg class="series" viewBox="0 0 {:.0f} {:.0f}" width="{:.0f}" role="img" aria-label="{}">'
    )
    head = Markup(svg).format(_WIDTH, _HEIGHT, _WIDTH, text)
    return head + Markup("").join(parts) + Markup("</svg>")
