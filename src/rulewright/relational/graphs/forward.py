"""Forward selection of dispersed patterns, with a limit on those that the next one looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.encoding import PackedCovers, SignedCovers
from rulewright.relational.graphs.dispersion import Dispersion
from rulewright.relational.graphs.local_search import LocalSearch
from rulewright.weighting import MMV, BallState

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.kernels import FloatArray, WordArray
    from rulewright.relational.graphs.candidates import PatternCandidate, PatternFilter
    from rulewright.relational.graphs.local_search import SearchWalk, SubgraphIndex

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
    """Search patterns one after the other, each dispersed from the active ones before.

    Parameters
    ----------
    index, filter, walk
        Patterns, which of them may be chosen, and how the search moves.
    n_features : int
        Most patterns.
    signs : float array, optional
        Class of each graph, -1 or 1.
    class_correlated, constant_column : bool
        Whether patterns should tell the classes apart, and whether they should be balanced.
    max_active : int, optional
        Patterns that the next one looks at. They are those that a mean-minus-variance fit of all
        patterns keeps, so that what is chosen then depends on the classes.
    random : RandomState
        Random draws.
    n_threads : int
        Threads; they change nothing.
    check : callable
        Called between steps; it may raise to end the search.
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
    """The weights of patterns by their margins, kept up to date, and which of them are active."""

    def __init__(self, signs: FloatArray, max_active: int) -> None:
        self._n, self._cap = len(signs), max_active
        state = MMV(_NORM).start(signs, np.full(self._n, 1 / self._n))
        assert isinstance(state, BallState), "MMV keeps a working set"
        self._state = state
        self._state.add(SignedCovers.constant(self._n))

    def active_after(self, words: WordArray) -> list[int]:
        """Add a pattern and return the places of those that stay active."""
        holds = PackedCovers(np.ascontiguousarray(words[np.newaxis]), self._n)
        self._state.add(SignedCovers(holds, ~holds))
        self._state.solve()
        self._state.drop_to(self._cap + 1)
        return [line - 1 for line in self._state.working.lines if line > 0]
