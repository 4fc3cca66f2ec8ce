"""Many graphs with coded labels, as kernels read them, and the patterns found in them."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels import GraphArrays

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rulewright.kernels import Code, FoundSubgraphs, WordArray
    from rulewright.relational.graphs.graph import Graph

_UNKNOWN = -1
"""Code of a label that patterns do not have."""


@dataclass(frozen=True)
class GraphLabels:
    """The labels of vertices and edges; a label is coded by its place.

    Rare labels come first, so that traversals begin at rare vertices.
    """

    vertex: tuple[str, ...]
    edge: tuple[str, ...]

    @classmethod
    def of(cls, graphs: Iterable[Graph]) -> GraphLabels:
        """Return the labels of graphs, rare ones first, ties by their text."""
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
    """Give the patterns one by one: the code, and the graphs it occurs in as words."""
    codes, starts = found.codes.tolist(), found.starts.tolist()
    for place, (begin, end) in enumerate(itertools.pairwise(starts)):
        yield tuple(codes[begin:end]), found.words[place]
