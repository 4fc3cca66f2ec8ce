"""One grouped statement per join path, with aggregates that are equal in every database.

Sums of doubles depend on the order of the rows. Therefore values are multiplied by a factor of the
column, rounded to integers, and summed as integers. The factor makes decimals exact if the training
rows have few digits, and keeps about 44 bits of other values.

Tables are given in a plain form (`Layout`): keys unchanged, numbers and times as doubles, labels as
codes. Python registers arrays of that form; exported SQL reads tables into it.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from rulewright.programs import DIALECTS
from rulewright.relational.derived import Clause, DerivedColumn, RelatedRow, SharedKey

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulewright.relational.derived import RowCondition, Step
    from rulewright.relational.recipe import Recipe


DAY = 86_400_000.0
"""Milliseconds per day."""
LARGEST_WHOLE = 2**53
"""Scaled values are clipped at this number."""
LARGEST_SUM = 2**62
"""Sums of integers are clipped at this number."""
BITS = 44
"""Bits kept of values that are not decimals with few digits."""
SQUARED_BITS = 19
"""Bits kept of values whose squares are summed: about six digits of the largest value."""
LARGEST_SQUARED = 2**26
"""Scaled values whose squares are summed are clipped at this number."""
DIGITS = 6
"""Maximum number of decimal places."""
_ABOVE_HALF = 0.5 + 2.0**-40
"""Quantile of the upper one of two middle values, for up to a billion of them."""
_WIDE = {
    "snowflake": "NUMBER(38, 0)",
    "bigquery": "BIGNUMERIC",
    "sqlserver": "DECIMAL(38, 0)",
    "spark": "DECIMAL(38, 0)",
}
"""Types in which databases sum integers that would overflow otherwise. These databases have no
FILTER, or not in every version, and round in ways of their own."""


def factor_of(largest: float, digits: int, bits: int) -> float:
    """Return the factor of values up to a size: it turns decimals into integers."""
    if digits <= DIGITS and largest * 10.0**digits < 2.0 ** (bits + 6):
        return 10.0**digits
    exponent = math.frexp(largest)[1]
    return math.ldexp(1.0, max(-1000, min(1000, bits - exponent)))


class AggregateRows(NamedTuple):
    """The rows of an aggregate, as SQL expressions."""

    value: str | None  # of the column
    tests: tuple[str, ...]  # conditions of the rows
    time: str | None
    cutoff: str | None


class Aggregate(NamedTuple):
    """The parts to compute per group, and the result; ``{0}`` stands for the first part."""

    parts: tuple[str, ...]
    result: str


@dataclass(frozen=True)
class Aggregates:
    """Writes aggregates in one dialect."""

    dialect: str

    def of(self, column: DerivedColumn, rows: AggregateRows) -> Aggregate:
        """Write a derived column, or raise a ValueError if the database cannot compute it."""
        x, function = rows.value or "", column.function
        if function in ("count", "exists"):
            count, some = self._over("COUNT", "*", rows.tests), self.truth("COALESCE({0}, 0) > 0")
            number = self._double("COALESCE({0}, 0)")
            return Aggregate((count,), number if function == "count" else some)
        if function in ("mean", "sum"):
            return self._add(column, x, rows.tests)
        if function == "stddev":
            return self._deviate(column, x, rows.tests)
        if function == "recency":
            unit = DAY if column.dated else 1.0
            gap = self._over("MIN", f"{rows.cutoff} - {rows.time}", rows.tests)
            return Aggregate((gap,), f"{{0}} / {self.number(unit)}")
        if function == "median":
            return self._median(x, rows.tests)
        if function == "last":
            return Aggregate((self._last(column, x, rows),), "{0}")
        name = "MIN" if function == "min" else "MAX"
        return Aggregate((self._over(name, x, rows.tests),), "{0}")

    def truth(self, test: str) -> str:
        """Write a test as a value of a column."""
        words = DIALECTS[self.dialect]
        if words.has_booleans:
            return test
        return f"CASE WHEN {test} THEN {words.boolean(True)} ELSE {words.boolean(False)} END"

    def _over(self, function: str, x: str, tests: Sequence[str]) -> str:
        """Write an aggregate of the rows that pass tests."""
        if not tests or self.dialect not in _WIDE:
            return f"{function}({x}){_filter(tests)}"
        return f"{function}({_where(tests, '1' if x == '*' else x)})"

    def number(self, value: float) -> str:
        """Write a number exactly."""
        return DIALECTS[self.dialect].number(value)

    def _double(self, x: str) -> str:
        return f"CAST({x} AS {DIALECTS[self.dialect].double_type})"

    def _add(self, column: DerivedColumn, x: str, tests: Sequence[str]) -> Aggregate:
        assert column.factor is not None
        factor, total = self.number(column.factor), self._total("{0}")
        parts = (self._over("SUM", self._whole(x, column.factor), tests),)
        if column.function == "sum":
            return Aggregate(parts, f"{total} / {factor}")
        count = self._over("COUNT", x, tests)
        return Aggregate((*parts, count), f"{total} / {{1}} / {factor}")

    def _total(self, x: str) -> str:
        """Write a sum of integers as a clipped double."""
        largest = f"WHEN {x} > {LARGEST_SUM} THEN {LARGEST_SUM}"
        clipped = f"CASE {largest} WHEN {x} < -{LARGEST_SUM} THEN -{LARGEST_SUM} ELSE {x} END"
        # DuckDB and PostgreSQL sum in wider types, which are cast back first
        return self._double(clipped if self.dialect == "sqlite" else f"CAST({clipped} AS BIGINT)")

    def _deviate(self, column: DerivedColumn, x: str, tests: Sequence[str]) -> Aggregate:
        """Write the standard deviation of a sample; `grouping` computes it in the same steps."""
        assert column.factor is not None
        whole = self._whole(x, column.factor, LARGEST_SQUARED)
        summed, squared = self._total("{0}"), self._total("{1}")
        variance = f"({squared} - {summed} / {{2}} * {summed}) / ({{2}} - 1)"
        root = f"SQRT({variance}) / {self.number(column.factor)}"
        zero = f"WHEN {{3}} = {{4}} OR {variance} <= 0 THEN {self.number(0.0)}"
        parts = (
            self._over("SUM", whole, tests),
            self._over("SUM", f"({whole}) * ({whole})", tests),
            *(self._over(function, x, tests) for function in ("COUNT", "MIN", "MAX")),
        )
        return Aggregate(parts, f"CASE WHEN {{2}} > 1 THEN CASE {zero} ELSE {root} END END")

    def _whole(self, x: str, factor: float, most: int = LARGEST_WHOLE) -> str:
        """Write a value times the factor as an integer; PostgreSQL fails on any overflow."""
        bound, half = self.number(min(most / factor, sys.float_info.max)), 0.5
        scaled, plus, minus = f"{x} * {self.number(factor)}", self.number(half), self.number(-half)
        rounded = f"{scaled} + CASE WHEN {x} < 0 THEN {minus} ELSE {plus} END"
        if wide := _WIDE.get(self.dialect):  # not all of them truncate
            below, above = f"-FLOOR({plus} - {scaled})", f"FLOOR({scaled} + {plus})"
            whole = f"CAST(CASE WHEN {x} < 0 THEN {below} ELSE {above} END AS {wide})"
        elif self.dialect == "sqlite":  # truncates
            whole = f"CAST({rounded} AS INTEGER)"
        else:
            whole = f"CAST(TRUNC({rounded}) AS BIGINT)"
        return (
            f"CASE WHEN {x} >= {bound} THEN {most} WHEN {x} <= -({bound}) "
            f"THEN -{most} WHEN ABS({x}) < {self.number(0.25 / factor)} THEN 0 "
            f"ELSE {whole} END"
        )

    def _median(self, x: str, tests: Sequence[str]) -> Aggregate:
        """Write the mean of the two middle values."""
        places, where = f"0.5, {_ABOVE_HALF}", _filter(tests)
        if self.dialect == "duckdb":
            part = f"QUANTILE_DISC({x}, [{places}]){where}"
        elif self.dialect == "postgres":
            part = f"PERCENTILE_DISC(ARRAY[{places}]) WITHIN GROUP (ORDER BY {x}){where}"
        else:
            raise self._lacking("median")
        half = self.number(0.5)
        return Aggregate((part,), f"{{0}}[1] * {half} + {{0}}[2] * {half}")

    def _last(self, column: DerivedColumn, x: str, rows: AggregateRows) -> str:
        """Write the latest known value; ties go to the largest."""
        where = _filter((*rows.tests, f"{x} IS NOT NULL", f"{rows.time} IS NOT NULL"))
        if self.dialect == "duckdb":
            return f"LAST({x} ORDER BY {rows.time}, {x}){where}"
        if self.dialect == "postgres":
            return f"(ARRAY_AGG({x} ORDER BY {rows.time} DESC, {x} DESC){where})[1]"
        raise self._lacking(column.function)

    def _lacking(self, function: str) -> ValueError:
        return ValueError(
            f"{self.dialect} has no aggregate for {function!r}: export for duckdb or postgres, or "
            "learn without it, functions=[...]"
        )


def _filter(tests: Sequence[str]) -> str:
    return f" FILTER (WHERE {' AND '.join(tests)})" if tests else ""


def _where(tests: Sequence[str], x: str) -> str:
    """Write a value of the rows that pass tests."""
    return f"CASE WHEN {' AND '.join(tests)} THEN {x} END" if tests else x


_SIGNS = {"!=": "<>"}
MAX_PARTS = 256
"""Maximum number of aggregates per statement: databases slow down with thousands."""


@dataclass(frozen=True)
class Relation:
    """A table in plain form: its name and the names of its columns, in SQL."""

    name: str
    keys: Mapping[str, str]
    columns: Mapping[str, str] = field(default_factory=dict)
    time: str | None = None  # for the instances: the cutoff


@dataclass(frozen=True)
class Layout:
    """All tables in plain form; `row` is the column that identifies instances."""

    row: str
    instances: Relation
    tables: Mapping[str, Relation]


@dataclass(frozen=True)
class GroupedStatement:
    """A statement that aggregates rows by instance, and its results."""

    text: str
    results: Mapping[str, str]  # derived column to an expression of the columns of ``{p}``


class Statements:
    """Writes the statements of a recipe in a dialect."""

    def __init__(self, recipe: Recipe, layout: Layout, aggregates: Aggregates) -> None:
        self._recipe, self._layout, self._aggregates = recipe, layout, aggregates

    def group_statements(self, max_parts: int = MAX_PARTS) -> Iterator[GroupedStatement]:
        """Yield one statement per path, or more if it has too many columns."""
        found = [column for column in self._recipe.columns if isinstance(column, DerivedColumn)]
        columns = sorted(found, key=lambda column: _order(column.path))
        for _, group in groupby(columns, key=lambda column: column.path):
            yield from self._batches(list(group), max_parts)
        for column in self._recipe.columns:
            if isinstance(column, Clause):
                yield self._exists(column)

    def write_join(self, path: Sequence[Step]) -> str:
        """Write the rows that a path reaches, as ``FROM ...``."""
        rows = [
            RelatedRow(step.table, (SharedKey(step.there, at, step.here),))
            for at, step in enumerate(path)
        ]
        return self._from(rows)

    def value(self, path: Sequence[Step], column: str) -> str:
        """Write a column of the last table of a path."""
        return f"t{len(path)}.{self._layout.tables[path[-1].table].columns[column]}"

    def _from(self, rows: Sequence[RelatedRow]) -> str:
        """Write the instances with their related rows, as ``FROM ...``."""
        joins = [
            f" JOIN {self._layout.tables[row.table].name} AS t{at} "
            f"ON {self._on(f't{at}', row, rows)}"
            for at, row in enumerate(rows, 1)
        ]
        return "".join([f"FROM {self._layout.instances.name} AS t0", *joins])

    def _on(self, alias: str, row: RelatedRow, rows: Sequence[RelatedRow]) -> str:
        """Write the keys of a row, and the condition that it precedes the cutoff."""
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
        """Write the instances with the rows of a clause."""
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
        found = self._aggregates.truth("COALESCE({p}.a0, 0) > 0")
        return GroupedStatement(text + where_text, {clause.name: found})

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
