"""Greedy growth of one rule: from row statistics to conditions on values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rulewright import kernels
from rulewright.encoding import BinnedColumns, Test, Threshold, pad_tests
from rulewright.rules import Adds, Condition, Conjunction, Coverage, Head, Rule

if TYPE_CHECKING:
    from rulewright.kernels import (
        Beam,
        BoolArray,
        CodeColumns,
        GrownCondition,
        GrownRule,
        IntArray,
        Limits,
        Roots,
        RowArray,
        Score,
        StatArray,
    )


@dataclass(eq=False)
class FoundRule:
    """A grown rule: its vote and its conditions, as tests on codes and, on request, on values.

    The meaning of a vote depends on the loss that made the statistics.
    """

    vote: int
    grown: tuple[GrownCondition, ...]
    tests: tuple[Test, ...]
    binned: BinnedColumns
    threshold: Threshold

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions on values, in the order of growth."""
        return tuple(self.binned.condition(grown, self.threshold) for grown in self.grown)

    @property
    def body(self) -> Conjunction:
        """The conditions on values, one per column."""
        return self.binned.conjunction(self.grown, self.threshold)

    @cached_property
    def test_array(self) -> IntArray:
        """The tests in the format of kernels."""
        return pad_tests(self.tests)

    def prefix(self, length: int) -> FoundRule:
        """Return the rule with only its first `length` conditions."""
        return self._with(self.grown[:length], self.tests[:length])

    def without(self, place: int) -> FoundRule:
        """Return the rule without one of its conditions."""
        grown = self.grown[:place] + self.grown[place + 1 :]
        return self._with(grown, self.tests[:place] + self.tests[place + 1 :])

    def only(self, places: list[int]) -> FoundRule:
        """Return the rule with only the conditions at these places."""
        grown, tests = self.grown, self.tests
        return self._with(tuple([grown[i] for i in places]), tuple([tests[i] for i in places]))

    def followed_by(self, rest: FoundRule) -> FoundRule:
        """Return the rule with the conditions of another rule appended."""
        return self._with(self.grown + rest.grown, self.tests + rest.tests)

    def _with(self, grown: tuple[GrownCondition, ...], tests: tuple[Test, ...]) -> FoundRule:
        return FoundRule(self.vote, grown, tests, self.binned, self.threshold)

    def cover(self, codes: CodeColumns, n_threads: int = 1) -> RowArray:
        """Find the rows that the rule covers."""
        return kernels.cover_rows(codes, self.test_array, n_threads)

    def rule(self, head: Head, response: float, coverage: Coverage) -> Rule:
        """Return the rule for the model: canonical conditions, response, coverage."""
        return Rule(self.body, Adds(head, response), coverage)


class RuleGrower:
    """Grows rules on binned columns, one native call each."""

    def __init__(self, binned: BinnedColumns, threshold: Threshold, n_threads: int = 1) -> None:
        self.binned = binned
        self.threshold: Threshold = threshold
        self.n_threads = n_threads
        self._workspace = kernels.Workspace()

    def grow(
        self, codes: CodeColumns, rows: RowArray, stats: StatArray, score: Score, limits: Limits
    ) -> FoundRule | None:
        """Grow the rule with the best `score` on `rows`; None if no condition helps."""
        search = codes, rows, stats, score, limits, self.n_threads
        return self.make_rule(kernels.grow_rule(*search, self._workspace))

    def grow_from(
        self, roots: Roots, chosen: BoolArray, score: Score, limits: Limits
    ) -> FoundRule | None:
        """Grow the rule with the best `score` on the chosen blocks; None if none helps."""
        return self.make_rule(roots.grow(chosen, score, limits, self._workspace))

    def search(
        self,
        codes: CodeColumns,
        rows: RowArray,
        stats: StatArray,
        score: Score,
        limits: Limits,
        beam: Beam,
        totals: StatArray,
    ) -> FoundRule | None:
        """Search the rule with the best `score` on `rows` by a beam; None if none helps.

        `totals` are the sums over the rows that rules are compared with.
        """
        search = codes, rows, stats, score, limits, beam, totals, self.n_threads
        return self.make_rule(kernels.grow_beam(*search))

    def make_rule(self, grown: GrownRule) -> FoundRule | None:
        """Attach tests to a rule that a kernel returned; None if it has no conditions."""
        conditions, vote = grown
        if not conditions:
            return None
        test, threshold = self.binned.test, self.threshold
        tests = tuple([test(condition, threshold) for condition in conditions])
        return FoundRule(vote, tuple(conditions), tests, self.binned, self.threshold)
