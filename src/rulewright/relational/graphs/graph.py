"""The graph: undirected, labelled vertices, labelled edges where they have labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rulewright.data import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

UNLABELLED = ""
"""Label of an edge without one."""


class GraphError(DataError):
    """A graph that cannot be used, with the row it came from."""


@dataclass(frozen=True)
class Graph:
    """An undirected graph without self-loops and parallel edges; its parts need not hang together.

    Parameters
    ----------
    labels : sequence of str
        Label of each vertex.
    edges : sequence of (int, int) or (int, int, str)
        Two vertices by their places, and the label of the edge if it has one.
    source : str
        What the graph was read from, such as a SMILES text; it is only shown.
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
        """Read a NetworkX graph: attribute ``label`` of the nodes, and of the edges if there.

        Parameters
        ----------
        graph : networkx.Graph
            Undirected, without self-loops and parallel edges; labels become texts.
        where : str
            What messages call the graph.
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
