"""Derived columns of instances: one pass over each column of the rows that a path reaches.

Exported SQL computes the same columns with grouped statements (`statements`), to the bit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import MISSING_CODE, Column, DataError
from rulewright.kernels import (
    Entries,
    ThreadPool,
    count_at_least,
    last_values,
    middle_values,
    summarise_groups,
    usable_cpus,
)
from rulewright.relational.reaching import ReachedRows, reach
from rulewright.relational.statements import DAY, LARGEST_SQUARED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.kernels import BoolArray, FloatArray, GroupSummary
    from rulewright.relational.derived import DerivedColumn, RowCondition, Step
    from rulewright.relational.recipe import Recipe
    from rulewright.relational.table_data import TableData

Arrays = dict[str, "FloatArray"]
Task = Callable[[], Arrays]


class Paths:
    """The rows that instances reach along paths; each path is followed once."""

    def __init__(
        self,
        recipe: Recipe,
        instances: TableData,
        cutoff: str | None,
        tables: Mapping[str, TableData],
    ) -> None:
        self._given = recipe, instances, _cutoffs(recipe, instances, cutoff), tables
        self._known: dict[tuple[Step, ...], ReachedRows] = {}
        self.tables = tables

    def __getitem__(self, path: tuple[Step, ...]) -> ReachedRows:
        if path not in self._known:
            self._known[path] = reach(path, *self._given)
        return self._known[path]


def group_columns(recipe: Recipe, paths: Paths) -> dict[str, Column]:
    """Compute the columns of a recipe for all instances, by name."""
    tasks: list[Task] = []
    for path, columns in _group_columns(recipe.grouped, lambda column: column.path).items():
        described, reached = recipe[path[-1].table], paths[path]
        values = {c.schema.name: c for c in paths.tables[described.name].like(described.columns)}
        for length, part in _group_columns(columns, _length).items():
            tasks += _tasks(reached if length is None else reached.within(length), part, values)
    found = dict(chain.from_iterable(arrays.items() for arrays in in_threads(tasks)))
    return {column.name: _column(recipe, column, found[column.name]) for column in recipe.grouped}


def in_threads(tasks: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run tasks that spend their time in kernels; results are in the order of the tasks."""
    with ThreadPool(max(1, min(len(tasks), usable_cpus()))) as pool:
        return [future.result() for future in [pool.submit(task) for task in tasks]]


def doubles(column: Column) -> FloatArray:
    """Convert numbers, times (in milliseconds) or codes to doubles; NaN for missing values."""
    if column.schema.kind != "nominal":
        return np.asarray(column.values, dtype=np.float64)
    return np.where(column.values == MISSING_CODE, np.nan, column.values)


def _cutoffs(recipe: Recipe, instances: TableData, cutoff: str | None) -> FloatArray | None:
    if recipe.cutoff is None or cutoff is None:
        return None
    column = instances.column(cutoff)
    if column.schema.kind != recipe.cutoff.kind:
        raise DataError(f"Cutoff {instances.name}.{cutoff} must hold {recipe.cutoff.kind} values.")
    return doubles(column)


def _length(column: DerivedColumn) -> float | None:
    return None if column.within is None else column.within * (DAY if column.dated else 1.0)


def _group_columns(columns: Iterable[DerivedColumn], key: Callable[[DerivedColumn], Any]) -> Any:
    found: dict[Any, list[DerivedColumn]] = defaultdict(list)
    for column in columns:
        found[key(column)].append(column)
    return found


def _tasks(
    reached: ReachedRows, columns: list[DerivedColumn], values: Mapping[str, Column]
) -> Iterable[Task]:
    """Return one task for the columns that read the same values."""
    counts = [column for column in columns if column.function in ("count", "exists")]
    others = [column for column in columns if column.function not in ("count", "exists")]
    for name, part in _group_columns(counts, lambda c: c.where and c.where.column).items():
        yield partial(_counts, reached, part, values.get(name))
    for (name, where), part in _group_columns(others, lambda c: (c.column, c.where)).items():
        seen = reached
        if where is not None:
            seen = reached.only(reached.of_entries(_passes(where, values[where.column])))
        yield partial(_aggregates, seen, part, values.get(name))


def _counts(reached: ReachedRows, columns: list[DerivedColumn], values: Column | None) -> Arrays:
    """Count rows, or rows with a label or beyond a threshold, in one pass."""
    if values is None:
        rows = np.bincount(reached.entries.groups, minlength=reached.entries.n_groups)
        return {column.name: rows.astype(np.float64) for column in columns}
    wheres = [column.where for column in columns if column.where is not None]
    operators = {where.op for where in wheres}
    if operators == {"="}:
        by_label = _label_counts(reached, values)
        index = values.schema.label_index
        found = [by_label[:, index[str(where.value)]] for where in wheres]
    elif operators == {">="}:
        cuts = np.array([where.value for where in wheres], dtype=np.float64)
        found = list(count_at_least(reached.entries, doubles(values), cuts).T)
    else:
        seen = [reached.only(reached.of_entries(_passes(where, values))) for where in wheres]
        n = reached.entries.n_groups
        found = [np.bincount(one.entries.groups, minlength=n) for one in seen]
    pairs = zip(columns, found, strict=True)
    return {column.name: counts.astype(np.float64) for column, counts in pairs}


