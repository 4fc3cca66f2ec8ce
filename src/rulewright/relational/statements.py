"""One grouped statement per join path: all derived columns of the path in one scan.

Tables are given in a plain form (`Layout`): keys as they are, numbers and moments as doubles,
labels as codes. Python registers arrays of that form; exported SQL reads tables into it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from rulewright.relational.aggregates import DAY, Aggregates, Rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulewright.data import DerivedColumn, Recipe, Step, Where

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
class Grouped:
    """A statement that aggregates rows by instance, and what its columns come to."""

    text: str
    results: Mapping[str, str]  # derived column to an expression of the columns of ``{p}``


class Statements:
    """Writes the statements of a recipe in a dialect."""

    def __init__(self, recipe: Recipe, layout: Layout, aggregates: Aggregates) -> None:
        self._recipe, self._layout, self._aggregates = recipe, layout, aggregates

    def grouped(self, max_parts: int = MAX_PARTS) -> Iterator[Grouped]:
        """Give one statement per path, or more if it has very many columns."""
        columns = sorted(self._recipe.columns, key=lambda column: _order(column.path))
        for _, group in groupby(columns, key=lambda column: column.path):
            yield from self._batches(list(group), max_parts)

    def joined(self, path: Sequence[Step]) -> str:
        """Write the rows of the instances that a path reaches, as ``FROM ...``."""
        layout, before = self._layout, self._layout.instances
        text = f"FROM {before.name} AS t0"
        for at, step in enumerate(path):
            relation = layout.tables[step.table]
            text += (
                f" JOIN {relation.name} AS t{at + 1} "
                f"ON t{at + 1}.{relation.keys[step.there]} = t{at}.{before.keys[step.here]}"
            )
            if relation.time is not None and layout.instances.time is not None:
                text += f" AND t{at + 1}.{relation.time} < t0.{layout.instances.time}"
            before = relation
        return text

    def value(self, path: Sequence[Step], column: str) -> str:
        """Write a column of the last table of a path."""
        return f"t{len(path)}.{self._layout.tables[path[-1].table].columns[column]}"

    def _batches(self, columns: Sequence[DerivedColumn], max_parts: int) -> Iterator[Grouped]:
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
    ) -> Grouped:
        row = self._layout.row
        listed = ",\n    ".join(f"{text} AS {name}" for text, name in parts.items())
        select = f"SELECT t0.{row} AS {row},\n    {listed}\n  {self.joined(path)}"
        return Grouped(f"{select}\n  GROUP BY t0.{row}", dict(results))

    def _rows(self, column: DerivedColumn) -> Rows:
        tests, timed = [], self._recipe.timed(column.path)
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
        return Rows(value, tuple(tests), time, cutoff)

    def _test(self, column: DerivedColumn, where: Where) -> str:
        x = self.value(column.path, where.column)
        if isinstance(where.value, str):
            labels = self._recipe[column.table][where.column].labels
            return f"{x} = {labels.index(where.value)}"
        return f"{x} {where.op} {self._aggregates.number(where.value)}"


def _order(path: Sequence[Step]) -> tuple[tuple[str, str, str], ...]:
    return tuple((step.table, step.here, step.there) for step in path)
