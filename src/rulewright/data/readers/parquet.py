"""Parquet files, through DuckDB."""

import re
from typing import Any

from rulewright.data.errors import DataError
from rulewright.data.readers.database import connect, fetch, quoted_path, run
from rulewright.data.readers.opened import OpenedFile
from rulewright.data.source import Raw, Source, Wanted

_NUMBERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|\"NULL\"")
_DATES = re.compile(r"DATE|TIMESTAMP(_S|_MS|_NS)?")


def parquet_source(file: OpenedFile) -> Source:
    """Open a Parquet file; columns are read when they are loaded."""
    if not file.head.startswith(b"PAR1"):
        raise DataError(f"{file}: this is no Parquet file. Give it the extension of its format.")
    connection, table = connect(), f"read_parquet({quoted_path(file.path)})"
    where, kind = str(file), "Parquet"
    described = run(connection, f"DESCRIBE SELECT * FROM {table}", where, kind).fetchall()
    types = [row[1] for row in described]
    names = _names(connection, file)
    # DuckDB's names are case-insensitive and need quotes, positions are neither
    aliases = ", ".join(f"c{at}" for at in range(len(types)))
    view = f"CREATE VIEW t AS SELECT * FROM {table} AS t({aliases})"
    run(connection, view, where, kind).fetchall()
    n_rows = run(connection, "SELECT count(*) FROM t", where, kind).fetchall()[0][0]

    def load(position: int, wanted: Wanted) -> Raw:
        selected = _selected(file, names[position], types[position], f"c{position}", wanted)
        return Raw(fetch(connection, f"SELECT {selected} AS v FROM t", where, kind))

    return Source(names, True, n_rows, load)


def _names(connection: Any, file: OpenedFile) -> tuple[str, ...]:
    query = f"SELECT name, num_children FROM parquet_schema({quoted_path(file.path)})"
    rows = run(connection, query, str(file), "Parquet").fetchall()
    names: list[str] = []
    pending = 0  # descendants of a nested column that are still to come
    for name, children in rows[1:]:
        if pending == 0:
            names.append(name)
        else:
            pending -= 1
        pending += children or 0
    return tuple(names)


def _selected(file: OpenedFile, name: str, type_: str, alias: str, wanted: Wanted) -> str:
    if type_ in ("BOOLEAN", "VARCHAR"):
        return alias
    if _NUMBERS.fullmatch(type_):
        return alias if type_.endswith(("INT", "INTEGER")) else f"{alias}::DOUBLE"
    if type_.startswith("ENUM") or wanted == "text":
        return f"{alias}::VARCHAR"
    if _DATES.fullmatch(type_):
        return alias
    raise DataError(
        f"{file}: column {name!r} holds {type_} values. Store it as numbers or text, or drop it."
    )
