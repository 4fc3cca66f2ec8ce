"""A partition: coded rows that answer the questions of a boosted fit.

Besides its rows, the state of a partition (scores and statistics) is a function of the rules so
far. It is cached between questions, but never required: a partition that was lost, moved or copied
adds the rules of the `RuleHistory` again. All answers are sums of integers.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright import kernels
from rulewright.encoding import Test, pad_tests
from rulewright.kernels import (
    ROW,
    STAT,
    BoolArray,
    ByteArray,
    CodeColumns,
    FloatArray,
    IntArray,
    Lanes,
    RowArray,
    StatArray,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Blocks = tuple[int, ...]
BLOCKS = 32
"""Number of blocks of about equal size that rows are drawn in; hashes assign the rows."""

LOSS_STEPS = 16
"""Ratio of the units of losses and statistics: a rule changes the loss of a row by at most 8 times
its weight, and log-losses are clipped at 36."""


class PartitionState:
    """State of a partition after some rules."""

    def __init__(self, partition: Partition, setup: Setup) -> None:
        self.setup, self.starts = setup, partition.train.starts
        self.train = RowScores(partition.codes, partition.train, setup)
        self.aside = RowScores(partition.aside_codes, partition.aside, setup)
        self.aside_changes: list[int] = []  # change of the validation loss by each rule
        given = self.train.codes, self.train.stats, self.starts
        self.search = kernels.BlockSearch(*given, self._are_affordable())
        self._begun: tuple[Blocks, Lanes] | None = None  # start of the current search,
        self._tests: tuple[Test, ...] = ()  # its tests so far,
        self._histogram = np.empty((0, 0), dtype=STAT)  # and its result

    @property
    def n_rules(self) -> int:
        """Number of rules so far."""
        return len(self.aside_changes)

    def add(self, rule: AppliedRule) -> None:
        """Add a rule and update everything."""
        self._begun = None
        self.aside_changes.append(self.aside.add(rule, with_loss=True))
        with self.search.following(self.train.cover(rule)):
            self.train.add(rule)

    def grow(self, blocks: Blocks, lanes: Lanes, tests: tuple[Test, ...]) -> StatArray:
        """Return the histogram of the rows of some blocks that pass all tests."""
        done = len(self._tests)
        if self._begun != (blocks, lanes) or self._tests != tests[:done]:
            self._begun, self._tests, done = (blocks, lanes), (), 0
            self._histogram = self.search.start(is_drawn(blocks), lanes)
        for test in tests[done:]:
            self._histogram = self.search.narrow(test)
            self._tests = (*self._tests, test)
        return self._histogram

    def _are_affordable(self) -> bool:
        """Return whether histograms of all blocks take less memory than the rows."""
        n_codes, n_lanes = int((self.train.codes.n_bins + 1).sum()), self.train.stats.shape[1]
        per_row = self.train.codes.codes.nbytes + self.train.stats.nbytes
        return BLOCKS * n_codes * n_lanes * 8 <= per_row


def is_drawn(blocks: Blocks) -> BoolArray:
    """Return whether each block is drawn."""
    chosen = np.zeros(BLOCKS, dtype=np.bool_)
    chosen[list(blocks)] = True
    return chosen


class Partition:
    """Coded rows in one place, including validation rows."""

    def __init__(
        self, train: CodedRows, aside: CodedRows, n_bins: IntArray, nominal: ByteArray
    ) -> None:
        self.train, self.aside, self.n_bins, self.nominal = train, aside, n_bins, nominal
        self.lock = threading.Lock()
        self._known: PartitionState | None = None

    @classmethod
    def join(cls, parts: Sequence[Partition]) -> Partition:
        """Merge the rows of several partitions, for faster counting."""
        if len(parts) == 1:
            return parts[0]
        train, aside = (
            _join_rows([getattr(part, name) for part in parts]) for name in ("train", "aside")
        )
        return cls(train, aside, parts[0].n_bins, parts[0].nominal)

    def __reduce__(self) -> Any:  # derived data are not sent
        return Partition, (self.train, self.aside, self.n_bins, self.nominal)

    def __sizeof__(self) -> int:
        return sum(array.nbytes for rows in (self.train, self.aside) for array in rows)

    @cached_property
    def codes(self) -> CodeColumns:
        """The training rows."""
        return CodeColumns(self.train.codes, self.n_bins, self.nominal)

    @cached_property
    def aside_codes(self) -> CodeColumns:
        """The validation rows."""
        return CodeColumns(self.aside.codes, self.n_bins, self.nominal)

    def after(self, story: RuleHistory) -> PartitionState | None:
        """Add the new rules; None if earlier rules are unknown here."""
        known = self._known
        if known is None or known.setup != story.setup or known.n_rules > story.n_rules:
            if story.base:
                return None
            known = self._known = PartitionState(self, story.setup)
        if known.n_rules < story.base:
            return None
        for rule in story.rules[known.n_rules - story.base :]:
            known.add(rule)
        return known


def _join_rows(parts: Sequence[CodedRows]) -> CodedRows:
    """Concatenate the rows of several partitions, block by block."""
    blocks = np.concatenate([np.repeat(np.arange(BLOCKS), np.diff(own.starts)) for own in parts])
    order = np.argsort(blocks, kind="stable")
    codes = np.concatenate([own.codes for own in parts], axis=1)
    for group in codes:  # in place, group by group: codes take most of the memory
        group[:] = group[order]
    return CodedRows(
        codes,
        np.concatenate([own.labels for own in parts])[order],
        np.concatenate([own.weights for own in parts])[order],
        np.sum([own.starts for own in parts], axis=0),
    )


class CodedRows(NamedTuple):
    """Coded rows, block by block: block b has the rows starts[b] to starts[b + 1]."""

    codes: NDArray[Any]
    labels: IntArray
    weights: FloatArray
    starts: StatArray


class AppliedRule(NamedTuple):
    """An added rule: tests on codes, the classes it votes for, and its response."""

    tests: tuple[Test, ...]
    first: int
    last: int
    size: float

    @property
    def test_array(self) -> IntArray:
        """The tests in the format of kernels."""
        return pad_tests(self.tests)


@dataclass(frozen=True)
class Setup:
    """The start of every row: exponentials of scores, class factors, and units of sums.

    `unit` belongs to the statistics, which may be coarse; `fine_unit` to all other sums.
    """

    exp_scores: tuple[float, ...]
    factors: tuple[float, ...]
    unit: float
    fine_unit: float
    cumulative: bool
    weigh_rows: bool


@dataclass(frozen=True)
class RuleHistory:
    """The rules so far, or only the last ones: enough for a partition that knows the others."""

    setup: Setup
    base: int = 0
    rules: tuple[AppliedRule, ...] = ()

    @property
    def n_rules(self) -> int:
        """Number of the rules so far."""
        return self.base + len(self.rules)

    def latest(self) -> RuleHistory:
        """Return the history with only the last rule."""
        return RuleHistory(self.setup, max(self.n_rules - 1, 0), self.rules[-1:])

    def followed_by(self, rule: AppliedRule) -> RuleHistory:
        """Return the history with one more rule."""
        return RuleHistory(self.setup, self.base, (*self.rules, rule))


@dataclass(frozen=True)
class PartSums:
    """Arrays of integers that can be added."""

    arrays: tuple[StatArray, ...]

    @classmethod
    def of(cls, *arrays: Any) -> PartSums:
        """Create sums from numbers and arrays."""
        return cls(tuple(np.asarray(array, dtype=STAT) for array in arrays))

    def __add__(self, other: PartSums) -> PartSums:
        return PartSums(tuple(a + b for a, b in zip(self.arrays, other.arrays, strict=True)))


class RowScores:
    """Scores and statistics of rows, updated by rules."""

    def __init__(self, codes: CodeColumns, rows: CodedRows, setup: Setup) -> None:
        self.codes, self.labels, self.setup = codes, rows.labels, setup
        self.weights = rows.weights
        if any(factor != 1.0 for factor in setup.factors):
            self.weights = rows.weights * np.array(setup.factors)[rows.labels]
        self.counts = bool((self.weights == 1.0).all())
        self._covered: tuple[tuple[Test, ...], RowArray] | None = None
        n_rows, n_classes = len(rows.labels), len(setup.exp_scores)
        self.exp_scores = np.tile(np.array(setup.exp_scores), (n_rows, 1))
        n_lanes = 2 * (n_classes - setup.cumulative) + setup.weigh_rows
        self.stats = np.zeros((n_rows, n_lanes), dtype=STAT)
        if setup.weigh_rows:
            self.stats[:, -1] = np.rint(self.weights / setup.unit)
        self.state = kernels.Likelihood(
            self.labels, self.weights, self.exp_scores, self.stats, 1 / setup.unit, setup.cumulative
        )
        self.state.refresh_stats(np.arange(n_rows, dtype=ROW), 1)

    def by_class(self, rows: RowArray, starts: StatArray) -> StatArray:
        """Sum the weights of ascending rows by block and class, in fine steps."""
        n_classes, n_blocks = self.exp_scores.shape[1], len(starts) - 1
        in_block = np.diff(np.searchsorted(rows, starts))
        cells = np.repeat(np.arange(n_blocks) * n_classes, in_block) + self.labels[rows]
        if self.counts:
            steps = np.bincount(cells, minlength=n_blocks * n_classes)
            steps *= round(1 / self.setup.fine_unit)
        else:
            steps = np.zeros(n_blocks * n_classes, dtype=STAT)
            own = np.rint(self.weights[rows] / self.setup.fine_unit)
            np.add.at(steps, cells, own.astype(STAT))
        return steps.reshape(n_blocks, n_classes)

    def cover(self, rule: AppliedRule) -> RowArray:
        """Find the rows that a rule covers; the last result is cached."""
        if self._covered is None or self._covered[0] != rule.tests:
            self._covered = rule.tests, kernels.cover_rows(self.codes, rule.test_array)
        return self._covered[1]

    def add(self, rule: AppliedRule, with_loss: bool = False) -> int:
        """Add a rule; return the change of the loss in steps, if requested."""
        cover = self.cover(rule)
        change = self.loss_change(rule) if with_loss else 0
        self.state.add_step(cover, rule.first, rule.last, rule.size, 1)
        return change

    def loss_change(self, rule: AppliedRule) -> int:
        """Return the change of the loss by a rule, in steps."""
        cover = self.cover(rule)
        e, labels = self.exp_scores[cover], self.labels[cover]
        voted = e[:, rule.first : rule.last + 1].sum(axis=1)
        hit = (rule.first <= labels) & (labels <= rule.last)
        grown = voted / e.sum(axis=1) * np.expm1(rule.size)
        return int(self.steps(np.log1p(grown) - rule.size * hit, cover).sum())

    def steps(self, values: FloatArray, rows: Any) -> StatArray:
        """Return values times row weights, in steps of losses."""
        steps = values * self.weights[rows] / (LOSS_STEPS * self.setup.fine_unit)
        return np.asarray(np.rint(steps), dtype=STAT)
