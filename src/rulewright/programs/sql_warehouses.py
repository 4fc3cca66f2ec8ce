"""Databases whose SQL a parser checks, and that no test runs: Snowflake, BigQuery and others."""

from __future__ import annotations

import re
from typing import ClassVar

from rulewright.programs.sql_words import (
    NOT_RUN,
    OTHER_NUMBER,
    Dialect,
    case,
    is_large,
    with_exponent,
)

_BACKSLASHES = {
    "\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r",
}  # fmt: skip


class Snowflake(Dialect):
    """Snowflake: a string that is no number cannot be cast to one, which raises errors."""

    name, title, parser = "snowflake", "Snowflake", "snowflake"
    promise = NOT_RUN.format("Snowflake")
    input_rules = (
        "Numbers must be finite and of a numeric type; text that holds numbers is read as numbers. "
        "Labels must be text without a collation, integers or Booleans, dates without a time zone. "
        "Names are quoted, so their case matters."
    )
    double_type, text_type = "DOUBLE", "VARCHAR"
    escapes: ClassVar = _BACKSLASHES
    ignores_case = False
    weekday = "DAYOFWEEKISO({})"

    def number(self, value: float) -> str:
        """Write a double, not a decimal."""
        return f"'{float(value)!r}'::DOUBLE"

    def double(self, column: str, x: str) -> str:
        """Read finite numbers as doubles, NaN as NULL."""
        double, infinity = f"CAST({x} AS DOUBLE)", "'inf'::DOUBLE"
        message = f"{self.message(column, 'a finite number')} || CAST({x} AS VARCHAR)"
        refusal = f"CAST({message} AS DOUBLE)"
        return case([(f"ABS({double}) = {infinity}", refusal)], f"NULLIF({double}, 'NaN'::DOUBLE)")

    def label_number(self, column: str, x: str) -> str:
        """Read labels that are numbers as doubles, NaN as NULL; large integers stay apart."""
        double = f"CAST({x} AS DOUBLE)"
        cases = [(f"{double} = 'NaN'::DOUBLE", "NULL"), (is_large(x), self.number(OTHER_NUMBER))]
        return case(cases, double)

    def label(self, column: str, x: str) -> str:
        """Read labels as text."""
        return f"CAST({x} AS VARCHAR)"

    def moment(self, column: str, x: str) -> str:
        """Read dates and timestamps."""
        return f"DATE_TRUNC('MILLISECOND', CAST({x} AS TIMESTAMP_NTZ))"

    def moment_number(self, value: str) -> str:
        """Write the milliseconds of a timestamp."""
        start = self.moment_literal("", "1970-01-01 00:00:00.000")
        return f"CAST(TIMESTAMPDIFF(MILLISECOND, {start}, {value}) AS DOUBLE)"

    def moment_literal(self, short: str, full: str) -> str:
        """Write a timestamp without a time zone, whatever the session takes for a timestamp."""
        return f"CAST('{full}' AS TIMESTAMP_NTZ)"


