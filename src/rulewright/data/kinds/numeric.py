"""Numeric columns: finite numbers, as float64 with NaN for missing."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import RowError, reading_option
from rulewright.data.findings import Finding
from rulewright.data.kind import Kind, SqlWords
from rulewright.data.number_texts import NumberTexts
from rulewright.data.schema import BOOLEAN_LABELS, ColumnSchema
from rulewright.data.source import PlainType, Raw
from rulewright.data.table import Column
from rulewright.data.values import (
    LARGEST_EXACT,
    as_floats,
    check_finite,
    convert_values,
    refuse_written_dates,
    text_to_number,
)


class Numeric(Kind):
    """Numbers."""

    name = "numeric"
    ordered = True
    arithmetic = True
    operators = ("<=", ">=", "is missing", "is known")
    literal = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.])")

    def claims(self, raw: Raw) -> bool:
        """Claim numeric arrays; objects may still turn out to be numbers."""
        return raw.values.dtype.kind in "iuf" and raw.declared is None

    def read(self, name: str, raw: Raw) -> Column:
        """Check the values of a new column; whole numbers must not lose digits."""
        column = self.read_like(ColumnSchema(name, self.name), raw)
        _refuse_rounded(name, raw.values, column.values)
        return column

    def read_like(self, schema: ColumnSchema, raw: Raw) -> Column:
        """Check the values of a column; booleans and text are converted."""
        if raw.untyped:
            refuse_written_dates(schema.name, raw.values)
        return Column(schema, *_floats(schema.name, raw))

    def raw(self, column: Column) -> Raw:
        """Return the numbers."""
        return Raw(column.values, finite=True)

    def is_missing(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which values are NaN."""
        return np.asarray(np.isnan(values))

    def write(self, value: float) -> str:
        """Write a finite number such that reading it back gives the same: 5, 0.1, 1e+22."""
        return repr(value).removesuffix(".0")

    def parse(self, text: str) -> float:
        """Read a number."""
        return float(text)

    def describe(self, column: Column, write_label: Callable[[str], str] = str) -> str:
        """Return the smallest and the largest number."""
        known = column.values[~column.is_missing]
        return f"{_shown(known.min())} to {_shown(known.max())}" if len(known) else "all missing"

    def reader(self, schema: ColumnSchema) -> str:
        """Read numbers."""
        return "number"

    def sql_value(self, schema: ColumnSchema, expression: str, sql: SqlWords) -> str:
        """Read a column as doubles."""
        return sql.double(schema.name, expression)

    def sql_literal(self, schema: ColumnSchema, value: float, sql: SqlWords) -> str:
        """Write a threshold."""
        return sql.number(value)


def _shown(value: float) -> str:
    """Write a number with six significant digits, thousands separated."""
    return f"{value:,.0f}" if 1e5 <= abs(value) < 1e15 else f"{value:,.6g}"


def _floats(name: str, raw: Raw) -> tuple[NDArray[np.float64], tuple[Finding, ...]]:
    """Return the numbers, and what was decided to read them."""
    if raw.values.dtype.kind not in "iuf":
        raw = convert_values(name, raw)
    values, kind = raw.values, raw.values.dtype.kind
    if kind in "iuf":
        with np.errstate(over="ignore"):
            # the fields of a packed structured array are not aligned, which native code needs
            floats = np.require(values, np.float64, "A")
        if kind == "f" and not raw.finite:
            check_finite(name, floats)
        return floats, ()
    if kind == "b":
        return values.astype(np.float64), ()
    if raw.type == "number":
        return _finite(name, as_floats(name, values)), ()
    written = None
    if raw.written and raw.type != "boolean":
        written = NumberTexts(values, marks=raw.marks and raw.marks())
    if written and written.is_numeric and not written.is_plain:
        return _finite(name, written.numbers()), tuple(written.decisions(name))
    numbers = np.full(len(values), np.nan)
    for row, text in enumerate(values):
        if text is not None:
            numbers[row] = _parse_number(name, row, text, raw.type)
    return _finite(name, numbers), ()


def _refuse_rounded(name: str, given: NDArray[Any], numbers: NDArray[np.float64]) -> None:
    """Reject integers that no float represents; in later tables they are compared as floats."""
    if given.dtype.kind not in "iuO" or (given.dtype.kind != "O" and given.dtype.itemsize < 8):
        return
    for row in np.flatnonzero(np.abs(numbers) >= LARGEST_EXACT).tolist():
        value = given[row]
        if isinstance(value, int | np.integer) and int(value) != int(numbers[row]):
            labels = reading_option("nominal", name)
            raise RowError(
                f"Column {name!r}, ",
                row,
                f", holds {value}: whole numbers beyond 2^53 lose digits. Drop the column if it "
                f"is an id, use {labels} to take its values as labels, or convert it to floats.",
            )


def _finite(name: str, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    check_finite(name, numbers)
    return numbers


def _parse_number(name: str, row: int, text: str, type_: PlainType | None) -> float:
    if type_ == "boolean":
        return float(BOOLEAN_LABELS.index(text))
    try:
        return text_to_number(text)
    except ValueError:
        raise RowError(
            f"Column {name!r} must be numeric, but ",
            row,
            f" holds {text!r:.80}. Correct the value, treat the column as nominal, or use "
            f"{reading_option('numeric', f'{name}:coerce')} to read such values as missing.",
        ) from None
