"""How names, labels and numbers are written in the SQL of each database, exactly and safely."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Dialect: TypeAlias = Literal["duckdb", "postgres", "sqlite"]
DIALECTS: tuple[Dialect, ...] = ("duckdb", "postgres", "sqlite")

# Integers up to here are exact as floats.
_EXACT = 2**53


def checked_dialect(dialect: str) -> Dialect:
    """Give the dialect, or raise a ValueError."""
    if dialect in DIALECTS:
        return dialect
    raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, not {dialect!r}")


def quoted_name(name: str) -> str:
    """Write the name of a column or table, or raise a ValueError if SQL cannot hold it."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"SQL cannot hold the empty name {name!r}; rename the column or table")
    return '"' + _check_text(name, "name").replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """Write a string, or raise a ValueError if SQL cannot hold it."""
    return "'" + _check_text(text, "label").replace("'", "''") + "'"


def write_number(value: float, dialect: Dialect) -> str:
    """Write a finite number such that the database reads exactly this double."""
    value = float(value)
    if dialect == "postgres":
        return f"float8 '{value!r}'"
    if dialect == "sqlite":
        return _exact_fraction(value)
    # DuckDB takes a number without exponent for a decimal.
    text = repr(value).removesuffix(".0")
    return text if "e" in text else text + "e0"


def write_boolean(value: bool, dialect: Dialect) -> str:
    """Write a truth value; SQLite has only 1 and 0."""
    return str(int(value)) if dialect == "sqlite" else str(value).upper()


def check_distinct_in_sql(names: Iterable[str], dialect: Dialect) -> None:
    """Refuse columns that a database would take for one, because it ignores case."""
    if dialect == "postgres":
        return
    seen: dict[bytes, str] = {}
    for name in names:
        other = seen.setdefault(name.encode().lower(), name)
        if other != name:
            raise ValueError(
                f"columns {other!r} and {name!r} are one column for {dialect}, which ignores "
                "upper and lower case; rename one of them"
            )


def column_of(name: str, alias: str, dialect: Dialect) -> str:
    """Write a column of a table such that it is an error if the table has no such column.

    SQLite takes an unknown name for a string unless the table is named too, and PostgreSQL takes a
    name behind that of the table for a function.
    """
    column = quoted_name(name)
    return column if dialect == "postgres" else f"{alias}.{column}"


def rows_of(table: Sequence[str], alias: str, dialect: Dialect) -> str:
    """Write a table, given by the parts of its name, for a FROM."""
    source = ".".join(quoted_name(part) for part in table)
    # Tables of DuckDB have a column "rowid" of their own, which is not among all columns.
    return f"{f'(SELECT * FROM {source})' if dialect == 'duckdb' else source} AS {alias}"


def unused_prefix(names: Iterable[str]) -> str:
    """Give a prefix of internal names that no column or table begins with."""
    prefix, listed = "rw_", [name.lower() for name in names]
    while any(name.startswith(prefix) for name in listed):
        prefix = "_" + prefix
    return prefix


def _check_text(text: str, what: str) -> str:
    if "\0" in text:
        raise ValueError(f"SQL cannot hold the {what} {text!r} with a NUL character; rename it")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"SQL cannot hold the {what} {text!r}: not valid Unicode") from None
    return text


def _exact_fraction(value: float) -> str:
    """Write a float for SQLite, whose reader of decimals is sometimes one bit off.

    An integer divided (or multiplied) by powers of two is exact in every version.
    """
    if value.is_integer() and abs(value) <= _EXACT:
        return f"{value:.1f}"
    mantissa, exponent = math.frexp(value)
    top, power = int(mantissa * _EXACT), exponent - 53
    while top % 2 == 0:
        top, power = top // 2, power + 1
    sign = "/" if power < 0 else "*"
    whole, rest = divmod(abs(power), 52)
    factors = [52] * whole + [rest] * (rest > 0)
    steps = "".join(f" {sign} {2**factor}.0" for factor in factors)
    return f"({top}{steps} /* {value!r} */)"


_LARGEST_EXACT = 2**53
_OTHER_NUMBER = float(2**54)
"""Stands for integers that doubles cannot tell apart; no label in SQL is as large."""

_TRUTHS = {"true": 1, "1": 1, "false": 0, "0": 0}
_NAN, _INFINITY = "CAST('NaN' AS FLOAT8)", "CAST('Infinity' AS FLOAT8)"


