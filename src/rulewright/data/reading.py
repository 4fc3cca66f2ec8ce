"""Reading any table into a validated Table."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rulewright.data.chosen_columns import (
    ColumnChoice,
    apply_choices,
    drop_unlabelled_rows,
    position,
    positions,
    read_choices,
    read_date_parts,
)
from rulewright.data.errors import DataError, as_options, offer_names, reading_option
from rulewright.data.events import counts_of, read_counts, read_survival, survival_of
from rulewright.data.findings import Finding
from rulewright.data.groups import make_groups, read_groups
from rulewright.data.kind import KINDS
from rulewright.data.kinds import read_column
from rulewright.data.moments import DatePart
from rulewright.data.readers.arrays import (
    array_source,
    dict_source,
    frame_source,
    sparse_source,
    values_of,
)
from rulewright.data.readers.budget import MAX_UNZIPPED_BYTES
from rulewright.data.readers.opened_file import FileOptions
from rulewright.data.schema import ColumnSchema, Derivable, Schema, check_distinct, check_encodable
from rulewright.data.source import Source
from rulewright.data.table import Column, Table
from rulewright.data.target import (
    Numbers,
    Target,
    looks_numeric,
    make_weights,
    numbers_of,
    read_numbers,
    read_target,
    read_weights,
    target_of,
)

Task = Literal["classification", "regression", "counts", "survival"]

_TASKS: Mapping[Task, tuple[Any, Any]] = {
    "classification": (read_target, target_of),
    "regression": (read_numbers, numbers_of),
    "counts": (read_counts, counts_of),
    "survival": (read_survival, survival_of),
}
"""Functions that read the target of a task: as given, or from a column or columns."""

_OF_COLUMNS = ("counts", "survival")
"""Tasks whose target may be several columns: counts and exposure; times, events and entries."""


def read_table(
    X: Any,
    *,
    target: Any = None,
    nominal: ColumnChoice = None,
    numeric: ColumnChoice = None,
    date: ColumnChoice = None,
    date_parts: ColumnChoice = None,
    drop: ColumnChoice = None,
    weights: Any = None,
    groups: Any = None,
    missing: Any = None,
    drop_unlabelled: bool = False,
    task: Task = "classification",
    encoding: str | None = None,
    header: bool | None = None,
    skip_bad_rows: bool = False,
    max_unzipped_bytes: int = MAX_UNZIPPED_BYTES,
) -> Table:
    """
    Read a table and infer its schema.

    Parameters
    ----------
    X : array, dataframe, dict of columns, path of a file, Table or opened table
        NumPy (numeric, object, structured), nested lists, any dataframe supported by narwhals, or a
        CSV, TSV, Parquet, JSON lines, ARFF or Excel file, zipped or not. A Table keeps its
        target and weights unless others are given.
    target : str or array-like, optional
        Name of the target column (classes or numbers), which is then not a feature, or the target
        values.
    nominal, numeric, date : list of names or positions, optional
        Columns of X whose kind differs from the inferred one. For numbers written as text,
        ``income:coerce`` reads other text as missing; ``income:comma`` and ``income:thousands``
        give the meaning of commas. For dates written as text, ``signup:dmy``, ``signup:mdy`` or
        ``signup:ymd`` give the order of day, month and year.
    date_parts : list of names or positions, optional
        Date columns whose parts become columns, too: ``signup`` adds ``month(signup)`` and
        ``weekday(signup)``; ``signup:month``, ``signup:weekday`` and ``signup:hour`` add one part.
        Later tables need the dates only.
    drop : list of names or positions, optional
        Columns of X that are not features and are not read.
    weights : str or array-like, optional
        Name of the column with row weights, which is then not a feature, or the weights.
    groups : str or array-like, optional
        Name of the column with the group of each row, which is then not a feature, or the groups:
        rows of a group belong together, such as the rows of a customer.
    missing : str, number or list, optional
        Codes of missing values besides the usual ones, such as -999, or ``income:-999`` for one
        column. Tables read later with the schema of this one use the same codes.
    drop_unlabelled : bool, default=False
        Drop rows whose target is missing; otherwise they are an error.
    task : {"classification", "regression", "counts", "survival"}
        Whether the target holds classes, numbers, counts or times until an event. Counts may be
        two columns, counts and exposure; times are two or three: time, event and entry.
    encoding : str, optional
        Encoding of a text file; by default UTF-8, or UTF-16 where the file says so.
    header : bool, optional
        Whether the first row of a delimited file or sheet has column names; detected by default.
    skip_bad_rows : bool, default=False
        Skip rows of a text file that cannot be read; otherwise they are an error.
    max_unzipped_bytes : int, default=4 GiB
        Maximum size of the content of a file, unzipped and as cells in memory.

    Returns
    -------
    Table
        The validated table.
    """
    if isinstance(X, Table):
        asked = (nominal, numeric, date, date_parts, drop, missing)
        recast = any(choice is not None for choice in asked)
        return _reread(X, target, weights, groups, task, recast=recast)
    options = FileOptions(max_unzipped_bytes, encoding, header, skip_bad_rows)
    source = open_table(X, options=options)
    choices, kinds = read_choices(source, missing, nominal=nominal, numeric=numeric, date=date)
    source = apply_choices(source, choices)
    dropped, parts = positions(source, drop, "drop"), read_date_parts(source, date_parts)
    roles = _roles(source, task, target=target, weights=weights, groups=groups)
    for option, at in roles.items():
        if at in dropped:
            raise DataError(f"drop: {source.names[at]!r} is the column of the {option}. Keep it.")
    left_out = {*dropped, *roles.values()}
    features = [at for at in range(len(source.names)) if at not in left_out]
    if dropped and not features:
        raise DataError("drop: no column is left to learn from. Drop fewer.")
    _check_shape(source.n_rows, len(features))
    _check_cells(source, len(features))
    if drop_unlabelled and "target" in roles:
        source = drop_unlabelled_rows(source, roles["target"])
    labels, row_weights, row_groups = _read_labels(source, target, weights, groups, roles, task)
    columns = tuple(_read_features(source, features, kinds, parts))
    check_distinct(column.schema.name for column in columns)
    given = (source.named, source.n_rows, labels, row_weights, choices, source.notes)
    names = _role_names(source, roles, target)
    return Table(columns, *given, *names, index=source.index, groups=row_groups)


def read_like(
    X: Any,
    schema: Schema,
    needed: Collection[str] | None = None,
    *,
    target: Any = None,
    weights: Any = None,
    groups: Any = None,
    task: Task = "classification",
) -> Table:
    """
    Read new data against a known schema.

    Parameters
    ----------
    X : array, dataframe, dict of columns, path of a file, Table, opened table or Relations
        The data. Columns are matched by name if X and the schema have names, in any order and
        with other columns between them; else by position. The labels of a Table get the codes of
        the schema; it keeps its target and weights unless others are given.
    schema : Schema
        The schema of the training table.
    needed : collection of str, optional
        Names of the columns to read; the others may be absent. All by default.
    target, weights, groups : str or array-like, optional
        Target, weights and groups of the rows, or the names of their columns, as in `read_table`.
    task : {"classification", "regression", "counts", "survival"}
        What the target holds, as in `read_table`.

    Returns
    -------
    Table
        The needed columns in the order of the schema; labels unknown to the schema have
        the code -2.
    """
    if isinstance(X, Derivable):
        X = X.derive(schema, needed)
    if isinstance(X, Table):
        if target is not None or weights is not None or groups is not None:
            X = _reread(X, target, weights, groups, task, recast=False)
        return recode(X, schema, needed)
    source = apply_choices(open_table(X), schema.choices)
    return read_chosen(source, schema, needed, target, weights, task, groups)


def read_chosen(
    source: Source,
    schema: Schema,
    needed: Collection[str] | None,
    target: Any = None,
    weights: Any = None,
    task: Task = "classification",
    groups: Any = None,
) -> Table:
    """Read a table whose columns are loaded according to the choices of the schema."""
    wanted = _select_wanted(schema, needed)
    roles = _roles(source, task, target=target, weights=weights, groups=groups)
    features = [(name, at) for at, name in enumerate(source.names) if at not in roles.values()]
    by_name, given = source.named and schema.named, schema.sources_of(wanted)
    positions = _match_columns(features, schema, given, by_name, source.path or "X")
    _check_shape(source.n_rows, len(source.names))
    _check_cells(source, len(positions))
    labels, row_weights, row_groups = _read_labels(source, target, weights, groups, roles, task)
    read = {
        column.name: column.type.read_like(column, source.load(at, column.type.wanted(column)))
        for column, at in zip(given, positions, strict=True)
    }
    columns = tuple(read[column.source].take_part(column) for column in wanted)
    about = (schema.named, source.n_rows, labels, row_weights, schema.choices, source.notes)
    names = _role_names(source, roles, target)
    return Table(columns, *about, *names, index=source.index, groups=row_groups)


def detect_task(X: Any, target: Any = None) -> Task:
    """
    Return whether a target looks like regression or classification.

    Parameters
    ----------
    X : array, dataframe, dict of columns, path of a file, Table or opened table
        The data.
    target : str or array-like, optional
        The target, or the name of its column; by default the target of a Table.

    Returns
    -------
    {"classification", "regression"}
        Regression for fractions and for integers with more than 20 distinct values.
    """
    if target is None:
        numbers = isinstance(X, Table) and isinstance(X.target, Numbers)
    elif isinstance(target, str):
        source = open_table(X)
        numbers = looks_numeric(target, source.load(position(source, target, "target"), "labels"))
    else:
        numbers = looks_numeric("y", values_of(target, "y"))
    return "regression" if numbers else "classification"


def recode(table: Table, schema: Schema, needed: Collection[str] | None = None) -> Table:
    """
    Convert the columns of a table to another schema: equal labels get equal codes.

    Parameters
    ----------
    table : Table
        The table; it has the columns of the schema, in any order if both have names.
    schema : Schema
        The schema of the result.
    needed : collection of str, optional
        Names of the columns to keep; all by default.

    Returns
    -------
    Table
        The needed columns; labels unknown to the schema have the code -2. Columns that
        already have the schema are not copied.
    """
    wanted = _select_wanted(schema, needed)
    found: dict[DatePart | None, Column] = {
        column.schema.part: column for column in table.columns if column.schema.part
    }
    given = schema.sources_of(column for column in wanted if column.part not in found)
    own = [(each.name, at) for at, each in enumerate(table.schema) if each.part is None]
    # Columns without names are x0, x1, ... on both sides.
    positions = _match_columns(own, schema, given, table.named == schema.named, "X")
    read = {
        column.name: _recode_column(table.columns[at], column)
        for column, at in zip(given, positions, strict=True)
    }
    columns = [
        found[column.part] if column.part in found else read[column.source].take_part(column)
        for column in wanted
    ]
    return replace(table, columns=tuple(columns), named=schema.named)


def open_table(
    X: Any,
    max_unzipped_bytes: int = MAX_UNZIPPED_BYTES,
    *,
    options: FileOptions | None = None,
) -> Source:
    """Open a table for `read_table` and `read_like`, which load its columns."""
    source = _source(X, options or FileOptions(max_unzipped_bytes))
    check_distinct(source.names)
    check_encodable(source.names, "column name")
    return source


def read_columns(source: Source, names: Iterable[str], **kinds: ColumnChoice) -> tuple[Column, ...]:
    """Read some columns, even of a table without rows; kinds are given as in `read_table`."""
    choices, given = read_choices(source, None, **kinds)
    source = apply_choices(source, choices)
    places = [source.positions[name] for name in names]
    return tuple(_column(source, at, given.get(at)) for at in places)


def unreadable(
    source: Source,
    names: Iterable[str],
    *,
    nominal: ColumnChoice = None,
    numeric: ColumnChoice = None,
    date: ColumnChoice = None,
    date_parts: ColumnChoice = None,
    missing: Any = None,
) -> list[Finding]:
    """Return findings about columns that `read_table` would refuse, each with its error."""
    choices, kinds = read_choices(source, missing, nominal=nominal, numeric=numeric, date=date)
    read_date_parts(source, date_parts)
    source, found = apply_choices(source, choices), []
    for name in names:
        at = source.positions[name]
        try:
            _column(source, at, kinds.get(at))
        except DataError as error:
            found.append(
                Finding(
                    "unreadable",
                    name,
                    as_options(str(error)).rstrip("."),
                    f"--drop {quote(name)} leaves it out",
                )
            )
    return found


def _column(source: Source, at: int, kind: str | None) -> Column:
    raw = source.load(at, "any" if kind is None else KINDS[kind].wanted(None))
    return read_column(source.names[at], raw, kind)


def _read_features(
    source: Source,
    features: Sequence[int],
    kinds: Mapping[int, str],
    parts: Mapping[int, Sequence[DatePart]],
) -> Iterator[Column]:
    """Yield the columns, each followed by the parts of its dates; these may be left out."""
    for at in sorted({*features, *parts}):
        column = _column(source, at, kinds.get(at))
        name = source.names[at]
        if at in parts and column.is_missing.all():
            column = KINDS["date"].read(name, source.load(at, "any"))
        if at in parts and column.schema.kind != "date":
            raise DataError(
                f"date_parts: column {name!r} holds no dates but is {column.schema.kind}. For "
                f"dates written as 1.3.2024 use {reading_option('date', f'{name}:dmy')}."
            )
        if at in features:
            yield column
        yield from (column.take_part(ColumnSchema.of_part(part)) for part in parts.get(at, ()))


def _recode_column(column: Column, schema: ColumnSchema) -> Column:
    if column.schema == schema:
        return column
    if column.schema.kind == schema.kind:
        return schema.type.recode(column, schema)
    return schema.type.read_like(schema, column.schema.type.raw(column))


def _reread(
    table: Table, target: Any, weights: Any, groups: Any, task: Task, *, recast: bool
) -> Table:
    if any(isinstance(given, str) for given in (target, weights, groups)) or recast:
        raise DataError(
            "The columns of a Table already have their roles and kinds: name target, weights, "
            "groups, nominal, numeric and dropped columns when you read it."
        )
    _check_shape(table.n_rows, len(table.columns))
    if target is not None:
        name, target = _name_of(target), _TASKS[task][0](target, table.n_rows)
        table = replace(table, target=target, target_name=name)
    if weights is not None:
        table = replace(table, weights=weights, weights_name=None)
    if groups is not None:
        table = replace(table, groups=read_groups(groups, table.n_rows))
    if table.weights is not None:  # a subset of rows may have only zero weights
        table = replace(table, weights=read_weights(table.weights, table.n_rows))
    return table


def _roles(source: Source, task: Task, **named: Any) -> dict[str, int]:
    """Return the positions of target and weights, if they are columns."""
    target = named["target"]
    if task in _OF_COLUMNS and isinstance(target, list | tuple) and _are_names(target):
        named["target"] = target[0]
        named |= {f"target {k}": name for k, name in enumerate(target[1:], start=2)}
    found = {
        role: position(source, value, role.split()[0])
        for role, value in named.items()
        if isinstance(value, str)
    }
    places = [at for role, at in found.items() if role.startswith("target")]
    if len(set(places)) < len(places):
        raise DataError(f"target: the columns {', '.join(map(repr, target))} must differ.")
    return found


def _are_names(values: Sequence[Any]) -> bool:
    return len(values) > 0 and all(isinstance(value, str) for value in values)


def _role_names(
    source: Source, roles: Mapping[str, int], target: Any
) -> tuple[str | None, str | None]:
    """Return the names of the target and of the column of the weights."""
    places = (roles.get(role) for role in ("target", "weights"))
    named, weights = (None if place is None else source.names[place] for place in places)
    return _name_of(target) if named is None else named, weights


def _name_of(target: Any) -> str | None:
    """Return the name that a Series or a dataframe of one column has; text only."""
    columns = getattr(target, "columns", None)
    name = getattr(target, "name", None) if columns is None else next(iter(columns), None)
    return name if isinstance(name, str) and name else None


def _read_labels(
    source: Source,
    target: Any,
    weights: Any,
    groups: Any,
    roles: Mapping[str, int],
    task: Task,
) -> tuple[Target | Numbers | None, NDArray[np.float64] | None, NDArray[np.intp] | None]:
    """Read target, weights and groups, from columns or as given."""
    read, of_column = _TASKS[task]
    if "target" in roles:
        target = of_column(*_load_target(source, roles, task), source.path)
    elif target is not None:
        target = read(target, source.n_rows)
    if "weights" in roles:
        weights = make_weights(source.load(roles["weights"], "any"), f"column {weights!r}")
    elif weights is not None:
        weights = read_weights(weights, source.n_rows)
    if "groups" in roles:
        groups = make_groups(source.load(roles["groups"], "labels"), f"column {groups!r}")
    elif groups is not None:
        groups = read_groups(groups, source.n_rows)
    return target, weights, groups


def _load_target(source: Source, roles: Mapping[str, int], task: Task) -> tuple[Any, Any]:
    """Load the column of the target, or its columns, with their names."""
    places = [at for role, at in roles.items() if role.startswith("target")]
    if task not in _OF_COLUMNS:
        return source.load(places[0], "labels"), f"column {source.names[places[0]]!r}"
    raws = [source.load(at, "labels") for at in places]
    return raws, [source.names[at] for at in places]


def _source(X: Any, options: FileOptions) -> Source:
    if isinstance(X, Source):
        return X
    if isinstance(X, Derivable):
        raise DataError(
            "Relations are not a single table: learn with RelationalClassifier(learner) or "
            "RelationalRegressor(learner) of rulewright.relational."
        )
    if isinstance(X, np.ndarray | list | tuple):
        return array_source(X)
    if isinstance(X, str | os.PathLike):
        from rulewright.data.readers.files import file_source  # noqa: PLC0415 - brings all formats

        return file_source(os.fsdecode(X), options)
    if hasattr(X, "tocsc"):  # SciPy's dok matrix is a dict too
        return sparse_source(X)
    if isinstance(X, Mapping):
        return dict_source(X)
    return frame_source(X) or array_source(X)


def _select_wanted(schema: Schema, needed: Collection[str] | None) -> list[ColumnSchema]:
    if needed is None:
        return list(schema)
    known = dict.fromkeys((*schema, *schema.given))  # dates may be read for their parts only
    if unknown := sorted(set(needed) - {column.name for column in known}):
        raise DataError(f"The schema has no column {unknown[0]!r}.")
    return [column for column in known if column.name in needed]


def _match_columns(
    features: list[tuple[str, int]],
    schema: Schema,
    wanted: Sequence[ColumnSchema],
    by_name: bool,
    title: str,
) -> list[int]:
    """Return the positions of the wanted columns among features with names and positions."""
    if not by_name:
        names = [column.name for column in schema.given]
        if len(features) != len(names):
            raise DataError(
                f"{title} has {len(features)} features, but RuleModel is expecting "
                f"{len(names)} features as input."
            )
        return [features[names.index(column.name)][1] for column in wanted]
    positions = dict(features)
    absent = [repr(column.name) for column in wanted if column.name not in positions]
    if absent:
        derived = schema.recipe.names if schema.recipe is not None else set()
        first = next(column.name for column in wanted if column.name not in positions)
        remedy = offer_names(first, [*positions], "Its columns are")
        if any(column.name in derived for column in wanted):
            remedy = "Pass the related tables: rulewright.relational.Relations."
        raise DataError(
            f"{title} lacks {'columns' if len(absent) > 1 else 'column'} {', '.join(absent)}, "
            f"which the model needs. {remedy}"
        )
    return [positions[column.name] for column in wanted]


MOST_SPARSE_CELLS = 200_000_000
"""A sparse matrix is read column by column, and columns are dense: 1.6 GB of 64-bit numbers."""


def _check_cells(source: Source, n_columns: int) -> None:
    if source.budget is not None:
        source.budget.check_cells(source.n_rows, n_columns)
    if source.sparse and source.n_rows * n_columns > MOST_SPARSE_CELLS:
        raise DataError(
            f"The sparse matrix X has {source.n_rows:,} rows and {n_columns:,} columns to read, "
            f"which is more than {MOST_SPARSE_CELLS:,} cells; its columns become dense. Select "
            "columns, group rare categories (OneHotEncoder(min_frequency=...)), or pass the "
            "columns before they were encoded: nominal columns need no encoding."
        )


def _check_shape(n_rows: int, n_columns: int) -> None:
    for found, what in ((n_rows, "sample(s)"), (n_columns, "feature(s)")):
        if found == 0:
            raise DataError(
                f"Found array with 0 {what} (shape=({n_rows}, {n_columns})) while a minimum of 1 "
                "is required."
            )
