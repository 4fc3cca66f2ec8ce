"""Which columns to derive: chosen on the rows that training instances reach, without the target.

Labels, thresholds and factors come from these rows only, so that a fold never sees the rows of
another one. Simple columns come first: near tables before far ones, no conditions before
conditions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from rulewright.data import Column, DataError
from rulewright.relational.derived import (
    ADDED,
    OF_LABELS,
    OF_ROWS,
    TIMED,
    Clause,
    DerivedColumn,
    RelatedRow,
    RowComparison,
    RowCondition,
    SharedKey,
)
from rulewright.relational.grouping import Paths
from rulewright.relational.paths import PathScan, ScanLimits, join_paths, leads_to_one, read_paths
from rulewright.relational.recipe import Recipe, RelatedTable, check_distinct_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulewright.relational.derived import Step
    from rulewright.relational.paths import Path, PathValues
    from rulewright.relational.recipe import Derived
    from rulewright.relational.relations import Relations

DEFAULT_FUNCTIONS = ("count", "recency", "max", "min", "mean", "sum", "last")


@dataclass(frozen=True)
class ChoiceSettings:
    """Settings of the column choice; see `RelationalClassifier`."""

    max_depth: int = 2
    functions: Sequence[str] = DEFAULT_FUNCTIONS
    windows: Sequence[float] = ()
    max_labels: int = 10
    n_thresholds: int = 3
    min_support: float = 0.01
    max_features: int = 500
    paths: Sequence[str] | None = None
    compare: bool = False


def choose_columns(
    relations: Relations, choosing: ChoiceSettings
) -> tuple[Recipe, dict[str, Column], int]:
    """Return a recipe, its columns for the instances, and the number of columns dropped.

    Columns that are constant, or equal to a simpler one, are dropped.
    """
    recipe, n_left_out = propose_columns(relations, choosing)
    columns = relations.derive_columns(recipe)
    told = _informative(columns, [column.name for column in recipe.columns])
    return recipe.only(told), {name: columns[name] for name in told}, n_left_out


def propose_columns(relations: Relations, choosing: ChoiceSettings) -> tuple[Recipe, int]:
    """Return the recipe of all candidate columns, and the number of columns dropped."""
    paths = _paths(relations, choosing)
    draft = draft_recipe(relations, paths)
    related = {table.name: relations.table_of(table.name) for table in draft.tables}
    start = relations.table_of(relations.instances)
    paths_seen = Paths(draft, start, relations.cutoff, related)
    least = max(2, math.ceil(choosing.min_support * start.n_rows))
    look = PathScan(
        paths_seen, draft, ScanLimits(choosing.max_labels, choosing.n_thresholds, least)
    )
    to_one = {path: leads_to_one(relations.links, start.name, path) for path in paths}
    seen = [look.scan_path(path, to_one[path]) for path in paths]
    candidates = list(_candidates(draft, seen, choosing))
    check_distinct_columns(candidates)
    kept = tuple(candidates[: choosing.max_features])
    recipe = replace(draft, tables=_with_labels(draft, seen), columns=kept)
    return recipe.only(recipe.names), len(candidates) - len(kept)


def _paths(relations: Relations, choosing: ChoiceSettings) -> list[Path]:
    links, instances = relations.links, relations.instances
    if relations.cutoff is not None and not relations.times:
        raise DataError(
            f"The cutoff {instances}.{relations.cutoff} needs times to compare with. Name the "
            "time columns of the tables, such as times={'orders': 'day'}."
        )
    if choosing.paths is not None:
        return read_paths(choosing.paths, links, instances, choosing.max_depth)
    found = join_paths(links, instances, choosing.max_depth)
    if not found:
        raise DataError(
            f"No key leads from table {instances!r} to another one. Declare keys, such as "
            "keys={'orders': 'customer_id'}; Relations.propose(tables) looks for some."
        )
    return found


def draft_recipe(relations: Relations, paths: Sequence[Path]) -> Recipe:
    """Describe all columns that the paths reach, before labels are chosen."""
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


def _with_labels(draft: Recipe, seen: Sequence[PathValues]) -> tuple[RelatedTable, ...]:
    """Describe the labels chosen along any path; all others count as unseen."""
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
    draft: Recipe, seen: Sequence[PathValues], choosing: ChoiceSettings
) -> Iterator[Derived]:
    """Return the columns in order of preference."""
    for depth in range(1, choosing.max_depth + 1):
        level = [one for one in seen if len(one.path) == depth]
        dated = {one.path: _has_dates(draft, one.path) for one in level}
        plain = {one.path: list(_plain(one, choosing, draft)) for one in level}
        tests = {one.path: list(_test_columns(one, choosing)) for one in level}
        yield from (column for one in level for column in plain[one.path])
        if choosing.compare and depth == 1:
            yield from _compare_rows([one for one in level if one.to_one])
        yield from (column for one in level for column in tests[one.path])
        for found in (plain, tests):
            for one in level:
                if draft.cutoff is None or dated[one.path] is None or one.to_one:
                    continue
                for window in choosing.windows:
                    for column in found[one.path]:
                        if column.function not in ("recency", "last"):
                            yield replace(column, within=float(window), dated=bool(dated[one.path]))


def _compare_rows(seen: Sequence[PathValues]) -> Iterator[Clause]:
    """Yield comparisons of two rows of a table that an instance refers to by different keys."""
    for one, other in combinations(seen, 2):
        steps = [path.path[0] for path in (one, other)]
        if steps[0].table == steps[1].table:
            rows = tuple(
                RelatedRow(step.table, (SharedKey(step.there, 0, step.here),)) for step in steps
            )
            columns = [(name, sign) for name in one.numbers for sign in (">", "<")]
            columns += [(name, "=") for name, labels in one.labels.items() if labels]
            for name, sign in columns:
                yield Clause(rows, compared=(RowComparison(1, name, sign, 2),))


def _has_dates(draft: Recipe, path: Sequence[Step]) -> bool | None:
    """Return whether the rows of a path have dates; None if they have no time."""
    timed = draft.find_timed_step(tuple(path))
    time = None if timed is None else draft[path[timed].table].time
    return None if time is None else time.kind == "date"


def _plain(one: PathValues, choosing: ChoiceSettings, draft: Recipe) -> Iterator[DerivedColumn]:
    """Return the columns without conditions."""
    labelled = [name for name, labels in one.labels.items() if labels]
    if one.to_one:
        for name in (*one.numbers, *labelled):
            yield DerivedColumn(one.path, "value", name)
        return
    dated = _has_dates(draft, one.path)
    functions = [f for f in choosing.functions if f not in TIMED or dated is not None]
    for function in functions:
        if function in OF_ROWS and (function != "recency" or draft.cutoff is not None):
            days = function == "recency" and bool(dated)
            yield DerivedColumn(one.path, function, dated=days)
    of_values = [function for function in functions if function not in OF_ROWS]
    for name, numbers in one.numbers.items():
        for function in of_values:
            own = numbers.squared_factor if function == "stddev" else numbers.factor
            factor = own if function in ADDED else None
            yield DerivedColumn(one.path, function, name, factor=factor)
    for name in labelled:
        for function in OF_LABELS.intersection(of_values):
            yield DerivedColumn(one.path, function, name)


def _test_columns(one: PathValues, choosing: ChoiceSettings) -> Iterator[DerivedColumn]:
    if one.to_one:
        return
    wheres = [
        RowCondition(name, "=", label) for name, labels in one.labels.items() for label in labels
    ]
    wheres += [
        RowCondition(name, ">=", threshold)
        for name, numbers in one.numbers.items()
        for threshold in numbers.thresholds
    ]
    for function in choosing.functions:
        if function in ("exists", "count"):
            yield from (DerivedColumn(one.path, function, where=where) for where in wheres)


def _informative(columns: Mapping[str, Column], order: Sequence[str]) -> list[str]:
    """Return the columns that vary between instances and differ from all earlier columns."""
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
