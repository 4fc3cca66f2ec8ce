"""The candidate values of a column: one for each cell that the model distinguishes.

The thresholds and labels of the conditions cut a column into cells: points, the gaps between them,
and groups of labels. Within a cell no condition changes, so one value represents the cell: the one
nearest to the row's value, with few digits. Linear terms and distances do change within a cell;
such columns have several values per cell, and both of its ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from rulewright.data import DAY, FIRST, LAST, Column, label_value
from rulewright.programs import LabelDistance, LineValue, Nearest, NumberDistance, list_conjunctions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.data import ColumnSchema, Table
    from rulewright.kernels import FloatArray
    from rulewright.programs import Program
    from rulewright.rules import Condition

Direction: TypeAlias = Literal["increasing", "decreasing"]

_STEP = 0.01
"""Maximum distance of a value from the crossed threshold, as a share of the column's unit."""
_DAYS_AROUND = 366
"""Days before and after a date in which each combination of month and weekday occurs."""
_MOST_BASES = 20
_INSIDE = 7
"""Number of values inside each cell of a column with a linear term or a distance."""


@dataclass(frozen=True, eq=False)
class Moves:
    """The candidate values of one column.

    Parameters
    ----------
    schema : ColumnSchema
        The column.
    start : float or int
        The stored value of the row.
    unit : float
        Size of a change that counts as 1: the spread of the column.
    values : array
        Stored values, nearest first.
    costs : float array
        Size of each change.
    smooth : bool
        Whether predictions also change within cells.
    whole : bool
        Whether the column seems to hold integers.
    """

    schema: ColumnSchema
    start: Any
    unit: float
    values: Any
    costs: FloatArray
    smooth: bool = False
    whole: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def cost(self, value: float) -> float:
        """Return the size of a change to an ordered value."""
        return 1.0 if math.isnan(self.start) else abs(value - self.start) / self.unit


def to_table_value(schema: ColumnSchema, value: Any) -> Any:
    """Convert a stored value to a table value: a number, a date as text, a label, or None."""
    if schema.type.ordered:
        return None if math.isnan(value) else schema.type.to_table_value(float(value))
    if value < 0:
        return None if value == -1 else "(unseen label)"
    return label_value(schema.labels[int(value)], schema)


def moves_of(
    program: Program,
    row: Table,
    rows: Table | None,
    allowed: Iterable[str],
    monotone: Mapping[str, Direction],
) -> list[Moves]:
    """Return the candidate values of all columns that may change, in the order of the schema.

    Parameters
    ----------
    program : Program
        The program of the model.
    row : Table
        The row to change.
    rows : Table, optional
        Rows that define the spread of columns, and which columns hold integers.
    allowed : iterable of str
        Columns that may change.
    monotone : mapping of str to {"increasing", "decreasing"}
        Columns whose values may only increase, or only decrease.
    """
    conditions: dict[str, dict[Condition, None]] = {}
    for leaf in list_conjunctions(program.marked):
        for condition in leaf.conditions:
            conditions.setdefault(condition.column, {})[condition] = None
    wanted, found = set(allowed), []
    used = [program.schema[name] for name in program.columns]
    for name in program.given:
        if name not in wanted:
            continue
        own, seen = list(conditions.get(name, ())), None if rows is None else rows[name]
        make = _of_numbers if row[name].schema.type.ordered else _of_labels
        direction = monotone.get(name)
        moves = make(row[name], seen, own, _smooth_parts(program, name), direction)
        parts = [column for column in used if column.part and column.source == name]
        if parts:
            keys = [_DateTests(moves.schema, tuple(own))]
            for part in parts:
                exact = bool(_smooth_parts(program, part.name))
                keys.append(_DateTests(part, tuple(conditions.get(part.name, ())), exact))
            moves = _of_dates(moves, keys, seen, direction)
        if len(moves):
            found.append(moves)
    return found


def _smooth_parts(program: Program, name: str) -> list[LineValue | NumberDistance | LabelDistance]:
    """Return the parts of the program that use a column other than by conditions."""
    parts: list[LineValue | NumberDistance | LabelDistance] = []
    for node in program.nodes:
        if isinstance(node, LineValue) and node.column == name:
            parts.append(node)
        elif isinstance(node, Nearest):
            parts += [distance for distance in node.used if distance.column == name]
    return parts


