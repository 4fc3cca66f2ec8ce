"""Derived columns of instances, computed by DuckDB in memory."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import MISSING_CODE, Column, DataError, private_database
from rulewright.relational.statements import Aggregates, Layout, Relation, Statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from rulewright.relational.derived import Join
    from rulewright.relational.keys import KeyKind
    from rulewright.relational.recipe import Recipe
    from rulewright.relational.table_data import TableData

INSTANCES, ROW, TIME = "instances", "row_number", "moment"


def derive_columns(
    recipe: Recipe,
    instances: TableData,
    cutoff: str | None,
    tables: Mapping[str, TableData],
) -> dict[str, Column]:
    """Compute the columns of a recipe for all instances, by name."""
    found: dict[str, NDArray[Any]] = {}
    if not recipe.columns:
        return {}
    with open_database(recipe, instances, cutoff, tables) as (connection, layout):
        for grouped in Statements(recipe, layout, Aggregates("duckdb")).group_statements():
            names = list(grouped.results)
            listed = ", ".join(
                f"{text.format(p='p')} AS c{i}" for i, text in enumerate(grouped.results.values())
            )
            result = connection.execute(
                f"SELECT {listed} FROM {INSTANCES} AS t LEFT JOIN ({grouped.text}) AS p "
                f"ON p.{ROW} = t.{ROW} ORDER BY t.{ROW}"
            ).fetchnumpy()
            found |= dict(zip(names, result.values(), strict=True))
    columns = {column.name: column for column in recipe.columns}
    return {name: _column(recipe, columns[name], values) for name, values in found.items()}


@contextmanager
def open_database(
    recipe: Recipe,
    instances: TableData,
    cutoff: str | None,
    tables: Mapping[str, TableData],
) -> Iterator[tuple[Any, Layout]]:
    """Return a connection to a database that has the tables in plain form."""
    kinds = _key_kinds(recipe, instances, tables)
    connection = _database(os.getpid()).cursor()  # with its own tables
    try:
        first: dict[str, Any] = {ROW: np.arange(instances.n_rows)}
        keys = _keys(instances, kinds[None], first)
        if recipe.cutoff is not None and cutoff is not None:
            schema = instances.column(cutoff).schema
            if schema.kind != recipe.cutoff.kind:
                raise DataError(
                    f"Cutoff {instances.name}.{cutoff} must hold {recipe.cutoff.kind} values."
                )
            first[TIME] = plain_values(instances.column(cutoff))
        connection.register(INSTANCES, first)
        timed = TIME if TIME in first else None
        relations = {
            table.name: _register(connection, f"table_{i}", recipe, tables[table.name], kinds)
            for i, table in enumerate(recipe.tables)
        }
        yield connection, Layout(ROW, Relation(INSTANCES, keys, time=timed), relations)
    finally:
        connection.close()


@cache
def _database(process: int) -> Any:
    """Return a database in memory, cached because opening one takes longer than a query.

    A forked process needs its own, because threads do not survive a fork.
    """
    return private_database()


def _register(
    connection: Any,
    name: str,
    recipe: Recipe,
    table: TableData,
    kinds: Mapping[str | None, Mapping[str, KeyKind | None]],
) -> Relation:
    """Register the columns of a table that a recipe needs, as arrays."""
    described = recipe[table.name]
    arrays: dict[str, Any] = {}
    keys = _keys(table, kinds[table.name], arrays)
    columns = {}
    for i, column in enumerate(table.like(described.columns)):
        columns[column.schema.name] = f"c{i}"
        arrays[f"c{i}"] = plain_values(column)
    if described.time is not None:
        arrays[TIME] = plain_values(*table.like([described.time]))
    connection.register(name, arrays)
    return Relation(name, keys, columns, TIME if described.time is not None else None)


def plain_values(column: Column) -> NDArray[Any]:
    """Return numbers and times as doubles, labels as codes; missing values are null in DuckDB."""
    if column.schema.kind != "nominal":
        return np.ascontiguousarray(column.values)  # it may be a view of a dataframe
    missing = column.values == MISSING_CODE
    return np.ma.MaskedArray(column.values, missing) if missing.any() else column.values


def _keys(
    table: TableData, kinds: Mapping[str, KeyKind | None], arrays: dict[str, Any]
) -> dict[str, str]:
    names = {column: f"k{i}" for i, column in enumerate(kinds)}
    for column, kind in kinds.items():
        arrays[names[column]] = table.key(column).as_column(kind)
    return names


def _key_kinds(
    recipe: Recipe, instances: TableData, tables: Mapping[str, TableData]
) -> dict[str | None, dict[str, KeyKind | None]]:
    """Return the joined keys of the instances (None) and of each table, and their kinds."""
    kinds: dict[str | None, dict[str, KeyKind | None]] = {None: {}}
    kinds |= {table.name: {} for table in recipe.tables}
    for join in joins_of(recipe):
        before = instances if join.before is None else tables[join.before]
        here, there = before.key(join.here), tables[join.table].key(join.there)
        if None not in (here.kind, there.kind) and here.kind != there.kind:
            raise DataError(
                f"The key types differ: {before.name}.{join.here} holds {here.kind}, "
                f"{join.table}.{join.there} holds {there.kind}. Convert one of them."
            )
        kind = here.kind or there.kind
        for name, column in ((join.before, join.here), (join.table, join.there)):
            kinds[name][column] = kinds[name].get(column) or kind
    return kinds


def joins_of(recipe: Recipe) -> Iterable[Join]:
    """Return the different joins of a recipe."""
    return dict.fromkeys(join for column in recipe.columns for join in column.joins)


def _column(recipe: Recipe, derived: Any, values: NDArray[Any]) -> Column:
    schema = recipe.schema_of(derived)
    if schema.kind == "nominal":
        codes = np.ma.MaskedArray(values).filled(MISSING_CODE)
        return Column(schema, np.asarray(codes, dtype=np.int32))
    numbers = np.ma.MaskedArray(values, dtype=np.float64).filled(np.nan)
    return Column(schema, np.asarray(numbers, dtype=np.float64))
