"""Graphs and molecules as they are read: what is refused, and what labels say."""

import builtins
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from rulewright.relational import (
    Graph,
    GraphError,
    GraphRulesClassifier,
    SubgraphFeatures,
    read_smiles,
)
from rulewright.relational.graphs.molecules import MoleculeReading, parse_smiles, rdkit


def test_a_networkx_graph_is_read_with_its_labels():
    made = nx.Graph()
    made.add_node("x", label="C")
    made.add_node("y", label=7)
    made.add_edge("y", "x", label="=")
    made.add_node("z", label="O")
    made.add_edge("x", "z")
    assert Graph.from_networkx(made) == Graph(["C", "7", "O"], [(0, 1, "="), (0, 2)])


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.DiGraph(), "directed: use graph.to_undirected"),
        (nx.MultiGraph(), "multigraph: use networkx.Graph"),
        (nx.path_graph(2), r"node 0 has no label; set graph.nodes\[0\]\['label'\]"),
    ],
)
def test_graphs_of_other_kinds_are_refused_with_their_row(graph, message):
    good = Graph("ab", [(0, 1)])
    with pytest.raises(GraphError, match=f"row 1: .*{message}"):
        SubgraphFeatures().fit([good, graph])


def test_self_loops_of_networkx_are_refused():
    made = nx.Graph([(0, 0)])
    made.nodes[0]["label"] = "a"
    with pytest.raises(GraphError, match="node 0 has an edge to itself"):
        Graph.from_networkx(made)


@pytest.mark.parametrize(
    ("labels", "edges", "message"),
    [
        (["a", ""], [], "vertex 1: the label must be a text"),
        (["a", 3], [], "not 3"),
        ("ab", [(0, 2)], "names the vertex 2 of 2"),
        ("ab", [(0, -1)], "names the vertex -1"),
        ("ab", [(0, True)], "names the vertex True"),
        ("ab", [(1, 1)], "to itself"),
        ("ab", [(0, 1), (1, 0)], "0 and 1 is there twice"),
        ("ab", [(0,)], "must be"),
        ("ab", [(0, 1, 2)], "label must be a text"),
    ],
)
def test_unsound_graphs_are_refused(labels, edges, message):
    with pytest.raises(GraphError, match=message):
        Graph(labels, edges)


def test_labels_of_atoms_follow_the_reading():
    nitrobenzene = "c1ccccc1[N+](=O)[O-]"
    (plain,) = read_smiles([nitrobenzene])
    assert sorted(plain.labels) == ["N", "O", "O", "c", "c", "c", "c", "c", "c"]
    assert sorted({label for *_, label in plain.edges}) == ["-", ":", "="]
    (blind,) = read_smiles([nitrobenzene], aromatic=False, charges=True, hydrogens=True)
    assert sorted(set(blind.labels)) == ["C", "H", "N+", "O", "O-"]
    assert len(blind) == 14


def test_salts_have_several_parts_and_nitro_groups_are_charged():
    (salt,) = read_smiles(["CN.Cl"], charges=True)
    assert (len(salt), len(salt.edges)) == (3, 1)
    (nitro,) = read_smiles(["CN(=O)=O"], charges=True)
    assert "N+" in nitro.labels


BAD = ["CC", "C1CC", "", None, float("nan"), "not a molecule", 7]


def test_unreadable_rows_are_named_by_their_keys():
    with pytest.raises(GraphError, match=r"6 graphs cannot be used: row 1: 'C1CC' is not a valid"):
        read_smiles(BAD)
    keys = ["a", "b", "c", "d", "e", "f", "g"]
    with pytest.raises(GraphError, match=r"row 'c': missing.*and 1 more rows.*on_error='missing'"):
        read_smiles(BAD, keys=keys)
    with pytest.raises(GraphError, match="row 'mol-2': missing"):
        SubgraphFeatures().fit(pd.Series(["CC", ""], index=["mol-1", "mol-2"]))


def test_unreadable_rows_can_be_missing_or_dropped():
    found = read_smiles(BAD, on_error="missing")
    assert [graph is None for graph in found] == [False] + [True] * 6
    assert len(read_smiles(BAD, on_error="drop")) == 1


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match="on_error='skip' must be one of 'raise'"):
        read_smiles(["CC"], on_error="skip")
    with pytest.raises(ValueError, match="1 rows, but 2 keys"):
        read_smiles(["CC"], keys=[1, 2])
    with pytest.raises(GraphError, match="not one text"):
        SubgraphFeatures().fit("CCO")


def test_molecules_of_rdkit_are_read_like_their_texts():
    (by_text,) = read_smiles(["c1ccccc1O"])
    by_molecule = MoleculeReading().graph(parse_smiles("c1ccccc1O"), "c1ccccc1O")
    assert by_text == by_molecule
    est = GraphRulesClassifier()
    molecules = [parse_smiles(text) for text in ("CCO", "CCN") * 4]
    assert est.fit(molecules, ["o", "n"] * 4).predict(molecules[:2]).tolist() == ["o", "n"]


def test_without_rdkit_the_extra_is_named_and_graphs_still_work(monkeypatch):
    """The extra is needed for SMILES texts only."""
    real = builtins.__import__

    def without(name, *args, **options):
        if name.split(".")[0] == "rdkit":
            raise ImportError(name)
        return real(name, *args, **options)

    for name in [name for name in sys.modules if name.split(".")[0] == "rdkit"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'rulewright\[molecules\]'"):
        read_smiles(["CC"])
    with pytest.raises(ImportError, match="molecules"):
        rdkit("Chem")
    ring, path = Graph("aaa", [(0, 1), (1, 2), (0, 2)]), Graph("aaa", [(0, 1), (1, 2)])
    est = GraphRulesClassifier().fit([ring, path] * 4, np.array([1, 0] * 4))
    assert est.predict([path, ring]).tolist() == [0, 1]
    assert "a" in est.model_._repr_html_()
