"""Native kernels for subgraphs of many graphs, and the canonical codes of small graphs.

A code (Borgelt's breadth-first form) is a flat tuple: the label of vertex 0, then (source, edge
label, label, target) of each edge with source < target, ascending. Vertices are numbered by a
breadth-first traversal; the canonical code is the smallest of all traversals. A prefix of a
canonical code is canonical.
"""

from __future__ import annotations

from itertools import groupby, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.kernels import _core
from rulewright.kernels.structs import FoundSubgraphs, GraphArrays, IntArray, WordArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


_WORK = 1_000_000
"""Approximate number of vertices visited per call, so that Ctrl-C works."""


class GraphSet:
    """Graphs to search patterns in, validated once (`native/search/graphs/graph_set.hpp`).

    Labels of -1 occur in no pattern.
    """

    def __init__(self, graphs: GraphArrays) -> None:
        self.native = _core.GraphSet(*graphs)
        self.n_graphs = len(graphs.starts) - 1
        self._n_vertices = len(graphs.labels)

    def match(self, codes: IntArray, starts: IntArray) -> WordArray:
        """Return the graphs that each pattern occurs in, as words of bits."""
        n_patterns, n_words = len(starts) - 1, -(-self.n_graphs // 64)
        size = max(1, _WORK // max(1, 4 * self._n_vertices))
        found = [np.zeros(0, dtype=np.uint64)]
        for begin in range(0, n_patterns, size):
            part = starts[begin : begin + size + 1]
            found.append(self.native.match(codes[part[0] : part[-1]], part - part[0]))
        return np.concatenate(found).reshape(n_patterns, n_words)

    def neighbours(
        self, code: IntArray, max_edges: int, allow_cycles: bool = True
    ) -> FoundSubgraphs:
        """Return the occurring patterns with one edge more, or one less, by ascending codes.

        If deleting an edge splits a pattern, the part with more edges is kept; ties go to more
        vertices, then to the smaller code.
        """
        return _shape_subgraphs(self.native.neighbours(code, max_edges, allow_cycles))


class SubgraphMiner:
    """All connected subgraphs with enough graphs, in the order of their codes, in batches.

    A pattern occurs in at least `min_count` graphs and has at most `max_edges` edges, up to 63.
    """

    def __init__(
        self, graphs: GraphSet, min_count: int, max_edges: int, allow_cycles: bool = True
    ) -> None:
        self._native = _core.SubgraphMiner(graphs.native, min_count, max_edges, allow_cycles)

    @property
    def done(self) -> bool:
        """Whether all subgraphs were found."""
        return self._native.done()

    def advance(self, n_patterns: int) -> FoundSubgraphs:
        """Find up to `n_patterns` more subgraphs; fewer after much work, and at the end."""
        return _shape_subgraphs(self._native.advance(n_patterns, _WORK))


def _shape_subgraphs(found: tuple[IntArray, IntArray, WordArray]) -> FoundSubgraphs:
    codes, starts, words = found
    n_patterns = len(starts) - 1
    n_words = len(words) // n_patterns if n_patterns else 0
    return FoundSubgraphs(codes, starts, words.reshape(n_patterns, n_words))


Code = tuple[int, ...]

EDGE = 4
"""Numbers of an edge in a code."""


class CodeEdge(NamedTuple):
    """One edge of a code: numbers of its ends, its label and the label of the second end."""

    source: int
    edge_label: int
    label: int
    target: int


class SmallGraph:
    """A connected graph by the labels of its vertices and the edges (one end, other end, label)."""

    def __init__(self, labels: Sequence[int], edges: Iterable[tuple[int, int, int]]) -> None:
        self.labels, self.edges = list(labels), list(edges)
        self.around: list[list[tuple[int, int]]] = [[] for _ in self.labels]
        for one, other, label in self.edges:
            self.around[one].append((label, other))
            self.around[other].append((label, one))

    @classmethod
    def of(cls, code: Code) -> SmallGraph:
        """Return the graph that a code describes."""
        labels, edges = [code[0]], []
        for edge in code_edges(code):
            if edge.target == len(labels):
                labels.append(edge.label)
            edges.append((edge.source, edge.target, edge.edge_label))
        return cls(labels, edges)


def code_edges(code: Code) -> list[CodeEdge]:
    """Return the edges of a code."""
    return [CodeEdge(*code[at : at + EDGE]) for at in range(1, len(code), EDGE)]


def canonical_code(graph: SmallGraph) -> Code:
    """Return the smallest code of a connected graph."""
    search = _Traversals(graph)
    assert search.best is not None, "a connected graph has a traversal"
    return search.best


class _Traversals:
    """Breadth-first traversals of a graph, cut off when their code exceeds the best one."""

    def __init__(self, graph: SmallGraph) -> None:
        self._graph, least = graph, min(graph.labels)
        self.best: Code | None = None
        for vertex, label in enumerate(graph.labels):
            if label == least:
                self._go_on([vertex], 0, (label,))

    def _go_on(self, order: list[int], i: int, code: Code) -> None:
        """Assign numbers to the neighbours of vertex i in all distinct ways, and recurse."""
        if i == len(order):
            self.best = code
            return
        graph, number = self._graph, {vertex: k for k, vertex in enumerate(order)}
        around = graph.around[order[i]]
        closing = [(e, graph.labels[w], number[w]) for e, w in around if number.get(w, -1) > i]
        new = sorted((e, graph.labels[w], w) for e, w in around if w not in number)
        opening = [(e, label, len(order) + k) for k, (e, label, _) in enumerate(new)]
        code += tuple(n for edge in sorted(closing + opening) for n in (i, *edge))
        if self.best is not None and code != self.best[: len(code)]:
            if code > self.best[: len(code)]:
                return
            self.best = None
        for chosen in self._arrangements(new):
            self._go_on(order + chosen, i + 1, code)

    def _arrangements(self, new: list[tuple[int, int, int]]) -> Iterator[list[int]]:
        """Yield the orders of new vertices: all orders of equal labels, but one order of twins."""
        groups = [[w for *_, w in same] for _, same in groupby(new, key=lambda edge: edge[:2])]
        for orders in product(*map(self._orders, groups)):
            yield [w for order in orders for w in order]

    def _orders(self, group: list[int]) -> list[list[int]]:
        """Return the orders of vertices; vertices with the same neighbours keep their order."""
        if len(group) == 1:
            return [group]
        kinds: dict[frozenset[tuple[int, int]], list[int]] = {}
        for w in group:
            kinds.setdefault(frozenset(self._graph.around[w]), []).append(w)
        return _interleave(list(kinds.values()))


def _interleave(parts: list[list[int]]) -> list[list[int]]:
    """Return all merges of lists that preserve the order of each."""
    left = [part for part in parts if part]
    if not left:
        return [[]]
    return [
        [part[0], *rest]
        for k, part in enumerate(left)
        for rest in _interleave([*left[:k], part[1:], *left[k + 1 :]])
    ]
