"""Which columns to derive: chosen by the rows that training instances reach, without their target.

Labels, thresholds and factors come from these rows only, so that a fold never sees the rows of
another one. Simple columns come first: near tables before far ones, whole tables before conditions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Column, DataError, DerivedColumn, Recipe, RelatedTable, Where
from rulewright.data.derived import ADDED, OF_LABELS, OF_ROWS, TIMED
from rulewright.data.recipe import check_distinct_columns
from rulewright.data.short import short_between
from rulewright.relational.aggregates import DIGITS, Aggregates, factor_of
from rulewright.relational.deriving import opened
from rulewright.relational.paths import join_paths, leads_to_one, named_paths
from rulewright.relational.statements import Statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulewright.data import ColumnSchema, Step
    from rulewright.relational.paths import Path
    from rulewright.relational.relations import Relations

DEFAULT_FUNCTIONS = ("count", "recency", "max", "min", "mean", "sum", "median", "last")


@dataclass(frozen=True)
class Choosing:
    """Settings of the choice; see `RelationalClassifier`."""

    max_depth: int = 2
    functions: Sequence[str] = DEFAULT_FUNCTIONS
    windows: Sequence[float] = ()
    max_labels: int = 10
    n_thresholds: int = 3
    min_support: float = 0.01
    max_features: int = 500
    paths: Sequence[str] | None = None


@dataclass(frozen=True)
class _Numbers:
    """What is known of a numeric column along a path."""

    factor: float
    thresholds: tuple[float, ...]


@dataclass(frozen=True)
class _Seen:
    """What training instances see along a path."""

    path: Path
    to_one: bool
    numbers: Mapping[str, _Numbers]
    labels: Mapping[str, tuple[str, ...]]  # most frequent first


def choose(relations: Relations, choosing: Choosing) -> tuple[Recipe, dict[str, Column], int]:
    """Return a recipe, its columns for the instances, and how many columns were left out.

    Columns that are the same for all instances, or equal to a simpler one, are no part of it.
    """
    recipe, n_left_out = proposed(relations, choosing)
    columns = relations.derived(recipe)
    told = _informative(columns, [column.name for column in recipe.columns])
    return recipe.only(told), {name: columns[name] for name in told}, n_left_out


def proposed(relations: Relations, choosing: Choosing) -> tuple[Recipe, int]:
    """Return the recipe of all columns that are tried, and how many were left out."""
    paths = _paths(relations, choosing)
    draft = _draft(relations, paths)
    related = {table.name: relations.table_of(table.name) for table in draft.tables}
    start = relations.table_of(relations.instances)
    with opened(draft, start, relations.cutoff, related) as (connection, layout):
        statements = Statements(draft, layout, Aggregates("duckdb"))
        look = _Look(connection, statements, draft, choosing, start.n_rows)
        to_one = {path: leads_to_one(relations.links, start.name, path) for path in paths}
        seen = [look.seen(path, to_one[path]) for path in paths]
    candidates = list(_candidates(draft, seen, choosing))
    check_distinct_columns(candidates)
    kept = tuple(candidates[: choosing.max_features])
    recipe = replace(draft, tables=_with_labels(draft, seen), columns=kept)
    return recipe.only(recipe.names), len(candidates) - len(kept)


def _paths(relations: Relations, choosing: Choosing) -> list[Path]:
    links, instances = relations.links, relations.instances
    if choosing.paths is not None:
        return named_paths(choosing.paths, links, instances, choosing.max_depth)
    found = join_paths(links, instances, choosing.max_depth)
    if not found:
        raise DataError(
            f"No key leads from table {instances!r} to another one. Declare keys, such as "
            "keys={'orders': 'customer_id'}; Relations.propose(tables) looks for some."
        )
    return found


def _draft(relations: Relations, paths: Sequence[Path]) -> Recipe:
    """Describe all columns that the paths reach; the labels are not chosen yet."""
    tables = []
    for name in dict.fromkeys(step.table for path in paths for step in path):
        table, time = relations.table_of(name), relations.times.get(name)
        columns = tuple(
            column.schema
            for column in table.columns.values()
            if column.schema.kind != "date" and column.schema.name != time
        )
        tables.append(RelatedTable(name, columns, (time and table.column(time).schema) or None))
    instances, cutoff = relations.table_of(relations.instances), None
    if relations.cutoff is not None:
        cutoff = instances.column(relations.cutoff).schema
    counts = tuple(DerivedColumn(path, "count") for path in paths)
    return Recipe(relations.instances, relations.key, tuple(tables), counts, cutoff)


class _Look:
    """Looks at the rows that training instances reach, along one path after the other."""

    def __init__(
        self,
        connection: Any,
        statements: Statements,
        draft: Recipe,
        choosing: Choosing,
        n_instances: int,
    ) -> None:
        self._connection, self._statements = connection, statements
        self._draft, self._choosing = draft, choosing
        self._least = max(2, math.ceil(choosing.min_support * n_instances))

    def seen(self, path: Path, to_one: bool) -> _Seen:
        """Tell what is seen along a path."""
        columns = self._draft[path[-1].table].columns
        numeric = [column.name for column in columns if column.kind == "numeric"]
        nominal = [column for column in columns if column.kind == "nominal"]
        labels = {column.name: self._labels(path, column) for column in nominal}
        return _Seen(path, to_one, self._numbers(path, numeric), labels)

    def _labels(self, path: Path, column: ColumnSchema) -> tuple[str, ...]:
        """Return the labels that most instances see."""
        x, rows = self._statements.value(path, column.name), self._statements.joined(path)
        found = self._connection.execute(
            f"SELECT {x}, COUNT(DISTINCT t0.row_number) {rows} WHERE {x} >= 0 GROUP BY {x}"
        ).fetchall()
        enough = [(code, count) for code, count in found if count >= self._least]
        counted = sorted((-count, column.labels[code]) for code, count in enough)
        return tuple(label for _, label in counted[: self._choosing.max_labels])

    def _numbers(self, path: Path, names: Sequence[str]) -> dict[str, _Numbers]:
        if not names:
            return {}
        values = [self._statements.value(path, name) for name in names]
        n, rows = self._choosing.n_thresholds, self._statements.joined(path)
        shares = ", ".join(repr((i + 1) / (n + 1)) for i in range(n))
        parts = []
        for x in values:
            quantiles = f"QUANTILE_DISC({x}, [{shares}])" if n else "[]"
            parts += [f"MAX(ABS({x}))", f"MIN({x})", quantiles]
            powers = [10.0**digits for digits in range(DIGITS + 1)]
            parts += [f"BOOL_AND(ROUND({x} * {p!r}) / {p!r} = {x})" for p in powers]
        (found,) = self._connection.execute(f"SELECT {', '.join(parts)} {rows}").fetchall()
        width = len(parts) // len(names)
        facts = {name: found[i * width : (i + 1) * width] for i, name in enumerate(names)}
        facts = {name: fact for name, fact in facts.items() if fact[0] is not None}
        cuts = {
            self._statements.value(path, name): _cuts(fact[2], fact[1])
            for name, fact in facts.items()
        }
        return {
            name: _Numbers(factor_of(fact[0], _digits(fact[3:])), thresholds)
            for (name, fact), thresholds in zip(
                facts.items(), self._shortened(rows, cuts), strict=True
            )
        }

    def _shortened(self, rows: str, cuts: Mapping[str, Sequence[float]]) -> list[tuple[float, ...]]:
        """Replace each value by the shortest number above the next smaller value."""
        pairs = [(x, cut) for x, found in cuts.items() for cut in found]
        if not pairs:
            return [() for _ in cuts]
        number = Aggregates("duckdb").number
        parts = [f"MAX({x}) FILTER (WHERE {x} < {number(cut)})" for x, cut in pairs]
        (below,) = self._connection.execute(f"SELECT {', '.join(parts)} {rows}").fetchall()
        short = {
            pair: short_between(low, math.nextafter(pair[1], math.inf))
            for pair, low in zip(pairs, below, strict=True)
        }
        return [tuple(short[x, cut] for cut in found) for x, found in cuts.items()]


def _cuts(quantiles: Sequence[float], smallest: float) -> list[float]:
    """Return the different quantiles that some value is below."""
    return sorted({cut for cut in quantiles if cut > smallest})


def _digits(exact: Sequence[bool]) -> int | None:
    return next((digits for digits, fits in enumerate(exact) if fits), None)


def _with_labels(draft: Recipe, seen: Sequence[_Seen]) -> tuple[RelatedTable, ...]:
    """Describe the labels that were chosen along any path; all others count as unseen."""
    tables = []
    for table in draft.tables:
        here = [one for one in seen if one.path[-1].table == table.name]
        columns = [
            replace(
                column,
                labels=column.labels
                if column.label_type == "boolean"
                else tuple(sorted({label for one in here for label in one.labels[column.name]})),
            )
            if column.kind == "nominal"
            else column
            for column in table.columns
        ]
        tables.append(replace(table, columns=tuple(columns)))
    return tuple(tables)


def _candidates(
    draft: Recipe, seen: Sequence[_Seen], choosing: Choosing
) -> Iterator[DerivedColumn]:
    """Give the columns in the order in which they are kept."""
    for depth in range(1, choosing.max_depth + 1):
        level = [one for one in seen if len(one.path) == depth]
        dated = {one.path: _dated(draft, one.path) for one in level}
        plain = {one.path: list(_plain(one, choosing, draft)) for one in level}
        tests = {one.path: list(_tested(one, choosing)) for one in level}
        yield from (column for one in level for column in plain[one.path])
        yield from (column for one in level for column in tests[one.path])
        for found in (plain, tests):
            for one in level:
                if draft.cutoff is None or dated[one.path] is None or one.to_one:
                    continue
                for window in choosing.windows:
                    for column in found[one.path]:
                        if column.function not in ("recency", "last"):
                            yield replace(column, within=float(window), dated=bool(dated[one.path]))


def _dated(draft: Recipe, path: Sequence[Step]) -> bool | None:
    """Tell whether the rows of a path have dates; None if they have no time."""
    timed = draft.timed(tuple(path))
    time = None if timed is None else draft[path[timed].table].time
    return None if time is None else time.kind == "date"


def _plain(one: _Seen, choosing: Choosing, draft: Recipe) -> Iterator[DerivedColumn]:
    """Give the columns without conditions."""
    labelled = [name for name, labels in one.labels.items() if labels]
    if one.to_one:
        for name in (*one.numbers, *labelled):
            yield DerivedColumn(one.path, "value", name)
        return
    dated = _dated(draft, one.path)
    functions = [f for f in choosing.functions if f not in TIMED or dated is not None]
    for function in functions:
        if function in OF_ROWS and (function != "recency" or draft.cutoff is not None):
            days = function == "recency" and bool(dated)
            yield DerivedColumn(one.path, function, dated=days)
    of_values = [function for function in functions if function not in OF_ROWS]
    for name, numbers in one.numbers.items():
        for function in of_values:
            factor = numbers.factor if function in ADDED else None
            yield DerivedColumn(one.path, function, name, factor=factor)
    for name in labelled:
        for function in OF_LABELS.intersection(of_values):
            yield DerivedColumn(one.path, function, name)


def _tested(one: _Seen, choosing: Choosing) -> Iterator[DerivedColumn]:
    if one.to_one:
        return
    wheres = [Where(name, "=", label) for name, labels in one.labels.items() for label in labels]
    wheres += [
        Where(name, ">=", threshold)
        for name, numbers in one.numbers.items()
        for threshold in numbers.thresholds
    ]
    for function in choosing.functions:
        if function in ("exists", "count"):
            yield from (DerivedColumn(one.path, function, where=where) for where in wheres)


def _informative(columns: Mapping[str, Column], order: Sequence[str]) -> list[str]:
    """Return the columns that differ between instances and from all columns before them."""
    known: set[bytes] = set()
    kept = []
    for name in order:
        values = columns[name].values
        present = values[~columns[name].is_missing]
        if len(present) == 0 or (present == present[0]).all():
            continue
        content = np.add(values, 0).tobytes()  # -0.0 is 0.0
        if content not in known:
            known.add(content)
            kept.append(name)
    return kept
