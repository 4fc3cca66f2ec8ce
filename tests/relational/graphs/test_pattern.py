"""Patterns: their texts are SMARTS, and match what RDKit and NetworkX match."""

import numpy as np
import pytest
from hypothesis import given
from rdkit import Chem

from budget import examples
from builders import SEEDS
from graph_cases import occurs, random_graph
from rulewright.encoding.covers import unpack_words
from rulewright.kernels import GraphSet
from rulewright.relational import (
    Graph,
    GraphError,
    Pattern,
    SubgraphFeatures,
    read_smiles,
    tree_text,
)
from rulewright.relational.graphs.candidates import least_count, mine_patterns
from rulewright.relational.graphs.features import pattern_occurrences
from rulewright.relational.graphs.graph import GraphLabels
from rulewright.relational.graphs.pattern import graph_text

MOLECULES = [
    "CC(=O)Oc1ccccc1C(=O)O",
    "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
    "CC(C)Cc1ccc(cc1)C(C)C(=O)O",
    "C1CC2CCC1C2",
    "ClCCBr",
    "N#Cc1ccccc1[Si](C)C",
    "OCC(O)C(O)CO",
    "CC(=O)Nc1ccc(O)cc1",
]


@pytest.mark.parametrize(
    ("labels", "edges", "text"),
    [
        ("C", [], "C"),
        ("ccN", [(0, 1, ":"), (1, 2, "-")], "c:c-N"),
        ("CCCO", [(0, 1, "-"), (0, 2, "-"), (0, 3, "=")], "C(-C)(-C)=O"),
        ("ccc", [(0, 1, ":"), (1, 2, ":"), (0, 2, ":")], "c1:c:c:1"),
        (["Si", "a", "my label"], [(0, 1), (1, 2, "x")], "[Si]~a{x}[my label]"),
        (["[", "b"], [(0, 1, "}")], r"[\[]{\}}b"),
    ],
)
def test_texts_of_patterns(labels, edges, text):
    graph = Graph(list(labels), edges)
    assert graph_text(graph.labels, graph.edges) == text


@pytest.mark.parametrize("allow_cycles", [True, False])
def test_texts_are_smarts_that_match_the_same_molecules(allow_cycles):
    """RDKit, given the text of a pattern, finds it where the miner found it."""
    graphs = read_smiles(MOLECULES)
    labels = GraphLabels.of(graphs)
    found = list(mine_patterns(GraphSet(labels.arrays(graphs)), 1, 6, allow_cycles))
    molecules = [Chem.MolFromSmiles(text) for text in MOLECULES]
    assert len(found) > 300
    assert len({Pattern.of(one.code, labels).text for one in found}) == len(found)
    for code, words in found[::3]:
        query = Chem.MolFromSmarts(Pattern.of(code, labels).text)
        assert query is not None
        matched = [molecule.HasSubstructMatch(query) for molecule in molecules]
        assert matched == unpack_words(words, len(graphs)).tolist()


def test_charged_labels_are_smarts_too():
    smiles = ["C[N+](C)(C)C", "CN(C)C", "CC(=O)[O-]", "CC(=O)O"]
    graphs = read_smiles(smiles, charges=True)
    found = SubgraphFeatures(n_features=None, min_support=1).fit(graphs)
    texts = {pattern.text for pattern in found.patterns_}
    assert any("[N+]" in text for text in texts)
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    for pattern, column in zip(found.patterns_, found.transform(graphs).T, strict=True):
        if "+" in pattern.text or "[O-]" in pattern.text:
            query = Chem.MolFromSmarts(pattern.text)
            assert [m.HasSubstructMatch(query) for m in molecules] == column.astype(bool).tolist()


