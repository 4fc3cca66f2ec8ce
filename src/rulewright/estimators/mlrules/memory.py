"""Rows in memory for the boosting loop: codes, likelihoods and random draws.

The lines that boosting may start from are fitted here, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright import kernels
from rulewright.data import Units
from rulewright.encoding import BinnedColumns, bin_table
from rulewright.estimators.folds.folds import choosing_rows
from rulewright.estimators.mlrules.boosting import Boosting
from rulewright.estimators.mlrules.pruning import ConditionPruning, PrefixPruning, Pruning
from rulewright.kernels import (
    ROW,
    BoolArray,
    ByteArray,
    CodeColumns,
    FloatArray,
    Limits,
    RowArray,
    Score,
    StatArray,
)
from rulewright.model import LinearTerm, units_of
from rulewright.rules import Adds, Head
from rulewright.search import (
    BlockDraws,
    FoundRule,
    RowDraws,
    RuleGrower,
    allowed_terms,
    count_blocks,
    directions,
    split_rows,
)
from rulewright.weighting import ClassLogLikelihood, LogLikelihood

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rulewright.data import Schema, Table, TrainingSet
    from rulewright.estimators.mlrules.settings import BoostingSettings, RuleSettings

    Places = NDArray[np.integer] | slice

OTHER_EVIDENCE = 1.0
"""Minimum evidence for or against another class that a rule votes for: one standard error."""

MOST_ROWS = 50_000
"""Lines are fitted on a sample of this size: its slopes are precise enough."""


@dataclass(frozen=True)
class Start:
    """The start scores of the rows: intercepts, and lines of some columns."""

    intercepts: FloatArray
    linear: tuple[LinearTerm, ...] = ()

    def scores(self, table: Table, rows: NDArray[np.integer] | slice) -> FloatArray:
        """Return one score vector for all rows, or one per row if there are lines."""
        if not self.linear:
            return self.intercepts
        scores = np.tile(self.intercepts, (len(table), 1))[rows]
        for term in self.linear:
            scores += term.units(table)[rows, np.newaxis] * np.array(term.slopes)
        return scores


def fit_start(rows: TrainingSet, settings: BoostingSettings) -> Start | None:
    """Fit intercepts and lines; None if no line lowers the loss."""
    from rulewright.weighting import LineFit  # noqa: PLC0415 - imports all solvers

    # Separate random numbers: without useful lines the rules equal a fit without lines.
    rows = choosing_rows(rows, np.random.RandomState(0), MOST_ROWS)
    terms = allowed_terms(rows.table, rows.weights, settings.constraints)
    if not terms:
        return None
    deviations = np.array([term.deviation for term in terms])
    columns = (units_of(terms, rows.table) / deviations).T
    signs = directions(terms, settings.constraints)
    fit = LineFit(columns, signs, rows, settings.ordinal, settings.rule.l2)
    fit.run()
    intercepts, *slopes = fit.by_class()
    found = zip(terms, slopes, deviations, strict=True)
    lines = [replace(term, slopes=tuple((own / size).tolist())) for term, own, size in found]
    lines = [line for line in lines if any(line.slopes)]
    return Start(fit.start + intercepts, tuple(lines)) if lines else None


@dataclass
class Sample:
    """Coded rows with the likelihood that depends on their scores."""

    codes: CodeColumns
    likelihood: LogLikelihood | ClassLogLikelihood
    total_weight: float

    @property
    def mean_loss(self) -> float:
        """Return the log-loss per unit of weight."""
        return self.likelihood.loss / self.total_weight


class ScoredRows(NamedTuple):
    """Training scores of a finished fit, in the order of the boosted rows."""

    likelihood: LogLikelihood | ClassLogLikelihood
    order: RowArray | None

    def probabilities(self) -> FloatArray:
        """Return the probabilities of the rows, in the order of the table."""
        found = self.likelihood.probabilities
        if self.order is None:
            return found
        ordered = np.empty_like(found)
        ordered[self.order] = found
        return ordered


@dataclass
class MemoryRows:
    """`BoostedRows` in memory; subsamples are random draws of rows or of blocks of rows.

    Parameters
    ----------
    training : TrainingSet
        All rows.
    start : Start
        Start scores.
    binned : BinnedColumns
        Training rows, as codes.
    train : Sample
        Training rows with their likelihood.
    validation : Sample or None
        Validation rows.
    draws : RowDraws
        Grows rules on subsamples.
    order : int32 array or None
        Places of the training rows in the table, if they are shuffled.
    n_threads : int
        Number of threads; does not change the rules.
    """

    training: TrainingSet
    start: Start
    binned: BinnedColumns
    train: Sample
    validation: Sample | None
    draws: RowDraws
    order: RowArray | None
    n_threads: int

    def __post_init__(self) -> None:
        self.likelihood, self.takes_all = self.train.likelihood, self.draws.takes_all

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.training.schema

    @property
    def class_shares(self) -> list[float]:
        """Share of each class in the total weight."""
        weights = self.training.class_weights
        shares: list[float] = (weights / weights.sum()).tolist()
        return shares

    @property
    def train_loss(self) -> float:
        """Mean training loss."""
        return self.likelihood.loss / self.train.total_weight

    @property
    def validation_loss(self) -> float:
        """Mean validation loss; NaN without validation rows."""
        return math.nan if self.validation is None else self.validation.mean_loss

    @property
    def scored(self) -> ScoredRows | None:
        """Training scores of all rows; None with validation rows or if rules may be dropped."""
        return ScoredRows(self.likelihood, self.order) if self.validation is None else None

    def start_pruning(
        self, kind: str | None, required: ByteArray, hurries: bool
    ) -> Pruning[BoolArray]:
        """Return the pruning of rules."""
        if kind == "conditions":
            return ConditionPruning(required, self.train, self.n_threads)
        return PrefixPruning(required, self._sum_prefixes, hurries) if kind else Pruning(required)

    def grow(self, score: Score, limits: Limits) -> tuple[FoundRule | None, BoolArray]:
        """Grow a rule on the next draw; return it with the drawn rows."""
        return self.draws.grow(score, limits)

    def cover(self, found: FoundRule, head: Head, drawn: BoolArray) -> RowArray:
        """Find the rows that a rule covers."""
        return found.cover(self.train.codes, self.n_threads)

    def add(
        self, found: FoundRule, cover: RowArray, vote: Adds, asked: RuleSettings, n_others: int
    ) -> tuple[Adds, ...]:
        """Add the vote of a rule, and votes for other classes, to the scores of its rows."""
        with self.draws.following(cover):
            self.likelihood.add(cover, vote.head, vote.value)
            others = tuple(islice(self._add_others(cover, vote.head, asked), n_others))
        if self.validation is not None:
            aside = found.cover(self.validation.codes)
            for one in (vote, *others):
                self.validation.likelihood.add(aside, one.head, one.value)
        return vote, *others

    def _add_others(self, cover: RowArray, head: Head, asked: RuleSettings) -> Iterator[Adds]:
        """Add to the scores of each other class for which the covered rows are evidence."""
        given = asked.l2, True, OTHER_EVIDENCE, asked.largest_step
        for k in range(len(self.training.classes)):
            other = Head(k, k)
            if other != head and (step := self.likelihood.signed_step(cover, other, *given)):
                vote = Adds(other, asked.learning_rate * step)
                self.likelihood.add(cover, other, vote.value)
                yield vote

    def weigh_cover(self, cover: RowArray, drawn: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return the class weights of all covered rows, and of those outside the subsample."""
        outside, inside = self.likelihood.class_weights(cover, drawn)
        return outside + inside, outside

    def are_those_of(self, rows: TrainingSet) -> bool:
        """Return whether a fit to other rows would learn from the same data."""
        ours = self.training
        return (
            ours.schema == rows.schema
            and np.array_equal(ours.classes, rows.classes)
            and np.array_equal(ours.labels, rows.labels)
            and np.array_equal(ours.weights, rows.weights)
            and np.array_equal(ours.groups, rows.groups)  # type: ignore[arg-type]
            and all(
                np.array_equal(mine.values, other.values, equal_nan=True)
                for mine, other in zip(ours.columns, rows.columns, strict=True)
            )
        )

    def _sum_prefixes(self, found: FoundRule, score: Score, drawn: BoolArray) -> StatArray:
        """Sum g and h over the rows outside the subsample that satisfy each prefix."""
        given = self.train.codes, found.test_array, self.likelihood.stats
        return kernels.judged_sums(*given, score.first_lane, drawn, self.n_threads)


