"""A subgraph pattern: a small connected graph, its text, and where it matches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.kernels import SmallGraph, canonical_code
from rulewright.relational.graphs.drawing import pattern_html
from rulewright.relational.graphs.graph import Graph, GraphError
from rulewright.relational.graphs.matching import embeddings
from rulewright.relational.graphs.text import graph_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import Code
    from rulewright.relational.graphs.database import GraphLabels


@dataclass(frozen=True)
class Pattern:
    """A connected graph that occurs in others; vertices are in the order of a traversal.

    Parameters
    ----------
    labels : tuple of str
        Labels of the vertices.
    edges : tuple of (int, int, str)
        Ends and labels of the edges.
    """

    labels: tuple[str, ...]
    edges: tuple[tuple[int, int, str], ...]

    @classmethod
    def of(cls, code: Code, labels: GraphLabels) -> Pattern:
        """Return the pattern of a code over labels."""
        graph = SmallGraph.of(code)
        edges = tuple((one, other, labels.edge[label]) for one, other, label in graph.edges)
        return cls(tuple(labels.vertex[label] for label in graph.labels), edges)

    @cached_property
    def text(self) -> str:
        """The pattern as a line such as ``c:c-N``: SMARTS, if it is part of a molecule."""
        return graph_text(self.labels, self.edges)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.edges)

    def code(self, labels: GraphLabels) -> Code | None:
        """Return the canonical code over labels, or None if they lack one of the pattern."""
        try:
            vertices = [labels.vertex.index(label) for label in self.labels]
            edges = [(a, b, labels.edge.index(label)) for a, b, label in self.edges]
        except ValueError:
            return None
        return canonical_code(SmallGraph(vertices, edges))

    def matches(self, graph: Graph) -> Iterator[tuple[int, ...]]:
        """Give the sets of vertices of a graph that the pattern can be laid on, each once."""
        found: set[tuple[int, ...]] = set()
        for places in embeddings(self.labels, self.edges, graph):
            key = tuple(sorted(places))
            if key not in found:
                found.add(key)
                yield key

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"labels": list(self.labels), "edges": [list(edge) for edge in self.edges]}

    @classmethod
    def from_json(cls, obj: object) -> Pattern:
        """Read and check plain data."""
        if not isinstance(obj, dict) or obj.keys() != {"labels", "edges"}:
            raise GraphError("a pattern must be an object with labels and edges")
        if not isinstance(obj["labels"], list) or not isinstance(obj["edges"], list):
            raise GraphError("labels and edges of a pattern must be lists")
        if not all(isinstance(edge, list) for edge in obj["edges"]):
            raise GraphError("an edge of a pattern must be a list")
        graph = Graph(obj["labels"], obj["edges"])
        if not _is_connected(graph):
            raise GraphError("a pattern must have vertices that hang together")
        return cls(graph.labels, graph.edges)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return pattern_html(self)


def _is_connected(graph: Graph) -> bool:
    part = np.arange(len(graph))
    for one, other, _ in graph.edges:
        part[part == part[other]] = part[one]
    return len(set(part.tolist())) == 1
