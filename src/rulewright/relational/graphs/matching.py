"""All ways to lay a pattern on one graph, for explanations; kernels tell which graphs have any."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulewright.relational.graphs.graph import Graph

    Edges = Sequence[tuple[int, int, str]]


def embeddings(labels: Sequence[str], edges: Edges, graph: Graph) -> Iterator[tuple[int, ...]]:
    """Give the mappings of a connected pattern to a graph that keep labels and edges.

    Each has the vertices of the graph in the order in which a traversal of the pattern meets its
    vertices. The graph may have more edges between them.
    """
    wanted, there = _around(len(labels), edges), _around(len(graph), graph.edges)
    order = [0]
    for v in order:  # grows while it is read
        order += [w for w in wanted[v] if w not in order]

    def laid(places: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(places) == len(order):
            yield places
            return
        new = order[len(places)]
        joined = [
            (places[k], wanted[new][v])
            for k, v in enumerate(order[: len(places)])
            if v in wanted[new]
        ]
        for w in there[joined[0][0]]:
            fits = w not in places and graph.labels[w] == labels[new]
            if fits and all(there[w].get(end) == label for end, label in joined):
                yield from laid((*places, w))

    for first, label in enumerate(graph.labels):
        if label == labels[0]:
            yield from laid((first,))


def _around(n_vertices: int, edges: Edges) -> list[dict[int, str]]:
    """Return the label of the edge to each neighbour of every vertex."""
    around: list[dict[int, str]] = [{} for _ in range(n_vertices)]
    for one, other, label in edges:
        around[one][other] = around[other][one] = label
    return around
