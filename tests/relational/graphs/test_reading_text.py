"""Patterns read from their texts."""

import numpy as np
import pytest

from graph_cases import random_graph
from rulewright.relational import Graph, GraphError, Pattern
from rulewright.relational.graphs.pattern import parse_pattern
from rulewright_lab.framework import Occurrence


def connected(graph):
    """Give the part of a graph around vertex 0 as a pattern."""
    seen, grown = {0}, True
    while grown:
        more = {v for a, b, _ in graph.edges for v in (a, b) if {a, b} & seen} | seen
        grown, seen = more != seen, more
    place = {old: new for new, old in enumerate(sorted(seen))}
    edges = tuple((place[a], place[b], label) for a, b, label in graph.edges if a in seen)
    return Pattern(tuple(graph.labels[old] for old in sorted(seen)), edges)


def test_texts_are_read_back():
    """The text of a pattern is that of an equal pattern, whatever its labels."""
    rng = np.random.default_rng(0)
    labels, edges = ("C", "n", "Cl", "a b", "[x]", "\\"), ("", "-", ":", "{y}", "up")
    for _ in range(60):
        graph = random_graph(rng, labels=labels, edge_labels=edges, density=0.4)
        pattern = connected(graph)
        again = parse_pattern(pattern.text)
        assert Occurrence.of(again).name == Occurrence.of(pattern).name


def test_short_forms():
    """Bonds that are left out are single, or aromatic between small letters."""
    assert parse_pattern("CCO").text == "C-C-O"
    ring = parse_pattern("c1ccccc1C")
    assert sorted(label for *_, label in ring.edges) == ["-", *":" * 6]
    assert parse_pattern("C(=O)Cl").edges == ((0, 1, "="), (0, 2, "-"))
    assert parse_pattern("[Na]~[x y]") == Pattern(("Na", "x y"), ((0, 1, ""),))
    assert next(parse_pattern("ab").matches(Graph("ba", [(0, 1, ":")])), None) == (0, 1)


@pytest.mark.parametrize(
    "text", ["", "C-", "C(", "C)", "C1CC", "(C)", "1C", "C?", "[]", "C11", "C%"]
)
def test_wrong_texts_are_refused(text):
    """No text is read as something else."""
    with pytest.raises(GraphError):
        parse_pattern(text)
