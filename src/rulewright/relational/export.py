"""A model of related tables as one SQL statement over them.

Steps read the tables into the plain form of `statements`, group the rows of each path by instance,
and join the results to the instances; the model then reads this table like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.data import UNSEEN_CODE, ColumnSchema, DataError, Schema, label_value
from rulewright.programs import (
    DIALECTS,
    Prelude,
    checked_dialect,
    unused_prefix,
    write_sql,
)
from rulewright.relational.deriving import joins_of
from rulewright.relational.recipe import Recipe, schema_recipe
from rulewright.relational.statements import Aggregates, Layout, Relation, Statements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.model import RuleModel


def relational_sql(
    model: RuleModel,
    dialect: str = "duckdb",
    *,
    tables: Mapping[str, str | Sequence[str]] | None = None,
) -> str:
    """Write a model as one SELECT over the related tables, with equal scores.

    Parameters
    ----------
    model : RuleModel
        A model learned from `Relations`, fitted or loaded.
    dialect : {"duckdb", "postgres", "sqlite", "snowflake", "bigquery", "sqlserver", "spark"}
        Target database. Only DuckDB and PostgreSQL have the median and the last value. The SQL of
        the last four is checked for syntax and was never run there.
    tables : dict, optional
        Names of tables with other names in the database; a sequence is a qualified name, such as
        ("schema", "table").

    Returns
    -------
    str
        A SELECT of the key of the instances and the columns of ``RuleModel.to_sql``. The key must
        identify instances: rows without a key or with a shared key are not supported.
    """
    schema = model.schema
    if (whole := schema_recipe(schema)) is None:
        raise DataError("This model has no derived columns: write it with model.to_sql().")
    recipe = whole.only(set(model.columns))
    checked_dialect(dialect)
    writer = _Writer(recipe, schema, model.columns, dialect, tables or {})
    return write_sql(
        model.commented_program, writer.derived, dialect, [recipe.key], writer.prelude()
    )


class _Writer:
    """The steps that compute the flat table of a model."""

    def __init__(
        self,
        recipe: Recipe,
        schema: Schema,
        columns: Sequence[str],
        dialect: str,
        tables: Mapping[str, str | Sequence[str]],
    ) -> None:
        self._recipe, self._schema, self._dialect = recipe, schema, DIALECTS[dialect]
        self._own = [name for name in columns if name not in recipe.names]
        known = {recipe.instances, *(table.name for table in recipe.tables)}
        if unknown := sorted(tables.keys() - known):
            raise DataError(
                f"tables: the model does not read a table {unknown[0]!r}, but "
                f"{', '.join(map(repr, sorted(known)))}."
            )
        places = {name: tables.get(name, name) for name in known}
        self._places = {n: [p] if isinstance(p, str) else list(p) for n, p in places.items()}
        parts = [part for place in self._places.values() for part in place]
        self._prefix = unused_prefix([*parts, *columns, recipe.key])
        self.derived = f"{self._prefix}derived"
        self._row, self._alias = f"{self._prefix}row", f"{self._prefix}t"

    def prelude(self) -> Prelude:
        """Write all steps; return also the column names in the last one."""
        layout = self._layout()
        steps = [self._instances(layout), *map(self._table, layout.tables)]
        statements = Statements(self._recipe, layout, Aggregates(self._dialect.name))
        names = {name: f"{self._prefix}own_{i}" for i, name in enumerate(self._own)}
        selected = [f"t.{self._row} AS {self._dialect.quote(self._recipe.key)}"]
        selected += [f"t.{name} AS {name}" for name in names.values()]
        source = f"{layout.instances.name} AS t"
        for i, grouped in enumerate(statements.group_statements()):
            path = f"{self._prefix}path_{i}"
            steps.append(self._step(path, f"  {grouped.text}"))
            source += f"\n  LEFT JOIN {path} AS p{i} ON p{i}.{self._row} = t.{self._row}"
            for name, text in grouped.results.items():
                names[name] = f"{self._prefix}derived_{len(names)}"
                selected.append(f"{self._result(name, text.format(p=f'p{i}'))} AS {names[name]}")
        listed = ",\n    ".join(selected)
        steps.append(self._step(self.derived, f"  SELECT {listed}\n  FROM {source}"))
        return Prelude(steps, names)

    def _layout(self) -> Layout:
        keys: dict[str | None, list[str]] = {table.name: [] for table in self._recipe.tables}
        keys[None] = []
        for join in joins_of(self._recipe):
            keys[join.before].append(join.here)
            keys[join.table].append(join.there)
        numbered = {
            name: {key: f"{self._prefix}k{i}" for i, key in enumerate(dict.fromkeys(found))}
            for name, found in keys.items()
        }
        moment = f"{self._prefix}moment"
        cutoff = None if self._recipe.cutoff is None else moment
        instances = Relation(f"{self._prefix}instances", numbered[None], time=cutoff)
        tables = {
            table.name: Relation(
                f"{self._prefix}table_{i}",
                numbered[table.name],
                {c.name: f"{self._prefix}c{j}" for j, c in enumerate(table.columns)},
                None if table.time is None else moment,
            )
            for i, table in enumerate(self._recipe.tables)
        }
        self._relations = tables
        return Layout(self._row, instances, tables)

    def _instances(self, layout: Layout) -> str:
        read = {self._row: self._column(self._recipe.key)}
        read |= {name: self._column(key) for key, name in layout.instances.keys.items()}
        if self._recipe.cutoff is not None and layout.instances.time is not None:
            read[layout.instances.time] = self._number(self._recipe.cutoff)
        read |= {f"{self._prefix}own_{i}": self._column(n) for i, n in enumerate(self._own)}
        return self._step(layout.instances.name, self._select(read, self._recipe.instances))

    def _table(self, name: str) -> str:
        """Write the step that reads a table: text first, so that labels are compared once."""
        relation, described = self._relations[name], self._recipe[name]
        read = {key: self._column(column) for column, key in relation.keys.items()}
        plain = {key: key for key in read}
        for column in described.columns:
            alias = relation.columns[column.name]
            if column.kind == "nominal":
                value = self._column(column.name)
                read[alias] = column.sql_value(value, self._dialect)
                plain[alias] = self._code(alias, column)
            else:
                read[alias] = self._number(column)
                plain[alias] = alias
        if relation.time is not None and described.time is not None:
            read[relation.time], plain[relation.time] = self._number(described.time), relation.time
        inner = self._select(read, name)
        listed = ",\n    ".join(f"{text} AS {alias}" for alias, text in plain.items())
        return self._step(
            relation.name, f"  SELECT {listed}\n  FROM (\n{inner}) AS {self._alias}_read"
        )

    def _select(self, columns: Mapping[str, str], table: str) -> str:
        listed = ",\n    ".join(f"{text} AS {alias}" for alias, text in columns.items())
        return f"  SELECT {listed}\n  FROM {self._dialect.rows(self._places[table], self._alias)}"

    def _column(self, name: str) -> str:
        return self._dialect.column(name, self._alias)

    def _number(self, column: ColumnSchema) -> str:
        """Write a numeric column, or a date in milliseconds."""
        words = self._dialect
        value = column.sql_value(self._column(column.name), words)
        return column.type.sql_number(value, words)

    def _code(self, alias: str, column: ColumnSchema) -> str:
        words = self._dialect
        whens = "".join(
            f" WHEN {alias} = {column.type.sql_literal(column, label, words)} THEN {code}"
            for code, label in enumerate(column.labels)
        )
        return f"CASE WHEN {alias} IS NULL THEN NULL{whens} ELSE {UNSEEN_CODE} END"

    def _result(self, name: str, text: str) -> str:
        """Write a derived column: codes are converted back to labels."""
        column = self._schema[name]
        derived = next(one for one in self._recipe.columns if one.name == name)
        if column.kind != "nominal" or derived.function == "exists":
            return text
        literals = [self._label(label, column) for label in column.labels]
        whens = " ".join(f"WHEN {code} THEN {word}" for code, word in enumerate(literals))
        return f"CASE {text} {whens} WHEN {UNSEEN_CODE} THEN {self._unseen(column)} END"

    def _label(self, label: str, column: ColumnSchema) -> str:
        value = label_value(label, column)
        if isinstance(value, str):
            return self._dialect.text(value)
        return str(int(value)) if isinstance(value, bool) else self._dialect.number(value)

    def _unseen(self, column: ColumnSchema) -> str:
        """Write a value that is not a label of a column."""
        if column.label_type == "boolean":
            return "2"
        if column.label_type == "number":
            values = [float(label) for label in column.labels]
            return self._dialect.number(max([abs(value) for value in values], default=0.0) + 1.5)
        text = "(unseen label)"
        while text in column.labels:
            text += "*"
        return self._dialect.text(text)

    def _step(self, name: str, text: str) -> str:
        return f"{name} {self._dialect.as_step} (\n{text}\n)"