def instances_by_label(reached: ReachedRows, values: Column) -> NDArray[np.intp]:
    """Count the instances that reach each label."""
    n_groups, n_labels = reached.entries.n_groups, len(values.schema.labels)
    if n_groups * (n_labels + 1) <= 4 * len(reached.entries.groups) + 1024:
        return np.asarray(np.count_nonzero(_label_counts(reached, values)[:, :-1], axis=0))
    codes = reached.of_entries(values.values)
    places = reached.entries.groups * np.intp(n_labels) + codes
    return np.bincount(np.unique(places[codes >= 0]) % n_labels, minlength=n_labels)


def _label_counts(reached: ReachedRows, values: Column) -> NDArray[np.intp]:
    """Count the rows of each instance (line) that have each label (column)."""
    n_groups, n_labels = reached.entries.n_groups, len(values.schema.labels)
    # Missing and unseen labels (-1 and -2) share the last column.
    codes = reached.of_entries(values.values).astype(np.intp)
    codes[codes < 0] = n_labels
    places = reached.entries.groups * np.intp(n_labels + 1) + codes
    counts = np.bincount(places, minlength=n_groups * (n_labels + 1))
    return counts.reshape(n_groups, n_labels + 1)


def _aggregates(
    reached: ReachedRows, columns: list[DerivedColumn], values: Column | None
) -> Arrays:
    """Compute functions of the values of one column, most of them in one pass."""
    if values is None:  # without values, only recency remains
        return {column.name: _recency(column, reached) for column in columns}
    x = doubles(values)
    summed = [column for column in columns if column.function not in ("last", "median", "stddev")]
    factors = {column.factor for column in summed if column.factor is not None} or {1.0}
    summaries: dict[float, GroupSummary] = {}
    if summed:
        summaries = {factor: summarise_groups(reached.entries, x, factor) for factor in factors}
    return {column.name: _aggregate(column, reached, x, summaries) for column in columns}


def _recency(column: DerivedColumn, reached: ReachedRows) -> FloatArray:
    assert reached.times is not None
    assert reached.cutoffs is not None
    entries = Entries(reached.entries.groups, None, reached.entries.n_groups)
    latest = summarise_groups(entries, reached.times, 1.0).largest
    return np.asarray((reached.cutoffs - latest) / (DAY if column.dated else 1.0))


def _aggregate(
    column: DerivedColumn,
    reached: ReachedRows,
    x: FloatArray,
    summaries: Mapping[float, GroupSummary],
) -> FloatArray:
    if column.function == "last":
        assert reached.times is not None
        return last_values(reached.entries, x, reached.times)
    if column.function == "median":
        return middle_values(reached.entries, x)
    if column.function == "stddev":
        return _deviations(reached.entries, x, column.factor or 1.0)
    if column.factor is None:
        summary = next(iter(summaries.values()))
        return summary.least if column.function == "min" else summary.largest
    summary = summaries[column.factor]
    count = np.where(summary.n_known > 0, summary.n_known, np.nan)
    divisor = count if column.function == "mean" else count / count
    return np.asarray(summary.total / divisor / column.factor)


def _deviations(entries: Entries, x: FloatArray, factor: float) -> FloatArray:
    """Return the standard deviation of the sample in each group, of values as integers."""
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.trunc(x * factor + np.where(x < 0, -0.5, 0.5))
    whole = np.clip(
        np.where(np.abs(x) < 0.25 / factor, 0.0, whole), -LARGEST_SQUARED, LARGEST_SQUARED
    )
    first, second = (summarise_groups(entries, v, 1.0) for v in (whole, whole * whole))
    of_values, n = summarise_groups(entries, x, 1.0), first.n_known
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = (second.total - first.total / n * first.total) / (n - 1)
        found = np.sqrt(np.maximum(variance, 0.0)) / factor
    found[of_values.least == of_values.largest] = 0.0
    return np.where(n > 1, found, np.nan)


def _passes(where: RowCondition, values: Column) -> BoolArray:
    """Return which rows of a table pass a condition; missing values do not."""
    if isinstance(where.value, str):
        same = values.values == values.schema.label_index[where.value]
        return np.asarray(same if where.op == "=" else ~same & ~values.is_missing)
    x = doubles(values)
    return np.asarray(x >= where.value if where.op == ">=" else x <= where.value)


def _column(recipe: Recipe, derived: DerivedColumn, values: FloatArray) -> Column:
    schema = recipe.schema_of(derived)
    if derived.function == "exists":
        return Column(schema, (values > 0).astype(np.int32))
    if schema.kind == "nominal":
        return Column(schema, np.where(np.isnan(values), MISSING_CODE, values).astype(np.int32))
    return Column(schema, values)