@dataclass(frozen=True)
class _Reading(ABC):
    """Expressions that read a column, given by its name and an expression."""

    name: ClassVar[Dialect]

    def number(self, value: float) -> str:
        """Write a finite number exactly."""
        return write_number(value, self.name)

    def text(self, value: str) -> str:
        """Write a string."""
        return quoted_text(value)

    @abstractmethod
    def label(self, column: str, x: str) -> str:
        """Read labels as text."""

    @abstractmethod
    def moment(self, column: str, x: str) -> str:
        """Read dates and date-times to the millisecond."""

    @abstractmethod
    def moment_number(self, value: str) -> str:
        """Write the milliseconds since 1970 of a moment that was read."""

    def moment_literal(self, short: str, full: str) -> str:
        """Write a moment; the shorter form is a date if it has no time."""
        return f"{'TIMESTAMP' if ' ' in short else 'DATE'} '{short}'"

    def truth(self, column: str, x: str) -> str:
        """Read Booleans, which may be numbers or text, as 1 and 0, and what is neither as 2."""
        words = " ".join(f"WHEN '{word}' THEN {code}" for word, code in _TRUTHS.items())
        return _case(
            [(f"{x} IS NULL", "NULL")], f"CASE LOWER({self.label(column, x)}) {words} ELSE 2 END"
        )


class _Sqlite(_Reading):
    """SQLite, where each value has a type of its own."""

    name = "sqlite"

    def double(self, column: str, x: str) -> str:
        """Read finite numbers as doubles; NaN was stored as NULL."""
        # Infinity minus itself is NULL.
        finite = f"typeof({x}) IN ('integer', 'real') AND {x} - {x} = 0"
        cases = [(f"{x} IS NULL", "NULL"), (finite, f"CAST({x} AS REAL)")]
        return _case(cases, _sqlite_error(column, x, "a finite number"))

    def moment(self, column: str, x: str) -> str:
        """Read ISO text as text of 23 characters; other text may be a date to SQLite too."""
        day = f"substr({x}, 1, 10)"
        digit, text = "[0-9]", f"strftime('%Y-%m-%d %H:%M:%f', substr({x}, 1, 23))"
        pattern = f"{digit * 4}-{digit * 2}-{digit * 2}"
        time = f"length({x}) = 10 OR substr({x}, 11) GLOB '[T ]{digit * 2}:{digit * 2}*'"
        # SQLite takes February 30 for March 1
        exists = f"{day} GLOB '{pattern}' AND date(julianday({day})) = {day}"
        iso = f"typeof({x}) = 'text' AND {exists} AND ({time})"
        cases = [(f"{x} IS NULL", "NULL"), (f"{iso} AND {text} IS NOT NULL", text)]
        return _case(cases, _sqlite_error(column, x, "dates as ISO text"))

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
        return _case([(numbers, x)], _sqlite_error(column, x, "a number"))

    def label(self, column: str, x: str) -> str:
        """Read labels as text, and whole numbers as the model writes them."""
        whole = f"typeof({x}) = 'integer' OR typeof({x}) = 'real' AND {x} = CAST({x} AS INTEGER)"
        cases = [(f"typeof({x}) IN ('text', 'null')", x)]
        cases.append((whole, f"CAST(CAST({x} AS INTEGER) AS TEXT)"))
        return _case(cases, _sqlite_error(column, x, "text or integers"))


class _DuckDb(_Reading):
    """DuckDB, where the type of a column is a constant of the statement."""

    name = "duckdb"
    _whole: ClassVar = [f"{u}{i}INT" for u in ("", "U") for i in ("TINY", "SMALL", "BIG", "HUGE")]
    _whole += ["INTEGER", "UINTEGER"]

    def double(self, column: str, x: str) -> str:
        """Read finite numbers as doubles, NaN as NULL."""
        double = f"CAST({x} AS DOUBLE)"
        cases = self._check_cases(
            column, x, ["BOOLEAN", "FLOAT", "DOUBLE", *self._whole], "DECIMAL"
        )
        cases.append((f"ISINF({double})", _duckdb_error(column, x, "a finite number")))
        return _case(cases, f"NULLIF({double}, {_NAN})")

    def label_number(self, column: str, x: str) -> str:
        """Read labels that are numbers as doubles, NaN as NULL; large integers stay apart."""
        double, whole = f"CAST({x} AS DOUBLE)", f"TRY_CAST({x} AS HUGEINT)"
        cases = self._check_cases(column, x, ["FLOAT", "DOUBLE", *self._whole], "DECIMAL")
        large = f"typeof({x}) NOT IN ('FLOAT', 'DOUBLE') AND ({_is_large(whole)})"
        cases += [(f"ISNAN({double})", "NULL"), (large, self.number(_OTHER_NUMBER))]
        return _case(cases, double)

    def moment(self, column: str, x: str) -> str:
        """Read dates and timestamps without a time zone."""
        types = ["DATE", "TIMESTAMP", *(f"TIMESTAMP_{unit}" for unit in ("S", "MS", "NS"))]
        refusal = _duckdb_error(column, x, "dates or timestamps")
        listed = ", ".join(map(quoted_text, types))
        cases = [(f"{x} IS NULL", "NULL"), (f"typeof({x}) NOT IN ({listed})", refusal)]
        return _case(cases, f"date_trunc('milliseconds', CAST({x} AS TIMESTAMP))")

    def moment_number(self, value: str) -> str:
        """Write the milliseconds of a timestamp."""
        return f"CAST(epoch_ms({value}) AS DOUBLE)"

    def truth(self, column: str, x: str) -> str:
        """Read Booleans as 1 and 0, and what is neither as 2."""
        fast = (f"typeof({x}) = 'BOOLEAN'", f"CAST({x} AS INTEGER)")
        return _case([fast], super().truth(column, x))

    def label(self, column: str, x: str) -> str:
        """Read labels as text, whole numbers and Booleans as the model writes them."""
        cases = self._check_cases(column, x, ["VARCHAR", "BOOLEAN", *self._whole], "ENUM")
        return f'{_case(cases, f"CAST({x} AS VARCHAR)")} COLLATE "C"'  # others may ignore case

    def _check_cases(
        self, column: str, x: str, types: Iterable[str], prefix: str
    ) -> list[tuple[str, str]]:
        """Give the cases of missing values and of a type that is not one of some."""
        listed = ", ".join(map(quoted_text, types))
        wrong = f"typeof({x}) NOT IN ({listed}) AND typeof({x}) NOT LIKE '{prefix}(%'"
        expected = "text or integers" if "VARCHAR" in types else "a number"
        return [(f"{x} IS NULL", "NULL"), (wrong, _duckdb_error(column, x, expected))]


