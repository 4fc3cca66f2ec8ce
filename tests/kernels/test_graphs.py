"""Canonical codes and subgraphs: brute force, NetworkX, and kernels against their twins."""

from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given

import reference
from budget import examples
from builders import SEEDS
from graph_cases import arrays_of, occurs
from reference.graphs import generalised, is_canonical
from rulewright import kernels
from rulewright.kernels.graphs import (
    SmallGraph,
    canonical_code,
    code_edges,
)
from rulewright.relational import Graph

pytestmark = pytest.mark.native

G1 = SmallGraph([0, 1, 2, 2], [(0, 1, 0), (1, 2, 0), (1, 3, 0)])
G2 = SmallGraph([0, 1, 2, 2], [(0, 1, 0), (0, 2, 0), (1, 3, 0), (2, 3, 0)])
FIGURE_6_5 = {
    3: "a b c a(0,b,1) a(0,b,1)(1,c,2) b(0,c,1)",
    1: "a(0,b,1)(1,c,2)(1,c,3) b(0,c,1)(0,c,2)",
    2: "a(0,b,1)(0,c,2) a(0,b,1)(0,c,2)(1,c,3) a(0,b,1)(0,c,2)(1,c,3)(2,c,3) "
    "a(0,b,1)(0,c,2)(2,c,3) a(0,b,1)(1,c,2)(2,c,3) a(0,c,1) a(0,c,1)(1,c,2) "
    "a(0,c,1)(1,c,2)(2,b,3) b(0,c,1)(1,c,2) c(0,c,1)",
}


def code_text(code):
    edges = [f"({e.source},{'abc'[e.label]},{e.target})" for e in code_edges(code)]
    return "abc"[code[0]] + "".join(edges)


def draw_small(rng, n_vertices=None, n_labels=2, density=0.5):
    """Draw a graph of coded labels, in parts or not."""
    n = int(rng.integers(1, 6)) if n_vertices is None else n_vertices
    pairs = [pair for pair in combinations(range(n), 2) if rng.random() < density]
    edges = [(a, b, int(rng.integers(2))) for a, b in pairs]
    return SmallGraph(rng.integers(0, n_labels, n).tolist(), edges)


def connected_part(graph):
    """Return the part of vertex 0."""
    inside = {0}
    while more := {w for v in inside for _, w in graph.around[v]} - inside:
        inside |= more
    place = {v: k for k, v in enumerate(sorted(inside))}
    edges = [(place[a], place[b], label) for a, b, label in graph.edges if a in inside]
    return SmallGraph([graph.labels[v] for v in place], edges)


def renumbered(graph, order):
    labels = [graph.labels[order.index(k)] for k in range(len(order))]
    return SmallGraph(labels, [(order[a], order[b], label) for a, b, label in graph.edges])


def patterns_of(found):
    """Return the codes with their words."""
    bounds = found.starts.tolist()
    codes = [tuple(found.codes[a:b].tolist()) for a, b in pairwise(bounds)]
    return dict(zip(codes, map(tuple, found.words.tolist()), strict=True))


def mine(door, small, min_count=1, max_edges=20, allow_cycles=True, size=7):
    """Run a miner in slices to its end."""
    miner = door.SubgraphMiner(door.GraphSet(arrays_of(small)), min_count, max_edges, allow_cycles)
    found = {}
    while not miner.done:
        part = patterns_of(miner.advance(size))
        assert len(part) <= size
        assert not part.keys() & found.keys()
        found |= part
    return found


def as_graph(small):
    labels = ["v%d" % label for label in small.labels]  # noqa: UP031
    return Graph(labels, [(a, b, str(label)) for a, b, label in small.edges])


