"""Verification of the SQL of a relational model, on adversarial databases.

The databases have empty tables, missing, duplicate or unknown keys, rows exactly at the cutoff,
unseen labels, values at the thresholds of the recipe, and names with quotes.
"""

from __future__ import annotations

import math
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from rulewright.data import ColumnSchema, DataError, label_value, optional, read_like
from rulewright.programs import (
    DIALECTS,
    TRANSLATIONS,
    adversarial_rows,
    compare_answers,
    describe_translations,
    native_answers,
    provide_exp,
    quoted_name,
    read_answers,
    translate_sql,
)
from rulewright.relational.derived import DerivedColumn
from rulewright.relational.deriving import joins_of
from rulewright.relational.export import relational_sql
from rulewright.relational.recipe import Recipe, schema_recipe
from rulewright.relational.relations import Relations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulewright.model import RuleModel

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
_MOMENTS = (0.0, 86_400_000.0, 30 * 86_400_000.0, 1_700_000_000_000.0)
_NUMBERS = (0.0, -0.0, 1.0, -2.5, 0.1, 1 / 3, 1e15, -1e15, 1e-12)
_UNSEEN: dict[str, list[Any]] = {"string": ['it\'s "new"', ""], "number": [-77], "boolean": []}
_TYPES = {
    "duckdb": {"key": "BIGINT", "text": "VARCHAR", "numeric": "DOUBLE", "string": "VARCHAR"}
    | {"number": "DOUBLE", "boolean": "BOOLEAN", "date": "TIMESTAMP"},
    "sqlite": {"key": "INTEGER", "text": "TEXT", "numeric": "REAL", "string": "TEXT"}
    | {"number": "REAL", "boolean": "INTEGER", "date": "TEXT"},
}


@dataclass(frozen=True)
class SqlReport:
    """Where the SQL ran, and on how many databases and instances; all results were equal.

    `translated` are databases whose SQL was parsed, translated to DuckDB and run there.
    """

    dialects: tuple[str, ...]
    n_databases: int
    n_instances: int
    probability_error: float
    notes: tuple[str, ...] = ()
    translated: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = (
            f"same answers in {' and '.join(self.dialects)} on {self.n_instances} instances of "
            f"{self.n_databases} adversarial databases: scores and labels equal, probabilities "
            f"within {self.probability_error:.1e}"
        )
        lines = [text] if self.dialects else []
        if self.translated:
            lines.append(describe_translations(self.translated))
        return "\n".join([*lines, *self.notes])


Table = dict[str, list[Any]]
Runner = "Callable[[str, Mapping[str, Table], Mapping[str, dict[str, str]]], list[Any]]"


def verify_relational_sql(
    model: RuleModel, dialects: Sequence[str] = ("duckdb", "sqlite"), *, seed: int = 0
) -> SqlReport:
    """Run the SQL of a model on adversarial databases and compare with the model.

    Parameters
    ----------
    model : RuleModel
        A model learned from `Relations`.
    dialects : sequence of {"duckdb", "sqlite", "snowflake", "bigquery", "sqlserver", "spark"}
        Databases to use. The last four are checked for syntax only: DuckDB runs a translation.
        Functions that a database lacks are noted, unless only one database is requested.
    seed : int
        Seed of the databases.

    Raises
    ------
    ParityError
        If a result differs; the message shows the instance.
    """
    recipe = schema_recipe(model.schema)
    if recipe is None:
        raise DataError("This model has no derived columns: use model.verify_exports().")
    for dialect in dialects:
        if dialect not in _RUNNERS:
            raise ValueError(f"SQL can be verified in {', '.join(_RUNNERS)}, not in {dialect!r}")
    recipe = recipe.only(set(model.columns))
    statements, notes = _statements(model, dialects)
    worst, n_instances, databases = 0.0, 0, list(_databases(model, recipe, Random(seed)))
    for tables, types in databases:
        relations = _relations(recipe, tables, types)
        read = read_like(relations, model.schema, model.columns)
        expected, keys = native_answers(model.program, read), tables[recipe.instances][recipe.key]
        places = {key: i for i, key in enumerate(keys)}
        rows = {c.schema.name: c.schema.type.raw(c).values.tolist() for c in read.columns}
        for dialect, sql in statements.items():
            lines = [(places[line[0]], *line[1:]) for line in _RUNNERS[dialect](sql, tables, types)]
            answers = read_answers(model.program, lines)
            worst = max(worst, compare_answers(dialect, model.program, rows, answers, expected))
        n_instances += len(keys)
    ran, translated = (
        tuple(name for name in statements if (name in TRANSLATIONS) is kind)
        for kind in (False, True)
    )
    return SqlReport(ran, len(databases), n_instances, worst, tuple(notes), translated)