class BigQuery(Dialect):
    """BigQuery: adding 0e0 is an error for all types but numbers."""

    name, title, parser = "bigquery", "BigQuery", "bigquery"
    promise = NOT_RUN.format("BigQuery")
    input_rules = (
        "Numbers must be finite and of a numeric type: text is an error, so cast it. Labels must "
        "be STRING without a collation, INT64 or BOOL, dates DATE, DATETIME or TIMESTAMP, which "
        "is read in UTC."
    )
    double_type, text_type = "FLOAT64", "STRING"
    quotes = ("`", "`")
    escapes: ClassVar = _BACKSLASHES
    weekday = "MOD(DATE_DIFF(CAST({} AS DATE), CAST('0001-01-01' AS DATE), DAY), 7)"  # a Monday
    weekdays = (0, 1, 2, 3, 4, 5, 6)

    def quote(self, name: str) -> str:
        """Write the name of a column or table, which no other letters may be in."""
        if wrong := next((letter for letter in name if letter in '!"$()*,./;?@[\\]^`{}~\n\r'), ""):
            raise ValueError(
                f"BigQuery cannot hold the name {name!r} with {wrong!r}; rename the column, table "
                "or class"
            )
        return super().quote(name)

    def number(self, value: float) -> str:
        """Write a FLOAT64: it has an exponent."""
        return with_exponent(value)

    def double(self, column: str, x: str) -> str:
        """Read finite numbers as doubles, NaN as NULL."""
        double = f"(0e0 + {x})"
        message = f"CONCAT({self.message(column, 'a finite number')}, CAST({x} AS STRING))"
        cases = [(f"IS_INF({double})", f"ERROR({message})"), (f"IS_NAN({double})", "NULL")]
        return case(cases, f"CAST({double} AS FLOAT64)")

    def label_number(self, column: str, x: str) -> str:
        """Read labels that are numbers as doubles, NaN as NULL; large integers stay apart."""
        double = f"(0e0 + {x})"
        cases = [(f"IS_NAN({double})", "NULL"), (is_large(x), self.number(OTHER_NUMBER))]
        return case(cases, f"CAST({double} AS FLOAT64)")

    def label(self, column: str, x: str) -> str:
        """Read labels as text."""
        return f"CAST({x} AS STRING)"

    def moment(self, column: str, x: str) -> str:
        """Read dates, date-times and timestamps, in UTC."""
        return f"DATETIME_TRUNC(CAST({x} AS DATETIME), MILLISECOND)"

    def moment_number(self, value: str) -> str:
        """Write the milliseconds of a date-time."""
        start = self.moment_literal("", "1970-01-01 00:00:00.000")
        return f"CAST(DATETIME_DIFF({value}, {start}, MILLISECOND) AS FLOAT64)"

    def moment_literal(self, short: str, full: str) -> str:
        """Write a date-time."""
        return f"CAST('{full}' AS DATETIME)"


class SqlServer(Dialect):
    """SQL Server: no Booleans, no NaN or infinity, and comparisons ignore spaces at the end."""

    name, title, parser = "sqlserver", "SQL Server", "tsql"
    promise = NOT_RUN.format("SQL Server") + " It needs SQL Server 2022."
    input_rules = (
        "Numbers must be of a numeric type; text that holds numbers is read as numbers. Labels "
        "must be text or integers, Booleans BIT or text, dates DATE, DATETIME or DATETIME2."
    )
    double_type, text_type = "DOUBLE PRECISION", "NVARCHAR(MAX)"
    quotes = ("[", "]")
    has_booleans, has_nan = False, False
    month, hour = "DATEPART(MONTH, {})", "DATEPART(HOUR, {})"
    weekday = "DATEDIFF(DAY, CAST('0001-01-01' AS DATE), {}) % 7"  # a Monday
    weekdays = (0, 1, 2, 3, 4, 5, 6)
    _end = "NCHAR(57344)"  # a letter for private use, behind text that ends with a space

    def quote(self, name: str) -> str:
        """Write a name: only the closing bracket is doubled, and 128 letters are the most."""
        if isinstance(name, str) and len(name) > 128:
            raise ValueError(f"SQL Server names have at most 128 letters, not {name!r}; rename it")
        return super().quote(name)

    def text(self, value: str) -> str:
        """Write a string in the form of the labels that are read: no space ends it."""
        text = self.string(value)
        return f"CONCAT({text}, {self._end})" if value.endswith(" ") else text

    def string(self, value: str) -> str:
        """Write a string; a line that ends with a backslash would be joined with the next one."""
        parts = re.split(r"(?<=\\)(?=[\n\r])", value)
        texts = [f"N{super(SqlServer, self).string(part)}" for part in parts]
        return f"CONCAT({', '.join(texts)})" if len(texts) > 1 else texts[0]

    def number(self, value: float) -> str:
        """Write a FLOAT: it has an exponent."""
        return with_exponent(value)

    def boolean(self, value: bool) -> str:
        """Write a BIT."""
        return f"CAST({int(value)} AS BIT)"

    def double(self, column: str, x: str) -> str:
        """Read numbers as doubles: none is infinite or NaN."""
        return f"CAST({x} AS DOUBLE PRECISION)"

    def label_number(self, column: str, x: str) -> str:
        """Read labels that are numbers as doubles; large integers stay apart."""
        return case([(is_large(x), self.number(OTHER_NUMBER))], f"CAST({x} AS DOUBLE PRECISION)")

    def label(self, column: str, x: str) -> str:
        """Read labels as text that is compared letter by letter, also spaces at the end."""
        text = f"CAST({x} AS NVARCHAR(MAX))"
        ended = case([(f"{text} LIKE N'%[ ]'", f"CONCAT({text}, {self._end})")], text)
        return f"{ended} COLLATE Latin1_General_BIN2"

    def moment(self, column: str, x: str) -> str:
        """Read dates and date-times; casting to fewer digits would round."""
        text = f"CONVERT(NVARCHAR(27), CAST({x} AS DATETIME2(7)), 121)"
        return f"CAST(LEFT({text}, 23) AS DATETIME2(3))"

    def moment_number(self, value: str) -> str:
        """Write the milliseconds of a date-time."""
        start = self.moment_literal("", "1970-01-01 00:00:00.000")
        return f"CAST(DATEDIFF_BIG(MILLISECOND, {start}, {value}) AS DOUBLE PRECISION)"

    def moment_literal(self, short: str, full: str) -> str:
        """Write a date-time."""
        return f"CAST('{full}' AS DATETIME2(3))"