@given(SEEDS)
@examples(40)
def test_matches_lie_on_the_pattern_and_are_there_where_networkx_finds_one(seed):
    rng = np.random.default_rng(seed)
    graph, other = random_graph(rng), random_graph(rng, n_vertices=3, density=0.9)
    part = [v for v in range(3) if v == 0 or any(v in edge[:2] for edge in other.edges)]
    if len(part) < 3 or len(other.edges) < 2:
        return
    pattern = Pattern(other.labels, other.edges)
    matches = list(pattern.matches(graph))
    assert bool(matches) == occurs(other, graph)
    for places in matches:
        assert sorted(graph.labels[v] for v in places) == sorted(pattern.labels)


def test_patterns_are_saved_and_refused():
    pattern = Pattern(("c", "c", "N"), ((0, 1, ":"), (1, 2, "-")))
    assert Pattern.from_json(pattern.to_json()) == pattern
    wrong = [
        None,
        {"labels": ["a"]},
        {"labels": "a", "edges": []},
        {"labels": ["a"], "edges": [0]},
        {"labels": ["a", "b"], "edges": []},
        {"labels": [], "edges": []},
        {"labels": ["a"], "edges": [[0, 1, ""]]},
        {"labels": [None], "edges": []},
    ]
    for obj in wrong:
        with pytest.raises(GraphError):
            Pattern.from_json(obj)


@given(SEEDS)
@examples(60)
def test_trees_are_equal_if_their_centre_rooted_texts_are(seed):
    """AHU strings and canonical codes tell the same trees apart."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(2):
        n = int(rng.integers(1, 7))
        labels = [str(rng.choice(["a", "b"])) for _ in range(n)]
        edges = [(int(rng.integers(0, v)), v, str(rng.choice(["", "x"]))) for v in range(1, n)]
        made.append(Graph(labels, edges))
    one, two = made
    same = len(one) == len(two) and occurs(one, two) and occurs(two, one)
    assert (tree_text(one.labels, one.edges) == tree_text(two.labels, two.edges)) == same
    order = rng.permutation(len(one)).tolist()
    labels = [one.labels[order.index(v)] for v in range(len(one))]
    moved = Graph(labels, [(order[a], order[b], label) for a, b, label in one.edges])
    assert tree_text(moved.labels, moved.edges) == tree_text(one.labels, one.edges)


def test_a_cycle_has_no_centre():
    with pytest.raises(GraphError, match="no tree"):
        tree_text(("a", "a", "a"), ((0, 1, ""), (1, 2, ""), (0, 2, "")))


def test_supports_are_rounded_up():
    assert least_count(0.06, 232) == 14
    assert least_count(0.06, 100) == 6
    assert least_count(0.001, 10) == 1
    assert least_count(3, 10) == 3
    assert (least_count(1, 10), least_count(1.0, 10)) == (1, 10)
    with pytest.raises(ValueError, match=r"min_support=1.5 must be a share"):
        least_count(1.5, 10)


def complete(n, parts=None):
    """Join all vertices, or those of different parts."""
    part = np.arange(n) if parts is None else np.arange(n) % parts
    edges = [[a, b, "-"] for a in range(n) for b in range(a) if part[a] != part[b]]
    return {"labels": ["C"] * n, "edges": edges}


def test_complete_patterns_of_a_file_are_searched_at_once():
    """All orders of ten equal vertices are not compared before a pattern is searched."""
    patterns = [Pattern.from_json(complete(n)) for n in (9, 10, 11)]
    graph = complete(10)
    found = pattern_occurrences(patterns, [Graph(graph["labels"], graph["edges"])])
    assert found.tolist() == [[True, True, False]]


def test_patterns_are_bounded():
    """More edges than kernels take are refused in the file, endless searches while they run."""
    with pytest.raises(GraphError, match="at most 63 edges"):
        Pattern.from_json(complete(12))
    crowd = complete(60, parts=9)
    with pytest.raises(GraphError, match="too many steps in one graph, such as 'C"):
        pattern_occurrences(
            [Pattern.from_json(complete(10))], [Graph(crowd["labels"], crowd["edges"])]
        )
