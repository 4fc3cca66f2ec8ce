"""The likelihood of rows on partitions, from sums that these are asked for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.scale import questions
from rulewright.weighting import VoteLanes, step_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.kernels import FloatArray, StatArray
    from rulewright.rules import Head
    from rulewright.scale.parts import KeptObjects
    from rulewright.scale.scores import AppliedRule, RuleHistory, Setup


class InformedParts:
    """The partitions, and the rules so far, of which they are told with every question."""

    def __init__(self, parts: KeptObjects, story: RuleHistory) -> None:
        self.parts, self.story = parts, story

    @property
    def setup(self) -> Setup:
        """What every row starts from."""
        return self.story.setup

    def ask(self, question: Callable[..., Any], *args: Any) -> tuple[StatArray, ...]:
        """Ask all partitions; those that lost what they knew are told all rules again."""
        answer = self.parts.total(question, self.story.latest(), *args)
        if answer is None:
            answer = self.parts.total(question, self.story, *args)
        arrays: tuple[StatArray, ...] = answer.arrays
        return arrays

    def add(self, rule: AppliedRule) -> None:
        """Let all questions from now on be about rows whose scores the rule has moved."""
        self.story = self.story.followed_by(rule)

    def after(self, n_rules: int) -> InformedParts:
        """Return the same partitions, with the first rules only."""
        return InformedParts(self.parts, replace(self.story, rules=self.story.rules[:n_rules]))


class CoveredSums(NamedTuple):
    """The rows of a rule, by their sums: derivatives, weights by class, and of those not drawn."""

    rule: AppliedRule
    derivatives: StatArray
    by_class: FloatArray
    outside: FloatArray


class PartedLikelihood(VoteLanes):
    """Votes and steps of rules, as `LogLikelihood` gives them for rows in memory."""

    def __init__(self, parts: InformedParts, ordinal: bool) -> None:
        super().__init__(len(parts.setup.exp_scores), ordinal, parts.setup.unit)
        self.parts, self.fine_unit = parts, np.float64(parts.setup.fine_unit)
        self._totals: StatArray | None = None  # of all rows, until a rule is added

    def best_vote(self, kind: str, l2: float) -> Head:
        """Return the head whose criterion over all rows is lowest."""
        if self._totals is None:
            (self._totals,) = self.parts.ask(questions.totals)
        return self.best_head(self._totals, kind, l2)

    def newton_step(
        self,
        rows: CoveredSums,
        head: Head,
        l2: float,
        backtrack: bool,
        min_evidence: float,
        largest: float,
    ) -> float:
        """Return the response of a vote over the rows; not positive when it would not help."""
        g, h = (rows.derivatives * self.fine_unit).tolist()
        if self.pair_of(head)[1]:
            g = -g
        change = partial(self._loss_change, rows.rule) if backtrack else None
        return step_of(g, max(h + l2, 1e-12), min_evidence, largest, change)

    def _loss_change(self, rule: AppliedRule, step: float) -> float:
        """Ask what a step would do to the loss."""
        return float(self.parts.ask(questions.loss_change, rule._replace(size=step))[0])

    def cover(self, rule: AppliedRule, head: Head, blocks: tuple[int, ...]) -> CoveredSums:
        """Ask for the rows that a rule covers, all and outside some blocks."""
        given = blocks, self.pair_of(head)[0], rule
        derivatives, by_class, outside = self.parts.ask(questions.sum_covered, *given)
        return CoveredSums(rule, derivatives, by_class * self.fine_unit, outside * self.fine_unit)

    def add(self, rule: AppliedRule) -> None:
        """Add a rule with its response."""
        self.parts.add(rule)
        self._totals = None
