"""Read the same random table through every reader: the tables must be equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl

from attack import tables
from attack.attempts import Outcome, told
from attack.randoms import chance, pick
from rulewright.data import Table, read_like, read_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from attack.randoms import Rng
    from attack.tables import Columns

_FOLDER_UNSAFE = str.maketrans({"/": "_", "\0": "_"})


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """Compare what every reader makes of a table with what the dict of columns gives.

    What the dict gives is compared with the values themselves.
    """
    for _ in range(4):
        table = tables.columns(rng)
        nominal = [at for at in range(len(table)) if chance(rng, 0.15)]
        expected = read_table(table, nominal=nominal)
        yield _misread(expected, table)
        for name, source in _sources(rng, folder, table):
            difference = _difference(name, source, expected, nominal)
            yield difference and f"{name}: {difference}\nnominal={nominal}, {table!r:.500}"


def _misread(found: Table, table: Columns) -> Outcome:
    """Say which column of a dict is not what it holds, by the plainest reading."""
    for column, values in zip(found.columns, table.values(), strict=True):
        if column.schema.kind == "numeric":
            right: list[Any] = [np.nan if v is None else float(v) for v in values]
        else:
            right = ["missing" if value is None else _label(value) for value in values]
        if not np.array_equal(_values(column), right, equal_nan=column.schema.kind == "numeric"):
            return f"dict: {column.schema.name!r} is {_values(column)[:8]} and not {right[:8]}"
    return None


def _label(value: Any) -> str:
    if isinstance(value, str | bool):
        return str(value) if isinstance(value, str) else str(value).lower()
    return str(int(value)) if value == int(value) else repr(value)


def _sources(rng: Rng, folder: Path, table: Columns) -> Iterator[tuple[str, Any]]:
    yield "arrow", tables.arrow(table)
    yield "pandas", pd.DataFrame({name: _series(values) for name, values in table.items()})
    yield "polars", pl.from_arrow(tables.arrow(table))
    yield "array", _array(table)
    place = folder
    if chance(rng, 0.3):  # a folder that looks like a partition of a column
        name = pick(rng, list(table)).translate(_FOLDER_UNSAFE)[:40]
        place = folder / f"{name}=5"
        place.mkdir(exist_ok=True)
    for extension in tables.FORMATS:
        yield extension, tables.write(place, table, extension)


def _series(values: list[Any]) -> Any:
    types = {int: "Int64", bool: "boolean", float: "float64"}
    return pd.Series(values, dtype=types.get(tables.type_of(values), object))


def _array(table: Columns) -> Any:
    if {tables.type_of(values) for values in table.values()} == {float}:
        return np.array([[np.nan if v is None else v for v in row] for row in table.values()]).T
    array = np.empty((len(next(iter(table.values()))), len(table)), dtype=object)
    for at, values in enumerate(table.values()):
        array[:, at] = values
    return array


def _difference(name: str, source: Any, expected: Table, nominal: list[int]) -> Outcome:
    """Say in what a table that is read from a source differs from the expected one."""
    try:
        found = read_table(source, nominal=nominal)
        # an array has no names, and labels that ARFF declares are text
        difference = unequal(found, expected, named=name != "array", typed="arff" not in name)
        return difference or unequal(read_like(source, expected.schema), expected)
    except Exception as error:
        return told(error)


def unequal(found: Table, expected: Table, *, named: bool = True, typed: bool = True) -> str | None:
    """Say in what two tables differ: names, kinds, types of labels, labels or values."""
    if named and found.names != expected.names:
        return f"names {found.names} and not {expected.names}"
    if len(found.columns) != len(expected.columns) or found.n_rows != expected.n_rows:
        return "the shape differs"
    for column, right in zip(found.columns, expected.columns, strict=True):
        ours, theirs = column.schema, right.schema
        if ours.kind != theirs.kind or (typed and ours.label_type != theirs.label_type):
            right_type = f"{theirs.kind} of {theirs.label_type}"
            return f"{theirs.name!r} is {ours.kind} of {ours.label_type}, not {right_type}"
        if set(ours.labels) != set(theirs.labels):
            return f"labels of {theirs.name!r} are {ours.labels} and not {theirs.labels}"
        values, wanted = _values(column), _values(right)
        if not np.array_equal(values, wanted, equal_nan=ours.kind == "numeric"):
            return f"values of {theirs.name!r} are {values[:8]} and not {wanted[:8]}"
    return None


def _values(column: Any) -> Any:
    """Give numbers as they are and labels as text, whatever their codes."""
    if column.schema.kind == "numeric":
        return np.asarray(column.values, dtype=np.float64)
    return np.array([*column.schema.labels, "unseen", "missing"], dtype=object)[column.values]