def _statements(model: RuleModel, dialects: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    statements, notes = {}, []
    for dialect in dialects:
        try:
            statements[dialect] = relational_sql(model, dialect)
        except ValueError as error:
            if len(dialects) == 1:
                raise
            notes.append(f"{dialect} was not run: {error}")
    return statements, notes


def _relations(
    recipe: Recipe, tables: Mapping[str, Table], types: Mapping[str, dict[str, str]]
) -> Relations:
    """Read the tables with the kinds of the model, which values alone may not determine."""
    kinds: dict[str, list[str]] = {"nominal": [], "numeric": [], "date": []}
    labels = dict.fromkeys(("string", "number", "boolean"), "nominal")
    for table, columns in types.items():
        for column, type_ in columns.items():
            if (kind := labels.get(type_, type_)) in kinds:
                kinds[kind].append(f"{table}.{column}")
    return Relations(
        tables,
        recipe.instances,
        key=recipe.key,
        cutoff=None if recipe.cutoff is None else recipe.cutoff.name,
        times={table.name: table.time.name for table in recipe.tables if table.time is not None},
        nominal=kinds["nominal"],
        numeric=kinds["numeric"],
        date=kinds["date"],
    )


def _databases(
    model: RuleModel, recipe: Recipe, random: Random
) -> Iterator[tuple[dict[str, Table], dict[str, dict[str, str]]]]:
    """Create databases with the tables that a model reads, and the types of their columns."""
    own = adversarial_rows(model.program)
    for n_rows, text in ((0, False), (3, False), (40, False), (40, True), (150, False)):
        keys = [f"k'{i}\"" if text else i for i in range(25)]
        maker = _Maker(recipe, random, keys, "text" if text else "key")
        tables = {recipe.instances: maker.instances(model, own)}
        tables |= {table.name: maker.draw_related(table.name, n_rows) for table in recipe.tables}
        yield tables, maker.types


class _Maker:
    """Draws the rows of a database."""

    def __init__(self, recipe: Recipe, random: Random, keys: list[Any], key_type: str) -> None:
        self._recipe, self._random, self._keys, self._key_type = recipe, random, keys, key_type
        self.types: dict[str, dict[str, str]] = {}

    def instances(self, model: RuleModel, own: Mapping[str, list[Any]]) -> Table:
        """Draw the instances: their own columns take values at the thresholds of the model."""
        types = self.types[self._recipe.instances] = {self._recipe.key: self._key_type}
        table: Table = {self._recipe.key: list(self._keys)}
        for join in joins_of(self._recipe):
            if join.before is None and join.here not in table:
                self._add_key(self._recipe.instances, join.here, table, len(self._keys))
        for name in (n for n in model.columns if n not in self._recipe.names):
            types[name] = _type(model.schema[name])
            drawn = [self._random.choice(own[name]) for _ in self._keys]
            dated = types[name] == "date"
            table[name] = [_moment(v) if dated else v for v in drawn]
        if self._recipe.cutoff is not None:
            self._add_time(self._recipe.instances, self._recipe.cutoff, table, len(self._keys))
        return table

    def draw_related(self, name: str, n_rows: int) -> Table:
        """Draw the rows of a related table."""
        described, table = self._recipe[name], Table()
        self.types[name] = {}
        for join in joins_of(self._recipe):
            for place, key in ((join.table, join.there), (join.before, join.here)):
                if place == name and key not in table:
                    self._add_key(name, key, table, n_rows)
        for schema in described.columns:
            self.types[name][schema.name] = _type(schema)
            values = [*self._values(name, schema), None]
            table[schema.name] = [self._random.choice(values) for _ in range(n_rows)]
        if described.time is not None:
            self._add_time(name, described.time, table, n_rows)
        return table

    def _add_key(self, table: str, column: str, values: Table, n_rows: int) -> None:
        """Draw keys from few values, so that they repeat; some are missing or unknown."""
        unknown = "nobody's" if self._key_type == "text" else -7
        choices = [*self._keys[::2], unknown, None, None]
        self.types[table][column] = self._key_type
        values[column] = [self._random.choice(choices) for _ in range(n_rows)]

    def _add_time(self, table: str, column: ColumnSchema, values: Table, n_rows: int) -> None:
        columns = [one for one in self._recipe.columns if isinstance(one, DerivedColumn)]
        windows = {one.within for one in columns if one.within is not None}
        unit = 86_400_000.0 if column.kind == "date" else 1.0
        moments = {0.0, 5.0, 1_600_000_000_000.0}
        moments |= {1_600_000_000_000.0 - window * unit for window in windows}
        near = sorted({m + d for m in moments for d in (-1.0, 0.0, 1.0)})
        self.types[table][column.name] = column.kind
        drawn = [self._random.choice([*near, None]) for _ in range(n_rows)]
        dated = column.kind == "date"
        values[column.name] = [_date(v) if dated and v is not None else v for v in drawn]

    def _values(self, name: str, schema: ColumnSchema) -> list[Any]:
        wheres = [w for one in self._recipe.columns for table, w in one.wheres if table == name]
        if schema.kind == "numeric":
            named = [where.value for where in wheres if where.column == schema.name]
            cuts = [cut for cut in named if isinstance(cut, float)]
            near = [math.nextafter(cut, d) for cut in cuts for d in (-math.inf, math.inf)]
            return [*cuts, *near, *_NUMBERS]
        values = [label_value(label, schema) for label in schema.labels]
        other: dict[str, list[Any]] = {
            "string": ['it\'s "new"', ""],
            "number": [-77],
            "boolean": [],
        }
        return [*values, *other[schema.label_type]]


def _type(column: ColumnSchema) -> str:
    return column.label_type if column.kind == "nominal" else column.kind


def _date(milliseconds: float) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _run_duckdb(
    sql: str, tables: Mapping[str, Table], types: Mapping[str, dict[str, str]]
) -> list[Any]:
    with optional("duckdb").connect() as connection:
        for name, table in tables.items():
            found = [_TYPES["duckdb"][types[name][column]] for column in table]
            connection.execute(_create(name, table, found))
            unnested = ", ".join(f"unnest(CAST(? AS {kind}[]))" for kind in found)
            if any(map(len, table.values())):
                insert = f"INSERT INTO {quoted_name(name)} SELECT {unnested}"
                connection.execute(insert, list(table.values()))
        return list(connection.execute(sql).fetchall())


def _run_sqlite(
    sql: str, tables: Mapping[str, Table], types: Mapping[str, dict[str, str]]
) -> list[Any]:
    connection = sqlite3.connect(":memory:")
    try:
        provide_exp(connection)
        for name, table in tables.items():
            found = [_TYPES["sqlite"][types[name][column]] for column in table]
            connection.execute(_create(name, table, found))
            places = ", ".join("?" * len(table))
            lines = [tuple(map(_sqlite_value, line)) for line in zip(*table.values(), strict=True)]
            connection.executemany(f"INSERT INTO {quoted_name(name)} VALUES ({places})", lines)
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def _sqlite_value(value: Any) -> Any:
    if not isinstance(value, datetime):
        return value
    return value.isoformat(sep=" ", timespec="milliseconds")


def _create(name: str, table: Table, types: Sequence[str]) -> str:
    columns = zip(map(quoted_name, table), types, strict=True)
    listed = ", ".join(f"{column} {kind}" for column, kind in columns)
    return f"CREATE TABLE {quoted_name(name)} ({listed})"


def _run_translated(
    dialect: str, sql: str, tables: Mapping[str, Table], types: Mapping[str, dict[str, str]]
) -> list[Any]:
    if not DIALECTS[dialect].has_nan:
        tables = {
            name: {c: [None if v != v else v for v in values] for c, values in table.items()}
            for name, table in tables.items()
        }
    return _run_duckdb(translate_sql(sql, dialect), tables, types)


_RUNNERS: dict[str, Any] = {
    "duckdb": _run_duckdb,
    "sqlite": _run_sqlite,
    **{name: partial(_run_translated, name) for name in TRANSLATIONS},
}
