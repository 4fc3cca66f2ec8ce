"""HTML that notebooks and reports share: tables, bars, and the look of a view in a notebook."""

from rulewright.html.bars import bar, move
from rulewright.html.line import cut, plain
from rulewright.html.view import bold, lines, note, style_of, table, view

__all__ = ["bar", "bold", "cut", "lines", "move", "note", "plain", "style_of", "table", "view"]
