"""Stochastic local search for dispersed patterns (Algorithm 9 of Rückert's thesis)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.kernels import SmallGraph, canonical_code
from rulewright.relational.graphs.candidates import PatternCandidate, PatternFilter
from rulewright.relational.graphs.database import each_subgraph
from rulewright.relational.graphs.graph import GraphError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rulewright.kernels import Code, FoundSubgraphs, GraphArrays, StatArray
    from rulewright.relational.graphs.dispersion import Dispersion

_RESTARTS = 3
_MOST_EXTENSIONS = 4


class SubgraphIndex:
    """The neighbourhoods of patterns, found when they are asked for, the latest ones kept.

    Parameters
    ----------
    graphs : GraphArrays
        The graphs.
    max_edges : int
        Most edges of a pattern.
    allow_cycles : bool
        Whether patterns may have cycles.
    max_bytes : int
        Memory of the neighbourhoods that are kept; others are found again.
    """

    def __init__(
        self, graphs: GraphArrays, max_edges: int, allow_cycles: bool = True, max_bytes: int = 2**27
    ) -> None:
        self.graphs, self._set = graphs, kernels.GraphSet(graphs)
        self._limits, self._max_bytes = (max_edges, allow_cycles), max_bytes
        self._kept: OrderedDict[Code, FoundSubgraphs] = OrderedDict()
        self.n_bytes = 0

    def neighbours(self, code: Code) -> FoundSubgraphs:
        """Return the patterns with one edge more or less, by ascending codes."""
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
    """How a local search moves.

    Parameters
    ----------
    max_steps : int
        Steps in search of one feature.
    noise : float
        Probability of a step to any neighbour instead of the best one.
    """

    max_steps: int = 2000
    noise: float = 0.2


class LocalSearch:
    """Searches one feature after the other, each dispersed from those before.

    Parameters
    ----------
    index : SubgraphIndex
        The patterns.
    scores : Dispersion
        What is minimised, over the features so far.
    filter : PatternFilter
        Which patterns may be features.
    walk : SearchWalk
        How to move.
    random : RandomState
        Random draws.
    n_threads : int
        Threads of the scores; they change nothing.
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
            raise GraphError("no graph has an edge, so that there is no pattern to start from")

    def features(
        self, limit: int, check: Callable[[], None] = lambda: None
    ) -> Iterator[PatternCandidate]:
        """Give features; what is done with the scores in between counts for the next one."""
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
        """Walk from a random start and return the best pattern that is allowed."""
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
        """Go to a neighbour: any one, or one of the best."""
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
        """Return the scores of neighbours and the best ones; walks come back to many patterns."""
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
