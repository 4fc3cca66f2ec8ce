"""Pictures of molecules and patterns, drawn by RDKit where it is installed; text otherwise."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from rulewright.model import claim, escape_line
from rulewright.relational.graphs.graph import GraphError
from rulewright.relational.graphs.molecules import parse_smiles, rdkit, rdkit_installed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.relational.graphs.graph import Graph
    from rulewright.relational.graphs.model import GraphRules
    from rulewright.relational.graphs.pattern import Pattern

_SHOWN_RULES = 25
_CAPTION = "font-family:monospace;text-align:center"


def molecule_svg(
    smiles: str, highlighted: Sequence[int] = (), width: int = 240, height: int = 180
) -> str:
    """Draw a molecule as SVG, some of its atoms highlighted.

    Parameters
    ----------
    smiles : str
        The molecule.
    highlighted : sequence of int
        Atoms by their places in the text, such as those that a pattern matches.
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
    """Draw a pattern with its text below, or write the text alone."""
    return _figure(pattern_svg(pattern), pattern.text)


def graph_html(graph: Graph, places: Sequence[int], caption: str) -> str:
    """Draw a molecule with some of its atoms highlighted, or write the caption alone."""
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
        said = claim(rule, [escape_line(name) for name in rules.head_names])
        cells = (pictures, escape(said), escape(rules.effect(rule)))
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
