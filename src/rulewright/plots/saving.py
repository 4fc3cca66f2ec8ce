"""Charts as files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from rulewright.data import replace_file
from rulewright.plots.late_altair import import_extra

if TYPE_CHECKING:
    import os

    from altair.typing import ChartType

_FORMATS: dict[str, dict[str, Any]] = {
    ".svg": {"format": "svg"},
    ".png": {"format": "png", "scale_factor": 2},
    ".html": {"format": "html", "inline": True},
}


def save_chart(chart: ChartType, path: str | os.PathLike[str]) -> None:
    """Write a chart as .svg, .png or .html, whole or not at all; HTML opens without a network.

    Readers of screens find what the chart shows in its label (PNG has none).
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in _FORMATS:
        raise ValueError(f"a chart is saved as .svg, .png or .html, not {target.name!r}")
    import_extra("vl_convert")
    drawn = io.BytesIO() if kind == ".png" else io.StringIO()
    chart.save(drawn, **_FORMATS[kind])
    content = drawn.getvalue()
    if kind == ".svg" and isinstance(chart.description, str):
        label = Markup('<svg role="img" aria-label="{}" ').format(chart.description)
        content = str(content).replace("<svg ", label, 1)
    replace_file(target, content if isinstance(content, bytes) else content.encode())
