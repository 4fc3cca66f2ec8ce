"""Molecules as graphs, read by RDKit from SMILES (the extra ``molecules``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rulewright.data import optional
from rulewright.relational.graphs.graph import Graph, GraphError

if TYPE_CHECKING:
    from collections.abc import Sequence

ON_ERROR = ("raise", "missing", "drop")

BONDS = {"SINGLE": "-", "DOUBLE": "=", "TRIPLE": "#", "AROMATIC": ":"}
_SHOWN = 5


@dataclass(frozen=True)
class MoleculeReading:
    """How molecules become graphs.

    Parameters
    ----------
    aromatic : bool
        Aromatic atoms are other labels, in small letters, than those that are not.
    charges : bool
        Charged atoms are other labels, such as ``N+``.
    hydrogens : bool
        Hydrogens are vertices; without it only those that a SMILES text must write are.
    """

    aromatic: bool = True
    charges: bool = False
    hydrogens: bool = False

    def graph(self, molecule: Any, source: str = "") -> Graph:
        """Return the graph of a molecule of RDKit."""
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
        The molecules; an empty text, None and NaN are missing ones.
    keys : sequence, optional
        What messages call the rows; their numbers by default.
    on_error : {"raise", "missing", "drop"}
        What happens to texts that are no molecules, and to missing ones: "raise" an error that
        names the rows, a "missing" graph (None), or the row is left out.
    aromatic, charges, hydrogens : bool
        Labels tell aromatic or charged atoms from others; hydrogens are vertices.

    Returns
    -------
    list of Graph
        One for each row; None for a missing one.
    """
    reading = MoleculeReading(aromatic=aromatic, charges=charges, hydrogens=hydrogens)
    return list(read_each(smiles, reading, on_error, keys).values())


def read_graph_rows(X: Any, reading: MoleculeReading, on_error: str) -> list[Graph | None]:
    """Read a graph for every row; those that are dropped are missing ones."""
    kept = "missing" if on_error == "drop" else on_error
    return list(read_each(X, reading, kept).values())


def read_each(
    X: Any, reading: MoleculeReading, on_error: str, keys: Sequence[Any] | None = None
) -> dict[int, Graph | None]:
    """Read graphs by their rows: SMILES texts, molecules of RDKit, NetworkX graphs or graphs."""
    if isinstance(X, str):
        raise GraphError("X must be a list of graphs or SMILES texts, not one text")
    if keys is None and hasattr(X, "iloc"):  # a column of pandas has names of its rows
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
    raise GraphError(f"{type(value).__name__} is no graph, no NetworkX graph and no SMILES text")


def parse_smiles(text: str) -> Any:
    """Return the molecule of a SMILES text."""
    if not text.strip():
        raise GraphError("missing")
    block_logs = rdkit("rdBase").BlockLogs()
    molecule = rdkit("Chem").MolFromSmiles(text)
    del block_logs
    if molecule is None:
        raise GraphError(f"{text!r} is no valid SMILES text")
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
    """Tell whether RDKit can be imported."""
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
