"""One grouped statement per join path: all derived columns of the path in one scan.

Tables are given in a plain form (`Layout`): keys as they are, numbers and moments as doubles,
labels as codes. Python registers arrays of that form; exported SQL reads tables into it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from rulewright.relational.aggregates import DAY, AggregateRows, Aggregates
from rulewright.relational.clauses import Clause, RelatedRow, SharedKey
from rulewright.relational.derived import DerivedColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulewright.relational.derived import RowCondition, Step
    from rulewright.relational.recipe import Recipe

_SIGNS = {"!=": "<>"}
MAX_PARTS = 256
"""The most aggregates of a statement: databases slow down with thousands."""


@dataclass(frozen=True)
class Relation:
    """A table in plain form: its name, and those of its columns, in SQL."""

    name: str
    keys: Mapping[str, str]
    columns: Mapping[str, str] = field(default_factory=dict)
    time: str | None = None  # of the instances: the cutoff


@dataclass(frozen=True)
class Layout:
    """All tables in plain form; `row` is the column that identifies instances."""

    row: str
    instances: Relation
    tables: Mapping[str, Relation]


@dataclass(frozen=True)
class GroupedStatement:
    """A statement that aggregates rows by instance, and what its columns come to."""

    text: str
    results: Mapping[str, str]  # derived column to an expression of the columns of ``{p}``


class Statements:
    """Writes the statements of a recipe in a dialect."""

    def __init__(self, recipe: Recipe, layout: Layout, aggregates: Aggregates) -> None:
        self._recipe, self._layout, self._aggregates = recipe, layout, aggregates

    def group_statements(self, max_parts: int = MAX_PARTS) -> Iterator[GroupedStatement]:
        """Give one statement per path, or more if it has very many columns."""
        found = [column for column in self._recipe.columns if isinstance(column, DerivedColumn)]
        columns = sorted(found, key=lambda column: _order(column.path))
        for _, group in groupby(columns, key=lambda column: column.path):
            yield from self._batches(list(group), max_parts)
        for column in self._recipe.columns:
            if isinstance(column, Clause):
                yield self._exists(column)

    def write_join(self, path: Sequence[Step]) -> str:
        """Write the rows of the instances that a path reaches, as ``FROM ...``."""
        rows = [
            RelatedRow(step.table, (SharedKey(step.there, at, step.here),))
            for at, step in enumerate(path)
        ]
        return self._from(rows)

    def value(self, path: Sequence[Step], column: str) -> str:
        """Write a column of the last table of a path."""
        return f"t{len(path)}.{self._layout.tables[path[-1].table].columns[column]}"

    def _from(self, rows: Sequence[RelatedRow]) -> str:
        """Write the instances with rows that belong to them, as ``FROM ...``."""
        joins = [
            f" JOIN {self._layout.tables[row.table].name} AS t{at} "
            f"ON {self._on(f't{at}', row, rows)}"
            for at, row in enumerate(rows, 1)
        ]
        return "".join([f"FROM {self._layout.instances.name} AS t0", *joins])

    def _on(self, alias: str, row: RelatedRow, rows: Sequence[RelatedRow]) -> str:
        """Write the keys of a row, and that it is seen before the cutoff."""
        relation, first = self._layout.tables[row.table], self._layout.instances
        found = [first, *(self._layout.tables[one.table] for one in rows)]
        parts = [
            f"{alias}.{relation.keys[key.column]} {_SIGNS.get(key.op, key.op)} "
            f"t{key.of}.{found[key.of].keys[key.here]}"
            for key in row.keys
        ]
        if relation.time is not None and first.time is not None:
            parts.append(f"{alias}.{relation.time} < t0.{first.time}")
        return " AND ".join(parts)

    def _exists(self, clause: Clause) -> GroupedStatement:
        """Write the instances that have the rows of a clause."""
        tests = []
        for at, where in clause.tests:
            table = clause.rows[at - 1].table
            tests.append(self._holds(f"t{at}", table, where))
        for c in clause.compared:
            x = self._layout.tables[clause.rows[c.one - 1].table].columns[c.column]
            sign = _SIGNS.get(c.op, c.op)
            tests.append(f"t{c.one}.{x} {sign} t{c.other}.{x}")
            if self._recipe[clause.rows[c.one - 1].table][c.column].kind == "nominal":
                tests += [f"t{row}.{x} >= 0" for row in (c.one, c.other)]
        for row in clause.absent:
            name, on = self._layout.tables[row.table].name, self._on("n", row, clause.rows)
            tests.append(f"NOT EXISTS (SELECT 1 FROM {name} AS n WHERE {on})")
        row_name, where_text = self._layout.row, f"\n  WHERE {' AND '.join(tests)}" if tests else ""
        text = f"SELECT DISTINCT t0.{row_name} AS {row_name}, 1 AS a0\n  {self._from(clause.rows)}"
        return GroupedStatement(text + where_text, {clause.name: "COALESCE({p}.a0, 0) > 0"})

    def _batches(
        self, columns: Sequence[DerivedColumn], max_parts: int
    ) -> Iterator[GroupedStatement]:
        parts: dict[str, str] = {}
        results: dict[str, str] = {}
        for column in columns:
            aggregate = self._aggregates.of(column, self._rows(column))
            if results and len({*parts, *aggregate.parts}) > max_parts:
                yield self._statement(columns[0].path, parts, results)
                parts, results = {}, {}
            names = [parts.setdefault(part, f"a{len(parts)}") for part in aggregate.parts]
            results[column.name] = aggregate.result.format(*(f"{{p}}.{name}" for name in names))
        yield self._statement(columns[0].path, parts, results)

    def _statement(
        self, path: Sequence[Step], parts: Mapping[str, str], results: Mapping[str, str]
    ) -> GroupedStatement:
        row = self._layout.row
        listed = ",\n    ".join(f"{text} AS {name}" for text, name in parts.items())
        select = f"SELECT t0.{row} AS {row},\n    {listed}\n  {self.write_join(path)}"
        return GroupedStatement(f"{select}\n  GROUP BY t0.{row}", dict(results))

    def _rows(self, column: DerivedColumn) -> AggregateRows:
        tests, timed = [], self._recipe.find_timed_step(column.path)
        time = cutoff = None
        if timed is not None:
            time = f"t{timed + 1}.{self._layout.tables[column.path[timed].table].time}"
        if self._layout.instances.time is not None:
            cutoff = f"t0.{self._layout.instances.time}"
        if column.where is not None:
            tests.append(self._test(column, column.where))
        if column.within is not None:
            length = self._aggregates.number(column.within * (DAY if column.dated else 1.0))
            tests.append(f"{time} >= {cutoff} - {length}")
        value = None if column.column is None else self.value(column.path, column.column)
        return AggregateRows(value, tuple(tests), time, cutoff)

    def _test(self, column: DerivedColumn, where: RowCondition) -> str:
        return self._holds(f"t{len(column.path)}", column.table, where)

    def _holds(self, alias: str, table: str, where: RowCondition) -> str:
        x = f"{alias}.{self._layout.tables[table].columns[where.column]}"
        if isinstance(where.value, str):
            labels = self._recipe[table][where.column].labels
            return f"{x} {_SIGNS.get(where.op, where.op)} {labels.index(where.value)}"
        return f"{x} {where.op} {self._aggregates.number(where.value)}"


def _order(path: Sequence[Step]) -> tuple[tuple[str, str, str], ...]:
    return tuple((step.table, step.here, step.there) for step in path)
