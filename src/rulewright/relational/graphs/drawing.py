"""Pictures of molecules and patterns, and explanations of predictions for graphs."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from rulewright.model import ClassExplanation, write_rule
from rulewright.relational.graphs.graph import Graph, GraphError
from rulewright.relational.graphs.molecules import parse_smiles, rdkit, rdkit_installed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.relational.graphs.model import GraphRules
    from rulewright.relational.graphs.pattern import Pattern


_SHOWN_RULES = 25
_CAPTION = "font-family:monospace;text-align:center"


def molecule_svg(
    smiles: str, highlighted: Sequence[int] = (), width: int = 240, height: int = 180
) -> str:
    """Draw a molecule as SVG, with some atoms highlighted.

    Parameters
    ----------
    smiles : str
        The molecule.
    highlighted : sequence of int
        Atoms by their position in the text, such as those matched by a pattern.
    width, height : int
        Size in pixels.
    """
    return _svg(parse_smiles(smiles), highlighted, width, height)


def pattern_svg(pattern: Pattern, width: int = 150, height: int = 110) -> str | None:
    """Draw a pattern of molecules as SVG; None if RDKit is missing or cannot read its text."""
    if not rdkit_installed():
        return None
    quiet = rdkit("rdBase").BlockLogs()
    query = rdkit("Chem").MolFromSmarts(pattern.text)
    del quiet
    return None if query is None else _svg(query, (), width, height)


def pattern_html(pattern: Pattern) -> str:
    """Draw a pattern with its text below, or return the text alone."""
    return _figure(pattern_svg(pattern), pattern.text)


def graph_html(graph: Graph, places: Sequence[int], caption: str) -> str:
    """Draw a molecule with some atoms highlighted, or return the caption alone."""
    return _figure(molecule_picture(graph, places), caption)


def molecule_picture(graph: Graph, places: Sequence[int]) -> str | None:
    """Draw a graph as SVG if it is a molecule and RDKit is installed."""
    if not graph.source or not rdkit_installed():
        return None
    try:
        return molecule_svg(graph.source, places)
    except GraphError:
        return None


def model_html(model: GraphRules) -> str:
    """Draw the strongest rules of a model as a table with a picture of each pattern."""
    rules, by_text = model.rules, {pattern.text: pattern for pattern in model.patterns}
    order = sorted(range(len(rules)), key=lambda i: -rules.strength(i))
    lines = []
    for i in order[:_SHOWN_RULES]:
        rule = rules.rules[i]
        pictures = "".join(
            pattern_html(by_text[condition.column])
            for condition in rule.body.conditions
            if condition.column in by_text
        )
        cells = (pictures, escape(write_rule(rules, i)), escape(rules.effect(rule)))
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    more = len(order) - len(lines)
    rest = f"<p>and {more} more rules</p>" if more else ""
    head = f"<tr><th>pattern</th><th>rule</th><th>{escape(rules.effect_title)}</th></tr>"
    return f"<table>{head}{''.join(lines)}</table>{rest}"


def _figure(picture: str | None, text: str) -> str:
    caption = f'<div style="{_CAPTION}">{escape(text)}</div>'
    return f'<div style="display:inline-block">{picture or ""}{caption}</div>'


def _svg(molecule: Any, highlighted: Sequence[int], width: int, height: int) -> str:
    draw = rdkit("Chem.Draw.rdMolDraw2D")
    canvas = draw.MolDraw2DSVG(width, height)
    atoms = [int(atom) for atom in highlighted]
    inside = set(atoms)
    bonds = [
        bond.GetIdx()
        for bond in molecule.GetBonds()
        if bond.GetBeginAtomIdx() in inside and bond.GetEndAtomIdx() in inside
    ]
    draw.PrepareAndDrawMolecule(canvas, molecule, highlightAtoms=atoms, highlightBonds=bonds)
    canvas.FinishDrawing()
    text: str = canvas.GetDrawingText()
    return text[text.index("<svg") :]


_SHOWN_MATCHES = 8
_SHOWN_ROWS = 20


@dataclass(frozen=True, eq=False, repr=False)
class GraphExplanation:
    """The rules that apply to each graph, and where their patterns match.

    Parameters
    ----------
    rules : Explanation
        The explanation by the rules.
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

        Patterns are in the order of the rules that use them, strongest rule first.
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
        """Format the reasons for each graph, and the vertices that patterns match."""
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
        """Draw a graph once per matching pattern, or once if none matches."""
        graph, matches = self.graphs[row], list(self.matches(row).items())[:_SHOWN_MATCHES]
        pictures = ""
        if graph is not None:
            told = [(places, f"{text} matches {_list_places(places)}") for text, places in matches]
            shown = told or [((), graph.source)]
            pictures = "".join(graph_html(graph, places, caption) for places, caption in shown)
        return f"<div><pre>{escape(self.rules.row_text(row))}</pre>{pictures}</div>"


def _list_places(places: tuple[int, ...]) -> str:
    return f"vertices {', '.join(map(str, places))}" if len(places) > 1 else f"vertex {places[0]}"
