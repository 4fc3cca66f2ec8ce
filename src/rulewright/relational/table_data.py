"""One table of several: its columns as they were read, and those that are keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rulewright.data import DataError, Schema, Table, read_columns, recode
from rulewright.relational.keys import KeyValues, key_of_column, read_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from rulewright.data import Column, ColumnSchema, Source


@dataclass(frozen=True, eq=False)
class TableData:
    """The rows of a table; keys are no features."""

    name: str
    n_rows: int
    columns: Mapping[str, Column]
    keys: Mapping[str, KeyValues]
    source: Source | None = None  # to read columns as another kind; not pickled
    rows: NDArray[np.integer] | None = None  # of the source, if not all
    names: tuple[str, ...] = ()  # of keys and columns, as they stand in the table

    def key(self, name: str) -> KeyValues:
        """Return the values of a key, which need not have been declared."""
        if name in self.keys:
            return self.keys[name]
        return key_of_column(f"{self.name}.{name}", self.column(name))

    def column(self, name: str) -> Column:
        """Return a column as it was read."""
        if name not in self.columns:
            role = "a key" if name in self.keys else "none of its columns"
            known = ", ".join(map(repr, [*self.columns][:20])) or "none"
            raise DataError(
                f"Column {name!r} of table {self.name!r} is needed, but it is {role}. Its columns "
                f"are: {known}."
            )
        return self.columns[name]

    def like(self, wanted: Iterable[ColumnSchema]) -> tuple[Column, ...]:
        """Return columns with given kinds and labels; other labels are unseen."""
        schemas = tuple(wanted)
        if not schemas:
            return ()
        try:
            found = tuple(map(self._as_kind, schemas))
            return recode(Table(found, True, self.n_rows), Schema(schemas, True)).columns
        except DataError as error:
            raise DataError(f"Table {self.name!r}: {error}") from None

    def _as_kind(self, schema: ColumnSchema) -> Column:
        """Return a column, read anew if it was taken for another kind: 007 may be a label."""
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
