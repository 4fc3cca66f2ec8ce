"""A partition: coded rows that answer the questions of a boosted fit.

What a partition knows beside its rows, their scores and statistics, is a function of the rules so
far. It is kept between questions, but never needed: a partition that was lost, moved or copied adds
the rules of the `Story` again. All answers are sums of whole numbers.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright import kernels
from rulewright.kernels import ROW, STAT, CodeColumns, Gathered
from rulewright.scale.scores import BLOCKS, Scores

if TYPE_CHECKING:
    from rulewright.encoding.binned import Test
    from rulewright.kernels import BoolArray, ByteArray, IntArray, StatArray
    from rulewright.scale.scores import Applied, Rows, Setup, Story

Blocks = tuple[int, ...]
Lanes = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Growth:
    """The rows of a growing rule, of some blocks that pass some tests, and their histogram."""

    blocks: Blocks
    lanes: Lanes
    tests: tuple[Test, ...]
    gathered: Gathered
    histogram: StatArray

    def begins(self, blocks: Blocks, lanes: Lanes, tests: tuple[Test, ...]) -> bool:
        """Tell whether more tests lead to these."""
        same = (self.blocks, self.lanes) == (blocks, lanes)
        return same and self.tests == tests[: len(self.tests)]


class Known:
    """What a partition knows after some rules."""

    def __init__(self, partition: Partition, setup: Setup) -> None:
        self.setup, self.starts = setup, partition.train.starts
        self.train = Scores(partition.codes, partition.train, setup)
        self.aside = Scores(partition.aside_codes, partition.aside, setup)
        self.growth: Growth | None = None
        self.aside_changes: list[int] = []  # of the loss, by each rule
        self._blocks = self._block_histograms() if self._are_affordable() else None

    @property
    def n_rules(self) -> int:
        """Number of rules so far."""
        return len(self.aside_changes)

    def add(self, rule: Applied) -> None:
        """Add a rule and bring everything up to date."""
        self.growth = None
        self.aside_changes.append(self.aside.add(rule, with_loss=True))
        if self._blocks is None:
            self.train.add(rule)
            return
        cover = self.train.cover(rule)
        before = self.train.stats[cover]
        self.train.add(rule)
        changed = Gathered(cover, self.train.stats[cover] - before)
        starts = np.searchsorted(cover, self.starts)
        kernels.add_counts(self.train.codes, changed, starts, self._blocks)

    def grow(self, blocks: Blocks, lanes: Lanes, tests: tuple[Test, ...]) -> StatArray:
        """Return the histogram of the rows of some blocks that pass all tests."""
        found = self.growth
        if found is None or not found.begins(blocks, lanes, tests):
            found = self._root(blocks, lanes)
        for test in tests[len(found.tests) :]:
            found = self._narrowed(found, test)
        self.growth = found
        return found.histogram

    def is_drawn(self, blocks: Blocks) -> BoolArray:
        """Tell for each row whether its block is among these."""
        chosen = np.zeros(BLOCKS, dtype=np.bool_)
        chosen[list(blocks)] = True
        return np.repeat(chosen, np.diff(self.starts))

    def _root(self, blocks: Blocks, lanes: Lanes) -> Growth:
        ends = [(int(self.starts[b]), int(self.starts[b + 1])) for b in blocks]
        rows = np.concatenate([np.arange(*end, dtype=ROW) for end in ends])
        stats = np.concatenate([self.train.stats[slice(*end)] for end in ends])
        if lanes != tuple(range(stats.shape[1])):
            stats = np.ascontiguousarray(stats[:, lanes])
        gathered = Gathered(rows, stats)
        if self._blocks is None:
            return Growth(blocks, lanes, (), gathered, self._counted(gathered))
        total = self._blocks[blocks[0]].copy()
        for block in blocks[1:]:
            total += self._blocks[block]
        histogram = np.ascontiguousarray(total.reshape(self.n_codes, -1)[:, lanes])
        return Growth(blocks, lanes, (), gathered, histogram)

    def _narrowed(self, growth: Growth, test: Test) -> Growth:
        """Add a test: the smaller side is counted, the larger one is the rest."""
        passed, failed = kernels.split_rows(self.train.codes, growth.gathered, test)
        if len(passed.rows) <= len(failed.rows):
            histogram = self._counted(passed)
        else:
            histogram = growth.histogram - self._counted(failed)
        return Growth(growth.blocks, growth.lanes, (*growth.tests, test), passed, histogram)

    def _counted(self, gathered: Gathered) -> StatArray:
        n_rows, n_lanes = gathered.stats.shape
        sums = np.zeros((1, self.n_codes * n_lanes), dtype=STAT)
        kernels.add_counts(self.train.codes, gathered, np.array([0, n_rows], dtype=STAT), sums)
        return sums.reshape(self.n_codes, n_lanes)

    @cached_property
    def n_codes(self) -> int:
        """Number of codes of all columns."""
        return int((self.train.codes.n_bins + 1).sum())

    def _are_affordable(self) -> bool:
        """Tell whether histograms of all blocks take less memory than the rows do."""
        per_row = self.train.codes.codes.nbytes + self.train.stats.nbytes
        return BLOCKS * self.n_codes * self.train.stats.shape[1] * 8 <= per_row

    def _block_histograms(self) -> StatArray:
        n_rows, n_lanes = self.train.stats.shape
        sums = np.zeros((BLOCKS, self.n_codes * n_lanes), dtype=STAT)
        everyone = Gathered(np.arange(n_rows, dtype=ROW), self.train.stats)
        kernels.add_counts(self.train.codes, everyone, self.starts, sums)
        return sums


class Partition:
    """Coded rows in one place, of which some are kept aside to validate rules."""

    def __init__(self, train: Rows, aside: Rows, n_bins: IntArray, nominal: ByteArray) -> None:
        self.train, self.aside, self.n_bins, self.nominal = train, aside, n_bins, nominal
        self.lock = threading.Lock()
        self._known: Known | None = None

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

    def after(self, story: Story) -> Known | None:
        """Add the rules that are new; None if some before them are not known here."""
        known = self._known
        if known is None or known.setup != story.setup or known.n_rules > story.n_rules:
            if story.base:
                return None
            known = self._known = Known(self, story.setup)
        if known.n_rules < story.base:
            return None
        for rule in story.rules[known.n_rules - story.base :]:
            known.add(rule)
        return known
