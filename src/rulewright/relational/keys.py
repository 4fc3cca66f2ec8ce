"""Keys: columns that refer to the same things, comparable values, and proposed links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from rulewright.data import (
    LARGEST_EXACT,
    Column,
    DataError,
    Raw,
    Source,
    convert_values,
    offer_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray


KeyKind = Literal["whole numbers", "text"]


class ColumnPlace(NamedTuple):
    """A column of a table."""

    table: str
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


class Link(NamedTuple):
    """A foreign key: values of a column are found in a column of another table."""

    child: ColumnPlace
    parent: ColumnPlace

    def __str__(self) -> str:
        return f"{self.child} -> {self.parent}"


@dataclass(frozen=True, eq=False)
class KeyValues:
    """The values of a key: int64 or text objects; missing ones are marked."""

    values: NDArray[Any]
    missing: NDArray[np.bool_]
    kind: KeyKind | None  # None if all are missing

    def take(self, rows: NDArray[np.integer]) -> KeyValues:
        """Return the values of some rows."""
        return KeyValues(self.values[rows], self.missing[rows], self.kind)

    def as_column(self, kind: KeyKind | None) -> NDArray[Any]:
        """Return the values for a database, with the kind of the key they are joined with."""
        if self.kind is None and kind == "text":
            return np.full(len(self.values), None, dtype=object)
        if self.kind == "text":
            return self.values
        masked: NDArray[Any] = np.ma.MaskedArray(self.values, self.missing)
        return masked if self.missing.any() else self.values

    @property
    def distinct(self) -> set[Any]:
        """The distinct known values."""
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
    """Return the values of a feature column as a key."""
    if column.schema.kind == "date":
        raise DataError(f"Key {where} holds dates. Keys are whole numbers or text.")
    values = column.values
    if column.schema.kind == "numeric":
        known = values[~np.isnan(values)]
        if len(known) and np.abs(known).max() > LARGEST_EXACT:
            raise DataError(f"Key {where} has numbers too large for floats: declare the key.")
    return read_key(where, column.schema.type.raw(column))


def check_same_kind(link: Link, child: KeyValues, parent: KeyValues) -> None:
    """Reject keys that can never be equal because one holds text and the other one numbers."""
    if child.kind is None or parent.kind is None or child.kind == parent.kind:
        return
    raise DataError(
        f"The key types differ: {link.child} holds {child.kind}, {link.parent} holds "
        f"{parent.kind}. Convert one of them."
    )


def find_strangers(link: Link, child: KeyValues, parent: KeyValues) -> str | None:
    """Return a warning if hardly any value of a key is found in the other column."""
    ours, theirs = child.distinct, parent.distinct
    found, fewest = len(ours & theirs), min(len(ours), len(theirs))
    if found >= _LEAST_FOUND * fewest:
        return None
    text = f"{link}: only {found} of {len(ours):,} values are found, so few rows are related."
    if (
        child.kind == parent.kind == "text"
        and len(_without_zeros(ours) & _without_zeros(theirs)) > found
    ):
        return f"{text} More would be without leading zeros: write both columns alike."
    example = min(ours - theirs, key=str)
    return f"{text} {example!r} is not. Check that both columns are written alike."


def _without_zeros(texts: set[str]) -> set[str]:
    return {text.lstrip("0") for text in texts}


def check_identifies(place: ColumnPlace, key: KeyValues) -> None:
    """Reject a key of the instance table with missing values or duplicates."""
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
            f"The key {value!r} occurs in {counts.max()} rows of table {place.table!r}, but "
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
                    f"keys={{{child!r}: {parent!r}}} refers to the instance table: use key instead."
                )
            yield Link(check_place(child, parent, columns), instance_key)
        else:
            yield Link(read_place(child, columns), read_place(parent, columns))


def read_place(text: str, columns: Mapping[str, tuple[str, ...]]) -> ColumnPlace:
    """Read ``table.column``; both names may contain dots."""
    dots = [at for at, character in enumerate(text) if character == "."]
    for at in dots:
        table, column = text[:at], text[at + 1 :]
        if column in columns.get(table, ()):
            return ColumnPlace(table, column)
    table, _, column = text.partition(".")
    return check_place(table, column, columns)


def check_table(table: str, columns: Mapping[str, tuple[str, ...]]) -> None:
    """Reject a table that does not exist."""
    if table not in columns:
        raise DataError(
            f"There is no table {table!r}. {offer_names(table, [*columns], 'The tables are')}"
        )


def check_place(table: str, column: str, columns: Mapping[str, tuple[str, ...]]) -> ColumnPlace:
    """Return a column of a table, or raise an error if it does not exist."""
    check_table(table, columns)
    if column not in columns[table]:
        offer = offer_names(column, columns[table], "Its columns are")
        raise DataError(f"Table {table!r} has no column {column!r}. {offer}")
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


_LEAST_COVERED, _LEAST_FOUND = 0.5, 0.1
_EVERYWHERE = {"id", "key", "no", "nr", "number", "code", "name"}
"""Column names that are not specific to a table."""


@dataclass(frozen=True)
class Proposal:
    """A foreign key that the values allow; it is used only if declared."""

    link: Link
    covered: float  # share of the known values that exist in the other column
    n_values: int  # number of distinct known values
    named: bool  # whether the column name refers to the other table or column

    def __str__(self) -> str:
        names = ", names agree" if self.named else ""
        return f"{self.link}: {self.covered:.1%} of {self.n_values} values found{names}"


class Proposals(tuple[Proposal, ...]):
    """Proposals, most plausible first."""

    __slots__ = ()

    def __str__(self) -> str:
        lines = [f"  {proposal}" for proposal in self]
        return "\n".join(["proposed keys; declare the correct ones:", *lines])

    __repr__ = __str__


def propose(sources: Mapping[str, Source]) -> Proposals:
    """Compare the values of all columns that may be keys."""
    keys = {
        ColumnPlace(table, column): key
        for table, source in sources.items()
        for at, column in enumerate(source.names)
        if (key := _as_key(source, at, f"{table}.{column}")) is not None
    }
    distinct = {place: key.distinct for place, key in keys.items()}
    parents = [
        place
        for place, key in keys.items()
        if len(distinct[place]) == len(key.values) > 0 and not key.missing.any()
    ]
    found = []
    for child, key in keys.items():
        for parent in parents:
            if child.table == parent.table or key.kind != keys[parent].kind:
                continue
            covered = len(distinct[child] & distinct[parent]) / max(len(distinct[child]), 1)
            named = _names_agree(child, parent)
            # Integers of any column also occur in columns of row numbers.
            if covered >= _LEAST_COVERED and (named or key.kind == "text"):
                link = Link(child, parent)
                found.append(Proposal(link, covered, len(distinct[child]), named))
    return Proposals(sorted(found, key=lambda one: (not one.named, -one.covered)))


def _as_key(source: Source, at: int, where: str) -> KeyValues | None:
    try:
        key = read_key(where, source.load(at, "labels"))
    except DataError:  # fractions, Booleans, dates
        return None
    return None if key.kind is None else key


def _names_agree(child: ColumnPlace, parent: ColumnPlace) -> bool:
    column, table = child.column.lower(), parent.table.lower()
    if column == parent.column.lower() and column not in _EVERYWHERE:
        return True
    return any(len(word) > 1 and word in column for word in (table, table.removesuffix("s")))
