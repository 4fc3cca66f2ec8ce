"""Bins from the sample of a table, and the coded rows of a part.

If the sample has all rows, bins are as for a fit in memory. Otherwise bins end at thresholds
between sample values, so that values missing from the sample have a bin, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright import kernels
from rulewright.encoding import (
    EXACT_ROWS,
    FAST_BINS,
    MOST_BINS,
    BinnedColumns,
    Bins,
    bin_column,
    encode_column,
)
from rulewright.kernels import CodeColumns
from rulewright.scale.partition import BLOCKS, CodedRows, Partition
from rulewright.scale.survey import (
    SPAN,
    DataOverview,
    PartReading,
    align_table,
    row_hashes,
    salt_hashes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Schema, Table
    from rulewright.scale.parts import TablePart

    Keep = Callable[[NDArray[Any]], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Coding:
    """How rows are coded and assigned.

    `seed` determines the block of a row, `kept_aside` the share of validation rows.
    """

    schema: Schema
    classes: NDArray[Any]
    bins: tuple[Bins, ...]
    seed: int
    kept_aside: float

    @property
    def n_bins(self) -> NDArray[np.int32]:
        """Number of bins of each column."""
        return np.array([len(bins) for bins in self.bins], dtype=np.int32)

    @property
    def nominal(self) -> NDArray[np.uint8]:
        """Whether each column is nominal."""
        return np.array([not bins.schema.has_order for bins in self.bins], dtype=np.uint8)

    def make_columns(self) -> BinnedColumns:
        """Return the columns without rows, for creating conditions."""
        codes = self.empty_codes(0)
        return BinnedColumns(self.schema, self.bins, CodeColumns(codes, self.n_bins, self.nominal))

    def empty_codes(self, n_rows: int) -> NDArray[Any]:
        """Return zeros of the shape and type of codes."""
        dtype = np.uint8 if max(self.n_bins, default=0) <= FAST_BINS else np.uint16
        n_groups = -(-len(self.bins) // kernels.GROUP)
        return np.zeros((n_groups, n_rows, kernels.GROUP), dtype=dtype)

    def partition(self, table: Table | None, keep: Keep) -> Partition:
        """Code the rows of a part; `keep` stores their codes."""
        if table is None:
            none, empty = self.empty_codes(0), np.empty(0)
            rows = CodedRows(none, np.empty(0, np.int32), empty, np.zeros(BLOCKS + 1, np.int64))
            return Partition(rows, rows, self.n_bins, self.nominal)
        hashes = row_hashes(table)
        table = align_table(table, self.schema, self.classes)
        aside = salt_hashes(hashes, self.seed + 1) < np.uint64(self.kept_aside * SPAN)
        blocks = (salt_hashes(hashes, self.seed) >> np.uint64(64 - int(math.log2(BLOCKS)))).astype(
            np.intp
        )
        train = self._rows(table, blocks, np.flatnonzero(~aside), keep)
        return Partition(
            train, self._rows(table, blocks, np.flatnonzero(aside), keep), self.n_bins, self.nominal
        )

    def _rows(
        self, table: Table, blocks: NDArray[np.intp], chosen: NDArray[np.intp], keep: Keep
    ) -> CodedRows:
        """Code some rows, block after block."""
        order = chosen[np.argsort(blocks[chosen], kind="stable")]
        starts = np.concatenate([[0], np.cumsum(np.bincount(blocks[chosen], minlength=BLOCKS))])
        codes = self.empty_codes(len(order))
        for j, (column, bins) in enumerate(zip(table.columns, self.bins, strict=True)):
            group, place = divmod(j, kernels.GROUP)
            ordered = replace(column, values=column.values[order])
            codes[group, :, place] = encode_column(ordered, bins, n_threads=1)
        weights = np.ones(len(order)) if table.weights is None else table.weights[order]
        return CodedRows(
            keep(codes), table.known_target.codes[order], weights, starts.astype(np.int64)
        )


def code_parts(
    parts: Sequence[TablePart], reading: PartReading, coding: Coding, keep: Keep
) -> Partition:
    """Reread parts and code their rows into one partition."""
    return Partition.join([coding.partition(reading.table(part), keep) for part in parts])


def in_memory(codes: NDArray[Any]) -> NDArray[Any]:
    """Store codes in memory."""
    return codes


def choose_bins(
    found: DataOverview, max_bins: int | None, digits: Mapping[str, int]
) -> tuple[Bins, ...]:
    """Choose the bins of all columns from the sample."""
    if max_bins is None:
        max_bins = MOST_BINS if found.n_rows <= EXACT_ROWS else FAST_BINS
    bins = []
    for column in found.sample.columns:
        own = bin_column(column, max_bins, digits.get(column.schema.name))
        bins.append(_open_bins(own) if found.is_sampled else own)
    return tuple(bins)


def _open_bins(bins: Bins) -> Bins:
    """Return bins that end at thresholds between sample values; the last bin has no end."""
    if not bins.schema.type.ordered:
        return bins
    if not len(bins.high):  # no value in the sample
        return replace(bins, low=np.array([-np.inf]), high=np.array([np.inf]), edges=np.empty(0))
    edges, between = bins.edges, bins.schema.type.between
    if edges is None:
        gaps = zip(bins.high[:-1].tolist(), bins.low[1:].tolist(), strict=True)
        edges = np.array(
            [between(math.nextafter(a, -math.inf), b, a / 2 + b / 2) for a, b in gaps], dtype=float
        )
    return replace(bins, high=np.append(edges, np.inf), exact=False, edges=edges)
