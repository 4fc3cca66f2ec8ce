"""Labelled graphs, trees as text, and coded graphs for kernels."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError
from rulewright.kernels import Code, FoundSubgraphs, GraphArrays, WordArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


UNLABELLED = ""
"""Label of an edge without a label."""


class GraphError(DataError):
    """An invalid graph, with its row."""


@dataclass(frozen=True)
class Graph:
    """An undirected graph without self-loops and parallel edges; it may be disconnected.

    Parameters
    ----------
    labels : sequence of str
        Label of each vertex.
    edges : sequence of (int, int) or (int, int, str)
        Two vertices by position, and the label of the edge if it has one.
    source : str
        Origin of the graph, such as a SMILES text; only shown.
    """

    labels: tuple[str, ...]
    edges: tuple[tuple[int, int, str], ...]
    source: str = ""

    def __init__(
        self, labels: Sequence[str], edges: Sequence[Sequence[Any]], source: str = ""
    ) -> None:
        for place, label in enumerate(labels):
            if not isinstance(label, str) or not label:
                raise GraphError(f"vertex {place}: the label must be a text, not {label!r}")
        given = tuple(_check_edge(edge, len(labels)) for edge in edges)
        seen: set[tuple[int, int]] = set()
        for one, other, _ in given:
            if (one, other) in seen:
                raise GraphError(f"the edge between vertices {one} and {other} is there twice")
            seen.add((one, other))
        object.__setattr__(self, "labels", tuple(labels))
        object.__setattr__(self, "edges", given)
        object.__setattr__(self, "source", source)

    @classmethod
    def from_networkx(cls, graph: Any, where: str = "graph") -> Graph:
        """Read a NetworkX graph: attribute ``label`` of the nodes and, if present, of the edges.

        Parameters
        ----------
        graph : networkx.Graph
            Undirected, without self-loops and parallel edges; labels are converted to text.
        where : str
            Name of the graph in messages.
        """
        if graph.is_directed():
            raise GraphError(f"{where} is directed: use graph.to_undirected()")
        if graph.is_multigraph():
            raise GraphError(f"{where} is a multigraph: use networkx.Graph(graph)")
        places = {node: place for place, node in enumerate(graph.nodes)}
        labels = []
        for node, attributes in graph.nodes(data=True):
            if attributes.get("label") is None:
                raise GraphError(
                    f"{where}: node {node!r} has no label; set graph.nodes[{node!r}]['label']"
                )
            labels.append(str(attributes["label"]))
        edges = []
        for one, other, label in graph.edges(data="label"):
            if one == other:
                raise GraphError(f"{where}: node {one!r} has an edge to itself; remove it")
            edges.append((places[one], places[other], UNLABELLED if label is None else str(label)))
        return cls(labels, edges)

    def __len__(self) -> int:
        """Return the number of vertices."""
        return len(self.labels)


def _check_edge(edge: Sequence[Any], n_vertices: int) -> tuple[int, int, str]:
    """Return an edge with the smaller end first."""
    if len(edge) not in (2, 3):
        raise GraphError(f"the edge {edge!r} must be (vertex, vertex) or (vertex, vertex, label)")
    one, other = edge[0], edge[1]
    label = edge[2] if len(edge) == 3 else UNLABELLED
    for end in (one, other):
        if not isinstance(end, int) or isinstance(end, bool) or not 0 <= end < n_vertices:
            raise GraphError(f"the edge {edge!r} names the vertex {end!r} of {n_vertices} vertices")
    if one == other:
        raise GraphError(f"the edge {edge!r} joins a vertex to itself")
    if not isinstance(label, str):
        raise GraphError(f"the edge {edge!r}: the label must be a text, not {label!r}")
    return min(one, other), max(one, other), label


def tree_text(labels: Sequence[str], edges: Sequence[tuple[int, int, str]]) -> str:
    """Return a canonical text: equal for two labelled trees exactly if the trees are equal.

    The tree is rooted at its centre; with two centres the smaller text is used.
    """
    around: list[list[tuple[int, str]]] = [[] for _ in labels]
    for one, other, label in edges:
        around[one].append((other, label))
        around[other].append((one, label))
    return min(_root_tree(labels, around, centre, None) for centre in _centres(around))


def _centres(around: Sequence[Sequence[tuple[int, str]]]) -> list[int]:
    """Return the one or two vertices that remain when leaves are removed layer by layer."""
    degrees = [len(neighbours) for neighbours in around]
    left, layer = len(around), [v for v, degree in enumerate(degrees) if degree <= 1]
    while left > 2:
        if not layer:
            raise GraphError("a graph with a cycle is no tree")
        left -= len(layer)
        after = []
        for leaf in layer:
            for other, _ in around[leaf]:
                degrees[other] -= 1
                if degrees[other] == 1:
                    after.append(other)
        layer = after
    return layer


def _root_tree(
    labels: Sequence[str],
    around: Sequence[Sequence[tuple[int, str]]],
    root: int,
    parent: int | None,
) -> str:
    children = sorted(
        repr(label) + _root_tree(labels, around, child, root)
        for child, label in around[root]
        if child != parent
    )
    return f"({labels[root]!r}{''.join(children)})"


_UNKNOWN = -1
"""Code of a label that no pattern has."""


@dataclass(frozen=True)
class GraphLabels:
    """The labels of vertices and edges; the code of a label is its place.

    Rare labels come first, so that traversals start at rare vertices.
    """

    vertex: tuple[str, ...]
    edge: tuple[str, ...]

    @classmethod
    def of(cls, graphs: Iterable[Graph]) -> GraphLabels:
        """Return the labels of graphs, rare ones first, ties in alphabetical order."""
        vertex, edge = Counter[str](), Counter[str]()
        for graph in graphs:
            vertex.update(graph.labels)
            edge.update(label for *_, label in graph.edges)
        return cls(_rare_first(vertex), _rare_first(edge))

    def arrays(self, graphs: Sequence[Graph]) -> GraphArrays:
        """Return graphs with coded labels."""
        vertex = {label: code for code, label in enumerate(self.vertex)}
        edge = {label: code for code, label in enumerate(self.edge)}
        starts: list[int] = [0]
        labels: list[int] = []
        counts: list[int] = []
        ends: list[int] = []
        edge_labels: list[int] = []
        for graph in graphs:
            around: list[list[tuple[int, int]]] = [[] for _ in graph.labels]
            for one, other, label in graph.edges:
                code = edge.get(label, _UNKNOWN)
                around[one].append((starts[-1] + other, code))
                around[other].append((starts[-1] + one, code))
            for pairs in around:
                counts.append(len(pairs))
                ends.extend(end for end, _ in pairs)
                edge_labels.extend(code for _, code in pairs)
            labels.extend(vertex.get(label, _UNKNOWN) for label in graph.labels)
            starts.append(len(labels))
        edge_starts = np.concatenate([[0], np.cumsum(counts)])
        lists = (starts, labels, edge_starts, ends, edge_labels)
        return GraphArrays(*(np.array(one, dtype=np.int32) for one in lists))


def _rare_first(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda label: (counts[label], label)))


def each_subgraph(found: FoundSubgraphs) -> Iterator[tuple[Code, WordArray]]:
    """Yield the patterns one by one: the code, and the graphs it occurs in as words."""
    codes, starts = found.codes.tolist(), found.starts.tolist()
    for place, (begin, end) in enumerate(itertools.pairwise(starts)):
        yield tuple(codes[begin:end]), found.words[place]
