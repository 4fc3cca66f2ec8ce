"""Binned columns: the table as small integers, and the way back from codes to conditions.

A numeric column is cut into bins of neighbouring values: one bin per distinct value when that is
affordable (*exact*), equal-frequency bins otherwise. A nominal column has one bin per label.
Missing values have a code of their own behind the last bin.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from rulewright import kernels
from rulewright.conditions.condition import Condition, Labels, Presence, Range
from rulewright.conditions.short import short_between
from rulewright.data import DataError
from rulewright.kernels import CodeColumns, GrownCondition, Op

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import Column, ColumnSchema, Schema, Table

Threshold = Literal["midpoint", "observed"]
Test = tuple[int, int, int, int]
"""A condition on codes: column, low, high, skip (`native/search/columns.hpp`)."""

MOST_BINS = 65_533
FAST_BINS = 255
EXACT_ROWS = 2_048
"""Up to this many rows a bin per value costs next to nothing; beyond, 255 bins fit one byte."""


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of one column: smallest and largest value of each (numeric columns only)."""

    schema: ColumnSchema
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    exact: bool

    @cached_property
    def _numbers(self) -> tuple[list[float], list[float]]:
        """The values as Python numbers, which are quicker one by one."""
        return self.low.tolist(), self.high.tolist()

    def __len__(self) -> int:
        nominal = self.schema.kind == "nominal"
        return len(self.schema.labels) if nominal else len(self.high)

    def cut(self, below: int, above: int, side: Op, threshold: Threshold) -> tuple[int, float]:
        """Cut between two bins; return the last bin below the cut and the threshold.

        The bins between `below` and `above` hold no covered row, so a cut anywhere between them
        covers the same rows. "observed" takes the covered value itself; "midpoint" parts the two
        training values around the middle by the shortest number that does it: "<=" may stand on
        the lower one, ">=" on the upper one, so that whole numbers stay whole.
        """
        at_most = side == Op.LESS_EQUAL
        lows, highs = self._numbers
        if threshold == "observed":
            return (below, highs[below]) if at_most else (above - 1, lows[above])
        middle = highs[below] / 2 + lows[above] / 2
        last = bisect_right(highs, middle, below + 1, above) - 1
        low, high = highs[last], lows[last + 1]
        if at_most:
            return last, short_between(math.nextafter(low, -math.inf), high, middle)
        return last, short_between(low, math.nextafter(high, math.inf), middle)


class BinnedColumns:
    """All columns of a table as codes.

    Attributes
    ----------
    schema : Schema
        Schema of the table.
    bins : tuple of Bins
        One per column; ``bins[j].exact`` tells whether every distinct value has its own bin.
    codes : CodeColumns
        What the kernels read.
    """

    def __init__(self, schema: Schema, bins: tuple[Bins, ...], codes: CodeColumns) -> None:
        self.schema, self.bins, self.codes = schema, bins, codes

    def describe(self) -> str:
        """Say in one line how numeric columns were cut."""
        numeric = [b for b in self.bins if b.schema.kind == "numeric"]
        exact = sum(b.exact for b in numeric)
        most = max((len(b) for b in numeric), default=0)
        return (
            f"{len(numeric)} numeric columns: {exact} exact, {len(numeric) - exact} in "
            f"equal-frequency bins (at most {most} bins)"
        )

    def resolve(self, grown: GrownCondition, threshold: Threshold) -> tuple[Test, Condition]:
        """Turn a grown condition into its test on codes and its condition on values."""
        j, op, code = grown.column, Op(grown.op), grown.code
        bins, last_bin = self.bins[j], len(self.bins[j]) - 1
        name = bins.schema.name
        if op == Op.LESS_EQUAL:
            cut, value = bins.cut(code, grown.beyond, op, threshold)
            return (j, 0, cut, -1), Range(name, high=value)
        if op == Op.GREATER_EQUAL:
            cut, value = bins.cut(grown.beyond, code, op, threshold)
            return (j, cut + 1, last_bin, -1), Range(name, low=value)
        if op == Op.EQUAL:
            return (j, code, code, -1), Labels(name, (bins.schema.labels[code],))
        if op == Op.NOT_EQUAL:
            return (j, 0, last_bin, code), Labels(name, (bins.schema.labels[code],), negated=True)
        missing = op == Op.MISSING
        test = (j, code, code, -1) if missing else (j, 0, last_bin, -1)
        return test, Presence(name, missing=missing)


def bin_table(table: Table, max_bins: int | None = None, n_threads: int = 1) -> BinnedColumns:
    """Code every column of a table.

    Parameters
    ----------
    table : Table
        The training rows.
    max_bins : int, optional
        Most bins of a numeric column. By default every distinct value has its own bin up to
        2,048 rows, and a column has at most 255 bins beyond.
    n_threads : int
        Threads to use.
    """
    if max_bins is None:
        max_bins = MOST_BINS if table.n_rows <= EXACT_ROWS else FAST_BINS
    bins = bin_columns(table.columns, max_bins, n_threads)
    widest = max((len(b) for b in bins), default=0)
    dtype = np.uint8 if widest <= FAST_BINS else np.uint16
    n_groups = -(-len(bins) // kernels.GROUP)
    codes = np.zeros((n_groups, table.n_rows, kernels.GROUP), dtype=dtype)
    for j, (column, b) in enumerate(zip(table.columns, bins, strict=True)):
        group, place = divmod(j, kernels.GROUP)
        codes[group, :, place] = encode_column(column, b, n_threads)
    n_bins = np.array([len(b) for b in bins], dtype=np.int32)
    nominal = np.array([b.schema.kind == "nominal" for b in bins], dtype=np.uint8)
    return BinnedColumns(table.schema, bins, CodeColumns(codes, n_bins, nominal))


def bin_columns(columns: tuple[Column, ...], max_bins: int, n_threads: int) -> tuple[Bins, ...]:
    """Choose the bins of all columns; sorting, the bulk of it, lets other threads run."""
    choose = partial(bin_column, max_bins=max_bins)
    if n_threads == 1:
        return tuple(map(choose, columns))
    with ThreadPoolExecutor(n_threads) as pool:
        return tuple(pool.map(choose, columns))


def bin_column(column: Column, max_bins: int) -> Bins:
    """Choose the bins of one column."""
    schema = column.schema
    none = np.empty(0)
    if schema.kind == "nominal":
        if len(schema.labels) > MOST_BINS:
            raise DataError(
                f"column {schema.name!r} has {len(schema.labels):,} labels; at most "
                f"{MOST_BINS:,} can be used: drop it (is it an identifier?) or group its labels"
            )
        return Bins(schema, none, none, exact=True)
    values = np.sort(column.values)  # missing values go to the end
    values = values[: len(values) - np.count_nonzero(np.isnan(values))]
    if not len(values):
        return Bins(schema, none, none, exact=True)
    distinct = values[np.concatenate([[True], values[1:] != values[:-1]])]
    if len(distinct) <= max_bins:
        return Bins(schema, distinct, distinct, exact=True)
    last = np.arange(1, max_bins + 1) * len(values) // max_bins - 1
    high = np.unique(values[last])
    low = values[np.concatenate([[0], np.searchsorted(values, high[:-1], side="right")])]
    return Bins(schema, low, high, exact=False)


def encode_column(column: Column, bins: Bins, n_threads: int) -> NDArray[np.integer]:
    """Return the codes of one column, missing as ``len(bins)``."""
    if column.schema.kind == "nominal":
        return np.where(column.values < 0, len(bins), column.values)
    return kernels.encode_values(
        column.values, bins.high, False, n_threads=n_threads, missing=len(bins)
    )
