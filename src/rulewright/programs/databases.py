"""Run the SQL of a program on rows, in DuckDB and SQLite."""

from __future__ import annotations

import math
import sqlite3
from typing import TYPE_CHECKING, Any

from rulewright.data import ColumnSchema, optional
from rulewright.programs.program import ClassProgram, Program
from rulewright.programs.sql_words import quoted_name
from rulewright.programs.target import Answer, CannotRunError, Rows, n_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_TABLE = "table \"of\" 'rows'"
_TYPES = {
    "duckdb": {"number": "DOUBLE", "string": "VARCHAR", "boolean": "BOOLEAN", "date": "TIMESTAMP"},
    "sqlite": {"number": "REAL", "string": "TEXT", "boolean": "INTEGER", "date": "TEXT"},
}


def run_duckdb(
    write: Callable[..., str], program: Program, rows: Rows, table: str = _TABLE
) -> tuple[list[Answer], list[str]]:
    """Return the answers of DuckDB."""
    names, types = _columns(program, "duckdb")
    sql = write(program, table, "duckdb", keep=names[:1])
    with optional("duckdb").connect() as connection:
        connection.execute(_create(names, types, table))
        lists = [list(range(n_rows(rows))), *(rows[name] for name in names[1:])]
        unnested = ", ".join(f"unnest(CAST(? AS {kind}[]))" for kind in types)
        try:
            connection.execute(f"INSERT INTO {quoted_name(table)} SELECT {unnested}", lists)
            return read_answers(program, connection.execute(sql).fetchall()), []
        except optional("duckdb").OutOfMemoryException:
            raise CannotRunError("DuckDB has not enough memory for the rows") from None


def run_sqlite(
    write: Callable[..., str], program: Program, rows: Rows
) -> tuple[list[Answer], list[str]]:
    """Return the answers of SQLite."""
    names, types = _columns(program, "sqlite")
    sql = write(program, _TABLE, "sqlite", keep=names[:1])
    connection = sqlite3.connect(":memory:")
    try:
        notes = provide_exp(connection)
        connection.execute(_create(names, types, _TABLE))
        places = ", ".join("?" * len(names))
        lines = zip(range(n_rows(rows)), *(rows[name] for name in names[1:]), strict=True)
        connection.executemany(f"INSERT INTO {quoted_name(_TABLE)} VALUES ({places})", lines)
        return read_answers(program, connection.execute(sql).fetchall()), notes
    finally:
        connection.close()


def read_answers(program: Program, lines: list[tuple[Any, ...]]) -> list[Answer]:
    """Read the result lines of a program's SQL; the first item is the row."""
    lines = sorted(lines, key=lambda line: int(line[0]))
    if not isinstance(program, ClassProgram):
        return [Answer.numbers(program, line[1:]) for line in lines]
    n = len(program.labels)
    return [
        Answer(line[1 : n + 1], line[n + 1 : 2 * n + 1], line[2 * n + 1], line[2 * n + 2 :])
        for line in lines
    ]


def provide_exp(connection: sqlite3.Connection) -> list[str]:
    """Add EXP to SQLite if it was compiled without; return notes about it."""
    try:
        connection.execute("SELECT EXP(1.0)")
    except sqlite3.OperationalError:
        connection.create_function("exp", 1, math.exp, deterministic=True)
        return ["sqlite here lacks exp() (compiled without math functions): Python's was used"]
    return []


def _columns(program: Program, dialect: str) -> tuple[list[str], list[str]]:
    """Return names and types of the table: a row number and the columns that the program uses."""
    row_name = "row"
    while row_name in {name.lower() for name in program.given}:
        row_name += "_"
    schema = program.schema
    given = schema.sources_of(schema[name] for name in program.columns)
    types = [_TYPES[dialect][_value_type(column)] for column in given]
    return [row_name, *program.given], ["INTEGER", *types]


def _value_type(column: ColumnSchema) -> str:
    if column.kind == "nominal":
        return column.label_type
    return "date" if column.kind == "date" else "number"


def _create(names: Sequence[str], types: Sequence[str], table: str) -> str:
    columns = [f"{quoted_name(name)} {kind}" for name, kind in zip(names, types, strict=True)]
    return f"CREATE TABLE {quoted_name(table)} ({', '.join(columns)})"
