"""Pictures of the patterns of graph rules, and of molecules that they match, as data URIs.

An image cannot run scripts or reach the page, whatever stands in a SMILES text.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rulewright.relational import Graph, GraphRules, Pattern, molecule_picture, pattern_svg

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rulewright.evidence import Places
    from rulewright.report.rule_lines import RuleLine

PATTERN_SIZE = (120, 80)
_RULES, _EXAMPLES = 40, 3
_MATCHED_RULES = 8


@dataclass(frozen=True)
class Picture:
    """An image, and the text that stands for it."""

    source: str
    text: str


@dataclass(frozen=True)
class MatchedMolecules:
    """Molecules that a rule covers, with the atoms of its patterns highlighted."""

    place: int
    title: str
    pictures: list[Picture]


class GraphPictures:
    """Draws the rules of a model of molecules, and molecules X as the model takes them.

    Without RDKit, or for other graphs, nothing is drawn.
    """

    def __init__(self, model: GraphRules, X: Any) -> None:
        self._patterns = {pattern.text: pattern for pattern in model.patterns}
        self._graphs: list[Graph | None] = [] if X is None else model.graphs(X)

    def of_rules(self, rules: Sequence[Any], lines: Iterable[RuleLine]) -> dict[int, list[Picture]]:
        """Draw the patterns of the first rules, by the places of these."""
        shown = [line.place for line in lines][:_RULES]
        drawn = {place: self._draw_patterns(self._list_patterns(rules[place])) for place in shown}
        return {place: pictures for place, pictures in drawn.items() if pictures}

    def matches(
        self, rules: Sequence[Any], lines: Iterable[RuleLine], places: Places
    ) -> list[MatchedMolecules]:
        """Draw shown molecules that the first rules cover, if their patterns match them."""
        found = []
        for line in lines:
            patterns = self._list_patterns(rules[line.place])
            rows = [int(places[at]) for at in line.examples]
            drawn = [one for row in rows if (one := self._molecule(row, patterns))]
            if drawn:
                title = " and ".join(line.conditions)
                found.append(MatchedMolecules(line.place, title, drawn[:_EXAMPLES]))
            if len(found) == _MATCHED_RULES:
                break
        return found

    def _list_patterns(self, rule: Any) -> list[Pattern]:
        named = sorted(rule.body.columns)
        return [self._patterns[name] for name in named if name in self._patterns]

    def _draw_patterns(self, patterns: Iterable[Pattern]) -> list[Picture]:
        """Draw patterns with an edge; a single vertex is text only."""
        drawn = ((pattern_svg(one, *PATTERN_SIZE), one.text) for one in patterns if one.edges)
        return [_picture(svg, text) for svg, text in drawn if svg is not None]

    def _molecule(self, row: int, patterns: Sequence[Pattern]) -> Picture | None:
        graph = self._graphs[row] if row < len(self._graphs) else None
        if graph is None:
            return None
        atoms = {place for one in patterns for place in next(one.matches(graph), ())}
        svg = molecule_picture(graph, sorted(atoms)) if atoms else None
        return None if svg is None else _picture(svg, f"row {row}: {graph.source}")


def _picture(svg: str, text: str) -> Picture:
    return Picture(f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}", text)
