"""Binned columns: the table as small integers, and the conversion of codes to conditions.

A numeric column is divided into bins of adjacent values: one bin per distinct value if affordable
(*exact*), equal-frequency bins otherwise. With rounded thresholds, bins end only at *edges* with
few digits. A nominal column has one bin per label. Ordered labels are cut like numbers; a cut is
the condition that a value is one of the labels on its side. Missing values have the code after the
last bin.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Literal

import numpy as np

from rulewright import kernels
from rulewright.data import Column, ColumnSchema, DataError, Kind, Schema, Table
from rulewright.kernels import CodeColumns, GrownCondition, IntArray, Op
from rulewright.rules import Condition, Conjunction, Labels, Presence, Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray


Threshold = Literal["midpoint", "observed", "short"]
Test = tuple[int, ...]
"""A condition on codes: column, low, high, skip, ... (`native/search/columns.hpp`)."""

MOST_BINS = 65_533
FAST_BINS = 255
EXACT_ROWS = 2_048
"""Up to this many rows one bin per value costs almost nothing; beyond, 255 bins fit one byte."""

_FEW_DIGITS = 4  # significant digits of a value that counts as short


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of one column: minimum and maximum value of each (ranks of ordered labels).

    With rounded thresholds bin i holds the values above ``edges[i - 1]`` up to ``edges[i]``.
    """

    schema: ColumnSchema
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    exact: bool
    edges: NDArray[np.float64] | None = None

    @cached_property
    def _numbers(self) -> tuple[list[float], list[float], list[float]]:
        """The values and edges as Python numbers, which are faster for single access."""
        edges = [] if self.edges is None else self.edges.tolist()
        return self.low.tolist(), self.high.tolist(), edges

    def __len__(self) -> int:
        nominal = not self.schema.type.ordered
        return len(self.schema.labels) if nominal else len(self.high)

    def labels_from(self, first: int, last: int) -> Labels:
        """Return the condition that a value is one of some neighbouring labels."""
        return Labels(self.schema.name, self.schema.labels[first : last + 1])

    def last_below(self, below: int, above: int, side: Op, threshold: Threshold) -> int:
        """Return the last bin below a cut between two bins.

        The bins between `below` and `above` have no covered row, so any cut between them covers the
        same rows. "observed" cuts at the covered value, "short" next to it, "midpoint" halfway
        between the two, or at the nearest edge if there are edges.
        """
        if threshold != "midpoint":
            return below if side == Op.LESS_EQUAL else above - 1
        lows, highs, edges = self._numbers
        middle = highs[below] / 2 + lows[above] / 2
        if not edges:
            return bisect_right(highs, middle, below + 1, above) - 1
        at = bisect_right(edges, middle, below, above - 1)
        return min(range(max(below, at - 1), at + 1), key=lambda i: abs(edges[i] - middle))

    def cut(self, below: int, above: int, side: Op, threshold: Threshold) -> float:
        """Return the threshold of a cut between two bins.

        "midpoint" is the shortest number that separates the two training values around the middle:
        "<=" may use the lower value, ">=" the upper one, so that integers stay integers. "observed"
        is the covered value; "short" shortens a value with many digits, at most to the middle of
        the gap to the next training value.
        """
        lows, highs, edges = self._numbers
        last = self.last_below(below, above, side, threshold)
        if edges:
            return edges[last]
        low, high = highs[last], lows[last + 1]
        if threshold == "observed":
            return low if side == Op.LESS_EQUAL else high
        if threshold == "short":
            return _short_near(self.schema.type, low, high, side)
        middle = highs[below] / 2 + lows[above] / 2
        between = self.schema.type.between
        if side == Op.LESS_EQUAL:
            return between(math.nextafter(low, -math.inf), high, middle)
        return between(low, math.nextafter(high, math.inf), middle)


