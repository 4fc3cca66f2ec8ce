"""Twins of `native/search/partition.hpp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels.partition import Gathered
from rulewright.kernels.reference.search import column_codes, passes

if TYPE_CHECKING:
    from rulewright.kernels import CodeColumns
    from rulewright.kernels.structs import StatArray


def add_counts(
    columns: CodeColumns, gathered: Gathered, starts: StatArray, sums: StatArray
) -> None:
    """Add statistics to the histograms of blocks."""
    offsets = np.concatenate([[0], np.cumsum(columns.n_bins + 1)])
    for block, own in enumerate(sums.reshape(len(sums), offsets[-1], -1)):
        places = slice(int(starts[block]), int(starts[block + 1]))
        for j in range(len(columns.n_bins)):
            codes = column_codes(columns, j)[gathered.rows[places]].astype(np.intp)
            np.add.at(own, offsets[j] + codes, gathered.stats[places])


def split_rows(
    columns: CodeColumns, gathered: Gathered, test: tuple[int, ...]
) -> tuple[Gathered, Gathered]:
    """Part rows into those that pass a test and those that fail it."""
    passed = passes(column_codes(columns, test[0])[gathered.rows], test)
    passing, failing = (Gathered(gathered.rows[on], gathered.stats[on]) for on in (passed, ~passed))
    return passing, failing
