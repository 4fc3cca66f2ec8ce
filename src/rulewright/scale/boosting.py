"""The boosting of MLRules over partitions.

The steps are those of `estimators.mlrules.boosting`: grow a rule on a subsample, weigh it on all
rows, add it. Counting happens where the rows are, deciding happens here, from sums of whole
numbers; so the rules do not depend on how the rows are parted.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright import kernels
from rulewright.capacity.stopping import Progress
from rulewright.estimators.mlrules.pruning import PrefixPruning
from rulewright.kernels import GrownRule, Lanes
from rulewright.rules import Coverage
from rulewright.scale import questions
from rulewright.scale.scores import BLOCKS, LOSS_STEPS, Applied, Setup, Story
from rulewright.search import LEAST_ROWS, FoundRule, RuleGrower, SearchLimits, Subsampler
from rulewright.weighting import LogLikelihood, default_scores
from rulewright.weighting.likelihood import MOST_FINE_ROWS, coarse_unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.encoding.binned import Test
    from rulewright.estimators.mlrules.settings import BoostingSettings
    from rulewright.kernels import FloatArray, Limits, Score, StatArray
    from rulewright.rules import Head, Rule
    from rulewright.scale.coding import Coding
    from rulewright.scale.partition import Blocks
    from rulewright.scale.parts import Kept

MOST_FAILURES = 10
"""Subsamples without a useful rule before the search gives up."""


class Covered(NamedTuple):
    """The rows of a rule, by their sums: derivatives, weights by class, and of those not drawn."""

    rule: Applied
    derivatives: StatArray
    by_class: FloatArray
    outside: FloatArray


class Weighed(NamedTuple):
    """Weights of the classes in the rows to learn from and in those kept aside."""

    train: FloatArray
    aside: FloatArray
    n_train: int


class PartedLikelihood(LogLikelihood):
    """The likelihood of rows that are elsewhere: all is said by sums over them."""

    def __init__(self, boosting: PartedBoosting, scores: FloatArray, ordinal: bool) -> None:
        total = np.array([boosting.weighed.train.sum()])
        one_row = np.zeros(1, dtype=np.int32)  # that weighs as much as all, for the unit
        weigh_rows = boosting.settings.min_weight > 0
        super().__init__(one_row, total, scores, ordinal=ordinal, weigh_rows=weigh_rows)
        n_rows = boosting.weighed.n_train
        self.unit = (
            coarse_unit(float(total[0]) / n_rows, n_rows)
            if n_rows > MOST_FINE_ROWS
            else self.fine_unit
        )
        self.boosting = boosting
        self.state = self  # type: ignore[assignment]

    def derivatives(self, rows: Any, head: Head) -> tuple[float, float]:
        """Return (g, h) of a vote over the rows of a rule."""
        g, h = (rows.derivatives * np.float64(self.fine_unit)).tolist()
        return -g if self._pair(head)[1] else g, h

    def pair_of(self, head: Head) -> int:
        """Return the pair of statistics that tells about a vote."""
        return self._pair(head)[0]

    def sum_stats(self, rows: Any, n_threads: int) -> StatArray:
        """Sum the statistics of all rows."""
        return self.boosting.ask(questions.totals)[0]

    def loss_change(self, rows: Covered, first: int, last: int, size: float, _: int) -> float:
        """Tell what a step would do to the loss."""
        rule = rows.rule._replace(first=first, last=last, size=size)
        return float(self.boosting.ask(questions.loss_change, rule)[0])

    def moved(self) -> None:
        """Take note that the scores of the rows have changed."""
        self._totals = None


class PartedPruning(PrefixPruning):
    """Prunes rules by sums over the partitions; what is drawn are blocks."""

    def __init__(self, boosting: PartedBoosting) -> None:
        super().__init__(boosting.codes, boosting.limits.required, n_threads=1)
        self.boosting = boosting

    def _sums(self, found: FoundRule, stats: Any, score: Score, drawn: Any) -> StatArray:
        return self.boosting.ask(questions.judged, drawn, score.first_lane, found.tests)[0]


class PartedBoosting:
    """A fit in progress over partitions.

    Parameters
    ----------
    settings : BoostingSettings
        How rules are learned.
    coding : Coding
        What codes mean.
    parts : Kept
        The partitions.
    weighed : Weighed
        Weights of the classes, factors included.
    factors : tuple of float
        Factors of the weights of the classes.
    n_rows : int
        Number of rows.
    random : RandomState
        Source of all random draws.
    """

    def __init__(
        self,
        settings: BoostingSettings,
        coding: Coding,
        parts: Kept,
        weighed: Weighed,
        factors: tuple[float, ...],
        n_rows: int,
        random: np.random.RandomState,
    ) -> None:
        self.settings, self.coding, self.parts, self.weighed = settings, coding, parts, weighed
        self.random, all_weights = random, weighed.train + weighed.aside
        self.intercepts = default_scores(
            settings.formulation.default_rule,
            all_weights,
            n_rows,
            settings.l2,
            settings.learning_rate,
            settings.ordinal,
        )
        self.likelihood = PartedLikelihood(self, self.intercepts, settings.ordinal)
        setup = Setup(
            tuple(np.exp(self.intercepts - self.intercepts.max()).tolist()),
            factors,
            self.likelihood.unit,
            self.likelihood.fine_unit,
            self.likelihood.cumulative,
            settings.min_weight > 0,
        )
        self.story = Story(setup)
        binned = coding.binned()
        self.codes, self.grower = binned.codes, RuleGrower(binned, settings.formulation.cut_points)
        self.limits = SearchLimits(
            max_conditions=settings.max_conditions,
            min_weight=settings.min_weight,
            missing_conditions=settings.missing_conditions,
            label_sets=settings.label_sets,
            constraints=settings.constraints,
        ).compile(coding.schema, self.likelihood.unit)
        self.n_blocks = block_count(settings.subsample, n_rows)
        prunes = settings.prune is not None and not self.takes_all
        self.pruning = PartedPruning(self) if prunes else None
        self.columns = Subsampler(len(coding.bins), settings.column_subsample, random, least=1)
        shares = (all_weights / all_weights.sum()).tolist()
        self.aside_steps = 0
        aside = float(weighed.aside.sum())
        start = self._start_loss(weighed.aside) / aside if aside else math.nan
        self.watch = settings.stopping.start(shares, start)
        self.rules: list[Rule] = []
        self.stopped_by = ""

    @property
    def takes_all(self) -> bool:
        """Whether every rule is grown on all rows."""
        return self.n_blocks == BLOCKS

    def ask(self, question: Callable[..., Any], *args: Any) -> tuple[StatArray, ...]:
        """Ask all partitions; those that lost what they knew are told all rules again."""
        answer = self.parts.total(question, self.story.latest(), *args)
        if answer is None:
            answer = self.parts.total(question, self.story, *args)
        arrays: tuple[StatArray, ...] = answer.arrays
        return arrays

    def run(self, n_rules: int, advance: Callable[[], None]) -> None:
        """Run the algorithm of the paper until there are `n_rules` rules or it is time to stop."""
        most_failures = 1 if self.takes_all and self.columns.takes_all else MOST_FAILURES
        failures = 0
        while len(self.rules) < n_rules and not self.stopped_by:
            n_refused = self.pruning.n_refused if self.pruning else 0
            if self._add_rule():
                failures = 0
                advance()
            elif self.pruning is None or self.pruning.n_refused == n_refused:
                failures += 1
            if failures == most_failures or (self.pruning and self.pruning.gives_up):
                self.stopped_by = "no_rule"

    def _add_rule(self) -> bool:
        """Grow a rule on a subsample and add its response on all rows, if it helps."""
        blocks, score = self._draw(), self._score()
        found = self.grower.found(self._grow(blocks, score, self._drawn_limits()))
        if found is None:
            if self.pruning:
                self.pruning.reopen()
            return False
        settings, likelihood = self.settings, self.likelihood
        head = likelihood.head_of(score, found.vote)
        if self.pruning:
            vote = likelihood.score(settings.criterion, settings.l2, head)
            found = self.pruning.pruned(found, likelihood.stats, vote, blocks)  # type: ignore[arg-type]
        if found is None:  # no condition pays on other rows
            return False
        cover = self._covered(found, head, blocks)
        step = likelihood.newton_step(
            cover,  # type: ignore[arg-type]
            head,
            settings.l2,
            settings.formulation.backtracking,
            settings.untested_evidence if self.takes_all else settings.min_evidence,
            settings.largest_step,
        )
        if step <= 0:  # helps on the subsample, not (enough) on all rows
            return False
        response = settings.learning_rate * step
        self.story = self.story.followed_by(cover.rule._replace(size=response))
        likelihood.moved()
        if self.takes_all:
            coverage = Coverage.of(tuple(cover.by_class.tolist()))
        else:
            coverage = Coverage.outside(cover.by_class, cover.outside)
        self.rules.append(found.rule(head, response, coverage))
        if self.watch.stop_after(Progress(head.classes, cover.outside.tolist, self._aside_loss())):
            self.stopped_by = settings.stopping.name
        return True

    def _grow(self, blocks: Blocks, score: Score, limits: Limits) -> GrownRule:
        """Grow a conjunction, as `kernels.grow_rule` does, with histograms from everywhere."""
        lanes = Lanes(score.first_lane, score.n_lanes, limits.min_weight > 0)
        seen = replace(score, first_lane=0)
        rule, best = GrownRule([], -1), 0.0
        tests: tuple[Test, ...] = ()
        totals: StatArray | None = None
        while len(rule.conditions) != limits.max_conditions:
            (sums,) = self.ask(questions.histogram, blocks, lanes, tests)
            if totals is None:
                totals = sums[: self.codes.n_bins[0] + 1].sum(axis=0)
            found, vote = kernels.scan_histogram(self.codes, sums, seen, limits, totals)
            if not found:
                break
            improves = found[0].criterion < best - limits.tolerance
            if not improves and not limits.required.any():  # required ones need not help
                break
            best, rule = found[0].criterion, GrownRule([*rule.conditions, found[0]], vote)
            tests = (*tests, self.grower.binned.test(found[0], "observed"))
            limits = limits.after(found[0])
        good = best < -limits.tolerance and not limits.required.any()
        return rule if good else GrownRule([], -1)

    def _covered(self, found: FoundRule, head: Head, blocks: Blocks) -> Covered:
        rule = Applied(found.tests, head.first, head.last, 0.0)
        pair, unit = self.likelihood.pair_of(head), np.float64(self.likelihood.fine_unit)
        derivatives, by_class, outside = self.ask(questions.covered, blocks, pair, rule)
        return Covered(rule, derivatives, by_class * unit, outside * unit)

    def _draw(self) -> Blocks:
        """Draw the blocks that the next rule is grown on."""
        if self.takes_all:
            return tuple(range(BLOCKS))
        return tuple(sorted(self.random.permutation(BLOCKS)[: self.n_blocks].tolist()))

    def _score(self) -> Score:
        """Describe what growth minimises; a prefixed vote is chosen on all rows."""
        criterion, l2 = self.settings.criterion, self.settings.l2
        head = self.likelihood.best_vote(criterion, l2) if self.settings.prefixed else None
        return self.likelihood.score(criterion, l2, head)

    def _drawn_limits(self) -> Limits:
        """Close the columns that are not drawn for this rule, and those of rules refused."""
        limits = self.pruning.narrowed(self.limits) if self.pruning else self.limits
        return limits if self.columns.takes_all else limits.only(self.columns.draw().drawn)

    def _start_loss(self, weights: FloatArray) -> float:
        """Return the loss of rows before any rule."""
        log_p = self.intercepts - np.logaddexp.reduce(self.intercepts)
        return -float(weights @ log_p)

    def _aside_loss(self) -> float:
        """Return the mean loss of the rows kept aside; NaN if there are none."""
        if not self.weighed.aside.any():
            return math.nan
        (change,) = self.ask(questions.aside_change)
        self.aside_steps += int(change)
        loss = self._start_loss(self.weighed.aside) + float(self._in_units(self.aside_steps))
        return loss / float(self.weighed.aside.sum())

    def _in_units(self, steps: Any) -> Any:
        return steps * (LOSS_STEPS * self.likelihood.fine_unit)

    @property
    def n_kept(self) -> int:
        """Rules to keep: all, or as many as the stopping rule says."""
        best = self.watch.best_size
        return len(self.rules) if best is None else best

    def figures(self) -> tuple[float, dict[str, float]]:
        """Return the mean loss of the rows to learn from, and the reliability on all rows.

        Both are those of the rules that are kept.
        """
        story, self.story = self.story, replace(self.story, rules=self.story.rules[: self.n_kept])
        train, aside = self.ask(questions.figures)
        self.story = story
        weights = float(self.weighed.train.sum()), float(self.weighed.aside.sum())
        means = self._in_units(train + aside) / sum(weights)
        loss, brier, right = means[:3].tolist()
        found = {"log_loss": loss, "brier": brier, "ece": float(abs(means[3:]).sum())}
        return float(self._in_units(train[0]) / weights[0]), {**found, "accuracy": right}


def block_count(share: float, n_rows: int) -> int:
    """Return how many blocks a rule is grown on: all of few rows."""
    if share == 1 or n_rows < LEAST_ROWS:
        return BLOCKS
    return min(max(round(share * BLOCKS), 1), BLOCKS - 1)