def _short_near(kind: Kind, low: float, high: float, side: Op) -> float:
    """Return a short number that separates two values, in one half of the gap."""
    observed, middle = low if side == Op.LESS_EQUAL else high, low / 2 + high / 2
    # There is no middle between adjacent floats.
    if float(f"{observed:.{_FEW_DIGITS}g}") == observed or not low < middle < high:
        return observed
    if side == Op.LESS_EQUAL:
        return kind.between(math.nextafter(low, -math.inf), middle, observed)
    return kind.between(middle, math.nextafter(high, math.inf), observed)


class BinnedColumns:
    """All columns of a table as codes, for the kernels, with the bins of each column."""

    def __init__(self, schema: Schema, bins: tuple[Bins, ...], codes: CodeColumns) -> None:
        self.schema, self.bins, self.codes = schema, bins, codes
        # Cached, because boosting finds the same conditions repeatedly.
        self._conditions: dict[tuple[object, ...], Condition] = {}
        self._tests: dict[tuple[object, ...], Test] = {}
        self._conjunctions: dict[tuple[object, ...], Conjunction] = {}

    def describe(self) -> str:
        """Describe the bins of the numeric columns in one line."""
        numeric = [b for b in self.bins if b.schema.type.ordered]
        rounded = [b for b in numeric if b.edges is not None]
        exact = sum(b.exact for b in numeric if b.edges is None)
        most = max((len(b) for b in numeric), default=0)
        text = (
            f"{len(numeric)} numeric columns: {exact} exact, "
            f"{len(numeric) - exact - len(rounded)} in equal-frequency bins"
        )
        if rounded:
            text += f", {len(rounded)} cut at rounded thresholds"
        text += f" (at most {most} bins)"
        whole = [b.schema.name for b in rounded if len(b) == 1 and b.low[0] < b.high[0]]
        return f"{text}; so few digits leave no threshold in: {', '.join(whole)}" if whole else text

    def test(self, grown: GrownCondition, threshold: Threshold) -> Test:
        """Convert a grown condition to its test on codes."""
        key = (*grown.key, threshold)
        if key not in self._tests:
            self._tests[key] = self._new_test(grown, threshold)
        return self._tests[key]

    def _new_test(self, grown: GrownCondition, threshold: Threshold) -> Test:
        j, op, code = grown.column, grown.op, grown.code
        bins, last_bin = self.bins[j], len(self.bins[j]) - 1
        if op == Op.LESS_EQUAL:
            return j, 0, bins.last_below(code, grown.beyond, Op.LESS_EQUAL, threshold), -1
        if op == Op.GREATER_EQUAL:
            below = bins.last_below(grown.beyond, code, Op.GREATER_EQUAL, threshold)
            return j, below + 1, last_bin, -1
        if op in (Op.EQUAL, Op.MISSING):
            return _test_of_set(j, grown.labels or (code,))
        skips = grown.labels or (code,) if op == Op.NOT_EQUAL else (-1,)
        return j, 0, last_bin, *skips

    def condition(self, grown: GrownCondition, threshold: Threshold) -> Condition:
        """Convert a grown condition to its condition on values."""
        key = (*grown.key, threshold)
        if key not in self._conditions:
            self._conditions[key] = self._new_condition(grown, threshold)
        return self._conditions[key]

    def conjunction(self, grown: Sequence[GrownCondition], threshold: Threshold) -> Conjunction:
        """Convert grown conditions to a conjunction: one condition per column."""
        key = (*[condition.key for condition in grown], threshold)
        if key not in self._conjunctions:
            by_column: dict[int, list[GrownCondition]] = {}
            for condition in grown:
                by_column.setdefault(condition.column, []).append(condition)
            joined = [self._join_conditions(own, threshold) for own in by_column.values()]
            self._conjunctions[key] = Conjunction(tuple(joined))
        return self._conjunctions[key]

    def _join_conditions(self, grown: list[GrownCondition], threshold: Threshold) -> Condition:
        """Merge grown conditions on one column into a condition that is true where all are."""
        if len(grown) == 1:
            return self.condition(grown[0], threshold)
        key = (*[condition.key for condition in grown], threshold)
        if key not in self._conditions:
            several = [self.condition(condition, threshold) for condition in grown]
            (self._conditions[key],) = Conjunction.of(several)
        return self._conditions[key]

    def _new_condition(self, grown: GrownCondition, threshold: Threshold) -> Condition:
        op, code, bins = Op(grown.op), grown.code, self.bins[grown.column]
        name, kind = bins.schema.name, bins.schema.kind
        if bins.schema.ranked and op in (Op.LESS_EQUAL, Op.GREATER_EQUAL):
            _, first, last, *_ = self.test(grown, threshold)
            return bins.labels_from(first, last)
        if op == Op.LESS_EQUAL:
            return Range(name, high=bins.cut(code, grown.beyond, op, threshold), kind=kind)
        if op == Op.GREATER_EQUAL:
            value = bins.cut(grown.beyond, code, op, threshold)
            # Bins include their upper edge, so the next bin lies above it.
            return Range(name, low=value, low_open=bins.edges is not None, kind=kind)
        if op in (Op.EQUAL, Op.NOT_EQUAL):
            labels = tuple(bins.schema.labels[label] for label in grown.labels or (code,))
            return Labels(name, labels, negated=op == Op.NOT_EQUAL)
        return Presence(name, missing=op == Op.MISSING)


