"""The databases that SQL can be written for, by name: a new one is a class and its name here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.programs.sql_engines import DuckDb, Postgres, Sqlite
from rulewright.programs.sql_warehouses import BigQuery, Snowflake, Spark, SqlServer

if TYPE_CHECKING:
    from rulewright.programs.sql_words import Dialect

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        *(DuckDb(), Postgres(), Sqlite()),
        *(Snowflake(), BigQuery(), SqlServer(), Spark()),
    )
}


def checked_dialect(name: str) -> Dialect:
    """Return the dialect of a name, or raise a ValueError."""
    if name not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, not {name!r}")
    return DIALECTS[name]
