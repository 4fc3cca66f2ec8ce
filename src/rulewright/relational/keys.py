"""Keys: which columns of which tables hold the same things, and values that can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from rulewright.data import LARGEST_EXACT, DataError, convert_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from rulewright.data import Column, Raw

KeyKind = Literal["whole numbers", "text"]


class ColumnPlace(NamedTuple):
    """A column of a table."""

    table: str
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


class Link(NamedTuple):
    """A foreign key: values of a column of many rows are found in a column of another table."""

    child: ColumnPlace
    parent: ColumnPlace

    def __str__(self) -> str:
        return f"{self.child} -> {self.parent}"


@dataclass(frozen=True, eq=False)
class KeyValues:
    """The values of a key: int64, or objects that are text; missing ones are marked."""

    values: NDArray[Any]
    missing: NDArray[np.bool_]
    kind: KeyKind | None  # None if all are missing

    def take(self, rows: NDArray[np.integer]) -> KeyValues:
        """Return the values of some rows."""
        return KeyValues(self.values[rows], self.missing[rows], self.kind)

    def as_column(self, kind: KeyKind | None) -> NDArray[Any]:
        """Return the values as a database takes them, of the kind of those they are joined with."""
        if self.kind is None and kind == "text":
            return np.full(len(self.values), None, dtype=object)
        if self.kind == "text":
            return self.values
        masked: NDArray[Any] = np.ma.MaskedArray(self.values, self.missing)
        return masked if self.missing.any() else self.values

    @property
    def distinct(self) -> set[Any]:
        """The different known values."""
        return set(self.values[~self.missing].tolist())


def read_key(where: str, raw: Raw) -> KeyValues:
    """Read the values of a key, which must be whole numbers or text."""
    values, type_ = (found := convert_values(where, raw)).values, found.type
    if values.dtype.kind in "iu":
        return _whole(values.astype(np.int64), np.zeros(len(values), dtype=bool))
    if values.dtype.kind == "f":
        missing = np.isnan(values)
        return _whole(_checked_whole(where, np.where(missing, 0.0, values)), missing)
    missing = np.array([value is None or value != value for value in values], dtype=bool)
    known = values[~missing]
    if type_ == "boolean" and len(known):
        raise DataError(f"Key {where} holds Booleans. Keys are whole numbers or text.")
    if type_ == "number" or not len(known):
        numbers = np.zeros(len(values), dtype=np.int64)
        numbers[~missing] = [_whole_number(where, value) for value in known]
        return _whole(numbers, missing)
    text = values.astype(object)
    text[missing] = None
    return KeyValues(text, missing, "text")


def key_of_column(where: str, column: Column) -> KeyValues:
    """Return the values of a column that was read as a feature as those of a key."""
    if column.schema.kind == "date":
        raise DataError(f"Key {where} holds dates. Keys are whole numbers or text.")
    values = column.values
    if column.schema.kind == "numeric":
        known = values[~np.isnan(values)]
        if len(known) and np.abs(known).max() > LARGEST_EXACT:
            raise DataError(f"Key {where} holds numbers that floats cannot tell: declare the key.")
    return read_key(where, column.schema.type.raw(column))


def check_same_kind(link: Link, child: KeyValues, parent: KeyValues) -> None:
    """Refuse keys that can never be equal because one holds text and the other numbers."""
    if child.kind is None or parent.kind is None or child.kind == parent.kind:
        return
    raise DataError(
        f"The key types differ: {link.child} holds {child.kind}, {link.parent} holds "
        f"{parent.kind}. Convert one of them."
    )


def check_identifies(place: ColumnPlace, key: KeyValues) -> None:
    """Refuse a key of the instance table that is missing or occurs twice."""
    if key.missing.any():
        row = int(key.missing.argmax())
        raise DataError(
            f"Row {row} (counting from 0) of table {place.table!r} has no {place.column!r}, which "
            "identifies its rows. Fill it in, or leave the row out."
        )
    found, counts = np.unique(key.values.astype(object), return_counts=True)
    if len(found) < len(key.values):
        value = found[int((counts > 1).argmax())]
        raise DataError(
            f"The key {value!r} is that of {counts.max()} rows of table {place.table!r}, but "
            f"{place.column!r} must identify its rows. Remove duplicates, or name another key."
        )


def declared_links(
    keys: Mapping[str, str],
    columns: Mapping[str, tuple[str, ...]],
    instance_key: ColumnPlace | None,
) -> Iterator[Link]:
    """Read ``{"atoms": "molecule"}`` and ``{"atoms.molecule": "molecules.id"}``."""
    for child, parent in keys.items():
        if child in columns:
            if instance_key is None:
                raise DataError(
                    f"keys={{{child!r}: {parent!r}}} is about the instance table: name its key."
                )
            yield Link(check_place(child, parent, columns), instance_key)
        else:
            yield Link(read_place(child, columns), read_place(parent, columns))


def read_place(text: str, columns: Mapping[str, tuple[str, ...]]) -> ColumnPlace:
    """Read ``table.column``, of which either may have dots."""
    dots = [at for at, character in enumerate(text) if character == "."]
    for at in dots:
        table, column = text[:at], text[at + 1 :]
        if column in columns.get(table, ()):
            return ColumnPlace(table, column)
    table, _, column = text.partition(".")
    return check_place(table, column, columns)


def check_table(table: str, columns: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse a table that there is not."""
    if table not in columns:
        known = ", ".join(map(repr, columns))
        raise DataError(f"There is no table {table!r}. The tables are: {known}.")


def check_place(table: str, column: str, columns: Mapping[str, tuple[str, ...]]) -> ColumnPlace:
    """Return a column of a table, or refuse it if there is none."""
    check_table(table, columns)
    if column not in columns[table]:
        known = ", ".join(map(repr, columns[table][:20]))
        raise DataError(f"Table {table!r} has no column {column!r}. Its columns are: {known}.")
    return ColumnPlace(table, column)


def _whole(values: NDArray[Any], missing: NDArray[np.bool_]) -> KeyValues:
    return KeyValues(values, missing, None if missing.all() else "whole numbers")


def _checked_whole(where: str, values: NDArray[np.float64]) -> NDArray[np.int64]:
    wrong = values != np.trunc(values)
    if wrong.any():
        _whole_number(where, values[int(wrong.argmax())])
    return values.astype(np.int64)


def _whole_number(where: str, value: Any) -> int:
    if int(value) != value or not -(2**63) <= value < 2**63:
        raise DataError(f"Key {where} holds {value}. Keys are whole numbers or text.")
    return int(value)
