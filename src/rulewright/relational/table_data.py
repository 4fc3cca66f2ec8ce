"""Tables from dataframes, files or a DuckDB database: their columns and keys."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rulewright.data import (
    READERS,
    DatabaseTables,
    DataError,
    Schema,
    Table,
    database_tables,
    open_table,
    read_columns,
    recode,
)
from rulewright.relational.keys import KeyValues, key_of_column, read_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rulewright.data import Column, ColumnSchema, Source


_DATABASES = (".duckdb", ".db", ".ddb")


def open_tables(tables: Any) -> DatabaseTables:
    """Open all tables, and read the keys declared in a database."""
    if isinstance(tables, str | os.PathLike):
        found = _of_path(Path(tables))
    elif isinstance(tables, Mapping):
        found = DatabaseTables({name: _open(name, X) for name, X in tables.items()}, {}, {})
    else:
        raise DataError(
            "tables must be a dict of dataframes or files, a folder or a DuckDB file, "
            f"not {type(tables).__name__}."
        )
    if not found.sources:
        raise DataError(f"There is no table in {tables!r:.80}. Pass the tables to relate.")
    return found


def _of_path(path: Path) -> DatabaseTables:
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in READERS)
        names = [file.stem for file in files]
        if twice := sorted(name for name in set(names) if names.count(name) > 1):
            raise DataError(
                f"{path}: several files have the name {twice[0]!r}. Rename all but one."
            )
        opened = {file.stem: _open(file.stem, file) for file in files}
        return DatabaseTables(opened, {}, {})
    if not path.exists():
        raise DataError(f"{path}: there is no such folder or file. Check the path.")
    if path.suffix.lower() not in _DATABASES:
        known = ", ".join(_DATABASES)
        raise DataError(f"{path}: pass a folder of files, or a DuckDB database ({known}).")
    return database_tables(path)


def _open(name: str, X: Any) -> Any:
    try:
        return open_table(X)
    except DataError as error:
        raise DataError(f"Table {name!r}: {error}") from None


@dataclass(frozen=True, eq=False)
class TableData:
    """The rows of a table; keys are not features."""

    name: str
    n_rows: int
    columns: Mapping[str, Column]
    keys: Mapping[str, KeyValues]
    source: Source | None = None  # to read columns as another kind; not pickled
    rows: NDArray[np.integer] | None = None  # rows of the source, if not all
    names: tuple[str, ...] = ()  # keys and columns, in the order of the table

    def key(self, name: str) -> KeyValues:
        """Return the values of a key, declared or not."""
        if name in self.keys:
            return self.keys[name]
        return key_of_column(f"{self.name}.{name}", self.column(name))

    def column(self, name: str) -> Column:
        """Return a column as it was read."""
        if name not in self.columns:
            role = "a key" if name in self.keys else "none of its columns"
            known = ", ".join(map(repr, [*self.columns][:20])) or "none"
            raise DataError(
                f"Column {name!r} of table {self.name!r} is required, but is {role}. Its columns "
                f"are: {known}."
            )
        return self.columns[name]

    def like(self, wanted: Iterable[ColumnSchema]) -> tuple[Column, ...]:
        """Return columns with the given kinds and labels; other labels are unseen."""
        schemas = tuple(wanted)
        if not schemas:
            return ()
        try:
            found = tuple(map(self._as_kind, schemas))
            return recode(Table(found, True, self.n_rows), Schema(schemas, True)).columns
        except DataError as error:
            raise DataError(f"Table {self.name!r}: {error}") from None

    def _as_kind(self, schema: ColumnSchema) -> Column:
        """Return a column, reread if its inferred kind differs: 007 may be a label."""
        column, source = self.column(schema.name), self.source
        same = (column.schema.kind, column.schema.label_type) == (schema.kind, schema.label_type)
        if same or source is None:
            return column
        raw = source.load(source.positions[schema.name], schema.type.wanted(schema))
        read = schema.type.read_like(schema, raw)
        return read if self.rows is None else replace(read, values=read.values[self.rows])

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"source": None}

    def take(self, rows: NDArray[np.integer]) -> TableData:
        """Return some rows."""
        columns = {
            name: replace(column, values=column.values[rows])
            for name, column in self.columns.items()
        }
        keys = {name: key.take(rows) for name, key in self.keys.items()}
        places = rows if self.rows is None else self.rows[rows]
        return TableData(self.name, len(rows), columns, keys, self.source, places, self.names)


def read_related(
    name: str,
    source: Source,
    keys: Iterable[str],
    left_out: Collection[str],
    kinds: Mapping[str, list[str]],
) -> TableData:
    """Read the columns of a table once; errors name the table."""
    try:
        values = {
            key: read_key(f"{name}.{key}", source.load(source.positions[key], "labels"))
            for key in keys
        }
        features = [one for one in source.names if one not in values and one not in left_out]
        columns = read_columns(source, features, **kinds)
    except DataError as error:
        raise DataError(f"Table {name!r}: {error}") from None
    read = dict(zip(features, columns, strict=True))
    names = tuple(one for one in source.names if one in values or one in read)
    return TableData(name, source.n_rows, read, values, source, names=names)
