"""One table of several: its columns as they were read, and those that are keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

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
        found = tuple(self.column(schema.name) for schema in schemas)
        if not schemas:
            return ()
        try:
            return recode(Table(found, True, self.n_rows), Schema(schemas, True)).columns
        except DataError as error:
            raise DataError(f"Table {self.name!r}: {error}") from None

    def take(self, rows: NDArray[np.integer]) -> TableData:
        """Return some rows."""
        columns = {
            name: replace(column, values=column.values[rows])
            for name, column in self.columns.items()
        }
        keys = {name: key.take(rows) for name, key in self.keys.items()}
        return TableData(self.name, len(rows), columns, keys)


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
    return TableData(name, source.n_rows, dict(zip(features, columns, strict=True)), values)
