"""Subgraphs of many graphs: matching, mining by canonical codes, and neighbours of a pattern."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels.graphs import (
    EDGE,
    SmallGraph,
    canonical_code,
    code_edges,
)
from rulewright.kernels.structs import FoundSubgraphs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rulewright.kernels.graphs import Code, CodeEdge
    from rulewright.kernels.structs import GraphArrays, IntArray, WordArray

    Embedding = tuple[int, ...]
    """Vertices that those of a pattern are mapped to, in the order of their numbers."""


def is_canonical(code: Code) -> bool:
    """Tell whether no traversal gives a smaller code."""
    return canonical_code(SmallGraph.of(code)) == code


class GraphSet:
    """Graphs that patterns are looked for in: labels, and label and end of the edges around each.

    Parameters
    ----------
    graphs : GraphArrays
        The graphs.
    """

    def __init__(self, graphs: GraphArrays) -> None:
        self.n_graphs = len(graphs.starts) - 1
        self.labels = graphs.labels.tolist()
        self.starts = graphs.starts.tolist()
        self.graph_of = np.repeat(np.arange(self.n_graphs), np.diff(graphs.starts)).tolist()
        pairs = list(zip(graphs.edge_labels.tolist(), graphs.ends.tolist(), strict=True))
        bounds = graphs.edge_starts.tolist()
        self.around = [pairs[a:b] for a, b in itertools.pairwise(bounds)]
        self.edge = [{w: label for label, w in around} for around in self.around]

    def match(self, codes: IntArray, starts: IntArray) -> WordArray:
        """Return the graphs that each pattern occurs in, as words of bits."""
        flat, bounds = codes.tolist(), starts.tolist()
        pairs = itertools.pairwise(bounds)
        return _words([self.occurrences(tuple(flat[a:b])) for a, b in pairs], self.n_graphs)

    def neighbours(
        self, code: IntArray, max_edges: int, allow_cycles: bool = True
    ) -> FoundSubgraphs:
        """Return the patterns with an edge more, that occur, or an edge less, by ascending codes.

        Where a deleted edge parts a pattern, the part with more edges stays; of equal ones that
        with more vertices, then that with the smaller code.
        """
        pattern = tuple(code.tolist())
        found = {less: self.occurrences(less) for less in generalised(pattern)}
        if (len(pattern) - 1) // EDGE < max_edges:
            everywhere = (self.embeddings(pattern, g) for g in range(self.n_graphs))
            embeddings = [places for one in everywhere for places in one]
            edges = self.extensions(pattern, embeddings, cycles=allow_cycles, only_later=False)
            for edge, longer in edges.items():
                more = canonical_code(SmallGraph.of(pattern + edge))
                found[more] = found.get(more, 0) | self.bits(longer)
        return _packed(dict(sorted(found.items())), self.n_graphs)

    def embeddings(self, code: Code, graph: int) -> Iterator[Embedding]:
        """Give the mappings of a pattern to a graph that keep labels and edges."""
        edges = code_edges(code)
        for vertex in range(self.starts[graph], self.starts[graph + 1]):
            if self.labels[vertex] == code[0]:
                yield from self._matched(edges, 0, (vertex,))

    def _matched(self, edges: list[CodeEdge], at: int, found: Embedding) -> Iterator[Embedding]:
        if at == len(edges):
            yield found
            return
        source, edge_label, label, target = edges[at]
        if target < len(found):
            if self.edge[found[source]].get(found[target]) == edge_label:
                yield from self._matched(edges, at + 1, found)
            return
        for e, w in self.around[found[source]]:
            if e == edge_label and self.labels[w] == label and w not in found:
                yield from self._matched(edges, at + 1, (*found, w))

    def occurrences(self, code: Code) -> int:
        """Return the graphs that a pattern occurs in, as bits of a number."""
        occurs = (any(True for _ in self.embeddings(code, g)) for g in range(self.n_graphs))
        return sum(1 << g for g, yes in enumerate(occurs) if yes)

    def extensions(
        self, code: Code, embeddings: list[Embedding], *, cycles: bool, only_later: bool
    ) -> dict[tuple[int, int, int, int], list[Embedding]]:
        """Return the edges that can be added to a pattern, and the mappings of what they give.

        `only_later` leaves out edges before the last one of the code.
        """
        edges = code_edges(code)
        used = {(edge.source, edge.target) for edge in edges}
        last = tuple(edges[-1]) if edges and only_later else (0, -1)
        found: dict[tuple[int, int, int, int], list[Embedding]] = {}
        for places in embeddings:
            for source in range(last[0], len(places)):
                for e, w in self.around[places[source]]:
                    if w not in places:
                        edge, longer = (source, e, self.labels[w], len(places)), (*places, w)
                    else:
                        target = places.index(w)
                        if not cycles or target < source or (source, target) in used:
                            continue
                        edge, longer = (source, e, self.labels[w], target), places
                    if edge > last:
                        found.setdefault(edge, []).append(longer)
        return found

    def bits(self, embeddings: list[Embedding]) -> int:
        """Return the graphs of mappings, as bits of a number."""
        return sum(1 << g for g in {self.graph_of[places[0]] for places in embeddings})


def mine_subgraphs(
    graphs: GraphSet, min_count: int, max_edges: int, allow_cycles: bool
) -> Iterator[tuple[Code, int]]:
    """Give all connected subgraphs in at least so many graphs, with their graphs as bits.

    They come in the order of their codes. A code is extended only by edges behind its last one, and
    only canonical codes are followed, so that every subgraph is met once.
    """

    def grown(code: Code, embeddings: list[Embedding]) -> Iterator[tuple[Code, int]]:
        bits = graphs.bits(embeddings)
        if bits.bit_count() < min_count or not is_canonical(code):
            return
        yield code, bits
        if (len(code) - 1) // EDGE < max_edges:
            longer = graphs.extensions(code, embeddings, cycles=allow_cycles, only_later=True)
            for edge in sorted(longer):
                yield from grown(code + edge, longer[edge])

    for label in sorted(set(graphs.labels)):
        yield from grown((label,), [(v,) for v, one in enumerate(graphs.labels) if one == label])


class SubgraphMiner:
    """The subgraphs of `mine_subgraphs`, some at a time."""

    def __init__(
        self, graphs: GraphSet, min_count: int, max_edges: int, allow_cycles: bool = True
    ) -> None:
        self._n_graphs = graphs.n_graphs
        self._left = mine_subgraphs(graphs, min_count, max_edges, allow_cycles)
        self.done = False

    def advance(self, n_patterns: int) -> FoundSubgraphs:
        """Find so many more subgraphs, fewer at the end."""
        found = {}
        for code, bits in self._left:
            found[code] = bits
            if len(found) == n_patterns:
                return _packed(found, self._n_graphs)
        self.done = True
        return _packed(found, self._n_graphs)


def generalised(code: Code) -> set[Code]:
    """Return the patterns that are left when an edge is deleted."""
    graph, found = SmallGraph.of(code), set()
    for gone in range(len(graph.edges)):
        kept = graph.edges[:gone] + graph.edges[gone + 1 :]
        parts = _parts(graph, kept)
        found.add(min(parts, key=lambda one: (-len(one), -len(SmallGraph.of(one).labels), one)))
    return found


def _parts(graph: SmallGraph, kept: list[tuple[int, int, int]]) -> list[Code]:
    """Return the codes of the connected parts that some edges leave."""
    part = list(range(len(graph.labels)))
    for one, other, _ in kept:
        part = [part[one] if p == part[other] else p for p in part]
    codes = []
    for name in sorted(set(part)):
        members = [v for v, p in enumerate(part) if p == name]
        place = {v: k for k, v in enumerate(members)}
        edges = [(place[a], place[b], label) for a, b, label in kept if a in place]
        codes.append(canonical_code(SmallGraph([graph.labels[v] for v in members], edges)))
    return codes


def _packed(found: Mapping[Code, int], n_graphs: int) -> FoundSubgraphs:
    """Lay codes one after the other, with their graphs as words."""
    lengths = np.cumsum([0, *map(len, found)], dtype=np.int32)
    codes = np.array([n for code in found for n in code], dtype=np.int32)
    return FoundSubgraphs(codes, lengths, _words(list(found.values()), n_graphs))


def _words(bits: list[int], n_graphs: int) -> WordArray:
    n_words = -(-n_graphs // 64)
    flat = b"".join(one.to_bytes(n_words * 8, "little") for one in bits)
    return np.frombuffer(flat, dtype="<u8").astype(np.uint64).reshape(len(bits), n_words)
