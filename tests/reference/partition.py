"""Twin of `native/search/partition.hpp`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from reference.search import column_codes, passes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import CodeColumns
    from rulewright.kernels.searches import Lanes
    from rulewright.kernels.structs import BoolArray, RowArray, StatArray


class BlockSearch:
    """The search of a rule, step by step: rows are counted anew at every step."""

    def __init__(
        self, columns: CodeColumns, stats: StatArray, starts: StatArray, keeps_roots: bool
    ) -> None:
        self.columns, self.stats, self.starts = columns, stats, starts

    @contextmanager
    def following(self, rows: RowArray) -> Iterator[None]:
        """Let the statistics of the rows change in the body."""
        yield

    def start(self, chosen: BoolArray, lanes: Lanes) -> StatArray:
        """Start from the rows of the chosen blocks."""
        self.lanes = [*range(lanes.first, lanes.first + lanes.n)] + [-1] * lanes.weighted
        self.rows = np.flatnonzero(np.repeat(chosen, np.diff(self.starts)))
        return self._histogram()

    def narrow(self, test: tuple[int, ...]) -> StatArray:
        """Leave the rows that pass a test."""
        self.rows = self.rows[passes(column_codes(self.columns, test[0])[self.rows], test)]
        return self._histogram()

    def _histogram(self) -> StatArray:
        offsets = np.concatenate([[0], np.cumsum(self.columns.n_bins + 1)])
        sums = np.zeros((offsets[-1], len(self.lanes)), dtype=self.stats.dtype)
        for j in range(len(self.columns.n_bins)):
            codes = column_codes(self.columns, j)[self.rows].astype(np.intp)
            np.add.at(sums, offsets[j] + codes, self.stats[self.rows][:, self.lanes])
        return sums
