"""The search among the rows of a partition (see `native/search/partition.hpp`)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.kernels import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import CodeColumns
    from rulewright.kernels.structs import BoolArray, RowArray, StatArray


class Lanes(NamedTuple):
    """The statistics that a search reads: `n` of them and, if `weighted`, the last lane."""

    first: int
    n: int
    weighted: bool

    @property
    def used(self) -> int:
        """Number of the lanes."""
        return self.n + self.weighted


class BlockSearch:
    """The search of a rule, step by step, among rows that lie block after block.

    Parameters
    ----------
    columns : CodeColumns
        The rows.
    stats : int64 array of shape (rows, lanes)
        Their statistics, read again whenever they are needed; they may change within `following`.
    starts : int64 array
        Block b has the rows ``starts[b]`` to ``starts[b + 1]``.
    keeps_roots : bool
        Whether histograms of all blocks are kept, so that a search need not count its first rows.
    """

    def __init__(
        self, columns: CodeColumns, stats: StatArray, starts: StatArray, keeps_roots: bool
    ) -> None:
        self.columns, self.stats, self.lanes = columns, stats, Lanes(0, stats.shape[1], False)
        self.native = _core.BlockSearch(columns.native, stats, starts, keeps_roots)

    @contextmanager
    def following(self, rows: RowArray) -> Iterator[None]:
        """Let the statistics of the rows, which ascend, change in the body."""
        self.native.remember(self.columns.native, rows, self.stats)
        yield
        self.native.follow(self.columns.native, self.stats)

    def start(self, chosen: BoolArray, lanes: Lanes) -> StatArray:
        """Start from the rows of the chosen blocks; return their histogram, (codes, lanes)."""
        self.lanes, given = lanes, chosen.view(np.uint8)
        sums = self.native.start(self.columns.native, self.stats, given, *lanes)
        return sums.reshape(-1, lanes.used)

    def narrow(self, test: tuple[int, ...]) -> StatArray:
        """Leave the rows that pass a test (column, low, high, skip, ...); return their sums."""
        sums = self.native.narrow(self.columns.native, self.stats, list(test))
        return sums.reshape(-1, self.lanes.used)
