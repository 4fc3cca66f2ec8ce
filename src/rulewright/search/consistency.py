"""Search for a k-term DNF formula without errors, by random partitions of the positives."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright import kernels
from rulewright.bounds import block_size_bound, randomsearch_success
from rulewright.data import optional
from rulewright.search.boolean_examples import BooleanExamples, group_vectors
from rulewright.search.formulas import FALSE, TRUE, DnfFormula, Term, drop_subsumed, term_cover
from rulewright.search.options import Progress, Slices, check_whole, count_threads

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rulewright.bounds import Bound
    from rulewright.encoding import PackedCovers

MOST_PAIR_WORK = 2**30
"""Number of operations beyond which pairs of positives are ignored in the block size bound."""


@dataclass(frozen=True)
class ConsistencyResult:
    """Result of the search for a formula of k terms that covers all positives and no negative.

    Attributes
    ----------
    status : str
        "FOUND"; "CONTRADICTORY" (rows of both classes are equal); "PROVEN_INFEASIBLE" (one term
        is not enough); "NOT_FOUND".
    formula : tuple of terms, or None
        A term is a tuple of literals (variable, whether it must be true).
    stop_reason : str
        "optimal", "contradictory", "proven_infeasible", "restarts", "time" or "cancelled".
    guaranteed : bool
        Whether the status is certain or, for NOT_FOUND, wrong with probability at most `delta`.
    delta : float
        Bound on the probability that a formula exists although none was found; 0 if certain.
    restarts : int
        Number of partitions tried.
    ln_restarts_needed : float
        Logarithm of the number of restarts for the requested delta.
    contradictions : tuple of (int, int)
        Positive and negative rows that are equal, one pair for each such vector.
    """

    status: str
    formula: DnfFormula | None
    stop_reason: str
    guaranteed: bool = True
    delta: float = 0.0
    restarts: int = 0
    ln_restarts_needed: float = -math.inf
    contradictions: tuple[tuple[int, int], ...] = ()


def find_consistent_dnf(
    X: Any,
    y: ArrayLike,
    k: int,
    *,
    delta: float = 0.05,
    max_restarts: int = 10_000,
    break_symmetry: bool = False,
    generalise: bool = False,
    time_limit: float | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> ConsistencyResult:
    """Search for at most k terms that together cover all positives and no negative.

    A restart assigns the positives, in random order, to k parts such that the literals shared by a
    part cover no negative. If a formula exists, the success probability of a restart is bounded
    from below. This gives the number of restarts after which NOT_FOUND is wrong with probability at
    most `delta`.

    Parameters
    ----------
    X, y : as for `search_dnf`
        Boolean matrix (rows, variables) or packed columns; 0 and 1.
    k : int
        Maximum number of terms.
    delta : float
        Accepted probability of missing a formula that exists.
    max_restarts : int
        Maximum number of restarts, regardless of delta.
    break_symmetry : bool
        Let a row open only the first unused part: often faster, but without a known bound.
    generalise : bool
        Drop literals from the found terms while no negative becomes covered.
    time_limit, random_state, n_jobs, progress
        As for `search_dnf`; progress receives the number of restarts and infinity.
    """
    check_whole("k", k, 1)
    check_whole("max_restarts", max_restarts, 1)
    if not 0 < delta < 1:
        raise ValueError(f"delta={delta!r} must lie between 0 and 1")
    examples = BooleanExamples.of(X, y)
    random = optional("sklearn.utils").check_random_state(random_state)
    seed = int.from_bytes(random.bytes(8), "little")
    n_threads, slices = count_threads(n_jobs), Slices(time_limit, progress)
    result = _without_search(examples, k)
    if result is None:
        plan = _Plan(k, delta, max_restarts, break_symmetry, seed)
        result = _Problem.of(examples).solve(plan, n_threads, slices)
    return _generalise(result, examples.variables.take(~examples.labels)) if generalise else result


def _without_search(examples: BooleanExamples, k: int) -> ConsistencyResult | None:
    """Return the result if no search is needed: one class, equal rows, one term."""
    if examples.one_class:
        return ConsistencyResult("FOUND", TRUE if examples.labels[0] else FALSE, "optimal")
    if pairs := _contradictions(examples):
        return ConsistencyResult("CONTRADICTORY", None, "contradictory", contradictions=pairs)
    term = shared_term(examples.variables.take(examples.labels))
    if not term_cover(examples.variables, term)[~examples.labels].any():
        return ConsistencyResult("FOUND", (term,), "optimal")
    return ConsistencyResult("PROVEN_INFEASIBLE", None, "proven_infeasible") if k == 1 else None


def _contradictions(examples: BooleanExamples) -> tuple[tuple[int, int], ...]:
    """Return the first positive and the first negative row of each vector that has both."""
    _, group = group_vectors(examples.variables)
    rows = [np.flatnonzero(examples.labels == label) for label in (True, False)]
    firsts = [dict(zip(group[r[::-1]].tolist(), r[::-1].tolist(), strict=True)) for r in rows]
    both = sorted(firsts[0].keys() & firsts[1].keys(), key=firsts[0].__getitem__)
    return tuple((firsts[0][vector], firsts[1][vector]) for vector in both)


def shared_term(rows: PackedCovers) -> Term:
    """Return all literals that every row satisfies: the most specific term that covers them."""
    counts = rows.count()
    agree = np.flatnonzero((counts == 0) | (counts == rows.n_rows))
    return tuple((int(v), bool(counts[v])) for v in agree)


class _Plan(NamedTuple):
    """Arguments of the search; `one_new` opens only the first unused part."""

    k: int
    delta: float
    max_restarts: int
    one_new: bool
    seed: int


@dataclass(frozen=True)
class _Problem:
    """Distinct rows; negatives that differ from all positives in some variable are dropped.

    No term of shared literals covers such a negative, so decisions do not change without it.
    """

    positives: PackedCovers  # the rows where each variable is true
    negatives: PackedCovers

    @classmethod
    def of(cls, examples: BooleanExamples) -> _Problem:
        positives, negatives = (
            _distinct(examples.variables.take(rows)) for rows in (examples.labels, ~examples.labels)
        )
        near = term_cover(negatives, shared_term(positives))
        return cls(positives, negatives.take(near))

    def chances(self, k: int, delta: float) -> Bound:
        """Bound the success probability of a restart, and derive the number of restarts needed."""
        counts = self.positives.count()
        varies = (counts > 0) & (counts < self.positives.n_rows)
        positives, negatives = (
            rows[varies].unpack().T for rows in (self.positives, self.negatives)
        )
        work = len(positives) ** 2 * len(negatives) * positives.shape[1]
        size = block_size_bound(positives, negatives, pairs=work <= MOST_PAIR_WORK)
        return randomsearch_success(len(positives), k, size.value, delta)

    def solve(self, plan: _Plan, n_threads: int, slices: Slices) -> ConsistencyResult:
        """Try partitions until one succeeds or the budget is spent."""
        chances = self.chances(plan.k, plan.delta)
        enough, ln_needed = chances.terms["restarts"], chances.terms["ln_restarts"]
        if plan.one_new:
            enough = math.inf
        formula, done = self.try_partitions(plan, enough, n_threads, slices)
        if formula is not None:
            return ConsistencyResult("FOUND", formula, "optimal", True, 0.0, done, ln_needed)
        missed = 1.0 if plan.one_new else math.exp(-chances.value * done)
        reason = slices.reason or "restarts"
        found = "NOT_FOUND", None, reason
        return ConsistencyResult(*found, done >= enough, missed, done, ln_needed)

    def try_partitions(
        self, plan: _Plan, enough: float, n_threads: int, slices: Slices
    ) -> tuple[DnfFormula | None, int]:
        """Return the formula of the first successful partition, and the number tried."""
        rows = self.positives.transpose().words, self.negatives.transpose().words
        budget = int(min(plan.max_restarts, enough))
        slices.size, done = n_threads, 0
        while True:
            n = min(slices.size, budget - done)
            found, parts = kernels.find_partition(
                *rows, plan.k, plan.one_new, plan.seed, done, n, n_threads
            )
            if found >= 0:
                terms = [shared_term(self.positives.take(parts == p)) for p in np.unique(parts)]
                return drop_subsumed(tuple(terms)), found + 1
            done += n
            if done >= budget or not slices.go_on(done, lambda: math.inf):
                return None, done


def _distinct(rows: PackedCovers) -> PackedCovers:
    return rows.take(np.sort(group_vectors(rows)[0]))


def _generalise(result: ConsistencyResult, negatives: PackedCovers) -> ConsistencyResult:
    """Drop literals in order, while no negative becomes covered."""
    if result.formula is None:
        return result
    terms = []
    for term in result.formula:
        short = term
        for literal in term:
            shorter = tuple(other for other in short if other != literal)
            if not term_cover(negatives, shorter).any():
                short = shorter
        terms.append(short)
    return replace(result, formula=drop_subsumed(tuple(terms)))