def _of_labels(
    column: Column,
    rows: Column | None,
    conditions: Sequence[Condition],
    parts: Sequence[Any],
    direction: Direction | None,
) -> Moves:
    """Return a label for each group that the model distinguishes: the most common one."""
    schema, start = column.schema, int(column.values[0])
    codes = np.array([code for code in range(len(schema.labels)) if code != start], dtype=np.int32)
    if rows is not None:
        counts = np.bincount(rows.values[rows.values >= 0], minlength=len(schema.labels))
        codes = codes[np.argsort(-counts[codes], kind="stable")]
    groups = [
        np.array([*part.groups, part.unseen, part.missing])
        for part in parts
        if isinstance(part, LabelDistance)
    ]

    def key(values: Any) -> list[tuple[Any, ...]]:
        told = [condition.holds(Column(schema, values)) for condition in conditions]
        return list(zip(*told, *(group[values] for group in groups), strict=True))

    chosen = _first_of_each(codes, key, start if start != -1 else None)
    return Moves(schema, start, 1.0, chosen, np.ones(len(chosen)))


def _of_numbers(
    column: Column,
    rows: Column | None,
    conditions: Sequence[Condition],
    parts: Sequence[Any],
    direction: Direction | None,
) -> Moves:
    """Return a value for each cell between the thresholds, or several with linear terms."""
    schema, start = column.schema, float(column.values[0])
    marks = {float(mark) for condition in conditions for mark in condition.marks}
    marks |= {bound for part in parts for bound in (part.low, part.high)}
    cuts = sorted(marks)
    unit = _unit(rows, cuts, parts, start)
    whole = schema.type.arithmetic and _is_whole(rows, [] if parts else cuts, start)
    values = _values(schema, cuts, start, unit, whole=whole, inside=_INSIDE if parts else 0)
    values = values[values != start]
    if whole:
        values = values[values % 1 == 0]
    if direction is not None and not math.isnan(start):
        values = values[values > start if direction == "increasing" else values < start]
    moves = Moves(schema, start, unit, values, np.zeros(0), bool(parts), whole)
    costs = np.array([moves.cost(value) for value in values.tolist()])
    values = values[np.lexsort((values, costs))]

    def key(some: Any) -> list[tuple[Any, ...]]:
        return list(zip(*(c.holds(Column(schema, some)) for c in conditions), strict=True))

    if not parts:
        values = _first_of_each(values, key, None if math.isnan(start) else start)
    costs = np.array([moves.cost(value) for value in values.tolist()])
    return replace(moves, values=values, costs=costs)


@dataclass(frozen=True)
class _DateTests:
    """What a model tests of dates, or of a part of them."""

    schema: ColumnSchema
    conditions: tuple[Condition, ...]
    exact: bool = False  # whether each value of the part matters

    def keys(self, dates: Column) -> NDArray[np.uint8]:
        """Return the outcomes for each date, as an array (tests, dates)."""
        column = dates.take_part(self.schema)
        told = [condition.holds(column) for condition in self.conditions]
        told += [column.values.astype(np.uint8)] if self.exact else []
        return np.array(told, dtype=np.uint8).reshape(len(told), len(dates))


