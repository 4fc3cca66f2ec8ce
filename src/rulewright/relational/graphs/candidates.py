"""Patterns with the rows they occur in: streams, filters and orders."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from rulewright import kernels
from rulewright.encoding import PackedCovers
from rulewright.kernels import EDGE, Code, FloatArray, GraphSet, IntArray, WordArray
from rulewright.relational.graphs.graph import GraphError, each_subgraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


Order = Literal["size", "code", "balance", "correlation", "chi2"]
ORDERS = ("size", "code", "balance", "correlation", "chi2")
BY_CLASS = ("correlation", "chi2")
"""Orders that depend on the classes."""

MOST_PATTERNS = 2_000_000
"""Maximum number of patterns with different rows."""

_SLICE = 1000


class PatternCandidate(NamedTuple):
    """A pattern by its code, and the graphs it occurs in as words."""

    code: Code
    words: WordArray

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return (len(self.code) - 1) // EDGE


def mine_patterns(
    graphs: GraphSet,
    min_count: int,
    max_edges: int,
    allow_cycles: bool,
    check: Callable[[], None] = lambda: None,
) -> Iterator[PatternCandidate]:
    """Yield all patterns with a minimum number of graphs, in the order of their codes.

    `check` is called between short steps; it may raise to end the search.
    """
    miner = kernels.SubgraphMiner(graphs, min_count, max_edges, allow_cycles)
    while not miner.done:
        check()
        for code, words in each_subgraph(miner.advance(_SLICE)):
            yield PatternCandidate(code, words)


@dataclass(frozen=True)
class PatternFilter:
    """Which patterns are new among n graphs.

    Patterns in all graphs or in no graph are excluded.

    Parameters
    ----------
    n_graphs : int
        Number of graphs.
    complement : bool
        Whether a pattern is also excluded if it occurs exactly where another one does not.
    """

    n_graphs: int
    complement: bool = True

    def key(self, words: WordArray) -> bytes | None:
        """Return a key shared by patterns with the same rows; None for all rows or no rows."""
        rows = PackedCovers(words[np.newaxis], self.n_graphs)
        inside, outside = words.tobytes(), (~rows).words.tobytes()
        if not any(inside) or not any(outside):
            return None
        return min(inside, outside) if self.complement else inside

    def first(
        self, candidates: Iterable[PatternCandidate], limit: int | None
    ) -> list[PatternCandidate]:
        """Return the first new patterns."""
        kept: dict[bytes, PatternCandidate] = {}
        for candidate in candidates:
            key = self.key(candidate.words)
            if key is not None and key not in kept:
                kept[key] = candidate
                if len(kept) == limit:
                    break
        return list(kept.values())

    def smallest(self, candidates: Iterable[PatternCandidate]) -> list[PatternCandidate]:
        """Return the smallest pattern for each set of rows, by size and code."""
        kept: dict[bytes, PatternCandidate] = {}
        for candidate in candidates:
            key = self.key(candidate.words)
            if key is None:
                continue
            if key not in kept and len(kept) == MOST_PATTERNS:
                raise GraphError(
                    f"more than {MOST_PATTERNS} patterns differ in their graphs: raise "
                    "min_support, or lower max_edges"
                )
            if key not in kept or _size_and_code(candidate) < _size_and_code(kept[key]):
                kept[key] = candidate
        return sorted(kept.values(), key=_size_and_code)


def _size_and_code(candidate: PatternCandidate) -> tuple[int, Code]:
    return len(candidate.code), candidate.code


def order_patterns(
    candidates: Sequence[PatternCandidate], order: Order, n_graphs: int, labels: IntArray | None
) -> list[PatternCandidate]:
    """Sort patterns that are sorted by size; ties stay in this order.

    Parameters
    ----------
    candidates : sequence of PatternCandidate
        The patterns, by size and code.
    order : {"size", "balance", "correlation", "chi2"}
        "size": fewest edges first. "balance": nearest to half of the graphs first. "correlation":
        largest correlation with the second of two classes first, with its sign. "chi2": largest
        chi-squared statistic with the classes first.
    n_graphs : int
        Number of graphs.
    labels : int array, optional
        Class of each graph, for the last two.
    """
    if order == "size" or not candidates:
        return list(candidates)
    covers = PackedCovers(np.array([one.words for one in candidates]), n_graphs)
    worth = worths(order, covers, labels)
    return [candidates[place] for place in np.argsort(-worth, kind="stable")]


def worths(order: Order, covers: PackedCovers, labels: IntArray | None) -> FloatArray:
    """Return large integers for sorting patterns, given the rows where they occur."""
    if order == "balance":
        return np.asarray(-np.abs(2.0 * covers.count() - covers.n_rows))
    assert labels is not None, "the caller has classes for this order"
    return correlations(covers, labels) if order == "correlation" else chi2(covers, labels)


def correlations(covers: PackedCovers, labels: IntArray) -> FloatArray:
    """Return Pearson's correlation of each pattern with the second of two classes."""
    n, hits = covers.n_rows, covers.count().astype(np.float64)
    positives = float((labels == 1).sum())
    joint = covers.dot((labels == 1).astype(np.float64))
    spread = np.sqrt(hits * (n - hits) * positives * (n - positives))
    above = n * joint - hits * positives
    return np.divide(above, spread, out=np.zeros(len(covers)), where=spread > 0)


def chi2(covers: PackedCovers, labels: IntArray) -> FloatArray:
    """Return the chi-squared statistic of each pattern with the classes."""
    n, hits = covers.n_rows, covers.count().astype(np.float64)
    total = np.zeros(len(covers))
    for label in np.unique(labels):
        size = float((labels == label).sum())
        joint = covers.dot((labels == label).astype(np.float64))
        for found, column in ((joint, hits), (size - joint, n - hits)):
            expected = column * size / n
            gap = (found - expected) ** 2
            total += np.divide(gap, expected, out=np.zeros(len(covers)), where=expected > 0)
    return total


def least_count(min_support: float, n_graphs: int) -> int:
    """Return the minimum number of graphs of a pattern, given as a count or a share."""
    if isinstance(min_support, numbers.Integral):
        return int(min_support)
    if min_support > 1:
        raise ValueError(
            f"min_support={min_support!r} must be a share of the graphs, up to 1.0, or a "
            "number of graphs"
        )
    return max(1, math.ceil(min_support * n_graphs - 1e-9))
