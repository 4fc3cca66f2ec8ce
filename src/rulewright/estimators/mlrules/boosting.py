"""The boosting of MLRules: rules by maximum likelihood, one after the other.

One loop serves rows in memory (`memory.py`) and rows on partitions (`scale/boosting.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from rulewright.estimators.mlrules.monitor import Monitor
from rulewright.estimators.mlrules.rows import BoostedRows
from rulewright.rules import Adds, Coverage, Rule
from rulewright.search import Subsampler

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.estimators.mlrules.settings import BoostingSettings
    from rulewright.kernels import FloatArray, Limits, Score
    from rulewright.search import FoundRule

MOST_FAILURES = 10
"""Subsamples without a useful rule before the search gives up."""

Rows = TypeVar("Rows", bound=BoostedRows[Any, Any])


class AddedRule(NamedTuple):
    """A rule of the fit, and the class weights of the rows that it covers, all and outside."""

    found: FoundRule
    outcome: Adds
    covered: FloatArray
    outside: FloatArray


class Boosting(Generic[Rows]):
    """A fit in progress: rows whose scores move, and the rules so far. `run` goes on.

    Parameters
    ----------
    settings : BoostingSettings
        How rules are learned.
    rows : BoostedRows
        The rows, ready to be boosted.
    random : RandomState
        Source of the draws of columns.
    """

    def __init__(
        self, settings: BoostingSettings, rows: Rows, random: np.random.RandomState
    ) -> None:
        self.settings, self.rows = settings, rows
        self.limits = settings.limits.compile(rows.schema, rows.likelihood.unit)
        self.columns = Subsampler(len(rows.schema), settings.column_subsample, random, least=1)
        kind = None if rows.takes_all else settings.prune  # judged by rows outside
        self.pruning = rows.start_pruning(kind, self.limits.required)
        watch = settings.stopping.start(rows.class_shares, rows.validation_loss)
        self.monitor = Monitor(watch, rows.train_loss)
        self.rules: list[AddedRule] = []

    def run(
        self, n_rules: int, advance: Callable[[], None], check: Callable[[], None] = lambda: None
    ) -> None:
        """Run the algorithm of the paper until there are `n_rules` rules or it is time to stop."""
        takes_all = self.rows.takes_all and self.columns.takes_all
        most_failures = 1 if takes_all else MOST_FAILURES
        failures = 0
        while len(self.rules) < n_rules and not self.monitor.stopped_by:
            check()
            n_refused = self.pruning.n_refused
            if self._add_rule():
                failures = 0
                advance()
            elif self.pruning.n_refused == n_refused:
                failures += 1
            if failures == most_failures or self.pruning.gives_up:
                self.monitor.stopped_by = "no_rule"

    def _add_rule(self) -> bool:
        """Grow a rule on a subsample and add its response on all rows, if it helps."""
        rows, asked = self.rows, self.settings.rule
        likelihood, score = rows.likelihood, self._score()
        found, drawn = rows.grow(score, self._drawn_limits())
        if found is None:
            self.pruning.reopen()
            return False
        head = likelihood.head_of(score, found.vote)
        if self.pruning.prunes:
            vote = likelihood.score(asked.criterion, asked.l2, head)
            found = self.pruning.prune(found, vote, drawn)
        if found is None:  # no condition pays on other rows
            return False
        cover = rows.cover(found, head, drawn)
        step = likelihood.newton_step(
            cover,
            head,
            asked.l2,
            self.settings.formulation.backtracking,
            asked.untested_evidence if rows.takes_all else asked.min_evidence,
            asked.largest_step,
        )
        if step <= 0:  # helps on the subsample, not (enough) on all rows
            return False
        response = asked.learning_rate * step
        rows.add(found, cover, head, response)
        covered, outside = rows.weigh_cover(cover, drawn)
        self.rules.append(AddedRule(found, Adds(head, response), covered, outside))
        if self.monitor.watch(head, outside, rows.train_loss, rows.validation_loss):
            self.monitor.stopped_by = self.settings.stopping.name
        return True

    def kept_rules(self) -> tuple[Rule, ...]:
        """Return the rules that the stopping rule keeps."""
        kept = self.rules[: self.monitor.n_kept]
        parts = zip(kept, self._coverages(kept), strict=True)
        return tuple(Rule(one.found.body, one.outcome, coverage) for one, coverage in parts)

    def _coverages(self, rules: list[AddedRule]) -> list[Coverage]:
        """Return what rules cover, counted outside their subsamples if there are such rows."""
        if not rules or self.rows.takes_all:
            return [Coverage.of(tuple(rule.covered.tolist())) for rule in rules]
        covered = np.array([rule.covered for rule in rules])
        return Coverage.all_outside(covered, np.array([rule.outside for rule in rules]))

    def _score(self) -> Score:
        """Describe what growth minimises; a prefixed vote is chosen by all rows."""
        asked, likelihood = self.settings.rule, self.rows.likelihood
        head = likelihood.best_vote(asked.criterion, asked.l2) if asked.prefixed else None
        return likelihood.score(asked.criterion, asked.l2, head)

    def _drawn_limits(self) -> Limits:
        """Close the columns that are not drawn for this rule, and those of rules refused."""
        limits = self.pruning.narrow(self.limits)
        return limits if self.columns.takes_all else limits.only(self.columns.draw().drawn)
