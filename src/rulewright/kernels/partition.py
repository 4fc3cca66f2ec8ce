"""Count and refine of rows in partitions (see `native/search/partition.hpp`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rulewright.kernels import _core

if TYPE_CHECKING:
    from rulewright.kernels import CodeColumns
    from rulewright.kernels.structs import RowArray, StatArray


class Gathered(NamedTuple):
    """Rows and the statistics of each, (rows, lanes)."""

    rows: RowArray
    stats: StatArray


def add_counts(
    columns: CodeColumns, gathered: Gathered, starts: StatArray, sums: StatArray
) -> None:
    """Add statistics to the histograms of blocks, (blocks, codes x lanes).

    Block b has the rows at the places ``starts[b]`` to ``starts[b + 1]``.
    """
    _core.add_counts(columns.native, *gathered, starts, sums)


def split_rows(
    columns: CodeColumns, gathered: Gathered, test: tuple[int, ...]
) -> tuple[Gathered, Gathered]:
    """Part rows into those that pass a test (column, low, high, skip, ...) and the others."""
    parted = _core.split_rows(columns.native, *gathered, list(test))
    rows, stats, other_rows, other_stats = parted
    shape = -1, gathered.stats.shape[1]
    return Gathered(rows, stats.reshape(shape)), Gathered(other_rows, other_stats.reshape(shape))