def same(one, other):
    return all((a == b).all() and a.dtype == b.dtype for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("door", [kernels, reference])
def test_the_patterns_of_figure_6_5(door):
    """The two graphs of the figure have its 18 patterns, in these graphs."""
    found = mine(door, [G1, G2])
    expected = {text: bits for bits, texts in FIGURE_6_5.items() for text in texts.split()}
    assert {code_text(code): words[0] for code, words in found.items()} == expected
    assert len(found) == 18


def brute_force_code(graph):
    """Return the smallest code over all numberings that are breadth-first."""
    codes = []
    for order in permutations(range(len(graph.labels))):
        made = renumbered(graph, list(order))
        edges = sorted((min(a, b), e, made.labels[max(a, b)], max(a, b)) for a, b, e in made.edges)
        parents = {}
        for source, _, _, target in edges:
            parents[target] = min(source, parents.get(target, source))
        in_order = [parents.get(v) for v in range(1, len(made.labels))]
        if None in in_order or in_order != sorted(in_order):
            continue
        codes.append((made.labels[0], *(n for edge in edges for n in edge)))
    return min(codes)


@given(SEEDS)
@examples(60)
def test_codes_are_the_smallest_of_all_numberings(seed):
    """The search of traversals finds what all permutations give, for every numbering."""
    rng = np.random.default_rng(seed)
    graph = connected_part(draw_small(rng, density=0.6))
    code = canonical_code(graph)
    assert code == brute_force_code(graph)
    order = rng.permutation(len(graph.labels)).tolist()
    assert canonical_code(renumbered(graph, order)) == code
    assert canonical_code(SmallGraph.of(code)) == code


@given(SEEDS)
@examples(60)
def test_canonical_codes_and_their_prefixes_pass_the_test(seed):
    """A code is canonical exactly if it is the smallest; prefixes of such codes are too."""
    rng = np.random.default_rng(seed)
    graph = connected_part(draw_small(rng, 6, density=0.5))
    code = canonical_code(graph)
    for end in range(1, len(code) + 1, 4):
        assert is_canonical(code[:end])
    for _ in range(5):
        order = rng.permutation(len(graph.labels)).tolist()
        made = renumbered(graph, order)
        edges = sorted((min(a, b), e, made.labels[max(a, b)], max(a, b)) for a, b, e in made.edges)
        targets = [edge[3] for edge in edges]
        opened = [t for k, t in enumerate(targets) if t not in targets[:k]]
        if opened == list(range(1, len(made.labels))):  # a traversal numbers in this order
            other = (made.labels[0], *(n for edge in edges for n in edge))
            assert is_canonical(other) == (other == code)


def test_a_star_of_equal_leaves_is_numbered_once():
    """Twins are not permuted, which would take 12! traversals."""
    star = SmallGraph([1] + [0] * 12, [(0, k, 0) for k in range(1, 13)])
    assert is_canonical(canonical_code(star))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("allow_cycles", [True, False])
def test_every_connected_subgraph_is_mined_once(seed, allow_cycles):
    """The miner gives the codes of all connected sets of edges, and of single vertices."""
    graph = draw_small(np.random.default_rng(seed), 5, density=0.6)
    expected = {(label,) for label in graph.labels}
    for size in range(1, len(graph.edges) + 1):
        for chosen in combinations(graph.edges, size):
            touched = sorted({v for edge in chosen for v in edge[:2]})
            place = {v: k for k, v in enumerate(touched)}
            edges = [(place[a], place[b], label) for a, b, label in chosen]
            made = SmallGraph([graph.labels[v] for v in touched], edges)
            connected = len(connected_part(made).labels) == len(touched)
            if connected and (allow_cycles or len(chosen) == len(touched) - 1):
                expected.add(canonical_code(made))
    assert mine(kernels, [graph], allow_cycles=allow_cycles).keys() == expected


@pytest.mark.parametrize("seed", range(8))
def test_occurrences_are_those_of_networkx(seed):
    """Mined and matched graphs are those with a monomorphism."""
    rng = np.random.default_rng(seed)
    small = [draw_small(rng) for _ in range(6)]
    found = mine(kernels, small, max_edges=4)
    for code in list(found)[::5]:
        pattern = as_graph(SmallGraph.of(code))
        expected = sum(1 << g for g, one in enumerate(small) if occurs(pattern, as_graph(one)))
        assert found[code] == (expected,)
        starts = np.array([0, len(code)], dtype=np.int32)
        matched = kernels.GraphSet(arrays_of(small)).match(np.array(code, dtype=np.int32), starts)
        assert matched.tolist() == [[expected]]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("allow_cycles", [True, False])
def test_kernels_and_twins_find_the_same(seed, allow_cycles):
    """Miner, matcher and neighbours agree to the bit, in the same order."""
    rng = np.random.default_rng(seed)
    small = [draw_small(rng, n_labels=3, density=0.4) for _ in range(70)]
    options = {"min_count": 5, "max_edges": 4, "allow_cycles": allow_cycles}
    found = mine(kernels, small, **options)
    assert list(found.items()) == list(mine(reference, small, **options).items())
    arrays, other = arrays_of(small), arrays_of([draw_small(rng) for _ in range(9)])
    codes = np.array([n for code in found for n in code], dtype=np.int32)
    starts = np.cumsum([0, *map(len, found)], dtype=np.int32)
    for given_arrays in (arrays, other):
        native, twin = (door.GraphSet(given_arrays) for door in (kernels, reference))
        assert (native.match(codes, starts) == twin.match(codes, starts)).all()
        for code in list(found)[:: max(1, len(found) // 12)]:
            packed = np.array(code, dtype=np.int32)
            options = packed, 4, allow_cycles
            assert same(native.neighbours(*options), twin.neighbours(*options))


@pytest.mark.parametrize("seed", range(8))
def test_support_never_grows_along_a_code(seed):
    """A longer code occurs in no other graphs than its prefixes."""
    rng = np.random.default_rng(seed)
    found = mine(kernels, [draw_small(rng) for _ in range(20)], max_edges=5)
    for code, words in found.items():
        if len(code) > 1:
            assert words[0] & found[code[:-4]][0] == words[0]


@pytest.mark.parametrize("seed", range(8))
def test_neighbours_lead_back(seed):
    """A pattern with an edge is a neighbour of each of its neighbours with an edge more."""
    rng = np.random.default_rng(seed)
    graphs = kernels.GraphSet(arrays_of([draw_small(rng, density=0.6) for _ in range(5)]))
    code = canonical_code(connected_part(draw_small(rng, 3, density=1.0)))
    longer = patterns_of(graphs.neighbours(np.array(code, dtype=np.int32), 9))
    for other in longer:
        if len(other) > len(code):
            assert code in generalised(other)


@pytest.mark.parametrize("door", [kernels, reference])
def test_no_graphs_and_graphs_without_edges(door):
    """There is nothing to find in no graphs; single vertices are patterns."""
    assert mine(door, []) == {}
    assert mine(door, [SmallGraph([], [])]) == {}
    assert mine(door, [SmallGraph([1, 0, 1], [])]) == {(0,): (1,), (1,): (1,)}