class Spark(Dialect):
    """Spark SQL and Databricks."""

    name, title, parser = "spark", "Spark SQL and Databricks", "spark"
    promise = NOT_RUN.format("Spark")
    input_rules = (
        "Numbers must be finite and of a numeric type: text is an error, so cast it. Labels may be "
        "text, integers or Booleans; timestamps are read in the time zone of the session."
    )
    double_type, text_type = "DOUBLE", "STRING"
    quotes = ("`", "`")
    escapes: ClassVar = _BACKSLASHES
    month, hour = "SUBSTRING({}, 6, 2)", "SUBSTRING({}, 12, 2)"
    weekday = "DATEDIFF(CAST(LEFT({}, 10) AS DATE), CAST('0001-01-01' AS DATE)) % 7"  # a Monday
    weekdays = (0, 1, 2, 3, 4, 5, 6)

    def number(self, value: float) -> str:
        """Write a double, not a decimal."""
        return f"{float(value)!r}D"

    def double(self, column: str, x: str) -> str:
        """Read finite numbers as doubles, NaN as NULL."""
        double = f"CAST({x} AS DOUBLE)"
        wrong = f"TYPEOF({x}) = 'string' OR ABS({double}) = CAST('Infinity' AS DOUBLE)"
        cases = [(wrong, self._error(column, x)), (f"ISNAN({double})", "NULL")]
        return case(cases, double)

    def label_number(self, column: str, x: str) -> str:
        """Read labels that are numbers as doubles, NaN as NULL; large integers stay apart."""
        double = f"CAST({x} AS DOUBLE)"
        cases = [(f"TYPEOF({x}) = 'string'", self._error(column, x)), (f"ISNAN({double})", "NULL")]
        return case([*cases, (is_large(x), self.number(OTHER_NUMBER))], double)

    def label(self, column: str, x: str) -> str:
        """Read labels as text."""
        return f"CAST({x} AS STRING)"

    def moment(self, column: str, x: str) -> str:
        """Read dates and timestamps as text of 23 characters, in the time zone of the session."""
        return f"LEFT(DATE_FORMAT({x}, 'yyyy-MM-dd HH:mm:ss.SSSSSS'), 23)"

    def moment_number(self, value: str) -> str:
        """Write the milliseconds of such a text."""
        return f"CAST(UNIX_MILLIS(CAST(CONCAT({value}, 'Z') AS TIMESTAMP)) AS DOUBLE)"

    def moment_literal(self, short: str, full: str) -> str:
        """Write a moment as `moment` reads it."""
        return f"'{full}'"

    def _error(self, column: str, x: str) -> str:
        message = self.message(column, "a finite number")
        return f"RAISE_ERROR(CONCAT({message}, CAST({x} AS STRING)))"