def start_boosting(
    settings: BoostingSettings,
    rows: TrainingSet,
    random: np.random.RandomState,
    n_threads: int,
) -> Boosting[MemoryRows]:
    """Start a fit to rows in memory; the number of threads does not change the rules."""
    return Boosting(settings, prepare_rows(settings, rows, random, n_threads), random)


def prepare_rows(
    settings: BoostingSettings,
    rows: TrainingSet,
    random: np.random.RandomState,
    n_threads: int,
) -> MemoryRows:
    """Code the rows, split off validation rows if the stopping rule needs them, and shuffle."""
    digits = settings.constraints.digits_by_column(rows.schema)
    binned = bin_table(rows.table, settings.max_bins, n_threads, digits)
    train: Places = slice(None)
    aside, validation = None, None
    if settings.stopping.kept_aside:
        train, aside = split_rows(rows.labels, settings.stopping.kept_aside, random, rows.units)
    start = _choose_start(settings, rows, train)
    if aside is not None:
        validation = _sample(settings, rows, start, aside, binned.codes.take(aside), n_threads)
    n_blocks, order = _shuffle(settings, rows, train, binned.codes, random)
    train = train if order is None else order
    if not isinstance(train, slice):  # free the codes of all rows
        binned = BinnedColumns(rows.schema, binned.bins, binned.codes.take(train))
    sample = _sample(settings, rows, start, train, binned.codes, n_threads)
    grower = RuleGrower(binned, settings.formulation.cut_points, n_threads)
    groups = None if rows.groups is None else rows.groups[train]
    units = Units(binned.codes.n_rows, groups)
    draws = _start_draws(grower, sample, settings.subsample, n_blocks, random, units)
    return MemoryRows(rows, start, binned, sample, validation, draws, order, n_threads)


