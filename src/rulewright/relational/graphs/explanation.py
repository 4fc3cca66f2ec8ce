"""Why graphs got their classes: the rules that fired, and the vertices their patterns match."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from rulewright.relational.graphs.drawing import graph_html

if TYPE_CHECKING:
    from rulewright.model import ClassExplanation
    from rulewright.relational.graphs.graph import Graph
    from rulewright.relational.graphs.pattern import Pattern

_SHOWN_MATCHES = 8
_SHOWN_ROWS = 20


@dataclass(frozen=True, eq=False, repr=False)
class GraphExplanation:
    """The rules that fired on each graph, and where their patterns match.

    Parameters
    ----------
    rules : Explanation
        What the rules say of each graph.
    graphs : list of Graph or None
        The graphs.
    patterns : tuple of Pattern
        The patterns of the rules.
    """

    rules: ClassExplanation
    graphs: list[Graph | None]
    patterns: tuple[Pattern, ...]

    def __len__(self) -> int:
        return len(self.graphs)

    def matches(self, row: int) -> dict[str, tuple[int, ...]]:
        """Return the vertices of the first match of each pattern that occurs in a graph.

        Patterns are in the order of the rules that fired on them, the strongest rule first.
        """
        graph = self.graphs[row]
        if graph is None:
            return {}
        by_text = {pattern.text: pattern for pattern in self.patterns}
        found: dict[str, tuple[int, ...]] = {}
        for i in self.rules.rule_ids(row):
            for condition in self.rules.rules[i].body.conditions:
                pattern = by_text.get(condition.column)  # none for a descriptor
                first = None if pattern is None else next(pattern.matches(graph), None)
                if first is not None:
                    found.setdefault(condition.column, first)
        return found

    def text(self, max_rows: int | None = _SHOWN_ROWS) -> str:
        """Write the reasons for each graph, and the vertices that patterns match."""
        blocks = []
        for row in range(len(self))[:max_rows]:
            matches = self.matches(row)
            lines = [f"  {text} matches {_list_places(places)}" for text, places in matches.items()]
            if len(lines) > _SHOWN_MATCHES:
                lines[_SHOWN_MATCHES:] = [f"  and {len(lines) - _SHOWN_MATCHES} more patterns"]
            blocks.append("\n".join([self.rules.row_text(row), *lines]))
        if hidden := len(self) - len(blocks):
            blocks.append(f"... and {hidden} more graphs")
        return "\n".join(blocks) or "no graphs"

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} graphs by {len(self.rules.rules)} rules>"

    def _repr_html_(self) -> str:
        return "\n".join(map(self._row_html, range(len(self))[:_SHOWN_ROWS]))

    def _row_html(self, row: int) -> str:
        """Draw a graph once for each pattern that it has, or once without any."""
        graph, matches = self.graphs[row], list(self.matches(row).items())[:_SHOWN_MATCHES]
        pictures = ""
        if graph is not None:
            told = [(places, f"{text} matches {_list_places(places)}") for text, places in matches]
            shown = told or [((), graph.source)]
            pictures = "".join(graph_html(graph, places, caption) for places, caption in shown)
        return f"<div><pre>{escape(self.rules.row_text(row))}</pre>{pictures}</div>"


def _list_places(places: tuple[int, ...]) -> str:
    return f"vertices {', '.join(map(str, places))}" if len(places) > 1 else f"vertex {places[0]}"
