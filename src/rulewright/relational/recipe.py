"""The recipe of derived columns: their tables and keys, as plain data."""

import math
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

from rulewright.data import ColumnSchema, DataError, Schema
from rulewright.relational.derived import (
    ADDED,
    FUNCTIONS,
    OF_LABELS,
    OF_ROWS,
    TIMED,
    Clause,
    DerivedColumn,
    RelatedRow,
    RowComparison,
    RowCondition,
    SharedKey,
    Step,
)

_Item = TypeVar("_Item")
Derived = DerivedColumn | Clause


@dataclass(frozen=True)
class RelatedTable:
    """The columns of a related table that a recipe needs, and its time column."""

    name: str
    columns: tuple[ColumnSchema, ...]
    time: ColumnSchema | None = None

    def __getitem__(self, name: str) -> ColumnSchema:
        return next(column for column in self.columns if column.name == name)


@dataclass(frozen=True)
class Recipe:
    """All derived columns of the instance table."""

    instances: str
    key: str
    tables: tuple[RelatedTable, ...]
    columns: tuple[Derived, ...]
    cutoff: ColumnSchema | None = None

    @cached_property
    def names(self) -> set[str]:
        """Names of the derived columns."""
        return {column.name for column in self.columns}

    @property
    def grouped(self) -> tuple[DerivedColumn, ...]:
        """The columns that aggregate the rows of a path: all except clauses."""
        return tuple(column for column in self.columns if isinstance(column, DerivedColumn))

    def __getitem__(self, name: str) -> RelatedTable:
        return next(table for table in self.tables if table.name == name)

    def schema_of(self, column: Derived) -> ColumnSchema:
        """Return the kind and the labels of a derived column."""
        if isinstance(column, Clause) or column.function == "exists":
            return ColumnSchema(column.name, "nominal", ("false", "true"), "boolean")
        if column.function in OF_LABELS and column.column is not None:
            source = self[column.table][column.column]
            if source.kind == "nominal":
                return ColumnSchema(column.name, "nominal", source.labels, source.label_type)
        return ColumnSchema(column.name, "numeric")

    def find_timed_step(self, path: tuple[Step, ...]) -> int | None:
        """Return the last step of a path that has a time, which is the time of its rows."""
        steps = [at for at, step in enumerate(path) if self[step.table].time is not None]
        return steps[-1] if steps else None

    def only(self, names: Collection[str]) -> "Recipe":
        """Return the recipe of some columns, with the tables that they need."""
        columns = tuple(column for column in self.columns if column.name in names)
        wanted = {join.table for column in columns for join in column.joins}
        used = {need for column in columns for need in column.needs}
        tables = []
        for table in self.tables:
            kept = tuple(column for column in table.columns if (table.name, column.name) in used)
            if table.name in wanted:
                tables.append(RelatedTable(table.name, kept, table.time))
        return Recipe(self.instances, self.key, tuple(tables), columns, self.cutoff)

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as plain data."""
        return {
            "instances": self.instances,
            "key": self.key,
            "cutoff": self.cutoff and self.cutoff.to_json(),
            "tables": [
                {
                    "name": table.name,
                    "columns": [column.to_json() for column in table.columns],
                    "time": table.time and table.time.to_json(),
                }
                for table in self.tables
            ],
            "columns": [_column_json(column) for column in self.columns],
        }

    @classmethod
    def from_json(cls, obj: object) -> "Recipe":
        """Parse the output of `to_json`; raise a DataError for anything else."""
        fields = _fields(obj, "recipe", "instances", "key", "cutoff", "tables", "columns")
        recipe = cls(
            _text(fields["instances"], "instances"),
            _text(fields["key"], "key"),
            _list(fields["tables"], "tables", _table),
            _list(fields["columns"], "columns", _read_derived),
            _moment(fields["cutoff"]),
        )
        check_distinct_columns(recipe.columns)
        for column in recipe.columns:
            _check(recipe, column)
        return recipe


def schema_recipe(schema: Schema) -> Recipe | None:
    """Return the recipe of a schema; None if its columns do not come from related tables."""
    return cast("Recipe | None", schema.recipe)  # type named by the entry point of derivations


def check_distinct_columns(columns: Collection[Derived]) -> None:
    """Reject derived columns with the same name."""
    for name, times in Counter(column.name for column in columns).items():
        if times > 1:
            raise DataError(
                f"Two derived columns have the name {name!r}. Rename a column or table."
            )


def _column_json(column: Derived) -> dict[str, Any]:
    if isinstance(column, Clause):
        return column.to_json()
    where = column.where
    return {
        "path": [vars(step) for step in column.path],
        "function": column.function,
        "column": column.column,
        "where": where and {"column": where.column, "op": where.op, "value": where.value},
        "within": column.within,
        "dated": column.dated,
        "factor": column.factor,
    }


def _fields(obj: object, what: str, *names: str) -> dict[str, Any]:
    if not isinstance(obj, dict) or obj.keys() != set(names):
        raise DataError(f"The {what} of derived columns must have the fields {', '.join(names)}.")
    return obj


def _list(obj: object, what: str, read: Callable[[object], _Item]) -> tuple[_Item, ...]:
    if not isinstance(obj, list):
        raise DataError(f"The recipe of derived columns: {what} must be a list.")
    return tuple(map(read, obj))


def _text(obj: object, what: str) -> str:
    if not isinstance(obj, str):
        raise DataError(f"The recipe of derived columns: {what} must be text, not {obj!r:.60}.")
    return obj


def _number(obj: object, what: str) -> float:
    if type(obj) not in (int, float) or not math.isfinite(obj):  # type: ignore[arg-type]
        raise DataError(f"The recipe of derived columns: {what} must be a finite number.")
    return float(obj)  # type: ignore[arg-type]


def _positive(obj: object, what: str) -> float | None:
    number = None if obj is None else _number(obj, what)
    if number is not None and number <= 0:
        raise DataError(f"The recipe of derived columns: {what} must be above 0.")
    return number


def _moment(obj: object) -> ColumnSchema | None:
    column = None if obj is None else ColumnSchema.from_json(obj)
    if column is not None and column.kind not in ("date", "numeric"):
        raise DataError(f"Column {column.name!r} must hold dates or numbers to be a time column.")
    return column


def _table(obj: object) -> RelatedTable:
    fields = _fields(obj, "tables", "name", "columns", "time")
    columns = _list(fields["columns"], "columns of a table", ColumnSchema.from_json)
    return RelatedTable(_text(fields["name"], "name"), columns, _moment(fields["time"]))


def _step(obj: object) -> Step:
    fields = _fields(obj, "paths", "table", "here", "there", "by")
    table, here, there = (_text(fields[name], name) for name in ("table", "here", "there"))
    return Step(table, here, there, None if fields["by"] is None else _text(fields["by"], "by"))


def _flag(obj: object) -> bool:
    if not isinstance(obj, bool):
        raise DataError(f"The recipe of derived columns: expected true or false, not {obj!r:.60}.")
    return obj


def _read_derived(obj: object) -> Derived:
    if isinstance(obj, dict) and "rows" in obj:
        return _clause(obj)
    names = ("path", "function", "column", "where", "within", "dated", "factor")
    fields = _fields(obj, "columns", *names)
    where = None if fields["where"] is None else _where(fields["where"])
    return DerivedColumn(
        _list(fields["path"], "path", _step),
        _text(fields["function"], "function"),
        None if fields["column"] is None else _text(fields["column"], "column"),
        where,
        _positive(fields["within"], "within"),
        _flag(fields["dated"]),
        _positive(fields["factor"], "factor"),
    )


def _where(obj: object) -> RowCondition:
    where = _fields(obj, "conditions", "column", "op", "value")
    value = where["value"]
    value = value if isinstance(value, str) else _number(value, "value")
    return RowCondition(_text(where["column"], "column"), _text(where["op"], "op"), value)


def _clause(obj: object) -> Clause:
    fields = _fields(obj, "clauses", "rows", "tests", "compared", "absent")
    clause = Clause(
        _list(fields["rows"], "rows", _row),
        _list(fields["tests"], "tests", _test),
        _list(fields["compared"], "compared", _read_comparison),
        _list(fields["absent"], "absent", _row),
    )
    if disorder := clause.disorder():
        tables = ", ".join(row.table for row in clause.rows)
        raise DataError(f"The clause over the tables {tables!r:.200} {disorder}.")
    return clause


def _row(obj: object) -> RelatedRow:
    fields = _fields(obj, "rows of clauses", "table", "keys")
    return RelatedRow(
        _text(fields["table"], "table"), _list(fields["keys"], "keys", _read_shared_key)
    )


def _read_shared_key(obj: object) -> SharedKey:
    fields = _fields(obj, "keys of clauses", "column", "of", "here", "op")
    column, here, op = (_text(fields[name], name) for name in ("column", "here", "op"))
    return SharedKey(column, _place(fields["of"]), here, op)


def _test(obj: object) -> tuple[int, RowCondition]:
    if not isinstance(obj, list) or len(obj) != 2:
        raise DataError("The recipe of derived columns: a test is a row and a condition.")
    return _place(obj[0]), _where(obj[1])


def _read_comparison(obj: object) -> RowComparison:
    fields = _fields(obj, "comparisons", "one", "column", "op", "other")
    column, op = (_text(fields[name], name) for name in ("column", "op"))
    return RowComparison(_place(fields["one"]), column, op, _place(fields["other"]))


def _place(obj: object) -> int:
    if type(obj) is not int:
        raise DataError(f"The recipe of derived columns: {obj!r:.60} is no number of a row.")
    return obj


def _check(recipe: Recipe, column: Derived) -> None:
    """Reject a column that cannot be computed."""
    problem = _problem(recipe, column)
    if problem:
        raise DataError(f"The derived column {column.name!r:.200} {problem}.")


def _problem(recipe: Recipe, column: Derived) -> str | None:
    known = {table.name for table in recipe.tables}
    if isinstance(column, Clause):
        if unknown := {join.table for join in column.joins} - known:
            return f"has a row of the unknown table {min(unknown)!r}"
        return column.problem({(t.name, c.name): c for t in recipe.tables for c in t.columns})
    if not column.path or any(step.table not in known for step in column.path):
        return "has no path of known tables"
    if len({recipe.instances, *(step.table for step in column.path)}) <= len(column.path):
        return "has a path that visits a table twice"
    if column.function not in FUNCTIONS:
        return f"has the unknown function {column.function!r}"
    kinds = {one.name: one for one in recipe[column.table].columns}
    if not column.columns <= kinds.keys():
        return f"needs {min(column.columns - kinds.keys())!r}, which the recipe does not describe"
    if (column.column is None) != (column.function in OF_ROWS):
        return "must have a column if and only if its function is of values"
    if column.where is not None and not column.where.fits(kinds[column.where.column]):
        return f"has the condition {column.where}, which does not match the kind of the column"
    return _problem_of_values(recipe, column, kinds)


def _problem_of_values(
    recipe: Recipe, column: DerivedColumn, kinds: dict[str, ColumnSchema]
) -> str | None:
    kind = column.column and kinds[column.column].kind
    if kind == "date" or (kind == "nominal" and column.function not in OF_LABELS):
        return "needs a numeric column"
    if (column.factor is None) == (column.function in ADDED):
        return "must have a factor if and only if it sums values"
    timed, cut = recipe.find_timed_step(column.path) is not None, recipe.cutoff is not None
    if column.function in TIMED and not timed:
        return "needs a time column of the rows"
    if (column.within is not None or column.function == "recency") and not (timed and cut):
        return "needs a cutoff and a time column of the rows"
    return None
