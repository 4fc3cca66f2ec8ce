"""The boosting of MLRules: rules added one by one by maximum likelihood.

The same loop runs on rows in memory (`memory.py`) and on partitions (`scale/boosting.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from rulewright.rules import Adds, Coverage, Head, Rule
from rulewright.search import FoundRule, Subsampler
from rulewright.stopping import Progress, Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.data import Schema
    from rulewright.estimators.mlrules.pruning import Pruning
    from rulewright.estimators.mlrules.settings import BoostingSettings, RuleSettings
    from rulewright.kernels import ByteArray, FloatArray, Limits, Score

Drawn = TypeVar("Drawn")
"""Identifies the rows of a subsample."""

Cover = TypeVar("Cover")
"""Identifies the rows that a rule covers."""

CoverIn = TypeVar("CoverIn", contravariant=True)

MOST_FAILURES = 10
"""Consecutive subsamples without a useful rule before the search gives up."""


class VoteLikelihood(Protocol[CoverIn]):
    """The likelihood of the training rows: scores for the search, and step sizes for rules."""

    @property
    def unit(self) -> float:
        """The value of one unit of the statistics."""

    def score(self, kind: str, l2: float, head: Head | None = None) -> Score:
        """Describe the score for the search: over all votes, or for one `head` only."""

    def head_of(self, score: Score, vote: int) -> Head:
        """Return the head that a vote of a search with this score belongs to."""

    def best_vote(self, kind: str, l2: float) -> Head:
        """Choose the vote of the next rule on all rows."""

    def newton_step(
        self,
        rows: CoverIn,
        head: Head,
        l2: float,
        backtrack: bool,
        min_evidence: float,
        largest: float,
    ) -> float:
        """Return the response of a vote on the rows; positive if it lowers the loss."""


class BoostedRows(Protocol[Drawn, Cover]):
    """The rows of a fit: training rows and, optionally, validation rows."""

    @property
    def schema(self) -> Schema:
        """The columns."""

    @property
    def class_shares(self) -> list[float]:
        """Share of each class in the total weight."""

    @property
    def takes_all(self) -> bool:
        """Whether every rule is grown on all rows."""

    @property
    def likelihood(self) -> VoteLikelihood[Cover]:
        """The likelihood of the training rows."""

    @property
    def train_loss(self) -> float:
        """Mean training loss; NaN if it is not tracked."""

    @property
    def validation_loss(self) -> float:
        """Mean validation loss; NaN without validation rows."""

    def start_pruning(self, kind: str | None, required: ByteArray, hurries: bool) -> Pruning[Drawn]:
        """Return the pruning of rules: by "conditions", by "prefix" or None."""

    def grow(self, score: Score, limits: Limits) -> tuple[FoundRule | None, Drawn]:
        """Grow a rule on the next subsample; return it with the rows of the subsample."""

    def cover(self, found: FoundRule, head: Head, drawn: Drawn) -> Cover:
        """Find the rows that a rule covers."""

    def add(
        self, found: FoundRule, cover: Cover, vote: Adds, asked: RuleSettings, n_others: int
    ) -> tuple[Adds, ...]:
        """Add the vote of a rule to the scores of all rows that it covers.

        Up to `n_others` votes for other classes may join. Returns all votes.
        """

    def weigh_cover(self, cover: Cover, drawn: Drawn) -> tuple[FloatArray, FloatArray]:
        """Return the class weights of all covered rows, and of those outside the subsample."""


Rows = TypeVar("Rows", bound=BoostedRows[Any, Any])


@dataclass
class Monitor:
    """Stopping rule of a fit, and its trace.

    `start_loss` is the mean training loss before the first rule; NaN where training losses are not
    tracked. `stopped_by` is empty while learning continues.
    """

    stopping: Watch
    start_loss: float
    stopped_by: str = ""
    train_loss: list[float] = field(default_factory=list)

    def watch(
        self, head: Head, outside: FloatArray, train_loss: float, validation_loss: float
    ) -> bool:
        """Record the rule just added, and return whether learning should stop.

        `outside` has the class weights of the rows covered outside the subsample. Losses are
        means; NaN if unknown.
        """
        self.train_loss.append(train_loss)
        return self.stopping.stop_after(Progress(head.classes, outside.tolist, validation_loss))

    @property
    def n_kept(self) -> int:
        """Number of rules to keep: all, or the number chosen by the stopping rule."""
        best = self.stopping.best_size
        return len(self.train_loss) if best is None else best

    @property
    def kept_loss(self) -> float:
        """Training loss of the rules to keep."""
        return [self.start_loss, *self.train_loss][self.n_kept]

    def trace(self) -> dict[str, FloatArray]:
        """Return the values recorded after each rule."""
        columns = {"train_loss": self.train_loss, **self.stopping.trace}
        if math.isnan(self.start_loss):
            del columns["train_loss"]
        return {name: np.array(values, dtype=float) for name, values in columns.items() if values}


class AddedRule(NamedTuple):
    """A grown rule with its votes, and the class weights of its covered rows.

    The weights are those of all rows, and of those outside the subsample.
    """

    found: FoundRule
    votes: tuple[Adds, ...]
    covered: FloatArray
    outside: FloatArray


class Boosting(Generic[Rows]):
    """A fit in progress: rows with their scores, and the rules so far. `run` continues it.

    Parameters
    ----------
    settings : BoostingSettings
        How rules are grown and weighted.
    rows : BoostedRows
        The training rows.
    random : RandomState
        Random numbers for the draws of columns.
    """

    def __init__(
        self, settings: BoostingSettings, rows: Rows, random: np.random.RandomState
    ) -> None:
        self.settings, self.rows = settings, rows
        self.limits = settings.limits.compile(rows.schema, rows.likelihood.unit)
        self.columns = Subsampler(len(rows.schema), settings.column_subsample, random, least=1)
        kind = None if rows.takes_all else settings.prune  # pruning uses the rows outside
        hurries = settings.rule.other_classes
        self.pruning = rows.start_pruning(kind, self.limits.required, hurries)
        watch = settings.stopping.start(rows.class_shares, rows.validation_loss)
        self.monitor = Monitor(watch, rows.train_loss)
        self.rules: list[AddedRule] = []
        self.n_rules = 0  # a rule that votes for several classes counts once for each

    def run(
        self, n_rules: int, advance: Callable[[], None], check: Callable[[], None] = lambda: None
    ) -> None:
        """Run the algorithm of the paper up to `n_rules` rules or until a stopping rule applies."""
        takes_all = self.rows.takes_all and self.columns.takes_all
        most_failures = 1 if takes_all else MOST_FAILURES
        failures = 0
        while self.n_rules < n_rules and not self.monitor.stopped_by:
            check()
            n_refused = self.pruning.n_refused
            if self._add_rule(n_rules - self.n_rules):
                failures = 0
                advance()
            elif self.pruning.n_refused == n_refused:
                failures += 1
            if failures == most_failures or self.pruning.gives_up:
                self.monitor.stopped_by = "no_rule"

    def _add_rule(self, most_votes: int) -> bool:
        """Grow a rule on a subsample, and add its response on all rows if it lowers the loss."""
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
        if found is None:  # no condition improves the rows outside
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
        if step <= 0:  # lowers the loss of the subsample, but not (enough) of all rows
            return False
        n_others = most_votes - 1 if asked.other_classes else 0
        votes = rows.add(found, cover, Adds(head, asked.learning_rate * step), asked, n_others)
        covered, outside = rows.weigh_cover(cover, drawn)
        self.rules.append(AddedRule(found, votes, covered, outside))
        self.n_rules += len(votes)
        if self.monitor.watch(head, outside, rows.train_loss, rows.validation_loss):
            self.monitor.stopped_by = self.settings.stopping.name
        return True

    def kept_rules(self) -> tuple[Rule, ...]:
        """Return the rules that the stopping rule keeps."""
        kept = self.rules[: self.monitor.n_kept]
        parts = zip(kept, self._coverages(kept), strict=True)
        return tuple(
            Rule(one.found.body, vote, coverage) for one, coverage in parts for vote in one.votes
        )

    def _coverages(self, rules: list[AddedRule]) -> list[Coverage]:
        """Return the coverage of rules, counted outside their subsamples where possible."""
        if not rules or self.rows.takes_all:
            return [Coverage.of(tuple(rule.covered.tolist())) for rule in rules]
        covered = np.array([rule.covered for rule in rules])
        return Coverage.all_outside(covered, np.array([rule.outside for rule in rules]))

    def _score(self) -> Score:
        """Describe the score that growth minimises; a prefixed vote is chosen on all rows."""
        asked, likelihood = self.settings.rule, self.rows.likelihood
        head = likelihood.best_vote(asked.criterion, asked.l2) if asked.prefixed else None
        return likelihood.score(asked.criterion, asked.l2, head)

    def _drawn_limits(self) -> Limits:
        """Exclude the columns not drawn for this rule, and the columns of refused rules."""
        limits = self.pruning.narrow(self.limits)
        return limits if self.columns.takes_all else limits.only(self.columns.draw().drawn)
