"""Horizontal bars with texts of rules as labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rulewright.plots.late_altair import alt
from rulewright.plots.style import finish_layers

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH = 380
_STEP = 22
_LINE = 52
"""Letters of a line of a label; a text has two lines at most."""
_LABEL = 370


def wrap_text(text: str) -> str:
    """Break a text into two lines between its conditions, and say how many more there are."""
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
    tall = 34 if any("\n" in row["label"] for row in rows) else _STEP
    text = alt.TitleParams(title, subtitle=subtitle) if subtitle else title
    return finish_layers(layers, text, _WIDTH, tall * max(1, len(rows)), said)