def _of_dates(
    moves: Moves, tests: Sequence[_DateTests], rows: Column | None, direction: Direction | None
) -> Moves:
    """Return a date for each cell of the dates and their parts, near the row's or a known date."""
    start = moves.start
    near = np.array([start] if not math.isnan(start) else [], dtype=np.float64)
    if not len(near) and rows is not None and not rows.is_missing.all():
        near = np.array([np.nanmedian(rows.values)])
    days = np.unique(np.append(near, moves.values[:_MOST_BASES]) // DAY)
    with_hours = any(one.schema.part and one.schema.part.unit == "hour" for one in tests)
    hours = np.arange(24 if with_hours else 1)
    days = np.unique(np.add.outer(days, np.arange(-_DAYS_AROUND, _DAYS_AROUND + 1)))
    values = np.add.outer(days * DAY, hours * (DAY // 24)).ravel()
    values = np.unique(np.append(values, moves.values))
    values = values[(values >= FIRST) & (values <= LAST) & (values != start)]
    if direction is not None and not math.isnan(start):
        values = values[values > start if direction == "increasing" else values < start]
    costs = np.array([moves.cost(value) for value in values.tolist()])
    values = np.append(start, values[np.lexsort((values, costs))])
    keys = np.concatenate([one.keys(Column(moves.schema, values)) for one in tests])
    _, first = np.unique(keys, axis=1, return_index=True)
    values = values[np.sort(first[first > 0])]
    costs = np.array([moves.cost(value) for value in values.tolist()])
    return replace(moves, values=values, costs=costs)


def _first_of_each(values: Any, key: Any, start: Any) -> Any:
    """Keep the first value of each cell, except the cell of the start."""
    known = set() if start is None else set(key(np.array([start], dtype=values.dtype)))
    kept = []
    for place, kind in enumerate(key(values)):
        if kind not in known:
            known.add(kind)
            kept.append(place)
    return values[np.array(kept, dtype=np.intp)]


def _unit(rows: Column | None, cuts: Sequence[float], parts: Sequence[Any], start: float) -> float:
    """Return the spread of a column: from the rows, else the distances, else the thresholds."""
    spread = 0.0
    if rows is not None and len(known := rows.values[~rows.is_missing]):
        low, high = np.quantile(known, (0.05, 0.95))
        spread = float(high - low) or float(np.ptp(known))
    if not spread:
        wide = [part.high - part.low for part in parts if isinstance(part, NumberDistance)]
        marks = [*cuts, *([] if math.isnan(start) else [start])]
        spread = max(wide, default=0.0) or (max(marks) - min(marks) if marks else 0.0)
    # A single threshold, or values too large to subtract, define no spread.
    return spread if 0.0 < spread < math.inf else max(abs(start), 1.0) if start == start else 1.0


def _is_whole(rows: Column | None, cuts: Sequence[float], start: float) -> bool:
    """Return whether the rows are integers; without rows, whether the start and its cuts are."""
    if rows is not None:
        known = rows.values[~rows.is_missing]
        return bool((known % 1 == 0).all()) and (math.isnan(start) or start % 1 == 0)
    # Cuts between adjacent integers lie at a half.
    return bool(cuts) and start % 1 == 0 and all((2 * cut) % 1 == 0 for cut in cuts)


def _values(
    schema: ColumnSchema,
    cuts: Sequence[float],
    start: float,
    unit: float,
    *,
    whole: bool,
    inside: int,
) -> FloatArray:
    """Return the cuts, and values of the gaps between and beyond them, near the start."""
    values: list[float] = list(cuts)
    for low, high in pairwise([-math.inf, *cuts, math.inf]):
        values += _of_gap(schema, low, high, start, unit, whole=whole)
        if inside and math.isfinite(low) and math.isfinite(high):
            values += _inside(schema, low, high, inside)
    return np.array(sorted(set(values)), dtype=np.float64)


def _inside(schema: ColumnSchema, low: float, high: float, n_points: int) -> list[float]:
    """Return both ends of a gap, where linear terms are extreme, and points between them."""
    grid = np.linspace(low, high, n_points + 2)
    width = (grid[1] - grid[0]) / 2
    found = [schema.type.snap(math.nextafter(low, math.inf), up=True)]
    found.append(schema.type.snap(math.nextafter(high, -math.inf), up=False))
    found += [float(math.floor(low) + 1), float(math.ceil(high) - 1)]
    for point in grid[1:-1].tolist():
        found += _between(schema, point - width, point + width, point)
    return [value for value in found if low < value < high]


def _of_gap(
    schema: ColumnSchema, low: float, high: float, start: float, unit: float, *, whole: bool
) -> list[float]:
    """Return the short value of a gap nearest to the start; an integer if requested."""
    step = _STEP * unit
    if math.isnan(start):
        return _near_cuts(schema, low, high, unit)
    if low < start < high:
        return []
    above = start <= low
    found = (
        _between(schema, low, min(high, low + step), low)
        if above
        else _between(schema, max(low, high - step), high, high)
    )
    if whole:
        near = float(math.floor(low) + 1 if above else math.ceil(high) - 1)
        found += [near] if low < near < high else []
    return found


def _near_cuts(schema: ColumnSchema, low: float, high: float, unit: float) -> list[float]:
    """Return a value of a gap near its cuts, for a row with a missing value."""
    if math.isinf(low) and math.isinf(high):
        return _between(schema, -unit, unit, None)
    if math.isfinite(low) and math.isfinite(high):
        near = max(low, high - unit), min(high, low + unit)
        return _between(schema, *near, None) or _between(schema, low, high, None)
    # A unit may be too small for the column's values: numbers with limited digits, or dates.
    cut = low if math.isinf(high) else high
    for width in (max(unit, 4 * math.ulp(cut)) * 2.0**k for k in range(64)):
        ends = (low, low + width) if math.isinf(high) else (high - width, high)
        if math.isfinite(sum(ends)) and (found := _between(schema, *ends, None)):
            return found
    return []


def _between(schema: ColumnSchema, low: float, high: float, near: float | None) -> list[float]:
    if not low < high:
        return []
    value = schema.type.between(low, high, near)
    return [value] if low < value < high else []
