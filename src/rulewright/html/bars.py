"""Bars in tables: a number with its interval on a scale, and a change up or down.

A bar only repeats the number that stands beside it, so readers of screens skip it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Mapping


def draw_bar(
    value: float,
    low: float = math.nan,
    high: float = math.nan,
    base: float = math.nan,
    *,
    scale: tuple[float, float] = (0.0, 1.0),
    point: bool = False,
) -> Markup:
    """
    Draw a number on a scale.

    Parameters
    ----------
    value, low, high : float
        The number, and the ends of its interval; an end that is NaN is not drawn.
    base : float
        A number to compare with, drawn as a mark; none if it is NaN.
    scale : pair of float
        The ends of the bar.
    point : bool
        Draw a point, where a bar from the left end would mean nothing.
    """
    start, width = scale[0], (scale[1] - scale[0]) or 1.0
    ends = {"p": value, "l": low, "h": high, "b": base}
    shares = {key: (x - start) / width for key, x in ends.items() if math.isfinite(x)}
    whisker = Markup("<i></i>") if "l" in shares and "h" in shares else ""
    mark = Markup("<b></b>") if "b" in shares else ""
    kind = "bar point" if point else "bar"
    return Markup('<span class="{}" style="{}" aria-hidden="true"><s></s>{}{}</span>').format(
        kind, _style(shares), whisker, mark
    )


def draw_move(change: float, largest: float) -> Markup:
    """Draw a change as a bar from the middle, to the right where it is positive."""
    half = 0.5 * min(1.0, abs(change) / largest) if largest else 0.0
    kind, left = ("up", 0.5) if change >= 0 else ("down", 0.5 - half)
    return Markup('<span class="bar move {}" style="{}" aria-hidden="true"><s></s></span>').format(
        kind, _style({"l": left, "p": half})
    )


def _style(shares: Mapping[str, float]) -> str:
    return ";".join(f"--{k}:{100 * min(1.0, max(0.0, x)):.1f}%" for k, x in shares.items())
