"""Cells of a column: the values that no condition of a model or a policy tells apart."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import FIRST, LAST, MISSING_CODE, UNSEEN_CODE, Column, label_value

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rulewright.data import ColumnSchema
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.rules import Condition

_LARGEST = sys.float_info.max


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column in ascending order; labels in any; unseen and missing ones last.

    Parameters
    ----------
    schema : ColumnSchema
        The column.
    values : array
        A stored value of each cell.
    low, high : float array
        The first and the last stored value of each cell of an ordered column.
    """

    schema: ColumnSchema
    values: Any
    low: FloatArray
    high: FloatArray

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_missing(self) -> BoolArray:
        """Which cells hold missing values."""
        return Column(self.schema, self.values).is_missing

    def truths(self, condition: Condition) -> tuple[BoolArray, BoolArray]:
        """Return in which cells a condition is true, and in which it is false."""
        column = Column(self.schema, self.values)
        return condition.holds(column), condition.fails(column)

    def take(self, kept: Any) -> Cells:
        """Return some of the cells."""
        return Cells(self.schema, self.values[kept], self.low[kept], self.high[kept])

    def place(self, value: Any) -> int:
        """Return the cell of a stored value."""
        if not self.schema.type.ordered:
            return int(np.flatnonzero(self.values == value)[0])
        return int(np.flatnonzero((self.low <= value) & (value <= self.high))[0])

    def to_table_value(self, value: Any) -> Any:
        """Return what a table holds for a stored value."""
        if Column(self.schema, np.array([value])).is_missing[0]:
            return None
        if self.schema.type.ordered:
            return self.schema.type.to_table_value(float(value))
        if value != UNSEEN_CODE:
            return label_value(self.schema.labels[int(value)], self.schema)
        unseen = "unseen label"
        while unseen in self.schema.label_index:
            unseen += "_"
        return unseen


def make_cells(
    schema: ColumnSchema,
    conditions: Sequence[Condition],
    apart: Collection[Any] = (),
    *,
    missing: bool = True,
    unseen: bool = True,
) -> Cells:
    """Return the cells of a column; values in `apart` get a cell of their own."""
    if schema.type.ordered:
        marks = {float(mark) for c in conditions for mark in c.marks} | {*map(float, apart)}
        low, high = _intervals(schema, sorted(marks))
        values = np.array([_middle(schema, *ends) for ends in zip(low, high, strict=True)])
        ends = (math.nan,) if missing else ()
        cells = Cells(schema, np.append(values, ends), np.append(low, ends), np.append(high, ends))
    else:
        codes = [*range(len(schema.labels)), *[UNSEEN_CODE] * unseen, *[MISSING_CODE] * missing]
        values = np.array(codes, dtype=np.int32)
        cells = Cells(schema, values, values.astype(np.float64), values.astype(np.float64))
    return _merge(cells, conditions, apart)


def _intervals(schema: ColumnSchema, marks: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the cells: thresholds, and the gaps between and beyond them."""
    snap, ends = schema.type.snap, (-_LARGEST, _LARGEST)
    if not schema.type.arithmetic:
        ends = (float(FIRST), float(LAST))
    found = []
    for below, above in pairwise([-math.inf, *marks, math.inf]):
        low = ends[0] if below == -math.inf else snap(math.nextafter(below, math.inf), up=True)
        high = ends[1] if above == math.inf else snap(math.nextafter(above, -math.inf), up=False)
        found += [(low, high)] if low <= high else []
        found += [(above, above)] if above < math.inf else []
    low, high = np.array(found, dtype=np.float64).T
    return low, high


def _middle(schema: ColumnSchema, low: float, high: float) -> float:
    """Return a value of a cell with few digits."""
    if low == high:
        return low
    first, last = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    if low in (-_LARGEST, float(FIRST)) and high not in (_LARGEST, float(LAST)):
        first = max(first, high - max(1.0, abs(high) / 8))
    elif high in (_LARGEST, float(LAST)):
        last = min(last, low + max(1.0, abs(low) / 8)) if low > -_LARGEST else last
    value = schema.type.between(max(first, -_LARGEST), min(last, _LARGEST))
    return value if low <= value <= high else low


def _merge(cells: Cells, conditions: Sequence[Condition], apart: Collection[Any]) -> Cells:
    """Join cells with the same truths; of an ordered column neighbours only."""
    column = Column(cells.schema, cells.values)
    told = [cells.is_missing, *(np.isin(cells.values, [value]) for value in apart)]
    for condition in conditions:
        told += [condition.holds(column), condition.fails(column)]
    keys = np.array(told).T
    if cells.schema.type.ordered:
        starts = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
        first = np.flatnonzero(starts)
        last = np.append(first[1:] - 1, len(cells) - 1)
        best = [_shortest(cells.values[i : j + 1]) + i for i, j in zip(first, last, strict=True)]
        return Cells(cells.schema, cells.values[best], cells.low[first], cells.high[last])
    _, first = np.unique(keys, axis=0, return_index=True)
    return cells.take(np.sort(first))


def _shortest(values: FloatArray) -> int:
    return min(range(len(values)), key=lambda i: len(repr(values[i].item())))
