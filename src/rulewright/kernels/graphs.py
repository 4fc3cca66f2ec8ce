"""The door to native kernels for subgraphs of many graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels import _core
from rulewright.kernels.structs import FoundSubgraphs

if TYPE_CHECKING:
    from rulewright.kernels.structs import GraphArrays, IntArray, WordArray

_WORK = 1_000_000
"""Vertices that a call visits about, so that Ctrl-C works."""


class GraphSet:
    """Graphs that patterns are looked for in, checked once (`native/search/graphs/graph_set.hpp`).

    Parameters
    ----------
    graphs : GraphArrays
        The graphs; labels of -1 are those that no pattern has.
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
        """Return the patterns with an edge more, that occur, or an edge less, by ascending codes.

        Where a deleted edge parts a pattern, the part with more edges stays; of equal ones that
        with more vertices, then that with the smaller code.
        """
        return _shape_subgraphs(self.native.neighbours(code, max_edges, allow_cycles))


class SubgraphMiner:
    """All connected subgraphs in enough graphs, in the order of their codes, some at a time.

    Parameters
    ----------
    graphs : GraphSet
        The graphs.
    min_count : int
        In how many graphs a pattern must occur.
    max_edges : int
        Most edges of a pattern, up to 63.
    allow_cycles : bool
        Whether patterns may have cycles.
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
        """Find up to so many more subgraphs; fewer, or none, after much work and at the end."""
        return _shape_subgraphs(self._native.advance(n_patterns, _WORK))


def _shape_subgraphs(found: tuple[IntArray, IntArray, WordArray]) -> FoundSubgraphs:
    codes, starts, words = found
    n_patterns = len(starts) - 1
    n_words = len(words) // n_patterns if n_patterns else 0
    return FoundSubgraphs(codes, starts, words.reshape(n_patterns, n_words))
