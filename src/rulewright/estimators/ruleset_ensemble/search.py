"""Sampling the rule sets of an ensemble: independent searches on several threads."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.encoding import canonical_rule_set
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.folds.folds import run_parallel
from rulewright.search import search_dnf

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rulewright.encoding import CanonicalRuleSet
    from rulewright.estimators.ruleset_ensemble.rows import EnsembleRows
    from rulewright.kernels import BoolArray
    from rulewright.search import BooleanExamples


class Job(NamedTuple):
    """One search: class, most terms, number of the sample."""

    head: int
    n_terms: int
    sample: int

    @property
    def first(self) -> bool:
        """Whether it is the search that every class has even when the time is up."""
        return self.n_terms == 1 and self.sample == 0


class SampledRuleSet(NamedTuple):
    """A rule set, its errors on all rows, and the copies of rows seen if not all were."""

    rule_set: CanonicalRuleSet
    errors: float
    seen: BoolArray | None = None


@dataclass(frozen=True)
class RuleSetSearch:
    """Searches for rule sets of some classes.

    Parameters
    ----------
    rows : EnsembleRows
        The rows to search on.
    heads : list of int
        The classes.
    max_terms, n_samples : int
        Each class has `n_samples` searches for 1, ..., `max_terms` terms each.
    settings : dict
        Further arguments of `search_dnf`.
    seed : int
        Seed of all searches; none depends on another.
    bagging : bool
        Whether each search sees a random half of the rows only.
    deadline : float, optional
        When to end, by `time.monotonic`.
    """

    rows: EnsembleRows
    heads: Sequence[int]
    max_terms: int
    n_samples: int
    settings: Mapping[str, Any]
    seed: int
    bagging: bool = False
    deadline: float | None = None

    @property
    def jobs(self) -> list[Job]:
        """All jobs, ordered such that a run that ends early has done about as many of each kind."""
        return [
            Job(head, n_terms, sample)
            for sample in range(self.n_samples)
            for n_terms in range(1, self.max_terms + 1)
            for head in self.heads
        ]

    def run(self, n_threads: int, verbose: bool) -> dict[int, list[SampledRuleSet]]:
        """Return what was found for each class, in the order of jobs."""
        jobs = self.jobs
        whole = {head: self.rows.examples(head) for head in self.heads}
        with progress_bar("searching rule sets", len(jobs), verbose) as advance:
            tasks = [partial(self._find_rule_set, whole[job.head], job, advance) for job in jobs]
            results = run_parallel(tasks, n_threads)
        found: dict[int, list[SampledRuleSet]] = {head: [] for head in self.heads}
        for job, sample in zip(jobs, results, strict=True):
            if sample is not None:
                found[job.head].append(sample)
        return found

    def _find_rule_set(
        self,
        examples: BooleanExamples,
        job: Job,
        advance: Callable[[], None],
        check: Callable[[], None],
    ) -> SampledRuleSet | None:
        """Run one search; only the first of a class counts when its time was up."""
        check()
        left = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
        if left == 0.0 and not job.first:
            return None
        # Without the class: the seed does not depend on the order of the classes.
        stream = np.random.SeedSequence((self.seed, *job[1:]))
        seen = _half(self.rows.n_copies, stream) if self.bagging else None
        found = search_dnf(
            examples if seen is None else self.rows.examples(job.head, seen),
            None,
            job.n_terms,
            **self.settings,
            time_limit=left,
            random_state=int(stream.generate_state(1)[0]),
            n_jobs=1,
            progress=lambda steps, cost: check(),
        )
        advance()
        if found.stop_reason == "time" and not job.first:
            return None
        rule_set = canonical_rule_set(self.rows.encoding, found.formula)
        if seen is None:
            return SampledRuleSet(rule_set, found.errors)
        return SampledRuleSet(rule_set, self.rows.errors(rule_set, job.head), seen)


def _half(n_rows: int, stream: np.random.SeedSequence) -> BoolArray:
    """Draw half of the rows: as much information as a bootstrap sample, and a faster search."""
    seen = np.zeros(n_rows, dtype=np.bool_)
    seen[np.random.default_rng(stream.spawn(1)[0]).permutation(n_rows)[: (n_rows + 1) // 2]] = True
    return seen
