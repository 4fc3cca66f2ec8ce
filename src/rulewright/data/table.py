"""Table and Column: validated, immutable data, shown as a line or as HTML."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError
from rulewright.data.findings import Finding, format_count
from rulewright.data.frame import LabelColumn, to_frame
from rulewright.data.schema import (
    NO_CHOICES,
    Choices,
    ColumnSchema,
    Derivation,
    Schema,
    check_distinct,
    label_of,
)
from rulewright.data.target import Numbers, Target
from rulewright.html import bold, cut_line, note, table, view

MISSING_CODE = -1
UNSEEN_CODE = -2


@dataclass(frozen=True, eq=False)
class Column:
    """One column and its values.

    Numeric values are float64, possibly a strided view of the input, with NaN for missing. Nominal
    values are int32 label codes, with -1 for missing and -2 for labels not in the schema.
    """

    schema: ColumnSchema
    values: NDArray[Any]
    decisions: tuple[Finding, ...] = ()  # findings about reading the values

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_missing(self) -> NDArray[np.bool_]:
        """Whether each value is missing; unseen labels are not missing."""
        return self.schema.type.is_missing(self.values)

    def take_part(self, schema: ColumnSchema) -> "Column":
        """Return the column of a schema that is read from this one: itself, or a part of dates."""
        return self if schema.part is None else Column(schema, schema.part.take(self.values))


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, with optional target and row weights.

    A table is indexed by rows, as scikit-learn's functions do it: by a mask, places or a slice. A
    single place gives a table of one row, a name the column of that name, a list of names a table.
    """

    columns: tuple[Column, ...]
    named: bool  # False when the input had no column names
    n_rows: int
    target: Target | Numbers | None = None
    weights: NDArray[np.float64] | None = None
    choices: Choices = NO_CHOICES  # the user's choices for reading
    decisions: tuple[Finding, ...] = ()  # findings about the rows
    target_name: str | None = None  # name of the target column
    weights_name: str | None = None  # name of the weight column
    recipe: Derivation | None = None  # derivation of columns from related tables
    index: Any = None  # names of the rows, as an array or a pandas Index; None if they have none
    groups: NDArray[np.intp] | None = None  # rows of equal number belong together, as of a customer
    repeats: NDArray[np.float64] | None = None  # observations behind each row; None: one

    @cached_property
    def schema(self) -> Schema:
        """Names, kinds and labels of the columns."""
        columns = tuple(column.schema for column in self.columns)
        return Schema(columns, self.named, self.choices, self.recipe)

    @property
    def row_weights(self) -> NDArray[np.float64]:
        """Row weights, 1 each if the table has none."""
        return np.ones(self.n_rows) if self.weights is None else self.weights

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns in order."""
        return self.schema.names

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of columns without target and weights."""
        return self.n_rows, len(self.columns)

    @property
    def row_names(self) -> list[int | str]:
        """Names of the rows: whole numbers, or text; by default they are numbered from 0."""
        names = range(self.n_rows) if self.index is None else [*map(_row_name, self.index)]
        return [*names] if all(isinstance(name, int) for name in names) else [*map(str, names)]

    @property
    def X(self) -> Self:  # noqa: N802 - scikit-learn's name
        """The features: the table without its target, weights and groups.

        ``est.fit(table.X, table.y, sample_weight=table.weights, groups=table.groups)`` equals
        ``est.fit(table)``.
        """
        bare = replace(self, target=None, weights=None, target_name=None, weights_name=None)
        return replace(bare, groups=None, repeats=None)

    @property
    def y(self) -> NDArray[Any]:
        """The target: the class label or number of each row."""
        if self.target is None:
            raise DataError("The table has no target: read it with target=..., a column or labels.")
        return self.target.values

    def head(self, n: int = 5) -> Self:
        """Return the first rows."""
        return self[:n]

    def to_frame(self, backend: str | None = None) -> Any:
        """
        Return a dataframe with all columns, the target and the weights.

        Reading it again gives the same kinds: labels become categories (an Enum in polars if they
        are ordered), Booleans and dates are preserved. Numeric labels become text in polars and
        pyarrow, and polars keeps only the labels of the rows, sorted, if they are not ordered.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the dataframe; by default the first one installed.
        """
        columns = [(c.schema.name, c.schema.type.to_frame_values(c)) for c in self.columns]
        if self.target is not None:
            free = self.target_name is not None and self.target_name not in self.schema
            name = self.target_name if free else "target"
            columns.append((str(name), self.target.to_frame_values()))
        if self.weights is not None:
            columns.append((self.weights_name or "weight", self.weights))
        check_distinct(name for name, _ in columns)
        return to_frame(dict(columns), backend, instead="np.asarray(table)")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the features as numbers, or as objects if there are labels or dates."""
        if copy is False:
            raise ValueError("The columns of a Table are copied when they become one array.")
        if all(column.schema.type.arithmetic for column in self.columns):
            array = np.array([column.values for column in self.columns], dtype=np.float64).T
        else:
            array = np.empty(self.shape, dtype=object)
            for place, column in enumerate(self.columns):
                array[:, place] = _objects(column)
        return array if dtype is None else array.astype(dtype)

    def take(self, rows: NDArray[np.integer]) -> Self:
        """Return the rows at the given positions, with their target and weights."""
        return replace(
            self,
            columns=tuple(replace(column, values=column.values[rows]) for column in self.columns),
            n_rows=len(rows),
            target=None if self.target is None else self.target.take(rows),
            weights=None if self.weights is None else self.weights[rows],
            index=None if self.index is None else self.index[rows],
            groups=None if self.groups is None else self.groups[rows],
            repeats=None if self.repeats is None else self.repeats[rows],
        )

    def part(self, rows: slice) -> Self:
        """Return consecutive rows without target and weights; values are not copied."""
        columns = tuple(replace(column, values=column.values[rows]) for column in self.columns)
        n_rows = len(range(*rows.indices(self.n_rows)))
        index = None if self.index is None else self.index[rows]
        part = replace(self, columns=columns, n_rows=n_rows, index=index)
        return replace(part, target=None, weights=None, groups=None, repeats=None)

    @property
    def known_target(self) -> Target:
        """The classes of the rows; raises an error if the table has none."""
        if not isinstance(self.target, Target):
            raise DataError(_lacking("classes", self.target))
        return self.target

    @property
    def known_numbers(self) -> Numbers:
        """The numbers of the rows; raises an error if the table has none."""
        if not isinstance(self.target, Numbers):
            raise DataError(_lacking("numbers", self.target))
        return self.target

    @overload
    def __getitem__(self, key: str) -> Column: ...
    @overload
    def __getitem__(self, key: Any) -> Self: ...
    def __getitem__(self, key: Any) -> Column | Self:
        if isinstance(key, str):
            return self.columns[self.schema.index(key)]
        if isinstance(key, tuple) and len(key) == 2 and key[1] is ...:  # used by scikit-learn
            key = key[0]
        if isinstance(key, list) and all(isinstance(name, str) for name in key) and key:
            return replace(self, columns=tuple(self[name] for name in key))
        key = np.asarray(key, np.intp) if isinstance(key, list) and not key else key
        rows = np.atleast_1d(np.arange(self.n_rows)[key])
        taken = self.take(rows)
        return taken if self.index is not None else replace(taken, index=rows)

    def __contains__(self, name: object) -> bool:
        return name in self.schema

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return f"<Table: {summary(self)}>"

    def _repr_html_(self) -> str:
        return table_html(self)


def _row_name(value: object) -> int | str:
    """Write a value of an index; several levels are joined."""
    if isinstance(value, tuple):
        return ", ".join(str(_row_name(part)) for part in value)
    return int(value) if isinstance(value, int | np.integer) else str(value)


def _objects(column: Column) -> NDArray[Any]:
    """Return the values of a column as Python objects."""
    values = column.schema.type.to_frame_values(column)
    if isinstance(values, LabelColumn):
        values = np.array([*values.labels, None], dtype=object)[values.codes]
    return np.asarray(values, dtype=object)


def _lacking(what: str, target: Target | Numbers | None) -> str:
    if target is None:
        return f"The {what} of the rows are required: read the table with a target."
    task = "classification" if what == "classes" else "regression"
    return f"The target must hold {what}: read the table with task={task!r}."


_SHOWN_ROWS = 5
_SHOWN_COLUMNS = 20
_SHOWN_CLASSES = 5
_MISSING = "\N{EN DASH}"


def summary(found: Table) -> str:
    """Summarise a table: its size, the kinds of its columns, missing values and target."""
    kinds = Counter(column.schema.kind for column in found.columns)
    listed = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    missing = sum(int(column.is_missing.sum()) for column in found.columns)
    parts = [
        (
            f"{format_count(found.n_rows, 'row')} x "
            f"{format_count(len(found.columns), 'column')} ({listed})"
        ),
        format_count(missing, "missing value") if missing else "nothing missing",
    ]
    if found.target is not None:
        name = "target" if found.target_name is None else f"target {cut_line(found.target_name)}"
        parts.append(f"{name}: {_describe_spread(found.target)}")
    if found.weights is not None:
        parts.append("weighted")
    if found.groups is not None:
        parts.append(format_count(len(np.unique(found.groups)), "group"))
    return ", ".join(parts)


def table_html(found: Table) -> str:
    """Format the first rows with names, kinds, missing values and findings.

    The target comes first.
    """
    shown, columns = found.head(_SHOWN_ROWS), found.columns[:_SHOWN_COLUMNS]
    titles = [[cut_line(c.schema.name), c.schema.kind, _missing(c)] for c in columns]
    cells = [_texts(column) for column in shown.columns[:_SHOWN_COLUMNS]]
    text = [not column.schema.type.arithmetic for column in columns]
    if shown.target is not None:
        titles.insert(0, [cut_line(found.target_name or "target"), "target", ""])
        cells.insert(0, [cut_line(label_of(value)) for value in shown.target.values.tolist()])
        text.insert(0, not isinstance(found.target, Numbers))
    rows = table(
        list(zip(*titles, strict=True)),
        zip(*cells, strict=True),
        text=[place for place, is_text in enumerate(text) if is_text],
        wrap=False,
    )
    hidden = {"more row": len(found) - len(shown), "more column": found.shape[1] - len(columns)}
    more = " and ".join(format_count(number, noun) for noun, number in hidden.items() if number)
    notes = [*found.decisions, *(said for c in found.columns for said in c.decisions)]
    return view(
        bold(summary(found)),
        rows,
        note(f"{more} not shown") if more else None,
        *(note(cut_line(str(said), 200)) for said in notes),
    )


def _missing(column: Column) -> str:
    missing = int(column.is_missing.sum())
    return f"{missing:,} missing" if missing else ""


def _texts(column: Column) -> list[str]:
    """Format the values of a column."""
    kind = column.schema.type
    if kind.arithmetic:
        written = [f"{value:.6g}" for value in column.values]
    elif kind.ordered:
        written = [kind.write(0.0 if np.isnan(value) else value) for value in column.values]
    else:
        written = [cut_line(str(label)) for label in kind.raw(column).values]
    pairs = zip(written, column.is_missing, strict=True)
    return [_MISSING if missing else text for text, missing in pairs]


def _describe_spread(target: Target | Numbers) -> str:
    """Summarise the number of rows per class, or the numeric range."""
    if isinstance(target, Numbers):
        return f"{target.values.min():.6g} to {target.values.max():.6g}"
    numbers = np.bincount(target.codes, minlength=len(target.classes))
    order = [k for k in np.argsort(-numbers, kind="stable").tolist() if numbers[k]]
    shown = order[:_SHOWN_CLASSES]
    listed = ", ".join(f"{cut_line(label_of(target.classes[k]))} {numbers[k]:,}" for k in shown)
    more = len(order) - len(shown)
    return f"{listed} and {format_count(more, 'more class', 'more classes')}" if more else listed
