"""Root histograms that follow the statistics of the rows."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels import _core
from rulewright.kernels.structs import BoolArray, GrownRule, Limits, RowArray, Score, StatArray

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import CodeColumns


MOST_BITS = 62
"""Sums over all rows are never larger."""


class Roots:
    """The histograms of all rows, by blocks, so that growth need not count its first rows.

    Block b has the rows from ``b * n_rows // n_blocks`` on. A subsample that is a choice of blocks
    has the sum of their histograms. Statistics may change within `following` only.

    Parameters
    ----------
    columns : CodeColumns
        All rows.
    stats : int64 array of shape (rows, lanes)
        Their statistics, read again whenever they are needed.
    n_blocks : int
        Number of blocks.
    n_threads : int
        Threads; nothing depends on it.
    bits : int
        No statistic of a row ever has more, without the sign: of few, two lanes share a word.
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
        """Let the statistics of the rows, which ascend, change in the body."""
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
