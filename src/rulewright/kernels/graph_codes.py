"""Canonical codes of small labelled graphs (Borgelt's breadth-first form).

A code is a flat tuple: the label of vertex 0, then (source, edge label, label, target) of each edge
with source < target, ascending. Vertices are numbered by a breadth-first traversal; the canonical
code is the smallest of all traversals. A prefix of a canonical code is canonical.
"""

from __future__ import annotations

from itertools import groupby, product
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
    search = _Traversals(graph, None)
    search.run()
    assert search.best is not None, "a connected graph has a traversal"
    return search.best


def is_canonical(code: Code) -> bool:
    """Tell whether no traversal gives a smaller code; the first one that does ends the search."""
    search = _Traversals(SmallGraph.of(code), code)
    search.run()
    return not search.beaten


class _Traversals:
    """Breadth-first traversals of a graph, as far as their codes are not larger than the best."""

    def __init__(self, graph: SmallGraph, given: Code | None) -> None:
        self._graph, self._given, self.best = graph, given, given
        self.beaten = False

    def run(self) -> None:
        labels = self._graph.labels
        least = min(labels)
        if self._given is not None and self._given[0] > least:
            self.beaten = True
        for vertex, label in enumerate(labels):
            if label == least and not self.beaten:
                self._go_on([vertex], 0, (label,))

    def _go_on(self, order: list[int], i: int, code: Code) -> None:
        """Give numbers to the neighbours of vertex i in all ways that differ, and go on."""
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
            self.beaten = self._given is not None
            self.best = None
        for chosen in self._arrangements(new):
            if self.beaten:
                return
            self._go_on(order + chosen, i + 1, code)

    def _arrangements(self, new: list[tuple[int, int, int]]) -> Iterator[list[int]]:
        """Give the orders of new vertices: free among equal labels, one order of twins."""
        groups = [[w for *_, w in same] for _, same in groupby(new, key=lambda edge: edge[:2])]
        for orders in product(*map(self._orders, groups)):
            yield [w for order in orders for w in order]

    def _orders(self, group: list[int]) -> list[list[int]]:
        """Return the orders of vertices; those with the same neighbours keep their order."""
        if len(group) == 1:
            return [group]
        kinds: dict[frozenset[tuple[int, int]], list[int]] = {}
        for w in group:
            kinds.setdefault(frozenset(self._graph.around[w]), []).append(w)
        return _interleave(list(kinds.values()))


def _interleave(parts: list[list[int]]) -> list[list[int]]:
    """Return all ways to merge lists that keep the order of each."""
    left = [part for part in parts if part]
    if not left:
        return [[]]
    return [
        [part[0], *rest]
        for k, part in enumerate(left)
        for rest in _interleave([*left[:k], part[1:], *left[k + 1 :]])
    ]