class _Postgres(_Reading):
    """PostgreSQL: adding 0 is an error for all types but numbers."""

    name = "postgres"
    _inexact: ClassVar = ["real", "double precision", "numeric", "money", "date", "interval"]

    def double(self, column: str, x: str) -> str:
        """Read finite numbers as doubles, NaN as NULL."""
        double = f"CAST(0 + {x} AS FLOAT8)"
        infinite = f"ABS({double}) = {_INFINITY}"
        refusal = _postgres_error(column, x, "a finite number")
        return _case([(infinite, refusal)], f"NULLIF({double}, {_NAN})")

    def moment(self, column: str, x: str) -> str:
        """Read dates and timestamps without a time zone."""
        found = f"CAST(pg_typeof({x}) AS TEXT)"
        wrong = f"{found} NOT IN ('date', 'timestamp without time zone')"
        message = _message(column, "dates or timestamps")
        refusal = f"CAST({message} || CAST({x} AS TEXT) AS TIMESTAMP)"
        cases = [(f"{x} IS NULL", "NULL"), (wrong, refusal)]
        return _case(cases, f"date_trunc('milliseconds', CAST({x} AS TIMESTAMP))")

    def moment_number(self, value: str) -> str:
        """Write the milliseconds of a timestamp."""
        seconds = f"CAST(EXTRACT(EPOCH FROM {value}) AS NUMERIC)"
        return f"CAST(ROUND({seconds} * 1000) AS FLOAT8)"

    def label_number(self, column: str, x: str) -> str:
        """Read labels that are numbers as doubles, NaN as NULL; large integers stay apart."""
        double = f"CAST(0 + {x} AS FLOAT8)"
        cases = [(f"{double} = {_NAN}", "NULL"), (_is_large(x), self.number(_OTHER_NUMBER))]
        return _case(cases, double)

    def label(self, column: str, x: str) -> str:
        """Read labels as text, whole numbers and Booleans as the model writes them."""
        found = f"CAST(pg_typeof({x}) AS TEXT)"
        listed = ", ".join(map(quoted_text, self._inexact))
        wrong = f"{found} IN ({listed}) OR {found} LIKE 'time%'"
        refusal = f"CAST({_postgres_error(column, x, 'text or integers')} AS TEXT)"
        return f'{_case([(wrong, refusal)], f"CAST({x} AS TEXT)")} COLLATE "C"'


READING = {reading.name: reading for reading in (_DuckDb(), _Postgres(), _Sqlite())}
"""How each database reads columns (``data.kind.SqlWords``)."""


def _case(cases: Iterable[tuple[str, str]], otherwise: str) -> str:
    whens = " ".join(f"WHEN {test} THEN {value}" for test, value in cases)
    return f"CASE {whens} ELSE {otherwise} END"


def _is_large(x: str) -> str:
    return f"{x} > {_LARGEST_EXACT} OR {x} < -{_LARGEST_EXACT}"


def _message(column: str, expected: str) -> str:
    return quoted_text(f'column "{column}" must hold {expected}, not ')


# Errors depend on the row, or databases would raise them before they read one.
def _sqlite_error(column: str, x: str, expected: str) -> str:
    """Raise an error: SQLite has no function for it, but one that quotes a bad path."""
    return f"json_extract('null', {_message(column, expected)} || typeof({x}))"


def _duckdb_error(column: str, x: str, expected: str) -> str:
    return f"error({_message(column, expected)} || typeof({x}) || ' ' || CAST({x} AS VARCHAR))"


def _postgres_error(column: str, x: str, expected: str) -> str:
    """Raise an error: what is no number cannot be cast to one."""
    return f"CAST({_message(column, expected)} || CAST({x} AS TEXT) AS FLOAT8)"
