"""Dates and date-times, as float64 whole milliseconds since 1970 with NaN for missing."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import RowError
from rulewright.data.findings import Finding, of_values
from rulewright.data.kind import Kind, SqlWords
from rulewright.data.moments import (
    FIRST,
    LAST,
    coarsest,
    from_array,
    from_object,
    from_text,
    has_offset,
    is_absent,
    to_text,
)
from rulewright.data.number_texts import is_code
from rulewright.data.schema import ColumnSchema
from rulewright.data.source import Raw
from rulewright.data.table import Column

_PROBES = (FIRST, LAST, 0, -1, 951_782_400_000, 1_709_164_800_000)  # leap days


class Date(Kind):
    """Moments to the millisecond; moments with an offset are converted to UTC."""

    name = "date"
    ordered = True
    operators = ("<=", ">=", "is missing", "is known")
    literal = re.compile(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?)?(?![\w.])"
    )

    def claims(self, raw: Raw) -> bool:
        """Claim arrays of dates, and the text of a file if all of it is ISO dates."""
        if raw.values.dtype.kind != "O" or raw.declared is not None:
            return raw.values.dtype.kind == "M"
        known = (value for value in raw.values if not _is_missing(value, raw.untyped))
        first = next(known, None)  # most columns end here
        if first is None or not _is_moment(first, raw.untyped):
            return False
        offset = isinstance(first, str) and has_offset(first)
        return all(
            _is_moment(value, raw.untyped)
            and (not isinstance(value, str) or has_offset(value) == offset)
            for value in known
        )

    def read(self, name: str, raw: Raw) -> Column:
        """Check the values of a new column."""
        return self.read_like(ColumnSchema(name, self.name), raw)

    def read_like(self, schema: ColumnSchema, raw: Raw) -> Column:
        """Check the values of a column; ISO text is converted."""
        values = raw.values
        if values.dtype.kind == "M":
            return Column(schema, _within(schema.name, from_array(values)))
        if values.dtype.kind == "f" and np.isnan(values).all():
            return Column(schema, values.astype(np.float64))
        objects = values.astype(object)
        codes = [v for v in objects if raw.untyped and isinstance(v, str) and is_code(v)]
        known, moments = set(codes), np.empty(len(objects))
        for row, value in enumerate(objects):
            moment = math.nan if isinstance(value, str) and value in known else from_object(value)
            if moment is None:
                raise _no_date(schema.name, row, value)
            moments[row] = moment
        return Column(schema, _within(schema.name, moments), _decisions(schema.name, codes))

    def raw(self, column: Column) -> Raw:
        """Return the moments as datetime64."""
        moments = np.where(column.is_missing, 0, column.values).astype(np.int64).astype("M8[ms]")
        moments[column.is_missing] = np.datetime64("NaT")
        return Raw(moments)

    def is_missing(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which values are NaN."""
        return np.asarray(np.isnan(values))

    def write(self, value: float) -> str:
        """Write a moment: 2024-03-01, 2024-03-01T12:30."""
        return to_text(value)

    def parse(self, text: str) -> float:
        """Read a moment."""
        return float(from_text(text))

    def snap(self, value: float, *, up: bool) -> float:
        """Return the next whole millisecond, of the years 1 to 9999."""
        whole = math.ceil(value) if up else math.floor(value)
        return float(min(max(whole, FIRST), LAST))

    def between(self, low: float, high: float, near: float | None = None) -> float:
        """Return the start of the longest unit, year to second, strictly between two moments."""
        first, last = max(math.floor(low) + 1, FIRST), min(math.ceil(high) - 1, LAST)
        if first > last:
            return low
        return float(coarsest(first, last, (low + high) / 2 if near is None else near))

    def describe(self, column: Column, write_label: Callable[[str], str] = str) -> str:
        """Return the first and the last moment."""
        known = column.values[~column.is_missing]
        return f"{to_text(known.min())} to {to_text(known.max())}" if len(known) else "all missing"

    def to_table_value(self, value: float) -> str:
        """Write a moment as the text that a table may hold for it."""
        return to_text(value)

    def number(self, value: Any) -> float:
        """Read such a text."""
        return float(from_text(value))

    def probes(self, value: float) -> list[float]:
        """Return a moment and its neighbours."""
        return [near for near in (value, value - 1, value + 1) if FIRST <= near <= LAST]

    @property
    def extremes(self) -> tuple[float, ...]:
        """The first and last moments, and some between."""
        return tuple(map(float, _PROBES))

    def reader(self, schema: ColumnSchema) -> str:
        """Read dates."""
        return "date"

    def sql_value(self, schema: ColumnSchema, expression: str, sql: SqlWords) -> str:
        """Read a column as timestamps."""
        return sql.moment(schema.name, expression)

    def sql_number(self, value: str, sql: SqlWords) -> str:
        """Write the milliseconds."""
        return sql.moment_number(value)

    def sql_literal(self, schema: ColumnSchema, value: float, sql: SqlWords) -> str:
        """Write a threshold."""
        return sql.moment_literal(to_text(value, " "), to_text(value, " ", full=True))


def _is_missing(value: Any, untyped: bool) -> bool:
    if isinstance(value, str):
        return untyped and is_code(value)
    return is_absent(value)


def _is_moment(value: Any, untyped: bool) -> bool:
    if isinstance(value, str) and not untyped:
        return False
    return from_object(value) is not None


def _within(name: str, moments: NDArray[np.float64]) -> NDArray[np.float64]:
    beyond = (moments < FIRST) | (moments > LAST)
    if beyond.any():
        raise RowError(
            f"Column {name!r}, ",
            int(beyond.argmax()),
            ": the date is beyond the years 1 to 9999. Correct it, or make it missing.",
        )
    return moments


def _no_date(name: str, row: int, value: object) -> RowError:
    return RowError(
        f"Column {name!r} must hold dates, but ",
        row,
        f" holds {value!r:.80}. Write dates as 2024-03-01 or 2024-03-01T12:30, or as missing.",
    )


def _decisions(name: str, codes: list[str]) -> tuple[Finding, ...]:
    if not codes:
        return ()
    otherwise = f"--nominal {name} takes the column as labels"
    return (of_values("missing code", name, codes, len(codes), "read as missing", otherwise),)
