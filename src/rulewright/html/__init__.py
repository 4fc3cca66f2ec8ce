"""HTML that notebooks and reports share: tables, bars, and the look of a view in a notebook."""

from rulewright.html.bars import draw_bar, draw_move
from rulewright.html.line import cut_line, escape_line
from rulewright.html.views import bold, lines, note, style_of, table, view

__all__ = [
    "bold",
    "cut_line",
    "draw_bar",
    "draw_move",
    "escape_line",
    "lines",
    "note",
    "style_of",
    "table",
    "view",
]
