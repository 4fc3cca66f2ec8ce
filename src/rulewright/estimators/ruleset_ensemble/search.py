"""Sampling of rule sets for an ensemble: rows in a canonical order, searches on threads."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.data import Units
from rulewright.encoding import canonical_rule_set, term_literals
from rulewright.estimators.contract.deadline import Deadline
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.folds.folds import run_parallel
from rulewright.search import BooleanRows, formula_cover, merge_equal_rows, search_dnf

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rulewright.data import TrainingSet
    from rulewright.encoding import BooleanEncoding, CanonicalRuleSet, PackedCovers
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.search import BooleanExamples, MergedRows

NEGLIGIBLE = 1e-6
"""Rows below this share of the heaviest row are dropped: below the resolution of weights."""


def order_rows(rows: TrainingSet, *, repeat: bool = True) -> MergedRows:
    """Merge equal rows, drop rows of negligible weight, and sort the rest.

    The result depends neither on the order of rows nor on repetitions.
    """
    merged = merge_equal_rows(rows, repeat=repeat).sort_rows()
    weights = merged.rows.weights
    return merged.take(np.flatnonzero(weights >= NEGLIGIBLE * weights.max()))


def split_in_halves(
    rows: TrainingSet, random: np.random.RandomState
) -> tuple[TrainingSet, TrainingSet]:
    """Split rows in two halves by their places only; the first half is not the smaller one.

    A bound with a prior from the first half needs the second half to be an independent sample.
    Therefore the halves are not stratified, which would reveal class shares of the second, and
    equal rows may be separated.
    """
    drawn = random.permutation(rows.units.n)
    middle = (rows.units.n + 1) // 2
    halves = (np.sort(rows.units.rows(part)) for part in (drawn[:middle], drawn[middle:]))
    return rows.take(next(halves)), rows.take(next(halves))


@dataclass(frozen=True)
class EnsembleRows:
    """Encoded rows.

    Parameters
    ----------
    encoding : BooleanEncoding
        The Boolean features.
    merged : MergedRows
        The distinct rows and their copies.
    answers : BooleanRows
        Features, classes and weights of the distinct rows.
    """

    encoding: BooleanEncoding
    merged: MergedRows
    answers: BooleanRows

    @classmethod
    def of(
        cls, encoding: BooleanEncoding, merged: MergedRows, covers: PackedCovers | None = None
    ) -> EnsembleRows:
        """Encode rows, unless the encoded rows are given."""
        rows = merged.rows
        covers = encoding.covers(rows.table) if covers is None else covers
        return cls(encoding, merged, BooleanRows(covers, rows.labels, rows.weights))

    @property
    def n_copies(self) -> int:
        """Number of rows, including copies."""
        return len(self.merged.place)

    def without_rules(self, head: int) -> SampledRuleSet:
        """Return the rule set of a class that was not searched."""
        return SampledRuleSet((), self.errors((), head))

    def examples(self, head: int, seen: BoolArray | None = None) -> BooleanExamples:
        """Return the rows of a class as positives and all others as negatives.

        With `seen` only these copies of rows are used.
        """
        if seen is None:
            return self.answers.examples(head)
        return self.answers.weighted_examples(head, self.merged.part(seen))

    def find_covered(self, rule_set: CanonicalRuleSet) -> BoolArray:
        """Return which distinct rows a rule set covers, as in the model."""
        literals = tuple(term_literals(self.encoding, term) for term in rule_set)
        return formula_cover(self.answers.covers, literals)

    def term_weights(
        self, rule_set: CanonicalRuleSet, n_classes: int, copies: BoolArray
    ) -> FloatArray:
        """Return the weight of some copies of rows that each term covers, by class."""
        literals = tuple(term_literals(self.encoding, term) for term in rule_set)
        some = replace(self.answers, weights=self.merged.part(copies))
        return some.term_weights(literals, n_classes)

    def wrong(self, rule_set: CanonicalRuleSet, head: int) -> BoolArray:
        """Return the distinct rows on which the rule set of a class is wrong."""
        return np.asarray(self.find_covered(rule_set) != (self.answers.labels == head))

    def errors(self, rule_set: CanonicalRuleSet, head: int) -> float:
        """Return the weight of the rows on which the rule set of a class is wrong."""
        return float(self.wrong(rule_set, head) @ self.answers.weights)


class SearchJob(NamedTuple):
    """One search: class, maximum number of terms, number of the sample."""

    head: int
    n_terms: int
    sample: int

    @property
    def first(self) -> bool:
        """Whether every class needs this search, even after the time limit."""
        return self.n_terms == 1 and self.sample == 0


class SampledRuleSet(NamedTuple):
    """A rule set, its errors on all rows, and the copies of rows used if not all were."""

    rule_set: CanonicalRuleSet
    errors: float
    seen: BoolArray | None = None


@dataclass(frozen=True)
class RuleSetSearch:
    """Searches for rule sets of some classes.

    Parameters
    ----------
    rows : EnsembleRows
        The search rows.
    heads : list of int
        The classes.
    max_terms, n_samples : int
        Each class has `n_samples` searches for 1, ..., `max_terms` terms each.
    settings : dict
        Further arguments of `search_dnf`.
    seed : int
        Seed of all searches, which are independent of each other.
    bagging : bool
        Whether each search uses a random half of the rows.
    deadline : Deadline
        When no further search starts.
    """

    rows: EnsembleRows
    heads: Sequence[int]
    max_terms: int
    n_samples: int
    settings: Mapping[str, Any]
    seed: int
    bagging: bool = False
    deadline: Deadline = field(default_factory=Deadline)

    @property
    def jobs(self) -> list[SearchJob]:
        """All jobs, sorted so that an interrupted run has about as many of each kind."""
        return [
            SearchJob(head, n_terms, sample)
            for sample in range(self.n_samples)
            for n_terms in range(1, self.max_terms + 1)
            for head in self.heads
        ]

    def run(self, n_threads: int, verbose: bool) -> dict[int, list[SampledRuleSet]]:
        """Return the results for each class, in the order of jobs."""
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
        job: SearchJob,
        advance: Callable[[], None],
        check: Callable[[], None],
    ) -> SampledRuleSet | None:
        """Run one search; after the time limit only the first of a class, and soon none."""
        check()
        if self.deadline.is_long_over or (self.deadline.is_over and not job.first):
            return None
        # Without the class, so that the seed does not depend on the order of the classes.
        stream = np.random.SeedSequence((self.seed, *job[1:]))
        seen = _half(self.rows.merged, stream) if self.bagging else None
        found = search_dnf(
            examples if seen is None else self.rows.examples(job.head, seen),
            None,
            job.n_terms,
            **self.settings,
            time_limit=self.deadline.left,
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


def _half(merged: MergedRows, stream: np.random.SeedSequence) -> BoolArray:
    """Draw half of the rows: as informative as a bootstrap sample, and faster to search."""
    units = Units(len(merged.place), merged.groups)
    drawn = np.random.default_rng(stream.spawn(1)[0]).permutation(units.n)[: (units.n + 1) // 2]
    seen = np.zeros(len(merged.place), dtype=np.bool_)
    seen[units.rows(drawn)] = True
    return seen
