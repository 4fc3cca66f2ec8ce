"""Molecules as graphs and as descriptors, read by RDKit from SMILES (the extra ``molecules``).

RDKit computes the descriptors; if a version of RDKit computes them differently, predictions of
models change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from rulewright.data import optional
from rulewright.relational.graphs.graph import Graph, GraphError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


ON_ERROR = ("raise", "missing", "drop")

BONDS = {"SINGLE": "-", "DOUBLE": "=", "TRIPLE": "#", "AROMATIC": ":"}
_SHOWN = 5


@dataclass(frozen=True)
class MoleculeReading:
    """How molecules become graphs.

    Parameters
    ----------
    aromatic : bool
        Aromatic atoms have their own labels, in lower case.
    charges : bool
        Charged atoms have their own labels, such as ``N+``.
    hydrogens : bool
        Whether all hydrogens are vertices; otherwise only those written in the SMILES text.
    """

    aromatic: bool = True
    charges: bool = False
    hydrogens: bool = False

    def graph(self, molecule: Any, source: str = "") -> Graph:
        """Convert a molecule of RDKit to a graph."""
        if self.hydrogens:
            molecule = rdkit("Chem").AddHs(molecule)
        labels = [self._label(atom) for atom in molecule.GetAtoms()]
        edges = [
            (bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), _bond_label(bond))
            for bond in molecule.GetBonds()
        ]
        return Graph(labels, edges, source)

    def _label(self, atom: Any) -> str:
        symbol: str = atom.GetSymbol()
        if self.aromatic and atom.GetIsAromatic():
            symbol = symbol.lower()
        charge = atom.GetFormalCharge()
        if not self.charges or charge == 0:
            return symbol
        sign, size = "+" if charge > 0 else "-", abs(charge)
        return f"{symbol}{sign}{size if size > 1 else ''}"


def read_smiles(
    smiles: Sequence[Any],
    *,
    keys: Sequence[Any] | None = None,
    on_error: str = "raise",
    aromatic: bool = True,
    charges: bool = False,
    hydrogens: bool = False,
) -> list[Graph | None]:
    """Read molecules from SMILES texts.

    Parameters
    ----------
    smiles : sequence of str
        The molecules; empty texts, None and NaN are missing.
    keys : sequence, optional
        Names of the rows in messages; row numbers by default.
    on_error : {"raise", "missing", "drop"}
        What to do with invalid and missing texts: "raise" an error that names the rows, use a
        "missing" graph (None), or "drop" the row.
    aromatic, charges, hydrogens : bool
        Whether labels distinguish aromatic and charged atoms; whether hydrogens are vertices.

    Returns
    -------
    list of Graph
        One for each row; None for missing ones.
    """
    reading = MoleculeReading(aromatic=aromatic, charges=charges, hydrogens=hydrogens)
    return list(read_each(smiles, reading, on_error, keys).values())


def read_graph_rows(X: Any, reading: MoleculeReading, on_error: str) -> list[Graph | None]:
    """Read a graph for every row; dropped rows are missing."""
    kept = "missing" if on_error == "drop" else on_error
    return list(read_each(X, reading, kept).values())


def read_each(
    X: Any, reading: MoleculeReading, on_error: str, keys: Sequence[Any] | None = None
) -> dict[int, Graph | None]:
    """Read graphs by their rows: SMILES texts, molecules of RDKit, NetworkX graphs or graphs."""
    if isinstance(X, str):
        raise GraphError("X must be a list of graphs or SMILES texts, not one text")
    if keys is None and hasattr(X, "iloc"):  # pandas columns have row names
        keys = X.index.tolist()
    values = list(X)
    if on_error not in ON_ERROR:
        raise ValueError(f"on_error={on_error!r} must be one of {', '.join(map(repr, ON_ERROR))}")
    if keys is not None and len(keys) != len(values):
        raise ValueError(f"there are {len(values)} rows, but {len(keys)} keys")
    found: dict[int, Graph | None] = {}
    wrong: dict[int, str] = {}
    for row, value in enumerate(values):
        try:
            found[row] = _read(value, reading)
        except GraphError as error:
            wrong[row] = str(error)
            found[row] = None
    if wrong and on_error == "raise":
        raise GraphError(_name_rows(wrong, keys))
    if on_error == "drop":
        return {row: graph for row, graph in found.items() if row not in wrong}
    return found


def _read(value: Any, reading: MoleculeReading) -> Graph:
    if isinstance(value, Graph):
        return value
    if isinstance(value, str):
        return reading.graph(parse_smiles(value), value)
    if hasattr(value, "is_directed"):
        return Graph.from_networkx(value)
    if hasattr(value, "GetAtoms"):
        return reading.graph(value, rdkit("Chem").MolToSmiles(value))
    if value is None or value != value:
        raise GraphError("missing")
    raise GraphError(f"{type(value).__name__} is not a graph, NetworkX graph or SMILES text")


def parse_smiles(text: str) -> Any:
    """Return the molecule of a SMILES text."""
    if not text.strip():
        raise GraphError("missing")
    block_logs = rdkit("rdBase").BlockLogs()
    molecule = rdkit("Chem").MolFromSmiles(text)
    del block_logs
    if molecule is None:
        raise GraphError(f"{text!r} is not a valid SMILES text")
    return molecule


def _name_rows(wrong: dict[int, str], keys: Sequence[Any] | None) -> str:
    """Name the rows that cannot be read."""
    names = {row: f"row {row}" if keys is None else f"row {keys[row]!r}" for row in wrong}
    shown = "; ".join(f"{names[row]}: {text}" for row, text in list(wrong.items())[:_SHOWN])
    more = f"; and {len(wrong) - _SHOWN} more rows" if len(wrong) > _SHOWN else ""
    return (
        f"{len(wrong)} graphs cannot be used: {shown}{more}. Correct these rows, or set "
        "on_error='missing' or 'drop'."
    )


def _bond_label(bond: Any) -> str:
    kind = str(bond.GetBondType())
    return BONDS.get(kind, kind.lower())


def rdkit_installed() -> bool:
    """Return whether RDKit can be imported."""
    try:
        optional("rdkit.Chem")
    except ImportError:
        return False
    return True


def rdkit(module: str) -> Any:
    """Import a part of RDKit."""
    try:
        return optional(f"rdkit.{module}")
    except ImportError:
        raise ImportError(
            "reading and drawing molecules needs RDKit: pip install 'rulewright[molecules]'"
        ) from None


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
    """Return all descriptors by name; functional groups have the names of RDKit."""
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
    """Compute descriptors with few digits; None for missing or unreadable molecules."""
    if not names:
        return {}
    known = descriptors()
    if unknown := [name for name in names if name not in known]:
        raise GraphError(f"RDKit has no descriptor {unknown[0]!r}: use the version of training")
    molecules = [_molecule(graph) for graph in graphs]
    return {
        name: [None if m is None else round(float(known[name](m)), 2) for m in molecules]
        for name in names
    }


def _molecule(graph: Graph | None) -> Any:
    if graph is None:
        return None
    if not graph.source:
        raise GraphError("descriptors need molecules: pass SMILES texts, not other graphs")
    try:
        return parse_smiles(graph.source)
    except GraphError:  # RDKit cannot parse the text that it wrote
        return None
