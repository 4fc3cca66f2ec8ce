"""Instances that queries are asked of: rows of a table, of related tables, or with graphs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Column, DataError, Table
from rulewright.encoding import PackedCovers, SignedCovers
from rulewright.relational import draft_recipe, join_paths, pattern_occurrences, read_paths
from rulewright.search import covers_of
from rulewright_lab.framework.query import Goal, Occurrence, Related, definitions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.kernels import FloatArray, SignArray
    from rulewright.relational import Graph, Link, Path, Recipe, Relations
    from rulewright_lab.framework.prolog import Prolog
    from rulewright_lab.framework.query import Made, Query


@dataclass(frozen=True)
class Language:
    """What queries can be about, without any values: columns and their kinds, tables and keys."""

    empty: Table  # the columns, without rows
    instances: str = ""
    links: tuple[Link, ...] = ()
    kinds: Mapping[tuple[str, str], str] = field(default_factory=dict)  # by table and column

    def paths(self, names: Sequence[str] | None, max_depth: int) -> list[Path]:
        """Return join paths by their names, or all of at most some joins."""
        if names is not None:
            return read_paths(names, self.links, self.instances, max_depth)
        return join_paths(self.links, self.instances, max_depth)


class Instances(ABC):
    """Rows with columns of their own and columns that are made for queries.

    Parameters
    ----------
    own : Table
        The columns of the rows themselves; there may be none.
    weights : array, optional
        Weights of the rows.
    """

    def __init__(self, own: Table, weights: FloatArray | None = None) -> None:
        self.own = replace(own, target=None, weights=None)
        self.weights = np.ones(own.n_rows) if weights is None else weights
        self._columns = dict(zip(own.names, own.columns, strict=True))
        self._lines: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}

    def __len__(self) -> int:
        return self.own.n_rows

    @property
    def language(self) -> Language:
        """What queries can be about."""
        return Language(self.own.take(np.arange(0)))

    @abstractmethod
    def make(self, wanted: Sequence[Made]) -> list[Column]:
        """Make columns by their definitions."""

    @abstractmethod
    def take(self, rows: NDArray[Any]) -> Instances:
        """Return some of the instances."""

    def table(self, queries: Sequence[Query]) -> Table:
        """Return the columns that queries ask about."""
        names = dict.fromkeys(name for query in queries for name in query.body.columns)
        self._make(definitions(queries))
        if absent := [name for name in names if name not in self._columns]:
            raise DataError(
                f"There is no column {absent[0]!r} to ask about. The columns are: "
                f"{', '.join(map(repr, [*self.own.names][:20])) or 'none'}."
            )
        return replace(self.own, columns=tuple(self._columns[name] for name in names))

    def covers(self, queries: Sequence[Query]) -> SignedCovers:
        """Return where queries hold and where they fail; answers are kept."""
        new = list({q.key: q for q in queries if q.key not in self._lines}.values())
        if new:
            found = covers_of((query.body for query in new), self.table(new))
            pairs = zip(found.holds.words, found.fails.words, strict=True)
            self._lines |= {query.key: pair for query, pair in zip(new, pairs, strict=True)}
        if not queries:
            return covers_of((), self.own)
        holds, fails = (
            PackedCovers(np.array([self._lines[query.key][side] for query in queries]), len(self))
            for side in (0, 1)
        )
        return SignedCovers(holds, fails)

    def remember(self, query: Query, covers: SignedCovers) -> None:
        """Keep answers that are known already."""
        self._lines[query.key] = (covers.holds.words[0], covers.fails.words[0])

    def instantiate(self, queries: Sequence[Query], rows: Any = None) -> SignArray:
        """Return 1, -1 or 0 for each instance (row), or some of them, and each query (column)."""
        values = np.ascontiguousarray(self.covers(queries).values().T)
        return values if rows is None else values[rows]

    def _make(self, wanted: Sequence[Made]) -> None:
        if twice := [one.name for one in wanted if one.name in self.own.names]:
            raise DataError(
                f"The query {twice[0]!r} is called as a column of the data. Rename the column."
            )
        new = [one for one in wanted if one.name not in self._columns]
        if new:
            self._columns |= {one.name: c for one, c in zip(new, self.make(new), strict=True)}

    def _refuse(self, wanted: Sequence[Made], *kinds: type) -> None:
        for one in wanted:
            if not isinstance(one, kinds):
                need = {Related: "related tables", Occurrence: "graphs"}.get(type(one), "Prolog")
                raise DataError(f"The query {one.name!r} needs {need}, which the data do not have.")


class TableInstances(Instances):
    """The rows of one table."""

    def make(self, wanted: Sequence[Made]) -> list[Column]:
        """Refuse: a table has no columns but its own."""
        self._refuse(wanted)
        return []

    def take(self, rows: NDArray[Any]) -> TableInstances:
        """Return some of the rows."""
        return TableInstances(self.own.take(rows), self.weights[rows])


class GraphInstances(Instances):
    """Graphs, and columns of their own beside them.

    Parameters
    ----------
    graphs : list of Graph or None
        The graph of each row; None is a missing one, of which nothing is known.
    own : Table, optional
        Other columns.
    """

    def __init__(
        self, graphs: list[Graph | None], own: Table | None = None, weights: Any = None
    ) -> None:
        super().__init__(Table((), True, len(graphs)) if own is None else own, weights)
        self.graphs = graphs

    def make(self, wanted: Sequence[Made]) -> list[Column]:
        """Look for patterns."""
        self._refuse(wanted, Occurrence)
        return occurrence_columns(
            [one for one in wanted if isinstance(one, Occurrence)], self.graphs
        )

    def take(self, rows: NDArray[Any]) -> GraphInstances:
        """Return some of the graphs."""
        graphs = [self.graphs[row] for row in rows.tolist()]
        return GraphInstances(graphs, self.own.take(rows), self.weights[rows])


def occurrence_columns(
    wanted: Sequence[Occurrence], graphs: Sequence[Graph | None]
) -> list[Column]:
    """Return a column per pattern: present, absent, or missing for a missing graph."""
    known = np.array([graph is not None for graph in graphs], dtype=np.bool_)
    there = [graph for graph in graphs if graph is not None]
    codes = np.full((len(graphs), len(wanted)), -1, dtype=np.int32)
    codes[known] = pattern_occurrences([one.pattern for one in wanted], there)
    return [Column(one.schema, codes[:, place].copy()) for place, one in enumerate(wanted)]


class RelatedInstances(Instances):
    """Instances with related tables.

    Parameters
    ----------
    relations : Relations
        The tables; their target is not kept.
    engine : {"duckdb", "memory", "prolog"}
        What derives columns.
    prolog : Prolog, optional
        What proves goals.
    """

    def __init__(
        self,
        relations: Relations,
        engine: str = "duckdb",
        prolog: Prolog | None = None,
        weights: FloatArray | None = None,
    ) -> None:
        bare = relations.without_target()
        self.relations, self.engine, self.prolog = bare, engine, prolog
        super().__init__(Table(tuple(bare.own_columns()), True, len(bare)), weights)

    @property
    def language(self) -> Language:
        """What queries can be about."""
        relations = self.relations
        kinds = {
            (name, column): found.schema.kind
            for name in relations.names
            for column, found in relations.table_of(name).columns.items()
        }
        return Language(super().language.empty, relations.instances, relations.links, kinds)

    def make(self, wanted: Sequence[Made]) -> list[Column]:
        """Derive columns and prove goals."""
        self._refuse(wanted, Related, Goal) if self.prolog else self._refuse(wanted, Related)
        goals = [one for one in wanted if isinstance(one, Goal)]
        derived = [one for one in wanted if isinstance(one, Related)]
        found: dict[str, Column] = {}
        if derived:
            found |= self._derive_columns(recipe_of(self.relations, derived))
        if goals and self.prolog is not None:
            signs = self.prolog.answers(self.relations, [goal.name for goal in goals])
            codes = np.where(signs == 0, -1, (signs + 1) // 2).astype(np.int32)
            found |= {g.name: Column(g.schema, codes[:, i].copy()) for i, g in enumerate(goals)}
        return [found[one.name] for one in wanted]

    def _derive_columns(self, recipe: Recipe) -> dict[str, Column]:
        if self.engine == "prolog" and self.prolog is not None:
            return self.prolog.derive(self.relations, recipe)
        return self.relations.derive_columns(
            recipe, "duckdb" if self.engine == "duckdb" else "memory"
        )

    def table(self, queries: Sequence[Query]) -> Table:
        """Return the columns that queries ask about, with the recipe of those derived."""
        found = super().table(queries)
        derived = [one for one in definitions(queries) if isinstance(one, Related)]
        return replace(found, recipe=recipe_of(self.relations, derived)) if derived else found

    def take(self, rows: NDArray[Any]) -> RelatedInstances:
        """Return some of the instances, with the same related tables."""
        taken = self.relations.take(rows)
        return RelatedInstances(taken, self.engine, self.prolog, self.weights[rows])


def recipe_of(relations: Relations, wanted: Sequence[Related]) -> Recipe:
    """Return the recipe of derived columns; it knows only the labels that they ask for."""
    columns = tuple(one.column for one in wanted)
    draft = draft_recipe(relations, list(dict.fromkeys(column.path for column in columns)))
    asked: dict[tuple[str, str], set[str]] = {}
    for one in wanted:
        where, table = one.column.where, one.column.table
        if where is not None and isinstance(where.value, str):
            asked.setdefault((table, where.column), set()).add(where.value)
        if one.column.column is not None:
            asked.setdefault((table, one.column.column), set()).update(one.labels)
    tables = [
        replace(
            table,
            columns=tuple(
                replace(c, labels=tuple(sorted(asked.get((table.name, c.name), ()))))
                if c.kind == "nominal" and c.label_type != "boolean"
                else c
                for c in table.columns
            ),
        )
        for table in draft.tables
    ]
    recipe = replace(draft, tables=tuple(tables), columns=columns)
    return recipe.only(recipe.names)
