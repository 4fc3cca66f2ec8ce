"""All tables of a DuckDB database, with the keys that its constraints name."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rulewright.data.errors import DataError
from rulewright.data.late_imports import optional
from rulewright.data.readers.arrays import unmask
from rulewright.data.readers.database import OFFLINE, WHOLE_DECIMAL, write_selection
from rulewright.data.source import Raw, Source, Wanted, as_objects

_TABLES = "SELECT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY table_oid"
_CONSTRAINTS = """SELECT constraint_type, table_name, constraint_column_names, referenced_table,
referenced_column_names FROM duckdb_constraints() ORDER BY table_oid, constraint_index"""


@dataclass(frozen=True)
class DatabaseTables:
    """The tables, and the keys of one column: those of tables, and those that point to others."""

    sources: dict[str, Source]
    primary: dict[str, str]  # table to column
    foreign: dict[tuple[str, str], tuple[str, str]]  # (table, column) to (table, column)


def database_tables(path: Path) -> DatabaseTables:
    """Open the tables of a DuckDB file, which is not changed; columns are read on demand.

    Columns of nested or binary types are left out.
    """
    duckdb = optional("duckdb")
    try:
        connection = duckdb.connect(str(path), read_only=True, config=OFFLINE)
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{path}: not a readable DuckDB database: {reason}") from None
    names = [name for (name,) in connection.execute(_TABLES).fetchall()]
    primary: dict[str, str] = {}
    foreign: dict[tuple[str, str], tuple[str, str]] = {}
    for kind, table, columns, other, others in connection.execute(_CONSTRAINTS).fetchall():
        if len(columns) == 1 and kind == "PRIMARY KEY":
            primary[table] = columns[0]
        if len(columns) == 1 and kind == "FOREIGN KEY":
            foreign[table, columns[0]] = (other, others[0])
    sources = {name: _source(connection, name, str(path)) for name in names}
    return DatabaseTables(sources, primary, foreign)


def _source(connection: Any, table: str, path: str) -> Source:
    name = _quote_name(table)
    described = connection.execute(f"DESCRIBE SELECT * FROM {name}").fetchall()
    types = {row[0]: row[1] for row in described if write_selection(row[1], "", "any") is not None}
    names = tuple(types)
    ((n_rows,),) = connection.execute(f"SELECT count(*) FROM {name}").fetchall()

    def load(position: int, wanted: Wanted) -> Raw:
        column = names[position]
        text = write_selection(types[column], _quote_name(column), wanted)
        found = connection.execute(f"SELECT {text} AS c FROM {name}").fetchnumpy()
        values = unmask(found["c"])
        whole = wanted == "labels" and WHOLE_DECIMAL.fullmatch(types[column])
        return Raw(as_objects(v and int(v) for v in values) if whole else values)

    return Source(names, True, n_rows, load, f"{path}, table {table}")


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
