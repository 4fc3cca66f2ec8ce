"""The boosting of MLRules: rules by maximum likelihood, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.encoding.binned import BinnedColumns, bin_table
from rulewright.estimators.mlrules.linear import Start, fitted_start
from rulewright.estimators.mlrules.monitor import Monitor, Sample
from rulewright.estimators.mlrules.pruning import PRUNING
from rulewright.kernels import ROW
from rulewright.rules import Adds, Coverage, Rule
from rulewright.search import (
    BlockDraws,
    RowDraws,
    RuleGrower,
    SearchLimits,
    Subsampler,
    count_blocks,
    split_rows,
)
from rulewright.weighting import ClassLogLikelihood, LogLikelihood, default_scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.estimators.mlrules.settings import BoostingSettings
    from rulewright.kernels import CodeColumns, FloatArray, Limits, RowArray, Score
    from rulewright.search import FoundRule

MOST_FAILURES = 10
"""Subsamples without a useful rule before the search gives up."""


class _Added(NamedTuple):
    """A rule of the fit, and the class weights of the rows that it covers, all and outside."""

    found: FoundRule
    outcome: Adds
    covered: FloatArray
    outside: FloatArray


class Scored(NamedTuple):
    """What is left of a fit: the scores of its rows, and the order that these are in."""

    likelihood: LogLikelihood | ClassLogLikelihood
    order: RowArray | None

    def probabilities(self) -> FloatArray:
        """Return those of the rows in the order of the table."""
        found = self.likelihood.probabilities
        if self.order is None:
            return found
        ordered = np.empty_like(found)
        ordered[self.order] = found
        return ordered


class Boosting:
    """A fit in progress: the rows, their likelihood, the rules so far. `run` goes on.

    Parameters
    ----------
    settings : BoostingSettings
        How rules are learned.
    rows : TrainingSet
        Training rows.
    random : RandomState
        Source of all random draws.
    n_threads : int
        Threads; the rules do not depend on it.
    """

    def __init__(
        self,
        settings: BoostingSettings,
        rows: TrainingSet,
        random: np.random.RandomState,
        n_threads: int,
    ) -> None:
        self.settings, self.rows, self.n_threads = settings, rows, n_threads
        constraints = settings.constraints
        digits = constraints.digits_by_column(rows.schema)
        self.binned = bin_table(rows.table, settings.max_bins, n_threads, digits)
        self.n_blocks = 0
        self.order: RowArray | None = None  # of the training rows, if they are shuffled
        self.monitor = self._monitor(random)
        self.limits = SearchLimits(
            max_conditions=settings.max_conditions,
            min_weight=settings.min_weight,
            missing_conditions=settings.missing_conditions,
            label_sets=settings.label_sets,
            constraints=constraints,
        ).compile(rows.schema, self.monitor.train.likelihood.unit)
        self.grower = RuleGrower(self.binned, settings.formulation.cut_points, n_threads)
        self.draws = self._draws(random)
        self.columns = Subsampler(len(rows.columns), settings.column_subsample, random, least=1)
        kind = None if self.draws.takes_all else settings.prune  # judged by rows outside
        self.prunes = kind is not None
        self.pruning = PRUNING[kind](self.monitor.train.codes, self.limits.required, n_threads)
        self.rules: list[_Added] = []

    def run(
        self, n_rules: int, advance: Callable[[], None], check: Callable[[], None] = lambda: None
    ) -> None:
        """Run the algorithm of the paper until there are `n_rules` rules or it is time to stop."""
        takes_all = self.draws.takes_all and self.columns.takes_all
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
        settings, train = self.settings, self.monitor.train
        codes, likelihood = train.codes, train.likelihood
        score = self._score(likelihood)
        found, drawn = self.draws.grow(score, self._drawn_limits())
        if found is None:
            self.pruning.reopen()
            return False
        head = likelihood.head_of(score, found.vote)
        if self.prunes:
            vote = likelihood.score(settings.criterion, settings.l2, head)
            found = self.pruning.pruned(found, likelihood.stats, vote, drawn)
        if found is None:  # no condition pays on other rows
            return False
        cover = found.cover(codes, self.n_threads)
        step = likelihood.newton_step(
            cover,
            head,
            settings.l2,
            settings.formulation.backtracking,
            self._min_evidence,
            settings.largest_step,
        )
        if step <= 0:  # helps on the subsample, not (enough) on all rows
            return False
        response = settings.learning_rate * step
        with self.draws.following(cover):
            likelihood.add(cover, head, response)
        outside, inside = likelihood.class_weights(cover, drawn)
        self.rules.append(_Added(found, Adds(head, response), outside + inside, outside))
        if self.monitor.watch(found, head, response, outside):
            self.monitor.stopped_by = settings.stopping.name
        return True

    def kept_rules(self) -> tuple[Rule, ...]:
        """Return the rules that the stopping rule keeps."""
        kept = self.rules[: self.monitor.n_kept]
        coverages = self._coverages(kept)
        parts = zip(kept, coverages, strict=True)
        return tuple(Rule(one.found.body, one.outcome, coverage) for one, coverage in parts)

    def _coverages(self, rules: list[_Added]) -> list[Coverage]:
        """Return what rules cover, counted outside their subsamples if there are such rows."""
        if not rules or self.draws.takes_all:
            return [Coverage.of(tuple(rule.covered.tolist())) for rule in rules]
        covered = np.array([rule.covered for rule in rules])
        return Coverage.all_outside(covered, np.array([rule.outside for rule in rules]))

    @property
    def scored(self) -> Scored | None:
        """All rows with their scores, unless some were kept aside and some rules may go."""
        monitor = self.monitor
        return Scored(monitor.train.likelihood, self.order) if monitor.validation is None else None

    def learns_from(self, rows: TrainingSet) -> bool:
        """Tell whether these are the rows of this fit."""
        ours = self.rows
        return (
            ours.schema == rows.schema
            and np.array_equal(ours.classes, rows.classes)
            and np.array_equal(ours.labels, rows.labels)
            and np.array_equal(ours.weights, rows.weights)
            and all(
                np.array_equal(mine.values, other.values, equal_nan=True)
                for mine, other in zip(ours.columns, rows.columns, strict=True)
            )
        )

    @property
    def _min_evidence(self) -> float:
        """What a rule must show on all rows."""
        untested = self.draws.takes_all
        return self.settings.untested_evidence if untested else self.settings.min_evidence

    def _score(self, likelihood: LogLikelihood | ClassLogLikelihood) -> Score:
        """Describe what growth minimises; a prefixed vote is chosen by all rows."""
        criterion, l2 = self.settings.criterion, self.settings.l2
        head = likelihood.best_vote(criterion, l2) if self.settings.prefixed else None
        return likelihood.score(criterion, l2, head)

    def _drawn_limits(self) -> Limits:
        """Close the columns that are not drawn for this rule, and those of rules refused."""
        limits = self.pruning.narrowed(self.limits)
        return limits if self.columns.takes_all else limits.only(self.columns.draw().drawn)

    def _default_scores(self) -> FloatArray:
        settings, rows = self.settings, self.rows
        return default_scores(
            settings.formulation.default_rule,
            rows.class_weights,
            rows.n_rows,
            settings.l2,
            settings.learning_rate,
            settings.ordinal,
        )

    def _start(self, train: NDArray[np.intp] | slice) -> Start:
        """Return the scores to start from, with lines of the training rows if there are any."""
        plain = Start(self._default_scores())
        if not self.settings.linear:
            return plain
        rows = self.rows if isinstance(train, slice) else self.rows.take(train)
        return fitted_start(rows, self.settings) or plain

    def _sample(self, rows: NDArray[np.integer] | slice, codes: CodeColumns) -> Sample:
        weights = self.rows.weights[rows]
        given = self.rows.labels[rows], weights, self.start.scores(self.rows.table, rows)
        options: dict[str, Any] = {"n_threads": self.n_threads, "coarse": True}
        options["weigh_rows"] = self.settings.min_weight > 0
        likelihood: LogLikelihood | ClassLogLikelihood
        if self.settings.prefixed and len(self.rows.classes) > 2:
            likelihood = ClassLogLikelihood(*given, **options)
        else:
            options["ordinal"] = self.settings.ordinal
            likelihood = LogLikelihood(*given, **options)
        return Sample(codes, likelihood, float(weights.sum()))

    def _monitor(self, random: np.random.RandomState) -> Monitor:
        """Part the rows if some are kept aside, and start the stopping rule."""
        stopping, rows = self.settings.stopping, self.rows
        train: NDArray[np.intp] | slice = slice(None)
        validation, start_loss, aside = None, np.nan, None
        if stopping.kept_aside:
            train, aside = split_rows(rows.labels, stopping.kept_aside, random)
        self.start = self._start(train)
        if aside is not None:
            validation = self._sample(aside, self.binned.codes.take(aside))
            start_loss = validation.mean_loss
        shares = (rows.class_weights / rows.class_weights.sum()).tolist()
        watch = stopping.start(shares, start_loss)
        taken = self._shuffled(train, random)
        if not isinstance(taken, slice):  # the codes of all rows are not needed any more
            codes = self.binned.codes.take(taken)
            self.binned = BinnedColumns(rows.schema, self.binned.bins, codes)
        return Monitor(self._sample(taken, self.binned.codes), validation, watch)

    def _shuffled(
        self, rows: NDArray[np.intp] | slice, random: np.random.RandomState
    ) -> NDArray[np.integer] | slice:
        """Put the training rows into random order if blocks of them are to be drawn."""
        places = np.arange(self.rows.n_rows, dtype=ROW)[rows]
        if not (self.settings.prefixed and len(self.rows.classes) > 2):  # reads all statistics
            self.n_blocks = count_blocks(self.binned.codes, len(places), self.settings.subsample)
        if self.n_blocks <= 1:
            return rows
        self.order = random.permutation(places)
        return self.order

    def _draws(self, random: np.random.RandomState) -> RowDraws:
        train, share = self.monitor.train, self.settings.subsample
        given = self.grower, train.codes, train.likelihood.stats, share, random
        if isinstance(train.likelihood, ClassLogLikelihood):
            return RowDraws(*given, train.likelihood.telling_rows)
        if not self.n_blocks:
            return RowDraws(*given)
        return BlockDraws(*given, self.n_blocks, train.likelihood.bits)
