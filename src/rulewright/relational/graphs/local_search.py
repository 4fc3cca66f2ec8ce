"""Patterns chosen by dispersion: forward selection and stochastic local search.

Features that resemble the columns of a Hadamard matrix have the highest dispersion scores. The
local search is Algorithm 9 of Rückert's thesis.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.encoding import PackedCovers, SignedCovers, SignedStack
from rulewright.kernels import SmallGraph, canonical_code
from rulewright.relational.graphs.candidates import PatternCandidate, PatternFilter
from rulewright.relational.graphs.graph import GraphError, each_subgraph
from rulewright.weighting import MMV, BallState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rulewright.kernels import (
        Code,
        FloatArray,
        FoundSubgraphs,
        GraphArrays,
        StatArray,
        WordArray,
    )


class Dispersion:
    r"""Deviation of a feature from orthogonality to others, :math:`d(s) = \sum_i (s_i \cdot s)^2`.

    Features are 1 where a pattern occurs and -1 elsewhere. With classes t in {-1, 1} and m features
    the score is :math:`d(s) - m (t \cdot s)^2`. Without features the first choice is the most
    balanced one, or the closest to the classes. Small scores are good.

    Parameters
    ----------
    n_rows : int
        Number of graphs.
    signs : float array, optional
        Class of each graph, -1 or 1.
    constant_column : bool
        Whether to include the constant feature, so that features are balanced, too (not in the
        paper).
    """

    def __init__(
        self, n_rows: int, signs: FloatArray | None = None, constant_column: bool = True
    ) -> None:
        self._n_rows, self._signs, self._constant = n_rows, signs, constant_column
        self._stack = SignedStack(n_rows)
        self._active: list[int] = []

    @property
    def n_features(self) -> int:
        """Number of features in the sum, including the constant one."""
        return len(self._active) + self._constant

    def add(self, words: WordArray) -> None:
        """Add a feature to the sum."""
        self._active.append(len(self._stack))
        self._stack.append(_sign_covers(words[np.newaxis], self._n_rows))

    def keep(self, places: list[int]) -> None:
        """Keep only some features in the sum, by the order in which they were added."""
        self._active = places

    def scores(self, words: WordArray, n_threads: int = 1) -> StatArray:
        """Return the integer scores of features, given as words of their graphs."""
        given, n_given = _sign_covers(words, self._n_rows), len(words)
        both = given.stack(self._stack.covers[self._active])
        lines, others = np.arange(n_given), np.arange(n_given, len(both))
        squares = (both.gram(lines, others, n_threads) ** 2).sum(axis=1)
        sums = (2 * given.holds.count().astype(np.int64) - self._n_rows) ** 2
        if self._constant or not (self._active or self._signs is not None):
            squares = squares + sums
        if self._signs is not None:
            agreement = np.rint(given.dot(self._signs, n_threads=n_threads)).astype(np.int64)
            squares = squares - max(self.n_features, 1) * agreement**2
        return np.asarray(squares)

    @property
    def least(self) -> int:
        """Lower bound of all scores: a search that reaches it stops."""
        m, n = self.n_features, self._n_rows
        if self._signs is not None:
            return -max(m, 1) * n * n
        return max(m, 1) if n % 2 else 0


def _sign_covers(words: WordArray, n_rows: int) -> SignedCovers:
    holds = PackedCovers(np.ascontiguousarray(words), n_rows)
    return SignedCovers(holds, ~holds)


_RESTARTS = 3
_MOST_EXTENSIONS = 4


class SubgraphIndex:
    """The neighbourhoods of patterns, computed on request and cached.

    Parameters
    ----------
    graphs : GraphArrays
        The graphs.
    max_edges : int
        Maximum number of edges of a pattern.
    allow_cycles : bool
        Whether patterns may have cycles.
    max_bytes : int
        Memory for cached neighbourhoods; others are recomputed.
    """

    def __init__(
        self, graphs: GraphArrays, max_edges: int, allow_cycles: bool = True, max_bytes: int = 2**27
    ) -> None:
        self.graphs, self._set = graphs, kernels.GraphSet(graphs)
        self._limits, self._max_bytes = (max_edges, allow_cycles), max_bytes
        self._kept: OrderedDict[Code, FoundSubgraphs] = OrderedDict()
        self.n_bytes = 0

    def neighbours(self, code: Code) -> FoundSubgraphs:
        """Return the patterns with one edge more or less, in the order of codes."""
        found = self._kept.get(code)
        if found is not None:
            self._kept.move_to_end(code)
            return found
        packed = np.array(code, dtype=np.int32)
        found = self._kept[code] = self._set.neighbours(packed, *self._limits)
        self.n_bytes += _size(found)
        while self.n_bytes > self._max_bytes and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self.n_bytes -= _size(oldest)
        return found

    def candidate(self, code: Code) -> PatternCandidate:
        """Return a pattern with its graphs."""
        bounds = np.array([0, len(code)], dtype=np.int32)
        words = self._set.match(np.array(code, dtype=np.int32), bounds)
        return PatternCandidate(code, words[0])


def _size(found: FoundSubgraphs) -> int:
    return sum(part.nbytes for part in found)


@dataclass(frozen=True)
class SearchWalk:
    """Moves of a local search.

    Parameters
    ----------
    max_steps : int
        Number of steps per feature.
    noise : float
        Probability of a step to any neighbour instead of the best one.
    """

    max_steps: int = 2000
    noise: float = 0.2


class LocalSearch:
    """Searches features one by one, each dispersed from the earlier ones.

    Parameters
    ----------
    index : SubgraphIndex
        The patterns.
    scores : Dispersion
        The minimised score, given the features so far.
    filter : PatternFilter
        Which patterns are allowed.
    walk : SearchWalk
        How to move.
    random : RandomState
        Random numbers.
    n_threads : int
        Number of threads; does not change the result.
    """

    def __init__(
        self,
        index: SubgraphIndex,
        scores: Dispersion,
        filter: PatternFilter,
        walk: SearchWalk,
        random: np.random.RandomState,
        n_threads: int = 1,
    ) -> None:
        self._index, self._scores, self._filter, self._walk = index, scores, filter, walk
        self._random, self._n_threads = random, n_threads
        self._taken: set[bytes] = set()
        self._known_scores: dict[Code, tuple[StatArray, list[int]]] = {}
        starts = index.graphs.edge_starts[index.graphs.starts]
        self._with_edges = np.flatnonzero(np.diff(starts) > 0)
        self._edge_bounds = starts
        if not len(self._with_edges):
            raise GraphError("no graph has an edge, so there is no pattern to start from")

    def features(
        self, limit: int, check: Callable[[], None] = lambda: None
    ) -> Iterator[PatternCandidate]:
        """Yield features; changes to the scores between them affect the next one."""
        for _ in range(limit):
            found = None
            for _ in range(1 + _RESTARTS):
                found = self._search(check)
                if found is not None:
                    break
            if found is None:
                return
            key = self._filter.key(found.words)
            assert key is not None, "a feature differs between graphs"
            self._taken.add(key)
            yield found

    def _search(self, check: Callable[[], None]) -> PatternCandidate | None:
        """Walk from a random start and return the best allowed pattern."""
        self._known_scores.clear()  # they depend on the features so far
        here, best, least = self._start(), None, self._scores.least
        score = self._score(here)
        best_score: int | None = None
        for _ in range(self._walk.max_steps):
            if (best_score is None or score < best_score) and self._is_allowed(here):
                best, best_score = here, score
                if score == least:
                    break
            check()
            here, score = self._step(here)
        return best

    def _step(self, here: PatternCandidate) -> tuple[PatternCandidate, int]:
        """Move to a neighbour: a random one, or one of the best."""
        found = self._index.neighbours(here.code)
        if not len(found.words):
            start = self._start()
            return start, self._score(start)
        scores, best = self._judge_neighbours(here.code, found)
        if self._random.random_sample() < self._walk.noise:
            place = self._random.randint(len(scores))
        else:
            place = best[self._random.randint(len(best))]
        begin, end = found.starts[place], found.starts[place + 1]
        chosen = PatternCandidate(tuple(found.codes[begin:end].tolist()), found.words[place])
        return chosen, int(scores[place])

    def _judge_neighbours(self, code: Code, found: FoundSubgraphs) -> tuple[StatArray, list[int]]:
        """Return the scores of neighbours and the best ones; cached, as walks revisit them."""
        known = self._known_scores.get(code)
        if known is None:
            scores = self._scores.scores(found.words, self._n_threads)
            known = scores, np.flatnonzero(scores == scores.min()).tolist()
            self._known_scores[code] = known
        return known

    def _start(self) -> PatternCandidate:
        """Draw a graph, an edge of it, and up to four extensions."""
        graphs, random = self._index.graphs, self._random
        g = int(random.choice(self._with_edges))
        edge = int(random.randint(self._edge_bounds[g], self._edge_bounds[g + 1]))
        source = int(np.searchsorted(graphs.edge_starts, edge, side="right")) - 1
        labels = [int(graphs.labels[v]) for v in (source, graphs.ends[edge])]
        code = canonical_code(SmallGraph(labels, [(0, 1, int(graphs.edge_labels[edge]))]))
        here = self._index.candidate(code)
        for _ in range(random.randint(_MOST_EXTENSIONS + 1)):
            around = each_subgraph(self._index.neighbours(here.code))
            longer = [PatternCandidate(*one) for one in around if len(one[0]) > len(here.code)]
            if not longer:
                break
            here = longer[random.randint(len(longer))]
        return here

    def _score(self, here: PatternCandidate) -> int:
        return int(self._scores.scores(here.words[np.newaxis], self._n_threads)[0])

    def _is_allowed(self, here: PatternCandidate) -> bool:
        key = self._filter.key(here.words)
        return key is not None and key not in self._taken


_NORM = 2.0


def forward_selection(
    index: SubgraphIndex,
    filter: PatternFilter,
    walk: SearchWalk,
    *,
    n_features: int,
    signs: FloatArray | None,
    class_correlated: bool,
    constant_column: bool,
    max_active: int | None,
    random: np.random.RandomState,
    n_threads: int,
    check: Callable[[], None],
) -> list[PatternCandidate]:
    """Search patterns one by one, each dispersed from the active earlier ones.

    Parameters
    ----------
    index, filter, walk
        Patterns, allowed patterns, and moves of the search.
    n_features : int
        Maximum number of patterns.
    signs : float array, optional
        Class of each graph, -1 or 1.
    class_correlated, constant_column : bool
        Whether patterns should separate the classes, and whether they should be balanced.
    max_active : int, optional
        Number of active patterns: those kept by a mean-minus-variance fit of all patterns, so
        the choice depends on the classes.
    random : RandomState
        Random numbers.
    n_threads : int
        Number of threads; does not change the result.
    check : callable
        Called between steps; may raise to stop the search.
    """
    n = filter.n_graphs
    scores = Dispersion(n, signs if class_correlated else None, constant_column)
    search = LocalSearch(index, scores, filter, walk, random, n_threads)
    weights = None if max_active is None or signs is None else _Weights(signs, max_active)
    found = []
    for candidate in search.features(n_features, check):
        found.append(candidate)
        scores.add(candidate.words)
        if weights is not None:
            scores.keep(weights.active_after(candidate.words))
    return found


class _Weights:
    """The weights of patterns by their margins, and which patterns are active."""

    def __init__(self, signs: FloatArray, max_active: int) -> None:
        self._n, self._cap = len(signs), max_active
        state = MMV(_NORM).start(signs, np.full(self._n, 1 / self._n))
        assert isinstance(state, BallState), "MMV keeps a working set"
        self._state = state
        self._state.add(SignedCovers.constant(self._n))

    def active_after(self, words: WordArray) -> list[int]:
        """Add a pattern and return the places of the active ones."""
        holds = PackedCovers(np.ascontiguousarray(words[np.newaxis]), self._n)
        self._state.add(SignedCovers(holds, ~holds))
        self._state.solve()
        self._state.drop_to(self._cap + 1)
        return [line - 1 for line in self._state.working.lines if line > 0]
