"""How names, labels and numbers are written in the SQL of each database, exactly and safely."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

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
