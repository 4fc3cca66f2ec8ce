"""A partition: coded rows that answer the questions of a boosted fit.

What a partition knows beside its rows, their scores and statistics, is a function of the rules so
far. It is kept between questions, but never needed: a partition that was lost, moved or copied adds
the rules of the `RuleHistory` again. All answers are sums of whole numbers.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright import kernels
from rulewright.kernels import STAT, BoolArray, ByteArray, CodeColumns, IntArray, Lanes, StatArray
from rulewright.scale.scores import BLOCKS, AppliedRule, CodedRows, RowScores, RuleHistory, Setup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.encoding import Test

Blocks = tuple[int, ...]


class PartitionState:
    """What a partition knows after some rules."""

    def __init__(self, partition: Partition, setup: Setup) -> None:
        self.setup, self.starts = setup, partition.train.starts
        self.train = RowScores(partition.codes, partition.train, setup)
        self.aside = RowScores(partition.aside_codes, partition.aside, setup)
        self.aside_changes: list[int] = []  # of the loss, by each rule
        given = self.train.codes, self.train.stats, self.starts
        self.search = kernels.BlockSearch(*given, self._are_affordable())
        self._begun: tuple[Blocks, Lanes] | None = None  # what the search started from,
        self._tests: tuple[Test, ...] = ()  # the tests that it went on with,
        self._histogram = np.empty((0, 0), dtype=STAT)  # and what it found

    @property
    def n_rules(self) -> int:
        """Number of rules so far."""
        return len(self.aside_changes)

    def add(self, rule: AppliedRule) -> None:
        """Add a rule and bring everything up to date."""
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
        """Tell whether histograms of all blocks take less memory than the rows do."""
        n_codes, n_lanes = int((self.train.codes.n_bins + 1).sum()), self.train.stats.shape[1]
        per_row = self.train.codes.codes.nbytes + self.train.stats.nbytes
        return BLOCKS * n_codes * n_lanes * 8 <= per_row


def is_drawn(blocks: Blocks) -> BoolArray:
    """Tell for each block whether it is among these."""
    chosen = np.zeros(BLOCKS, dtype=np.bool_)
    chosen[list(blocks)] = True
    return chosen


class Partition:
    """Coded rows in one place, of which some are kept aside to validate rules."""

    def __init__(
        self, train: CodedRows, aside: CodedRows, n_bins: IntArray, nominal: ByteArray
    ) -> None:
        self.train, self.aside, self.n_bins, self.nominal = train, aside, n_bins, nominal
        self.lock = threading.Lock()
        self._known: PartitionState | None = None

    @classmethod
    def join(cls, parts: Sequence[Partition]) -> Partition:
        """Return the rows of several partitions in one, which is counted faster."""
        if len(parts) == 1:
            return parts[0]
        train, aside = (
            _join_rows([getattr(part, name) for part in parts]) for name in ("train", "aside")
        )
        return cls(train, aside, parts[0].n_bins, parts[0].nominal)

    def __reduce__(self) -> Any:  # what can be found again does not travel
        return Partition, (self.train, self.aside, self.n_bins, self.nominal)

    def __sizeof__(self) -> int:
        return sum(array.nbytes for rows in (self.train, self.aside) for array in rows)

    @cached_property
    def codes(self) -> CodeColumns:
        """The rows to learn from."""
        return CodeColumns(self.train.codes, self.n_bins, self.nominal)

    @cached_property
    def aside_codes(self) -> CodeColumns:
        """The rows kept aside."""
        return CodeColumns(self.aside.codes, self.n_bins, self.nominal)

    def after(self, story: RuleHistory) -> PartitionState | None:
        """Add the rules that are new; None if some before them are not known here."""
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
    """Put the rows of several partitions together, block after block."""
    blocks = np.concatenate([np.repeat(np.arange(BLOCKS), np.diff(own.starts)) for own in parts])
    order = np.argsort(blocks, kind="stable")
    codes = np.concatenate([own.codes for own in parts], axis=1)
    for group in codes:  # in place, group by group: the codes are most of the memory
        group[:] = group[order]
    return CodedRows(
        codes,
        np.concatenate([own.labels for own in parts])[order],
        np.concatenate([own.weights for own in parts])[order],
        np.sum([own.starts for own in parts], axis=0),
    )
