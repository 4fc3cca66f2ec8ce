"""The one entry for data: any table in, a checked Table out."""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rulewright.data.columns import column_like, make_column
from rulewright.data.errors import DataError
from rulewright.data.readers.arrays import array_source, dict_source
from rulewright.data.readers.files import file_source
from rulewright.data.readers.frames import frame_source
from rulewright.data.schema import ColumnSchema, Kind, Schema, check_distinct
from rulewright.data.source import Source, Wanted
from rulewright.data.table import Table
from rulewright.data.target import read_target, read_weights, target_of, weights_of

ColumnChoice = str | int | Iterable[str | int] | None


def read_table(
    X: Any,
    *,
    target: Any = None,
    nominal: ColumnChoice = None,
    numeric: ColumnChoice = None,
    weights: Any = None,
) -> Table:
    """
    Read a table and find out its schema.

    Parameters
    ----------
    X : array, dataframe, dict of columns, path of a file or Table
        NumPy (numeric, object, structured), nested lists, any dataframe that narwhals knows, or
        a CSV, TSV, Parquet, JSON lines or ARFF file, gzipped or not. A Table keeps its target and
        weights unless others are given.
    target : str or array-like, optional
        Name of the column with the classes, which is then no feature, or the classes.
    nominal, numeric : list of names or positions, optional
        Columns of X whose kind differs from the inferred one.
    weights : str or array-like, optional
        Name of the column with the weights, which is then no feature, or the weights.

    Returns
    -------
    Table
        The checked table.
    """
    if isinstance(X, Table):
        return _reread(X, target, weights, recast=nominal is not None or numeric is not None)
    source = _open(X)
    kinds = _kinds(source, nominal, numeric)
    target_at = _position(source, target, "target") if isinstance(target, str) else None
    weights_at = _position(source, weights, "weights") if isinstance(weights, str) else None
    features = [at for at in range(len(source.names)) if at not in (target_at, weights_at)]
    _check_shape(source.n_rows, len(features))
    if target_at is not None:
        target = target_of(source.load(target_at, "labels"), f"column {target!r}", source.path)
    elif target is not None:
        target = read_target(target, source.n_rows)
    if weights_at is not None:
        weights = weights_of(source.load(weights_at, "any"), f"column {weights!r}")
    elif weights is not None:
        weights = read_weights(weights, source.n_rows)
    columns = tuple(
        make_column(source.names[at], source.load(at, _wanted(kinds.get(at))), kinds.get(at))
        for at in features
    )
    return Table(columns, source.named, source.n_rows, target, weights)


def read_like(X: Any, schema: Schema, needed: Collection[str] | None = None) -> Table:
    """
    Read new data against a known schema.

    Parameters
    ----------
    X : array, dataframe, dict of columns or path of a file
        The data. Columns are matched by name when X and the schema have names, in any order and
        with others between them; else by position.
    schema : Schema
        The schema found when the model was learned.
    needed : collection of str, optional
        Names of the columns to read; the others may be absent. All by default.

    Returns
    -------
    Table
        The needed columns in the order of the schema; labels that the schema does not know
        have the code -2.
    """
    source = _open(X)
    unknown = sorted(set(needed or ()) - set(schema.names))
    if unknown:
        raise DataError(f"The schema has no column {unknown[0]!r}.")
    wanted = [column for column in schema if needed is None or column.name in needed]
    positions = _matched(source, schema, wanted)
    _check_shape(source.n_rows, len(source.names))
    columns = tuple(
        column_like(column, source.load(at, _wanted(column.kind, column.label_type)))
        for column, at in zip(wanted, positions, strict=True)
    )
    return Table(columns, schema.named, source.n_rows)


def _reread(table: Table, target: Any, weights: Any, *, recast: bool) -> Table:
    if isinstance(target, str) or isinstance(weights, str) or recast:
        raise DataError(
            "The columns of a Table have their roles and kinds already: name target, weights, "
            "nominal and numeric columns when it is read."
        )
    _check_shape(table.n_rows, len(table.columns))
    target = table.target if target is None else read_target(target, table.n_rows)
    weights = table.weights if weights is None else weights
    if weights is not None:  # the rows that were taken from a table may weigh nothing
        weights = read_weights(weights, table.n_rows)
    return replace(table, target=target, weights=weights)


def _open(X: Any) -> Source:
    source = _source(X)
    check_distinct(source.names)
    return source


def _source(X: Any) -> Source:
    if isinstance(X, np.ndarray | list | tuple):
        return array_source(X)
    if isinstance(X, str | os.PathLike):
        return file_source(os.fsdecode(X))
    # SciPy's dok matrix is a dict too
    if isinstance(X, Mapping) and not hasattr(X, "toarray"):
        return dict_source(X)
    return frame_source(X) or array_source(X)


def _matched(source: Source, schema: Schema, wanted: list[ColumnSchema]) -> list[int]:
    title = source.path or "X"
    if not (source.named and schema.named):
        if len(source.names) != len(schema):
            raise DataError(
                f"{title} has {len(source.names)} features, but RuleModel is expecting "
                f"{len(schema)} features as input."
            )
        return [schema.index(column.name) for column in wanted]
    positions = {name: at for at, name in enumerate(source.names)}
    absent = [column.name for column in wanted if column.name not in positions]
    if absent:
        listed = ", ".join(repr(name) for name in absent)
        raise DataError(
            f"{title} lacks {'columns' if len(absent) > 1 else 'column'} {listed}, which the model "
            f"needs. Its columns are: {', '.join(map(repr, source.names[:20]))}."
        )
    return [positions[column.name] for column in wanted]


def _wanted(kind: Kind | None, label_type: str = "number") -> Wanted:
    if kind != "nominal":
        return "any"
    return "text" if label_type == "string" else "labels"


def _kinds(source: Source, nominal: ColumnChoice, numeric: ColumnChoice) -> dict[int, Kind]:
    chosen: dict[int, Kind] = dict.fromkeys(_positions(source, nominal, "nominal"), "nominal")
    for at in _positions(source, numeric, "numeric"):
        if at in chosen:
            raise DataError(f"Column {source.names[at]!r} is named both nominal and numeric.")
        chosen[at] = "numeric"
    return chosen


def _positions(source: Source, choice: ColumnChoice, option: str) -> list[int]:
    if choice is None:
        return []
    try:
        listed = [choice] if isinstance(choice, str | int) else list(choice)
    except TypeError:
        raise DataError(f"{option}: expected a list of columns, got {choice!r:.60}.") from None
    return [_position(source, column, option) for column in listed]


def _position(source: Source, column: str | int, option: str) -> int:
    n_columns = len(source.names)
    if isinstance(column, str):
        if column in source.names:
            return source.names.index(column)
        known = ", ".join(map(repr, source.names[:20]))
        raise DataError(f"{option}={column!r}: there is no such column. The columns are: {known}.")
    if isinstance(column, bool | np.bool_) or not isinstance(column, int | np.integer):
        raise DataError(f"{option}: columns are given by name or position, got {column!r}.")
    if not -n_columns <= column < n_columns:
        raise DataError(f"{option}={column}: there are only {n_columns} columns.")
    return int(column) % n_columns


def _check_shape(n_rows: int, n_columns: int) -> None:
    for found, what in ((n_rows, "sample(s)"), (n_columns, "feature(s)")):
        if found == 0:
            raise DataError(
                f"Found array with 0 {what} (shape=({n_rows}, {n_columns})) while a minimum of 1 "
                "is required."
            )
