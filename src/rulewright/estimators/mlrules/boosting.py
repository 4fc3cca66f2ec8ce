"""The boosting of MLRules: rules by maximum likelihood, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.capacity import EarlyStopping, WindowTest
from rulewright.encoding.binned import bin_table
from rulewright.estimators.mlrules.monitor import Monitor, Sample
from rulewright.search import RuleGrower, SearchLimits, Subsampler, split_rows
from rulewright.weighting import LogLikelihood, default_scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rulewright.data import Table
    from rulewright.estimators.mlrules.estimator import MLRulesClassifier
    from rulewright.kernels import FloatArray, Limits, Score
    from rulewright.model import Rule
    from rulewright.search import Constraints

MOST_FAILURES = 10
"""Subsamples without a useful rule before the search gives up."""

FIXED_SETTINGS = (
    *("ordinal", "default_rule", "subsample", "column_subsample"),
    *("max_conditions", "min_weight", "threshold", "missing_conditions", "max_bins"),
    *(
        "stopping",
        "stop_window",
        "stop_bad",
        "acceptability",
        "validation_fraction",
        "n_iter_no_change",
    ),
)
"""Settings that are read once, when a fit starts; all others may change before it goes on."""


class Boosting:
    """A fit in progress: the rows, their likelihood, the rules so far. `run` goes on.

    Parameters
    ----------
    settings : MLRulesClassifier
        The parameters.
    table : Table
        Training rows with target and weights.
    constraints : Constraints
        What rules may look like.
    random : RandomState
        Source of all random draws.
    n_threads : int
        Threads; the rules do not depend on it.
    """

    def __init__(
        self,
        settings: MLRulesClassifier,
        table: Table,
        constraints: Constraints,
        random: np.random.RandomState,
        n_threads: int,
    ) -> None:
        self.settings, self.table, self.n_threads = settings, table, n_threads
        self.constraints = constraints
        self.started_with = {name: getattr(settings, name) for name in FIXED_SETTINGS}
        digits = constraints.digits_by_column(table.schema)
        self.binned = bin_table(table, settings.max_bins, n_threads, digits)
        self.intercepts = self._default_scores()
        self.monitor = self._monitor(random)
        self.limits = SearchLimits(
            max_conditions=settings.max_conditions,
            min_weight=settings.min_weight,
            missing_conditions=settings.missing_conditions,
            constraints=constraints,
        ).compile(table.schema, self.monitor.train.likelihood.unit)
        self.grower = RuleGrower(self.binned, settings.threshold, n_threads)
        n_rows, n_columns = self.monitor.train.codes.n_rows, len(table.columns)
        self.subsampler = Subsampler(n_rows, settings.subsample, random)
        self.columns = Subsampler(n_columns, settings.column_subsample, random, least=1)
        self.rules: list[Rule] = []

    def run(
        self, n_rules: int, advance: Callable[[], None], check: Callable[[], None] = lambda: None
    ) -> None:
        """Run the algorithm of the paper until there are `n_rules` rules or it is time to stop."""
        settings, monitor = self.settings, self.monitor
        codes, likelihood = monitor.train.codes, monitor.train.likelihood
        takes_all = self.subsampler.takes_all and self.columns.takes_all
        most_failures = 1 if takes_all else MOST_FAILURES
        failures = 0
        while len(self.rules) < n_rules and failures < most_failures and not monitor.stopped_by:
            check()
            failures += 1  # until a rule is added
            subsample = self.subsampler.draw()
            score = self._score(likelihood)
            found = self.grower.grow(
                codes, subsample.rows, likelihood.stats, score, self._drawn_limits()
            )
            if found is None:
                continue
            head = likelihood.head_of(score, found.vote)
            cover = found.cover(codes, self.n_threads)
            step = likelihood.newton_step(
                cover, head, settings.l2, settings.backtracking, self._min_evidence
            )
            if step <= 0:  # helps on the subsample, not (enough) on all rows
                continue
            failures = 0
            response = settings.learning_rate * step
            likelihood.add(cover, head, response)
            self.rules.append(found.rule(head, response, likelihood.class_weights(cover)))
            monitor.watch(found, head, response, cover, subsample)
            advance()
        if failures:
            monitor.stopped_by = "no_rule"

    def kept_rules(self) -> tuple[Rule, ...]:
        """Return the rules that validation, if any, keeps."""
        return tuple(self.rules[: self.monitor.n_kept])

    def changed_settings(self, settings: MLRulesClassifier, constraints: Constraints) -> list[str]:
        """Name the settings that this fit was started with and cannot take up anew."""
        before = {**self.started_with, "constraints": self.constraints}
        now = {name: getattr(settings, name) for name in FIXED_SETTINGS}
        now["constraints"] = constraints
        return [name for name, value in now.items() if value != before[name]]

    def probabilities(self) -> FloatArray | None:
        """Return those of all rows, if they are at hand."""
        monitor = self.monitor
        if monitor.validation is not None:  # some rows were kept aside, some rules may go
            return None
        return monitor.train.likelihood.probabilities

    def learns_from(self, table: Table) -> bool:
        """Tell whether this fit's rows are those of the table."""
        ours, theirs = self.table, table
        assert ours.target is not None
        assert theirs.target is not None
        assert ours.weights is not None
        assert theirs.weights is not None
        return (
            ours.schema == theirs.schema
            and np.array_equal(ours.target.classes, theirs.target.classes)
            and np.array_equal(ours.target.codes, theirs.target.codes)
            and np.array_equal(ours.weights, theirs.weights)
            and all(
                np.array_equal(mine.values, other.values, equal_nan=True)
                for mine, other in zip(ours.columns, theirs.columns, strict=True)
            )
        )

    @property
    def _min_evidence(self) -> float:
        """What rules must show where no rows are left to test them, or what was asked for."""
        if self.settings.min_evidence is not None:
            return self.settings.min_evidence
        return float(self.settings.stopping == "auto" and self.subsampler.takes_all)

    def _score(self, likelihood: LogLikelihood) -> Score:
        """Describe what growth minimises; a prefixed vote is chosen on all rows."""
        criterion, l2 = self.settings.criterion, self.settings.l2
        head = None
        if self.settings.class_choice == "prefixed":
            head = likelihood.best_vote(criterion, l2)
        return likelihood.score(criterion, l2, head)

    def _drawn_limits(self) -> Limits:
        """Close the columns that are not drawn for this rule."""
        if self.columns.takes_all:
            return self.limits
        return self.limits.only(self.columns.draw().drawn)

    def _default_scores(self) -> FloatArray:
        target, settings = self.table.target, self.settings
        assert target is not None
        shares = np.bincount(target.codes, self.table.weights, len(target.classes))
        return default_scores(
            settings.default_rule,
            shares.astype(np.float64),
            self.table.n_rows,
            settings.l2,
            settings.learning_rate,
            settings.ordinal,
        )

    def _sample(self, rows: NDArray[np.intp] | slice) -> Sample:
        assert self.table.target is not None
        assert self.table.weights is not None
        codes, weights = self.binned.codes, self.table.weights[rows]
        likelihood = LogLikelihood(
            self.table.target.codes[rows],
            weights,
            self.intercepts,
            ordinal=self.settings.ordinal,
            weigh_rows=self.settings.min_weight > 0,
            n_threads=self.n_threads,
        )
        taken = codes if isinstance(rows, slice) else codes.take(rows)
        return Sample(taken, likelihood, float(weights.sum()))

    def _monitor(self, random: np.random.RandomState) -> Monitor:
        """Give the training rows and the stopping rule that watches over them."""
        settings = self.settings
        assert self.table.target is not None
        labels, weights = self.table.target.codes, self.table.weights
        if settings.stopping == "validation":
            train, aside = split_rows(labels, settings.validation_fraction, random)
            validation = self._sample(aside)
            stopping = EarlyStopping(settings.n_iter_no_change, validation.mean_loss)
            return Monitor(self._sample(train), validation=validation, early_stopping=stopping)
        prior = np.bincount(labels, weights, len(self.intercepts))
        guess = prior / prior.sum()
        if settings.acceptability == "random":
            guess = np.full(len(guess), 1 / len(guess))
        return Monitor(self._sample(slice(None)), window=self._window(), guess=guess.tolist())

    def _window(self) -> WindowTest | None:
        settings = self.settings
        if settings.stopping == "none" or (settings.stopping == "auto" and settings.subsample == 1):
            return None
        if settings.stop_bad is not None and settings.stop_bad > settings.stop_window:
            raise ValueError(
                f"stop_bad={settings.stop_bad} must be at most "
                f"stop_window={settings.stop_window}: a window cannot hold more bad rules than "
                "rules"
            )
        if settings.subsample == 1:
            raise ValueError(
                "stopping='window' needs rows outside the subsample to judge rules by: "
                "set subsample < 1, or another stopping"
            )
        return WindowTest(settings.stop_window, settings.stop_bad)
