"""Rows on partitions for the boosting loop of MLRules.

The loop is the same as in memory, `estimators.mlrules.boosting`. Rows are counted where they are;
decisions are made here, from sums of integers. So the rules do not depend on the partitioning.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright import kernels
from rulewright.estimators import PrefixPruning, Pruning
from rulewright.evidence import BRIER
from rulewright.kernels import ByteArray, FloatArray, GrownRule, Lanes, Limits, Score, StatArray
from rulewright.scale import questions
from rulewright.scale.partition import BLOCKS, LOSS_STEPS, AppliedRule, Blocks, RuleHistory, Setup
from rulewright.search import LEAST_ROWS, FoundRule, RuleGrower
from rulewright.weighting import (
    MOST_FINE_ROWS,
    VoteLanes,
    coarse_unit,
    fine_unit,
    is_cumulative,
    step_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.encoding import Test
    from rulewright.estimators import BoostingSettings, RuleSettings
    from rulewright.rules import Adds, Head
    from rulewright.scale.coding import Coding
    from rulewright.scale.parts import KeptObjects


class ClassWeights(NamedTuple):
    """Class weights of the training rows and of the validation rows."""

    train: FloatArray
    aside: FloatArray
    n_train: int


class PartedRows:
    """`BoostedRows` on partitions; subsamples are blocks, to which hashes assign the rows.

    The class weights in `weighed` have the `factors` in them.
    """

    train_loss = math.nan  # would cost another question per rule

    def __init__(
        self,
        settings: BoostingSettings,
        coding: Coding,
        parts: KeptObjects,
        weighed: ClassWeights,
        factors: tuple[float, ...],
        n_rows: int,
        random: np.random.RandomState,
    ) -> None:
        self.schema, self.weighed, self.random = coding.schema, weighed, random
        all_weights = weighed.train + weighed.aside
        self.class_shares: list[float] = (all_weights / all_weights.sum()).tolist()
        self.intercepts = settings.default_scores(all_weights, n_rows)
        setup = make_setup(settings, weighed, factors, self.intercepts)
        self.parts = InformedParts(parts, RuleHistory(setup))
        self.likelihood = PartedLikelihood(self.parts, settings.ordinal)
        self.grower = RuleGrower(coding.make_columns(), settings.formulation.cut_points)
        self.n_blocks = count_drawn_blocks(settings.subsample, n_rows)
        self.takes_all = self.n_blocks == BLOCKS
        self.aside_steps = 0  # total change of the validation loss

    @property
    def validation_loss(self) -> float:
        """Mean validation loss; NaN without validation rows."""
        weights = self.weighed.aside
        if not weights.any():
            return math.nan
        log_p = self.intercepts - np.logaddexp.reduce(self.intercepts)
        loss = -float(weights @ log_p) + float(self._in_units(self.aside_steps))
        return loss / float(weights.sum())

    def start_pruning(
        self, kind: str | None, required: ByteArray, hurries: bool
    ) -> Pruning[Blocks]:
        """Return the pruning of rules: only prefixes have sums that can be added."""
        return PrefixPruning(required, self._sum_prefixes, hurries) if kind else Pruning(required)

    def grow(self, score: Score, limits: Limits) -> tuple[FoundRule | None, Blocks]:
        """Grow a rule on the next draw; return it with the drawn blocks."""
        blocks = self._draw_blocks()
        return self.grower.make_rule(self._grow_conditions(blocks, score, limits)), blocks

    def cover(self, found: FoundRule, head: Head, drawn: Blocks) -> CoveredSums:
        """Request the sums over the rows that a rule covers."""
        return self.likelihood.cover(
            AppliedRule(found.tests, head.first, head.last, 0.0), head, drawn
        )

    def add(
        self, found: FoundRule, cover: CoveredSums, vote: Adds, asked: RuleSettings, n_others: int
    ) -> tuple[Adds, ...]:
        """Add a rule; partitions receive it with the next question."""
        self.likelihood.add(cover.rule._replace(size=vote.value))
        if self.weighed.aside.any():
            self.aside_steps += int(self.parts.ask(questions.aside_change)[0])
        return (vote,)

    def weigh_cover(self, cover: CoveredSums, drawn: Blocks) -> tuple[FloatArray, FloatArray]:
        """Return the class weights of all covered rows, and of those outside the subsample."""
        return cover.by_class, cover.outside

    def measure(self, n_rules: int) -> tuple[float, dict[str, float]]:
        """Return the mean training loss, and the reliability on all rows.

        Both belong to the first `n_rules` rules.
        """
        train, aside = self.parts.after(n_rules).ask(questions.sum_figures)
        weights = float(self.weighed.train.sum()), float(self.weighed.aside.sum())
        means = self._in_units(train + aside) / sum(weights)
        loss, brier, right = means[:3].tolist()
        found = {"log_loss": loss, BRIER: brier, "ece": float(abs(means[3:]).sum())}
        return float(self._in_units(train[0]) / weights[0]), {**found, "accuracy": right}

    def _draw_blocks(self) -> Blocks:
        """Draw the blocks that the next rule is grown on."""
        if self.takes_all:
            return tuple(range(BLOCKS))
        return tuple(sorted(self.random.permutation(BLOCKS)[: self.n_blocks].tolist()))

    def _grow_conditions(self, blocks: Blocks, score: Score, limits: Limits) -> GrownRule:
        """Grow a conjunction like `kernels.grow_rule`, with histograms from all partitions."""
        lanes = Lanes(score.first_lane, score.n_lanes, limits.min_weight > 0)
        seen, binned = replace(score, first_lane=0), self.grower.binned
        rule, best = GrownRule([], -1), 0.0
        tests: tuple[Test, ...] = ()
        totals: StatArray | None = None
        while len(rule.conditions) != limits.max_conditions:
            (sums,) = self.parts.ask(questions.histogram, blocks, lanes, tests)
            if totals is None:
                totals = sums[: binned.codes.n_bins[0] + 1].sum(axis=0)
            found, vote = kernels.scan_histogram(binned.codes, sums, seen, limits, totals)
            if not found:
                break
            improves = found[0].criterion < best - limits.tolerance
            if not improves and not limits.required.any():  # required conditions need not help
                break
            best, rule = found[0].criterion, GrownRule([*rule.conditions, found[0]], vote)
            tests = (*tests, binned.test(found[0], "observed"))
            limits = limits.after(found[0])
        good = best < -limits.tolerance and not limits.required.any()
        return rule if good else GrownRule([], -1)

    def _sum_prefixes(self, found: FoundRule, score: Score, drawn: Blocks) -> StatArray:
        """Sum g and h over the rows outside the blocks that satisfy each prefix."""
        return self.parts.ask(questions.sum_judged, drawn, score.first_lane, found.tests)[0]

    def _in_units(self, steps: Any) -> Any:
        return steps * (LOSS_STEPS * self.parts.setup.fine_unit)


def make_setup(
    settings: BoostingSettings,
    weighed: ClassWeights,
    factors: tuple[float, ...],
    intercepts: FloatArray,
) -> Setup:
    """Describe the start of every row, with the units of a fit in memory."""
    total, n_rows = float(weighed.train.sum()), weighed.n_train
    fine = fine_unit(total)
    return Setup(
        tuple(np.exp(intercepts - intercepts.max()).tolist()),
        factors,
        coarse_unit(total / n_rows, n_rows) if n_rows > MOST_FINE_ROWS else fine,
        fine,
        is_cumulative(len(intercepts), settings.ordinal),
        settings.limits.min_weight > 0,
    )


def count_drawn_blocks(share: float, n_rows: int) -> int:
    """Return the number of blocks that a rule is grown on; all for few rows."""
    if share == 1 or n_rows < LEAST_ROWS:
        return BLOCKS
    return min(max(round(share * BLOCKS), 1), BLOCKS - 1)


class InformedParts:
    """The partitions, and the rules so far, which are sent with every question."""

    def __init__(self, parts: KeptObjects, story: RuleHistory) -> None:
        self.parts, self.story = parts, story

    @property
    def setup(self) -> Setup:
        """The start of every row."""
        return self.story.setup

    def ask(self, question: Callable[..., Any], *args: Any) -> tuple[StatArray, ...]:
        """Ask all partitions; partitions that lost their state receive all rules again."""
        answer = self.parts.total(question, self.story.latest(), *args)
        if answer is None:
            answer = self.parts.total(question, self.story, *args)
        arrays: tuple[StatArray, ...] = answer.arrays
        return arrays

    def add(self, rule: AppliedRule) -> None:
        """Add a rule: further questions refer to scores that include it."""
        self.story = self.story.followed_by(rule)

    def after(self, n_rules: int) -> InformedParts:
        """Return the same partitions with only the first rules."""
        return InformedParts(self.parts, replace(self.story, rules=self.story.rules[:n_rules]))


class CoveredSums(NamedTuple):
    """Sums over the covered rows: derivatives, weights by class, and weights of undrawn rows."""

    rule: AppliedRule
    derivatives: StatArray
    by_class: FloatArray
    outside: FloatArray


class PartedLikelihood(VoteLanes):
    """Votes and step sizes of rules, like `LogLikelihood` for rows in memory."""

    def __init__(self, parts: InformedParts, ordinal: bool) -> None:
        super().__init__(len(parts.setup.exp_scores), ordinal, parts.setup.unit)
        self.parts, self.fine_unit = parts, np.float64(parts.setup.fine_unit)
        self._totals: StatArray | None = None  # over all rows, until a rule is added

    def best_vote(self, kind: str, l2: float) -> Head:
        """Return the head with the lowest criterion over all rows."""
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
        """Return the response of a vote over the rows; positive if it helps."""
        g, h = (rows.derivatives * self.fine_unit).tolist()
        if self.pair_of(head)[1]:
            g = -g
        change = partial(self._loss_change, rows.rule) if backtrack else None
        return step_of(g, max(h + l2, 1e-12), min_evidence, largest, change)

    def _loss_change(self, rule: AppliedRule, step: float) -> float:
        """Request the change of the loss by a step."""
        return float(self.parts.ask(questions.loss_change, rule._replace(size=step))[0])

    def cover(self, rule: AppliedRule, head: Head, blocks: tuple[int, ...]) -> CoveredSums:
        """Request the sums over the covered rows, all and outside some blocks."""
        given = blocks, self.pair_of(head)[0], rule
        derivatives, by_class, outside = self.parts.ask(questions.sum_covered, *given)
        return CoveredSums(rule, derivatives, by_class * self.fine_unit, outside * self.fine_unit)

    def add(self, rule: AppliedRule) -> None:
        """Add a rule with its response."""
        self.parts.add(rule)
        self._totals = None
