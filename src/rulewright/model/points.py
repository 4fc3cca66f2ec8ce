"""Points of additive rules as text: where rows start, and which probabilities totals give.

A point is a unit of the scores: one more in the total of two classes multiplies the odds by 2.72.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.model.text import align_cells, escape_line
from rulewright.rules import format_signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.model.forms.additive import AdditiveRules

_TOTALS = (-4, -2, -1, 0, 1, 2, 4)
_LEADS = (0, 1, 2, 4)


def start_text(model: AdditiveRules, names: Sequence[str]) -> str:
    """Say with how many points rows start, and which probabilities those are."""
    starts = np.array(model.intercepts)
    if len(names) == 1:
        return f"start: {format_signed(starts[0])} points for {names[0]}"
    chances = model.probabilities(starts[np.newaxis])[0]
    if len(names) == 2:
        points = f"{format_signed(starts[1] - starts[0])} points for {names[1]}"
        return f"start: {points}, probability {chances[1]:.3f}"
    each = zip(names, starts, chances, strict=True)
    listed = ", ".join(f"{name}: {format_signed(value)} ({p:.2f})" for name, value, p in each)
    return f"start in points (probability): {listed}"


def scale_lines(model: AdditiveRules, names: Sequence[str]) -> list[str]:
    """Write a table of totals and their probabilities; with steps, of two classes only."""
    n = len(names)
    if n == 1 or (n > 2 and model.steps is not None):
        return []
    totals = np.array(_TOTALS if n == 2 else _LEADS, dtype=np.float64)
    scores = np.zeros((len(totals), n))
    scores[:, -1] = totals
    chances = model.probabilities(scores)[:, -1]
    first = f"points for {names[1]} minus {names[0]}" if n == 2 else "lead over all others, points"
    second = f"probability of {names[1]}" if n == 2 else "probability"
    width = max(len(first), len(second))
    return align_cells(
        [
            [first.ljust(width), *(f"{t:+g}" if t else "0" for t in totals), ""],
            [second.ljust(width), *(f"{p:.3f}" for p in chances), ""],
        ]
    )


def points_text(
    names: Sequence[str], points: NDArray[np.float64], chosen: int, *, level: bool = False
) -> str:
    """Write points for the chosen class, of two minus the other's, or for another class.

    `level` tells that these are all points there are, and not what a reason adds.
    """
    if len(points) <= 2:
        return format_signed(float(points[chosen] - points[np.arange(len(points)) != chosen].sum()))
    k = chosen if level or points[chosen] else int(np.argmax(np.abs(points)))
    return f"{format_signed(float(points[k]))} {escape_line(names[k])}"
