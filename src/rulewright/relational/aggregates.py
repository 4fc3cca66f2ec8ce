"""The aggregates of derived columns in the SQL of each database, with the same answers to the bit.

Doubles are not added up: their sum depends on the order of the rows. Values are multiplied by a
factor of the column, rounded to whole numbers and added as such; the factor makes decimals whole
where the training rows have few digits, and keeps about 44 bits of others.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rulewright.programs import write_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.programs import Dialect
    from rulewright.relational.derived import DerivedColumn

DAY = 86_400_000.0
"""Milliseconds, in which moments are counted."""
LARGEST_WHOLE = 2**53
"""Values times factor beyond this count as this."""
LARGEST_SUM = 2**62
"""Sums of whole numbers beyond this count as this."""
BITS = 44
"""What is kept of values that are no decimals of few digits."""
DIGITS = 6
"""The most digits after the point of a decimal."""
_ABOVE_HALF = 0.5 + 2.0**-40
"""The place of the upper one of two middle values, for up to a billion of them."""
_DOUBLE = {"duckdb": "DOUBLE", "postgres": "FLOAT8", "sqlite": "REAL"}


def factor_of(largest: float, digits: int) -> float:
    """Return what values up to a size are multiplied by: decimals become whole numbers."""
    if digits <= DIGITS and largest * 10.0**digits < 2**50:
        return 10.0**digits
    exponent = math.frexp(largest)[1]
    return math.ldexp(1.0, max(-1000, min(1000, BITS - exponent)))


class AggregateRows(NamedTuple):
    """The rows that an aggregate is about, as SQL expressions."""

    value: str | None  # of the column
    tests: tuple[str, ...]  # that rows must pass
    time: str | None
    cutoff: str | None


class Aggregate(NamedTuple):
    """What is computed per group, and what that comes to; ``{0}`` stands for the first part."""

    parts: tuple[str, ...]
    result: str


@dataclass(frozen=True)
class Aggregates:
    """The writer of one dialect."""

    dialect: Dialect

    def of(self, column: DerivedColumn, rows: AggregateRows) -> Aggregate:
        """Write a derived column, or raise a ValueError if the database cannot compute it."""
        where = _filter(rows.tests)
        x, function = rows.value or "", column.function
        if function in ("count", "exists"):
            sign = "" if function == "count" else " > 0"
            count = f"COUNT(*){where}"
            return Aggregate((count,), self._double("COALESCE({0}, 0)") if not sign else _SOME)
        if function in ("mean", "sum"):
            return self._add(column, x, where)
        if function == "recency":
            unit = DAY if column.dated else 1.0
            gap = f"MIN({rows.cutoff} - {rows.time}){where}"
            return Aggregate((gap,), f"{{0}} / {self.number(unit)}")
        if function == "median":
            return self._median(x, where)
        if function == "last":
            return Aggregate((self._last(column, x, rows),), "{0}")
        name = "MIN" if function == "min" else "MAX"
        return Aggregate((f"{name}({x}){where}",), "{0}")

    def number(self, value: float) -> str:
        """Write a number exactly."""
        return write_number(value, self.dialect)

    def _double(self, x: str) -> str:
        return f"CAST({x} AS {_DOUBLE[self.dialect]})"

    def _add(self, column: DerivedColumn, x: str, where: str) -> Aggregate:
        assert column.factor is not None
        factor = self.number(column.factor)
        largest = f"WHEN {{0}} > {LARGEST_SUM} THEN {LARGEST_SUM}"
        smallest = f"WHEN {{0}} < -{LARGEST_SUM} THEN -{LARGEST_SUM}"
        # DuckDB and PostgreSQL add into wider numbers, which are cast back first
        total = self._double(f"CAST(CASE {largest} {smallest} ELSE {{0}} END AS BIGINT)")
        if self.dialect == "sqlite":
            total = self._double(f"CASE {largest} {smallest} ELSE {{0}} END")
        parts = (f"SUM({self._whole(x, column.factor)}){where}",)
        if column.function == "sum":
            return Aggregate(parts, f"{total} / {factor}")
        return Aggregate((*parts, f"COUNT({x}){where}"), f"{total} / {{1}} / {factor}")

    def _whole(self, x: str, factor: float) -> str:
        """Write a value times the factor as a whole number; PostgreSQL minds any overflow."""
        bound, half = self.number(min(LARGEST_WHOLE / factor, sys.float_info.max)), 0.5
        scaled = f"{x} * {self.number(factor)}"
        rounded = (
            f"{scaled} + CASE WHEN {x} < 0 THEN {self.number(-half)} ELSE {self.number(half)} END"
        )
        whole = f"CAST({rounded} AS INTEGER)"  # which SQLite cuts off
        if self.dialect != "sqlite":
            whole = f"CAST(TRUNC({rounded}) AS BIGINT)"
        return (
            f"CASE WHEN {x} >= {bound} THEN {LARGEST_WHOLE} WHEN {x} <= -({bound}) "
            f"THEN -{LARGEST_WHOLE} WHEN ABS({x}) < {self.number(0.25 / factor)} THEN 0 "
            f"ELSE {whole} END"
        )

    def _median(self, x: str, where: str) -> Aggregate:
        """Write the middle of the two middle values."""
        places = f"0.5, {_ABOVE_HALF}"
        if self.dialect == "duckdb":
            part = f"QUANTILE_DISC({x}, [{places}]){where}"
        elif self.dialect == "postgres":
            part = f"PERCENTILE_DISC(ARRAY[{places}]) WITHIN GROUP (ORDER BY {x}){where}"
        else:
            raise self._lacking("median")
        half = self.number(0.5)
        return Aggregate((part,), f"{{0}}[1] * {half} + {{0}}[2] * {half}")

    def _last(self, column: DerivedColumn, x: str, rows: AggregateRows) -> str:
        """Write the value of the latest row that has one, of several the largest."""
        where = _filter((*rows.tests, f"{x} IS NOT NULL", f"{rows.time} IS NOT NULL"))
        if self.dialect == "duckdb":
            return f"LAST({x} ORDER BY {rows.time}, {x}){where}"
        if self.dialect == "postgres":
            return f"(ARRAY_AGG({x} ORDER BY {rows.time} DESC, {x} DESC){where})[1]"
        raise self._lacking(column.function)

    def _lacking(self, function: str) -> ValueError:
        return ValueError(
            f"{self.dialect} has no aggregate for {function!r}: export for duckdb or postgres, or "
            "learn without it, functions=[...]"
        )


_SOME = "COALESCE({0}, 0) > 0"


def _filter(tests: Sequence[str]) -> str:
    return f" FILTER (WHERE {' AND '.join(tests)})" if tests else ""
