"""Tables from dataframes, from the files of a folder, or from a DuckDB database."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rulewright.data import READERS, DatabaseTables, DataError, database_tables, open_table

_DATABASES = (".duckdb", ".db", ".ddb")


def open_tables(tables: Any) -> DatabaseTables:
    """Open all tables, and read the keys that a database declares."""
    if isinstance(tables, str | os.PathLike):
        found = _of_path(Path(tables))
    elif isinstance(tables, Mapping):
        found = DatabaseTables({name: _open(name, X) for name, X in tables.items()}, {}, {})
    else:
        raise DataError(
            "tables must be a dict from names to dataframes or files, a folder or a DuckDB file, "
            f"not {type(tables).__name__}."
        )
    if not found.sources:
        raise DataError(f"There is no table in {tables!r:.80}. Name the tables to relate.")
    return found


def _of_path(path: Path) -> DatabaseTables:
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in READERS)
        names = [file.stem for file in files]
        if twice := sorted(name for name in set(names) if names.count(name) > 1):
            raise DataError(f"{path}: several files are called {twice[0]!r}. Rename all but one.")
        opened = {file.stem: _open(file.stem, file) for file in files}
        return DatabaseTables(opened, {}, {})
    if not path.exists():
        raise DataError(f"{path}: there is no such folder or file. Check the path.")
    if path.suffix.lower() not in _DATABASES:
        known = ", ".join(_DATABASES)
        raise DataError(f"{path}: give a folder of files, or a DuckDB database ({known}).")
    return database_tables(path)


def _open(name: str, X: Any) -> Any:
    try:
        return open_table(X)
    except DataError as error:
        raise DataError(f"Table {name!r}: {error}") from None
