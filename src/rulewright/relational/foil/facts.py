"""Related tables as arrays: which rows have a key, and which rows an instance may see.

Keys that links join, directly or indirectly, have one type. Values of keys of a type have the same
numbers in all tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rulewright.relational.keys import ColumnPlace, KeyValues, Link

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.data import Column
    from rulewright.relational.relations import Relations
    from rulewright.relational.table_data import TableData

MISSING = -1
Places = NDArray[np.integer[Any]]
"""Rows of tables, or numbers of keys."""


class Index(NamedTuple):
    """The rows of a table by key and, for a single key, by time."""

    keys: Places  # number of the key times `base`, plus the rank of the time; ascending
    rows: Places
    base: int


@dataclass(frozen=True, eq=False)
class FactTable:
    """A table: numbers of its keys, its features, and when its rows become visible.

    Attributes
    ----------
    keys : mapping
        Number of the key of each row by column; `MISSING` without a key.
    types : mapping
        The type of each key.
    columns : mapping
        The features.
    ranks : int array
        Rank of the time of each row; `MISSING` for rows that are never visible.
    seen : int array
        For each instance, the first rank that is not visible.
    """

    name: str
    keys: Mapping[str, Places]
    types: Mapping[str, int]
    columns: Mapping[str, Column]
    ranks: Places
    seen: Places

    @cached_property
    def indexes(self) -> dict[str, Index]:
        """The index of each key."""
        base = int(max(self.ranks.max(initial=0), self.seen.max(initial=0))) + 1
        found = {}
        for column, numbers in self.keys.items():
            known = np.flatnonzero((numbers != MISSING) & (self.ranks != MISSING))
            keys = numbers[known] * base + self.ranks[known]
            order = np.argsort(keys, kind="stable")
            found[column] = Index(keys[order], known[order], base)
        return found

    @cached_property
    def identified(self) -> set[str]:
        """The keys that no two rows share."""
        return {
            column
            for column, index in self.indexes.items()
            if len(np.unique(index.keys // index.base)) == len(index.keys)
        }

    def find_reached(
        self, column: str, numbers: Places, instances: Places
    ) -> tuple[Places, Places]:
        """Return the index range of the rows with given keys, as visible to instances."""
        index = self.indexes[column]
        low = np.searchsorted(index.keys, numbers * index.base)
        high = np.searchsorted(index.keys, numbers * index.base + self.seen[instances])
        nothing = numbers == MISSING
        return np.where(nothing, 0, low), np.where(nothing, 0, np.maximum(low, high))


@dataclass(frozen=True, eq=False)
class Facts:
    """The instances and the tables that clauses may have rows of."""

    instances: FactTable
    tables: Mapping[str, FactTable]

    @classmethod
    def of(cls, relations: Relations) -> Facts:
        """Read the related tables; features of instances are their own columns."""
        first = relations.instances
        names = [name for name in relations.names if name != first]
        data = {name: relations.table_of(name) for name in (first, *names)}
        types = key_types(relations.links, ColumnPlace(first, relations.key))
        keys = _number_keys(types, data)
        n, own = len(relations), {c.schema.name: c for c in relations.own_columns()}
        nothing = np.zeros(n, dtype=np.int64)
        instances = FactTable(first, keys[first], types[first], own, nothing, nothing)
        tables = {}
        for name in names:
            if keys.get(name):
                ranks, seen = _times(relations, data[name])
                time = relations.times.get(name)
                columns = {c: column for c, column in data[name].columns.items() if c != time}
                tables[name] = FactTable(name, keys[name], types[name], columns, ranks, seen)
        return cls(instances, tables)


def key_types(links: Sequence[Link], key: ColumnPlace) -> dict[str, dict[str, int]]:
    """Return, for each table, its keys and their types."""
    groups: list[set[ColumnPlace]] = [{key}]
    for link in links:
        joined = set(link).union(*(group for group in groups if group & set(link)))
        groups = [group for group in groups if not group & set(link)] + [joined]
    found: dict[str, dict[str, int]] = {key.table: {}}
    for number, group in enumerate(sorted(groups, key=min)):
        for place in sorted(group):
            found.setdefault(place.table, {})[place.column] = number
    return found


def _number_keys(
    types: Mapping[str, Mapping[str, int]], data: Mapping[str, TableData]
) -> dict[str, dict[str, Places]]:
    """Assign a number to each value of the keys of a type."""
    found: dict[str, dict[str, Places]] = {table: {} for table in types}
    by_type: dict[int, list[ColumnPlace]] = {}
    for table, columns in types.items():
        for column, number in columns.items():
            by_type.setdefault(number, []).append(ColumnPlace(table, column))
    for places in by_type.values():
        keys = [data[place.table].key(place.column) for place in places]
        values = np.concatenate([key.values[~key.missing] for key in keys])
        known = np.unique(values)
        for place, key in zip(places, keys, strict=True):
            found[place.table][place.column] = _numbers(key, known)
    return found


def _numbers(key: KeyValues, known: Places) -> Places:
    numbers = np.full(len(key.values), MISSING, dtype=np.int64)
    numbers[~key.missing] = np.searchsorted(known, key.values[~key.missing])
    return numbers


def _times(relations: Relations, table: TableData) -> tuple[Places, Places]:
    """Return the ranks of the times of rows, and the first invisible rank of each instance."""
    time, n = relations.times.get(table.name), len(relations)
    if time is None or relations.cutoff is None:
        return np.zeros(table.n_rows, dtype=np.int64), np.ones(n, dtype=np.int64)
    moments = table.column(time).values
    cutoffs = relations.table_of(relations.instances).column(relations.cutoff).values
    known = np.unique(moments[~np.isnan(moments)])
    ranks = np.where(np.isnan(moments), MISSING, np.searchsorted(known, moments))
    seen = np.where(np.isnan(cutoffs), 0, np.searchsorted(known, cutoffs))
    return ranks.astype(np.int64), seen.astype(np.int64)