def _test_of_set(column: int, codes: tuple[int, ...]) -> Test:
    """Return the test for these ascending codes: it skips the codes between them."""
    between = set(range(codes[0], codes[-1])).difference(codes)
    return column, codes[0], codes[-1], *(sorted(between) or (-1,))


def pad_tests(tests: Iterable[Test]) -> IntArray:
    """Return tests for kernels, padded to the length of the longest."""
    rows = list(tests)
    longest = max(map(len, rows), default=4)
    padded = [(*row, *(-1,) * (longest - len(row))) for row in rows]
    return np.array(padded, dtype=np.int32).reshape(len(rows), longest)


def bin_table(
    table: Table,
    max_bins: int | None = None,
    n_threads: int = 1,
    digits: Mapping[str, int] | None = None,
) -> BinnedColumns:
    """Encode every column of a table.

    By default (`max_bins`) every distinct value of a numeric column has its own bin up to 2,048
    rows; beyond, a column has at most 255 bins. `digits` limits the significant digits of the
    thresholds of columns.
    """
    if max_bins is None:
        max_bins = MOST_BINS if table.n_rows <= EXACT_ROWS else FAST_BINS
    bins = bin_columns(table.columns, max_bins, n_threads, digits or {})
    widest = max((len(b) for b in bins), default=0)
    dtype = np.uint8 if widest <= FAST_BINS else np.uint16
    n_groups = -(-len(bins) // kernels.GROUP)
    codes = np.zeros((n_groups, table.n_rows, kernels.GROUP), dtype=dtype)
    for j, (column, b) in enumerate(zip(table.columns, bins, strict=True)):
        group, place = divmod(j, kernels.GROUP)
        codes[group, :, place] = encode_column(column, b, n_threads)
    n_bins = np.array([len(b) for b in bins], dtype=np.int32)
    nominal = np.array([not b.schema.has_order for b in bins], dtype=np.uint8)
    return BinnedColumns(table.schema, bins, CodeColumns(codes, n_bins, nominal))


def bin_columns(
    columns: tuple[Column, ...], max_bins: int, n_threads: int, digits: Mapping[str, int]
) -> tuple[Bins, ...]:
    """Choose the bins of all columns; sorting, most of the work, releases the interpreter lock."""
    tasks = columns, repeat(max_bins), [digits.get(column.schema.name) for column in columns]
    if n_threads == 1:
        return tuple(map(bin_column, *tasks))
    with kernels.ThreadPool(n_threads) as pool:
        return tuple(pool.map(bin_column, *tasks))


def bin_column(column: Column, max_bins: int, digits: int | None = None) -> Bins:
    """Choose the bins of one column."""
    schema = column.schema
    none = np.empty(0)
    if not schema.type.ordered:
        if len(schema.labels) > MOST_BINS:
            raise DataError(
                f"column {schema.name!r} has {len(schema.labels):,} labels; at most "
                f"{MOST_BINS:,} can be used: drop it (is it an identifier?) or group its labels"
            )
        ranks = np.arange(len(schema.labels), dtype=np.float64) if schema.ranked else none
        return Bins(schema, ranks, ranks, exact=True)
    values = np.sort(column.values)  # missing values go to the end
    values = values[: len(values) - np.count_nonzero(np.isnan(values))]
    if not len(values):
        return Bins(schema, none, none, exact=True)
    distinct = values[np.concatenate([[True], values[1:] != values[:-1]])]
    if digits is not None:
        return _rounded_bins(schema, values, distinct, digits, max_bins)
    if len(distinct) <= max_bins:
        return Bins(schema, distinct, distinct, exact=True)
    last = np.arange(1, max_bins + 1) * len(values) // max_bins - 1
    high = np.unique(values[last])
    low = values[np.concatenate([[0], np.searchsorted(values, high[:-1], side="right")])]
    return Bins(schema, low, high, exact=False)


def _rounded_bins(
    schema: ColumnSchema,
    values: NDArray[np.float64],
    distinct: NDArray[np.float64],
    digits: int,
    max_bins: int,
) -> Bins:
    """Bin sorted values at rounded edges; of too many, keep the first above each quantile."""
    edges = round_edges(distinct, digits)
    ends = np.searchsorted(values, edges, side="right")
    if len(edges) >= max_bins:
        quantiles = np.arange(1, max_bins) * len(values) // max_bins
        chosen = np.unique(np.minimum(np.searchsorted(ends, quantiles), len(edges) - 1))
        edges, ends = edges[chosen], ends[chosen]
    low = values[np.concatenate([[0], ends])]
    high = values[np.concatenate([ends, [len(values)]]) - 1]
    return Bins(schema, low, high, exact=len(low) == len(distinct), edges=edges)


def encode_column(column: Column, bins: Bins, n_threads: int) -> NDArray[np.integer]:
    """Return the codes of one column; missing values are ``len(bins)``."""
    if not column.schema.type.ordered:
        return np.where(column.values < 0, len(bins), column.values)
    return kernels.encode_values(
        column.values, bins.high, False, n_threads=n_threads, missing=len(bins)
    )


MOST_DIGITS = 15
"""Decimals with this many digits are distinct floats."""

_POWERS = np.array([float(f"1e{k}") for k in range(23)])  # the powers of ten that are exact floats


def round_digits(values: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Round finite numbers to 1 to 15 significant digits.

    The results are the floats nearest to the rounded decimals: 0.3, never 0.30000000000000004.
    """
    sizes = np.abs(values)
    exponents = np.floor(np.log10(sizes, where=sizes > 0, out=np.zeros(len(values))))
    last = exponents.astype(np.intp) + 1 - digits  # power of ten of the last digit kept
    up, down = _POWERS[np.clip([-last, last], 0, len(_POWERS) - 1)]
    # One of the powers is 1; for exact numbers the last step gives the nearest float.
    rounded: NDArray[np.float64] = np.rint(values * up / down) / up * down
    extreme = np.abs(last) >= len(_POWERS)
    rounded[extreme] = [float(f"{value:.{digits - 1}e}") for value in values[extreme].tolist()]
    return rounded + 0.0  # turns -0.0 into 0.0


def round_edges(distinct: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Return a number with at most `digits` significant digits in every gap of ascending values.

    It is the number with the fewest digits nearest to the middle of the gap, with ``value <= edge <
    next value``; gaps without such a number are skipped.
    """
    low, high = distinct[:-1], distinct[1:]
    middle = low / 2 + high / 2
    edges, found = np.empty(len(low)), np.zeros(len(low), dtype=np.bool_)
    for few in range(1, digits + 1):
        # The middle may round to the upper value, which an edge must stay below.
        for rounded in (round_digits(middle, few), round_digits(low, few)):
            fits = ~found & (low <= rounded) & (rounded < high)
            edges[fits] = rounded[fits]
            found |= fits
    return edges[found]
