"""The databases whose SQL is run in tests: DuckDB, SQLite and PostgreSQL."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from rulewright.programs.sql_words import (
    LARGEST_EXACT,
    OTHER_NUMBER,
    Dialect,
    case,
    is_large,
    with_exponent,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NAN, _INFINITY = "CAST('NaN' AS FLOAT8)", "CAST('Infinity' AS FLOAT8)"

_MINUTES = "[T ][0-2][0-9]:[0-5][0-9]"
_TIMES = (_MINUTES, f"{_MINUTES}:[0-5][0-9]", f"{_MINUTES}:[0-5][0-9].[0-9]*")

# Errors depend on the row, or databases would raise them before they read one.


def _milliseconds(x: str) -> str:
    return f"date_trunc('milliseconds', CAST({x} AS TIMESTAMP))"


def _beyond(x: str) -> str:
    """Test whether a moment is beyond the years 1 to 9999, such as an infinite one."""
    years = "TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999'"
    return f"{_milliseconds(x)} NOT BETWEEN {years}"


class Sqlite(Dialect):
    """SQLite, where each value has a type of its own."""

    name, title, parser = "sqlite", "SQLite", "sqlite"
    as_step = "AS MATERIALIZED"
    double_type, text_type = "REAL", "TEXT"
    least, greatest = "MIN", "MAX"
    month, hour = "strftime('%m', {})", "strftime('%H', {})"
    weekday, weekdays = "CAST(strftime('%w', {}) AS INTEGER)", (1, 2, 3, 4, 5, 6, 0)

    def number(self, value: float) -> str:
        """Write a fraction: the reader of decimals is sometimes one bit off.

        An integer divided (or multiplied) by powers of two is exact in every version.
        """
        value = float(value)
        if value.is_integer() and abs(value) <= LARGEST_EXACT:
            return f"{value:.1f}"
        mantissa, exponent = math.frexp(value)
        top, power = int(mantissa * LARGEST_EXACT), exponent - 53
        while top % 2 == 0:
            top, power = top // 2, power + 1
        sign = "/" if power < 0 else "*"
        whole, rest = divmod(abs(power), 52)
        factors = [52] * whole + [rest] * (rest > 0)
        steps = "".join(f" {sign} {2**factor}.0" for factor in factors)
        return f"({top}{steps} /* {value!r} */)"

    def boolean(self, value: bool) -> str:
        """Write 1 or 0."""
        return str(int(value))

    def double(self, column: str, x: str) -> str:
        """Read finite numbers as doubles; NaN was stored as NULL."""
        # Infinity minus itself is NULL.
        finite = f"typeof({x}) IN ('integer', 'real') AND {x} - {x} = 0"
        cases = [(f"{x} IS NULL", "NULL"), (finite, f"CAST({x} AS REAL)")]
        return case(cases, self._error(column, x, "a finite number"))

    def moment(self, column: str, x: str) -> str:
        """Read ISO text as text of 23 characters; other text may be a date to SQLite too."""
        day, digit = f"substr({x}, 1, 10)", "[0-9]"
        offset = f"substr({x}, -6) GLOB '[+-]{digit * 2}:{digit * 2}'"
        marked = f"substr({x}, -1) = 'Z'"
        zone = f"CASE WHEN {marked} THEN 'Z' WHEN {offset} THEN substr({x}, -6) ELSE '' END"
        time = f"substr({x}, 11, length({x}) - 10 - length({zone}))"
        # SQLite takes February 30 for March 1, and 24:00 for the next day
        exists = f"date(julianday({day})) = {day} AND substr({x}, 12, 2) < '24'"
        forms = " OR ".join([f"length({x}) = 10", *(f"{time} GLOB '{form}'" for form in _TIMES)])
        fraction = f"substr({time}, 11) NOT GLOB '*[^0-9]*' AND length({time}) < 20"
        iso = f"typeof({x}) = 'text' AND {exists} AND ({forms}) AND {fraction}"
        text = f"strftime('%Y-%m-%d %H:%M:%f', {day} || substr({time}, 1, 13) || {zone})"
        cases = [(f"{x} IS NULL", "NULL"), (f"{iso} AND {text} >= '0001'", text)]
        return case(cases, self._error(column, x, "dates as ISO text"))

    def moment_number(self, value: str) -> str:
        """Write the milliseconds of a text of 23 characters."""
        seconds, rest = f"strftime('%s', {value})", f"substr({value}, 21)"
        return f"CAST(CAST({seconds} AS INTEGER) * 1000 + CAST({rest} AS INTEGER) AS REAL)"

    def moment_literal(self, short: str, full: str) -> str:
        """Write a moment as `moment` reads it."""
        return f"'{full}'"

    def label_number(self, column: str, x: str) -> str:
        """Read labels that are numbers: SQLite compares integers and doubles exactly."""
        numbers = f"typeof({x}) IN ('integer', 'real', 'null')"
        return case([(numbers, x)], self._error(column, x, "a number"))

    def label(self, column: str, x: str) -> str:
        """Read labels as text, and whole numbers as the model writes them."""
        whole = f"typeof({x}) = 'integer' OR typeof({x}) = 'real' AND {x} = CAST({x} AS INTEGER)"
        cases = [(f"typeof({x}) IN ('text', 'null')", x)]
        cases.append((whole, f"CAST(CAST({x} AS INTEGER) AS TEXT)"))
        return case(cases, self._error(column, x, "text or integers"))

    def _error(self, column: str, x: str, expected: str) -> str:
        """Raise an error: SQLite has no function for it, but one that quotes a bad path."""
        return f"json_extract('null', {self.message(column, expected)} || typeof({x}))"


class DuckDb(Dialect):
    """DuckDB, where the type of a column is a constant of the statement."""

    name, title, parser = "duckdb", "DuckDB", "duckdb"
    as_step = "AS MATERIALIZED"
    double_type, text_type = "DOUBLE", "VARCHAR"
    _whole: ClassVar = [f"{u}{i}INT" for u in ("", "U") for i in ("TINY", "SMALL", "BIG", "HUGE")]
    _whole += ["INTEGER", "UINTEGER"]

    def number(self, value: float) -> str:
        """Write a number with an exponent: without one it is a decimal."""
        return with_exponent(value)

    def rows(self, table: Sequence[str], alias: str) -> str:
        """Write a table without its own column "rowid"."""
        return f"(SELECT * FROM {'.'.join(map(self.quote, table))}) AS {alias}"

    def double(self, column: str, x: str) -> str:
        """Read finite numbers as doubles, NaN as NULL."""
        double = f"CAST({x} AS DOUBLE)"
        cases = self._check(column, x, ["BOOLEAN", "FLOAT", "DOUBLE", *self._whole], "DECIMAL")
        cases.append((f"ISINF({double})", self._error(column, x, "a finite number")))
        return case(cases, f"NULLIF({double}, {_NAN})")

    def label_number(self, column: str, x: str) -> str:
        """Read labels that are numbers as doubles, NaN as NULL; large integers stay apart."""
        double, whole = f"CAST({x} AS DOUBLE)", f"TRY_CAST({x} AS HUGEINT)"
        cases = self._check(column, x, ["FLOAT", "DOUBLE", *self._whole], "DECIMAL")
        large = f"typeof({x}) NOT IN ('FLOAT', 'DOUBLE') AND ({is_large(whole)})"
        cases += [(f"ISNAN({double})", "NULL"), (large, self.number(OTHER_NUMBER))]
        return case(cases, double)

    def moment(self, column: str, x: str) -> str:
        """Read dates and timestamps without a time zone."""
        types = ["DATE", "TIMESTAMP", *(f"TIMESTAMP_{unit}" for unit in ("S", "MS", "NS"))]
        refusal = self._error(column, x, "dates or timestamps")
        listed = ", ".join(map(self.text, types))
        cases = [(f"{x} IS NULL", "NULL"), (f"typeof({x}) NOT IN ({listed})", refusal)]
        return case([*cases, (_beyond(x), refusal)], _milliseconds(x))

    def moment_number(self, value: str) -> str:
        """Write the milliseconds of a timestamp."""
        return f"CAST(epoch_ms({value}) AS DOUBLE)"

    def truth(self, column: str, x: str) -> str:
        """Read Booleans as 1 and 0, and other values as 2."""
        fast = (f"typeof({x}) = 'BOOLEAN'", f"CAST({x} AS INTEGER)")
        return case([fast], super().truth(column, x))

    def label(self, column: str, x: str) -> str:
        """Read labels as text, whole numbers and Booleans as the model writes them."""
        cases = self._check(column, x, ["VARCHAR", "BOOLEAN", *self._whole], "ENUM")
        return f'{case(cases, f"CAST({x} AS VARCHAR)")} COLLATE "C"'  # others may ignore case

    def _check(
        self, column: str, x: str, types: Iterable[str], prefix: str
    ) -> list[tuple[str, str]]:
        """Return the cases of missing values and of a type that is not one of some."""
        listed = ", ".join(map(self.text, types))
        wrong = f"typeof({x}) NOT IN ({listed}) AND typeof({x}) NOT LIKE '{prefix}(%'"
        expected = "text or integers" if "VARCHAR" in types else "a number"
        return [(f"{x} IS NULL", "NULL"), (wrong, self._error(column, x, expected))]

    def _error(self, column: str, x: str, expected: str) -> str:
        found = f"typeof({x}) || ' ' || CAST({x} AS VARCHAR)"
        return f"error({self.message(column, expected)} || {found})"


class Postgres(Dialect):
    """PostgreSQL: adding 0 is an error for all types but numbers."""

    name, title, parser = "postgres", "PostgreSQL", "postgres"
    as_step = "AS MATERIALIZED"
    double_type, text_type = "FLOAT8", "TEXT"
    ignores_case, refuses_underflow = False, True
    _inexact: ClassVar = ["real", "double precision", "numeric", "money", "date", "interval"]

    def number(self, value: float) -> str:
        """Write a double, not a decimal."""
        return f"float8 '{float(value)!r}'"

    def column(self, name: str, alias: str) -> str:
        """Write a column without its table: after a table name it may be a function."""
        return self.quote(name)

    def double(self, column: str, x: str) -> str:
        """Read finite numbers as doubles, NaN as NULL."""
        double = f"CAST(0 + {x} AS FLOAT8)"
        infinite = f"ABS({double}) = {_INFINITY}"
        refusal = self._error(column, x, "a finite number")
        return case([(infinite, refusal)], f"NULLIF({double}, {_NAN})")

    def moment(self, column: str, x: str) -> str:
        """Read dates and timestamps without a time zone."""
        found = f"CAST(pg_typeof({x}) AS TEXT)"
        wrong = f"{found} NOT IN ('date', 'timestamp without time zone')"
        refusal = self._error(column, x, "dates or timestamps", "TIMESTAMP")
        cases = [(f"{x} IS NULL", "NULL"), (wrong, refusal)]
        return case([*cases, (_beyond(x), refusal)], _milliseconds(x))

    def moment_number(self, value: str) -> str:
        """Write the milliseconds of a timestamp."""
        seconds = f"CAST(EXTRACT(EPOCH FROM {value}) AS NUMERIC)"
        return f"CAST(ROUND({seconds} * 1000) AS FLOAT8)"

    def label_number(self, column: str, x: str) -> str:
        """Read labels that are numbers as doubles, NaN as NULL; large integers stay apart."""
        double = f"CAST(0 + {x} AS FLOAT8)"
        cases = [(f"{double} = {_NAN}", "NULL"), (is_large(x), self.number(OTHER_NUMBER))]
        return case(cases, double)

    def label(self, column: str, x: str) -> str:
        """Read labels as text, whole numbers and Booleans as the model writes them."""
        found = f"CAST(pg_typeof({x}) AS TEXT)"
        listed = ", ".join(map(self.text, self._inexact))
        wrong = f"{found} IN ({listed}) OR {found} LIKE 'time%'"
        refusal = f"CAST({self._error(column, x, 'text or integers')} AS TEXT)"
        return f'{case([(wrong, refusal)], f"CAST({x} AS TEXT)")} COLLATE "C"'

    def _error(self, column: str, x: str, expected: str, kind: str = "FLOAT8") -> str:
        """Raise an error, by casting a value that is not a number, or not a timestamp."""
        return f"CAST({self.message(column, expected)} || CAST({x} AS TEXT) AS {kind})"
