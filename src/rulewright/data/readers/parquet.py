"""Parquet files, through DuckDB."""

import re

from rulewright.data.errors import DataError
from rulewright.data.readers.database import FileDatabase
from rulewright.data.readers.opened import OpenedFile
from rulewright.data.source import Raw, Source, Wanted

_NUMBERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|\"NULL\"")
_DATES = re.compile(r"DATE|TIMESTAMP(_S|_MS|_NS)?")


def parquet_source(file: OpenedFile) -> Source:
    """Open a Parquet file; columns are read when they are loaded."""
    if not file.head.startswith(b"PAR1"):
        raise DataError(f"{file}: this is no Parquet file. Give it the extension of its format.")
    database = FileDatabase(file, "Parquet")
    table = f"read_parquet({database.path})"
    types = [row[1] for row in database.rows(f"DESCRIBE SELECT * FROM {table}")]
    names = _names(database)
    # DuckDB's names are case-insensitive and need quotes, positions are neither
    aliases = ", ".join(f"c{at}" for at in range(len(types)))
    database.rows(f"CREATE VIEW t AS SELECT * FROM {table} AS t({aliases})")
    n_rows = database.rows("SELECT count(*) FROM t")[0][0]

    def load(position: int, wanted: Wanted) -> Raw:
        selected = _selected(file, names[position], types[position], f"c{position}", wanted)
        return Raw(database.column(f"SELECT {selected} AS v FROM t"))

    return Source(names, True, n_rows, load)


def _names(database: FileDatabase) -> tuple[str, ...]:
    rows = database.rows(f"SELECT name, num_children FROM parquet_schema({database.path})")
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