def _choose_start(settings: BoostingSettings, rows: TrainingSet, train: Places) -> Start:
    """Return the start scores, with lines of the training rows if there are any."""
    plain = Start(settings.default_scores(rows.class_weights, rows.n_rows))
    if not settings.linear:
        return plain
    return fit_start(rows if isinstance(train, slice) else rows.take(train), settings) or plain


def _is_learned_by_class(settings: BoostingSettings, rows: TrainingSet) -> bool:
    """Return whether the search needs the statistics of one class at a time only."""
    return settings.rule.prefixed and len(rows.classes) > 2


def _sample(
    settings: BoostingSettings,
    rows: TrainingSet,
    start: Start,
    places: Places,
    codes: CodeColumns,
    n_threads: int,
) -> Sample:
    """Create the likelihood of the rows at some places, from their start scores."""
    weights = rows.weights[places]
    given = rows.labels[places], weights, start.scores(rows.table, places)
    options: dict[str, Any] = {"n_threads": n_threads, "coarse": True}
    options["weigh_rows"] = settings.limits.min_weight > 0
    likelihood: LogLikelihood | ClassLogLikelihood
    if _is_learned_by_class(settings, rows):
        likelihood = ClassLogLikelihood(*given, **options)
    else:
        likelihood = LogLikelihood(*given, ordinal=settings.ordinal, **options)
    return Sample(codes, likelihood, float(weights.sum()))


def _shuffle(
    settings: BoostingSettings,
    rows: TrainingSet,
    train: Places,
    codes: CodeColumns,
    random: np.random.RandomState,
) -> tuple[int, RowArray | None]:
    """Return the number of blocks to draw from, and a shuffled order if only some are drawn."""
    # Blocks would need statistics of all classes, and would split groups.
    if _is_learned_by_class(settings, rows) or rows.groups is not None:
        return 0, None
    places = np.arange(rows.n_rows, dtype=ROW)[train]
    n_blocks = count_blocks(codes, len(places), settings.subsample)
    return n_blocks, random.permutation(places) if n_blocks > 1 else None


def _start_draws(
    grower: RuleGrower,
    train: Sample,
    share: float,
    n_blocks: int,
    random: np.random.RandomState,
    units: Units,
) -> RowDraws:
    """Return the source of rules grown on subsamples of the training rows."""
    given = grower, train.codes, train.likelihood.stats, share, random
    if isinstance(train.likelihood, ClassLogLikelihood):
        return RowDraws(*given, train.likelihood.telling_rows, units)
    if not n_blocks:
        return RowDraws(*given, units=units)
    return BlockDraws(*given, n_blocks, train.likelihood.bits)
