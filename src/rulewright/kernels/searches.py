"""Searches with native state: DNF, RISE, blocks of a partition, histograms of blocks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.kernels import _core
from rulewright.kernels.structs import (
    BoolArray,
    Boxes,
    ByteArray,
    DistanceColumns,
    DnfBest,
    DnfSettings,
    DnfState,
    FloatArray,
    GrownRule,
    IntArray,
    Limits,
    RiseState,
    RowArray,
    Score,
    StatArray,
    WordArray,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels.growth import CodeColumns


class DnfSearch:
    """Parallel restarts of the stochastic local search, advanced in slices of steps.

    The result does not depend on the slices or the number of threads.

    Parameters
    ----------
    bits : uint64 array of shape (variables, words)
        Packed columns: positives first, negatives from the next full word on; spare bits are 0.
    weights : int32 array
        Weight of each positive, then of each negative, at least 1.
    n_positives : int
        Number of positives.
    settings : DnfSettings
        Search settings.
    """

    def __init__(
        self, bits: WordArray, weights: IntArray, n_positives: int, settings: DnfSettings
    ) -> None:
        self._native = _core.DnfSearch(bits, weights, n_positives, settings.native)

    def advance(self, n_steps: int, n_threads: int = 1) -> int:
        """Take `n_steps` steps in every restart; return the number of active restarts."""
        return self._native.advance(n_steps, n_threads)

    @property
    def n_steps(self) -> int:
        """Total number of steps of all restarts."""
        return self._native.n_steps()

    def state(self, restart: int) -> DnfState:
        """Return the state of a restart."""
        return DnfState(*self._native.state(restart))

    def best(self) -> DnfBest | None:
        """Return the best formula: the lowest (score, literals, restart)."""
        found = self._native.best()
        return DnfBest(*found[0]) if found else None


def find_partition(
    positives: WordArray,
    negatives: WordArray,
    n_parts: int,
    one_new: bool,
    seed: int,
    first_restart: int,
    n_restarts: int,
    n_threads: int = 1,
) -> tuple[int, IntArray]:
    """Return the first successful restart (-1: none) and the part of every positive.

    Rows are packed, with variable v as bit v % 64 of word v // 64 (see
    `native/search/dnf_partition.hpp`).
    """
    return _core.find_partition(
        positives, negatives, n_parts, one_new, seed, first_restart, n_restarts, n_threads
    )


def nearest_rules(
    values: FloatArray, columns: DistanceColumns, boxes: Boxes, n_threads: int = 1
) -> tuple[IntArray, FloatArray]:
    """Find the rule with the minimum distance to each row; ties go to the first.

    `values` has a line per row: numbers, NaN if missing, and codes of nominal columns. Without
    rules the result is 0 at infinite distance.
    """
    return _core.nearest_rules(values, *columns, *boxes, n_threads)


class RiseSearch:
    """RISE (see `native/search/rise.hpp`): rules that start as the rows are generalised one by one.

    Parameters
    ----------
    values : float array of shape (rows, columns)
        Numbers, NaN if missing, and codes of nominal columns.
    columns : DistanceColumns
        Distances of values.
    labels : int array
        Class of each row.
    weights : int array
        Weight of each row, in fixed-point steps.
    alone : byte array
        1 for rows without a copy: a rule that started from such a row, or was generalised to it,
        classifies it as if the row were left out.
    ranks : int array
        Rank of each class, 0 for the most frequent one.
    unit : float
        Weight of one row, in fixed-point steps.
    max_passes : int
        Maximum number of passes over all rules; -1 for no limit.
    """

    def __init__(
        self,
        values: FloatArray,
        columns: DistanceColumns,
        labels: IntArray,
        weights: StatArray,
        alone: ByteArray,
        ranks: IntArray,
        unit: float,
        max_passes: int,
    ) -> None:
        rows = labels, weights, alone, ranks
        self._native = _core.RiseSearch(values, *columns, *rows, unit, max_passes)
        self._n_columns = values.shape[1]

    def advance(self, n_steps: int, n_threads: int = 1) -> bool:
        """Take `n_steps` steps: each rule and row, then each rule; return whether more remain."""
        return self._native.advance(n_steps, n_threads)

    @property
    def accuracy(self) -> int:
        """Weight of the rows with a correct leave-one-out prediction."""
        return self._native.accuracy()

    @property
    def first_accuracy(self) -> int:
        """The same before any generalisation: for the nearest-neighbour classifier."""
        return self._native.first_accuracy()

    @property
    def n_passes(self) -> int:
        """Number of finished passes over all rules."""
        return self._native.n_passes()

    def state(self) -> RiseState:
        """Return winners and rules."""
        found = RiseState(*self._native.state())
        shape = (len(found.places), self._n_columns)
        return found._replace(lows=found.lows.reshape(shape), highs=found.highs.reshape(shape))


class Lanes(NamedTuple):
    """The statistics that a search uses: `n` of them and, if `weighted`, the last lane."""

    first: int
    n: int
    weighted: bool

    @property
    def used(self) -> int:
        """Number of the lanes."""
        return self.n + self.weighted


class BlockSearch:
    """The search of a rule, step by step, on rows stored block by block.

    Parameters
    ----------
    columns : CodeColumns
        The rows.
    stats : int64 array of shape (rows, lanes)
        Their statistics, reread whenever needed; they may change within `following`.
    starts : int64 array
        Block b has the rows ``starts[b]`` to ``starts[b + 1]``.
    keeps_roots : bool
        Whether histograms of all blocks are cached, so that a search need not count its first rows.
    """

    def __init__(
        self, columns: CodeColumns, stats: StatArray, starts: StatArray, keeps_roots: bool
    ) -> None:
        self.columns, self.stats, self.lanes = columns, stats, Lanes(0, stats.shape[1], False)
        self.native = _core.BlockSearch(columns.native, stats, starts, keeps_roots)

    @contextmanager
    def following(self, rows: RowArray) -> Iterator[None]:
        """Allow the statistics of the (ascending) rows to change inside the context."""
        self.native.remember(self.columns.native, rows, self.stats)
        yield
        self.native.follow(self.columns.native, self.stats)

    def start(self, chosen: BoolArray, lanes: Lanes) -> StatArray:
        """Start from the rows of the chosen blocks; return their histogram, (codes, lanes)."""
        self.lanes, given = lanes, chosen.view(np.uint8)
        sums = self.native.start(self.columns.native, self.stats, given, *lanes)
        return sums.reshape(-1, lanes.used)

    def narrow(self, test: tuple[int, ...]) -> StatArray:
        """Keep the rows that pass a test (column, low, high, skip, ...); return their sums."""
        sums = self.native.narrow(self.columns.native, self.stats, list(test))
        return sums.reshape(-1, self.lanes.used)


MOST_BITS = 62
"""Upper bound of sums over all rows."""


class Roots:
    """Cached histograms of all rows, by blocks, so that growth need not count its first rows.

    Block b has the rows from ``b * n_rows // n_blocks`` on. The histogram of a subsample of blocks
    is the sum of theirs. Statistics may change only within `following`.

    Parameters
    ----------
    columns : CodeColumns
        All rows.
    stats : int64 array of shape (rows, lanes)
        Their statistics, reread whenever needed.
    n_blocks : int
        Number of blocks.
    n_threads : int
        Number of threads; does not change results.
    bits : int
        Maximum bits of a row's statistics, without the sign: with few, two lanes share a word.
    """

    def __init__(
        self,
        columns: CodeColumns,
        stats: StatArray,
        n_blocks: int,
        n_threads: int = 1,
        bits: int = MOST_BITS,
    ) -> None:
        self.columns, self.stats, self.n_threads = columns, stats, n_threads
        self.native = _core.Roots(columns.native, stats, n_blocks, bits, n_threads)

    @contextmanager
    def following(self, rows: RowArray) -> Iterator[None]:
        """Allow the statistics of the (ascending) rows to change inside the context."""
        self.native.remember(self.columns.native, rows, self.stats, self.n_threads)
        yield
        self.native.follow(self.columns.native, self.stats, self.n_threads)

    def grow(
        self, chosen: BoolArray, score: Score, limits: Limits, workspace: _core.Workspace
    ) -> GrownRule:
        """Grow one conjunction greedily on the rows of the chosen blocks, as `grow_rule` does.

        The score must read all lanes.
        """
        given = chosen.view(np.uint8), self.stats, score.native, limits.native, workspace
        return GrownRule.of(self.native.grow(self.columns.native, *given, self.n_threads))
