"""Numbers of whole molecules that chemists read: logP, polar surface, counts of functional groups.

RDKit computes them; a version that computes a number otherwise changes the answers of a model.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from rulewright.relational.graphs.graph import GraphError
from rulewright.relational.graphs.molecules import parse_smiles, rdkit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.relational.graphs.graph import Graph

_HALOGENS = {"F", "Cl", "Br", "I"}
_PROPERTIES = {
    "logP": ("Crippen", "MolLogP"),
    "polar surface": ("rdMolDescriptors", "CalcTPSA"),
    "weight": ("rdMolDescriptors", "CalcExactMolWt"),
    "hydrogen donors": ("rdMolDescriptors", "CalcNumHBD"),
    "hydrogen acceptors": ("rdMolDescriptors", "CalcNumHBA"),
    "rotatable bonds": ("rdMolDescriptors", "CalcNumRotatableBonds"),
    "rings": ("rdMolDescriptors", "CalcNumRings"),
    "aromatic rings": ("rdMolDescriptors", "CalcNumAromaticRings"),
    "heavy atoms": ("rdMolDescriptors", "CalcNumHeavyAtoms"),
    "sp3 carbon share": ("rdMolDescriptors", "CalcFractionCSP3"),
}


@cache
def descriptors() -> dict[str, Callable[[Any], float]]:
    """Return all descriptors by name; those of functional groups are called as in RDKit."""
    found = {name: getattr(rdkit(f"Chem.{a}"), b) for name, (a, b) in _PROPERTIES.items()}
    found |= {
        "halogens": lambda m: sum(atom.GetSymbol() in _HALOGENS for atom in m.GetAtoms()),
        "nitrogens": lambda m: sum(atom.GetSymbol() == "N" for atom in m.GetAtoms()),
        "oxygens": lambda m: sum(atom.GetSymbol() == "O" for atom in m.GetAtoms()),
    }
    groups = rdkit("Chem.Fragments")
    return found | {name: getattr(groups, name) for name in dir(groups) if name.startswith("fr_")}


def descriptor_columns(
    names: Sequence[str], graphs: Sequence[Graph | None]
) -> dict[str, list[float | None]]:
    """Compute descriptors, with few digits; None where a molecule is missing or cannot be read."""
    if not names:
        return {}
    known = descriptors()
    if unknown := [name for name in names if name not in known]:
        raise GraphError(f"RDKit has no descriptor {unknown[0]!r}: take the version of training")
    molecules = [_molecule(graph) for graph in graphs]
    return {
        name: [None if m is None else round(float(known[name](m)), 2) for m in molecules]
        for name in names
    }


def _molecule(graph: Graph | None) -> Any:
    if graph is None:
        return None
    if not graph.source:
        raise GraphError("descriptors are of molecules: bring SMILES texts, not other graphs")
    try:
        return parse_smiles(graph.source)
    except GraphError:  # a molecule of RDKit whose text it does not read again
        return None
