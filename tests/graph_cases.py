"""Random labelled graphs, as the library and as NetworkX hold them."""

from itertools import combinations

import networkx as nx
import numpy as np

from rulewright.kernels import GraphArrays
from rulewright.relational import Graph


def random_graph(rng, *, n_vertices=None, labels="ab", edge_labels=("", "x"), density=0.5):
    """Draw a graph, in parts or not."""
    n = int(rng.integers(1, 7)) if n_vertices is None else n_vertices
    pairs = [pair for pair in combinations(range(n), 2) if rng.random() < density]
    edges = [(a, b, str(rng.choice(edge_labels))) for a, b in pairs]
    return Graph([str(rng.choice(list(labels))) for _ in range(n)], edges)


def to_networkx(graph):
    """Return the same graph of NetworkX."""
    made = nx.Graph()
    made.add_nodes_from((v, {"label": label}) for v, label in enumerate(graph.labels))
    made.add_edges_from((a, b, {"label": label}) for a, b, label in graph.edges)
    return made


def occurs(pattern, graph):
    """Tell whether NetworkX finds a pattern in a graph, not necessarily induced."""
    matcher = nx.isomorphism.GraphMatcher(
        to_networkx(graph),
        to_networkx(pattern),
        node_match=lambda one, other: one["label"] == other["label"],
        edge_match=lambda one, other: one["label"] == other["label"],
    )
    return matcher.subgraph_is_monomorphic()


def arrays_of(small_graphs):
    """Lay out small graphs of coded labels for the kernels."""
    starts, labels, edge_starts, ends, edge_labels = [0], [], [0], [], []
    for graph in small_graphs:
        offset = len(labels)
        for v, label in enumerate(graph.labels):
            labels.append(label)
            edge_labels += [label for label, _ in graph.around[v]]
            ends += [offset + w for _, w in graph.around[v]]
            edge_starts.append(len(ends))
        starts.append(len(labels))
    lists = (starts, labels, edge_starts, ends, edge_labels)
    return GraphArrays(*(np.array(one, dtype=np.int32) for one in lists))
