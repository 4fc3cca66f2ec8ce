"""Generators of queries: given ones, refinements of queries, mined patterns, bias files.

A generator gives queries one after the other. `ROUND` between them ends a batch: what came before
is filtered and accepted before the generator continues, so that it can refine what was accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

import numpy as np

from rulewright import kernels
from rulewright.data import DataError
from rulewright.encoding import PackedCovers, SignedCovers
from rulewright.relational import GraphLabels, Pattern, least_count, mine_patterns
from rulewright.search import Base, Sources, all_body
from rulewright_lab.framework.instances import GraphInstances
from rulewright_lab.framework.levels import Needs, needs_of
from rulewright_lab.framework.query import Occurrence, Query

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulewright.relational import Graph
    from rulewright_lab.framework.levels import Context


class _Round:
    def __repr__(self) -> str:
        return "ROUND"


ROUND: Final = _Round()
"""Ends a batch."""


class QueryGenerator(Protocol):
    """What gives queries."""

    @property
    def needs(self) -> Needs:
        """What it looks at."""

    def generate(self, ctx: Context) -> Iterator[Query | _Round]:
        """Give queries, in order."""


def atoms_of(language: Sequence[Any], ctx: Context) -> list[Query]:
    """Return the queries of a language: given ones, and those of statements without data."""
    found: list[Query] = []
    for one in language:
        if hasattr(one, "queries"):
            found += one.queries(ctx.of(one), {})
        else:
            found.append(Query.of(one))
    return found


@dataclass(frozen=True)
class Given:
    """Queries that are known before any data: g()."""

    queries: Sequence[Any]

    needs: ClassVar[Needs] = Needs.NOTHING

    def generate(self, ctx: Context) -> Iterator[Query | _Round]:
        """Give them."""
        yield from atoms_of(self.queries, ctx)


@dataclass(frozen=True)
class Refined:
    """Conjunctions that grow: accepted queries, each joined with one more part.

    Parameters
    ----------
    language : sequence, optional
        The parts: queries, formulas, their texts, or statements of a bias that look at no data. By
        default labels and intervals of the columns of the training instances.
    max_size : int
        Maximum number of parts of a query.
    weighted : bool
        Whether only queries with a weight in the current model are refined.
    """

    language: Sequence[Any] | None = None
    max_size: int = 2
    weighted: bool = False

    @property
    def needs(self) -> Needs:
        """The queries so far, the model if it weighs them, the instances if they give parts."""
        seen = Needs.QUERIES | (Needs.MODEL if self.weighted else Needs.NOTHING)
        return seen | (Needs.INSTANCES if self.language is None else Needs.NOTHING)

    def generate(self, ctx: Context) -> Iterator[Query | _Round]:
        """Return the parts, then refinements of what was accepted, round after round."""
        atoms = self._atoms(ctx)
        sent: set[str] = set()
        parts = {query.key: 1 for query in atoms}
        for step in range(self.max_size):
            new = [q for q in self._round(ctx, atoms, parts, step) if q.key not in sent]
            if not new:
                return
            sent |= {query.key for query in new}
            yield from new
            yield ROUND

    def _atoms(self, ctx: Context) -> list[Query]:
        if self.language is not None:
            return atoms_of(self.language, ctx)
        inst = ctx.inst
        blocks = Base().blocks(Sources.of(inst.own, weights=inst.weights))
        return [Query.of(block.body(line)) for block in blocks for line in range(len(block))]

    def _round(
        self, ctx: Context, atoms: list[Query], parts: dict[str, int], step: int
    ) -> Iterator[Query]:
        if step == 0:
            yield from atoms
            return
        weights = ctx.model if self.weighted else None
        for query in ctx.queries:
            if parts.get(query.key, self.max_size) >= self.max_size:
                continue
            if weights is not None and not weights.get(query.key):
                continue
            for atom in atoms:
                found = join_queries([query, atom])
                if found.key not in parts:
                    parts[found.key] = parts[query.key] + 1
                if found.key != query.key:
                    yield found


def join_queries(queries: Sequence[Query]) -> Query:
    """Return the query that holds where all do."""
    return Query.over(
        all_body([query.body for query in queries]),
        [made for query in queries for made in query.made],
    )


@dataclass(frozen=True)
class Bottom:
    """Conjunctions of parts that hold for a seed instance: generalisations of its bottom clause.

    Parameters
    ----------
    language : sequence
        The parts.
    max_size : int
        Maximum number of parts of a query.
    n_seeds : int
        Seed instances, drawn at random.
    """

    language: Sequence[Any]
    max_size: int = 2
    n_seeds: int = 10

    needs: ClassVar[Needs] = Needs.INSTANCES

    def generate(self, ctx: Context) -> Iterator[Query | _Round]:
        """Return the generalisations of one seed after the other, small ones first."""
        atoms, inst = atoms_of(self.language, ctx), ctx.inst
        holds = inst.instantiate(atoms) > 0
        random = np.random.RandomState(ctx.seed)
        for seed in random.permutation(len(inst))[: self.n_seeds].tolist():
            true = [atom for atom, yes in zip(atoms, holds[seed].tolist(), strict=True) if yes]
            for size in range(1, self.max_size + 1):
                yield from (join_queries(chosen) for chosen in combinations(true, size))


@dataclass(frozen=True)
class Mined:
    """Connected subgraphs in enough of the graphs, in the order of their codes: g(q,X).

    Parameters
    ----------
    min_support : float or int
        Share, or number, of the graphs.
    max_edges : int
        Maximum number of edges.
    allow_cycles : bool
        Whether patterns may have cycles.
    """

    min_support: float = 0.06
    max_edges: int = 15
    allow_cycles: bool = True

    needs: ClassVar[Needs] = Needs.QUERIES | Needs.INSTANCES

    def generate(self, ctx: Context) -> Iterator[Query | _Round]:
        """Mine patterns when they are asked for."""
        graphs = graphs_of(ctx)
        labels = GraphLabels.of(graphs)
        least = least_count(self.min_support, len(graphs))
        found = kernels.GraphSet(labels.arrays(graphs))
        for one in mine_patterns(found, least, self.max_edges, self.allow_cycles):
            query = Occurrence.of(Pattern.of(one.code, labels)).query
            if len(graphs) == len(ctx.inst):
                holds = PackedCovers(one.words[np.newaxis], len(graphs))
                ctx.inst.remember(query, SignedCovers(holds, ~holds))
            yield query


def graphs_of(ctx: Context) -> list[Graph]:
    """Return the graphs of the instances, without missing ones."""
    inst = ctx.inst
    if not isinstance(inst, GraphInstances):
        raise DataError("Patterns need graphs: give graphs, or name their column.")
    found = [graph for graph in inst.graphs if graph is not None]
    if not found:
        raise DataError("There is no graph to find patterns in: all are missing.")
    return found


@dataclass(frozen=True)
class Grown:
    """Patterns that grow by an edge, from given labels alone: g(q).

    Parameters
    ----------
    vertex_labels, edge_labels : sequence of str
        The labels; an edge without a label has "".
    max_edges : int
        Maximum number of edges.
    allow_cycles : bool
        Whether an edge may close a cycle.
    """

    vertex_labels: Sequence[str]
    edge_labels: Sequence[str] = ("",)
    max_edges: int = 3
    allow_cycles: bool = True

    needs: ClassVar[Needs] = Needs.QUERIES

    def generate(self, ctx: Context) -> Iterator[Query | _Round]:
        """Return single vertices, then patterns with one edge more than an accepted one."""
        level = [Pattern((label,), ()) for label in self.vertex_labels]
        for n_edges in range(self.max_edges + 1):
            found = {one.name: one for one in map(Occurrence.of, level)}
            if not found:
                return
            yield from (one.query for one in found.values())
            yield ROUND
            accepted = [
                made.pattern
                for query in ctx.queries
                for made in query.made
                if isinstance(made, Occurrence) and made.pattern.n_edges == n_edges
            ]
            level = [larger for pattern in accepted for larger in self._larger(pattern)]

    def _larger(self, pattern: Pattern) -> Iterator[Pattern]:
        labels, edges, n = pattern.labels, pattern.edges, len(pattern.labels)
        for edge in self.edge_labels:
            for at in range(n):
                for label in self.vertex_labels:
                    yield Pattern((*labels, label), (*edges, (at, n, edge)))
            if self.allow_cycles:
                present = {(a, b) for a, b, _ in edges}
                for pair in combinations(range(n), 2):
                    if pair not in present:
                        yield Pattern(labels, (*edges, (*pair, edge)))


class Shared:
    """The queries of a generator that looks at no data, made once for all folds."""

    needs: ClassVar[Needs] = Needs.NOTHING

    def __init__(self, generator: QueryGenerator) -> None:
        self._generator = generator
        self._made: list[Query | _Round] = []
        self._rest: Iterator[Query | _Round] | None = None

    @classmethod
    def of(cls, generator: QueryGenerator) -> QueryGenerator:
        """Share what an agnostic generator makes; any other is rerun in every fold."""
        return generator if needs_of(generator) else cls(generator)

    def generate(self, ctx: Context) -> Iterator[Query | _Round]:
        """Return the queries that are there, then new ones."""
        self._rest = self._generator.generate(ctx) if self._rest is None else self._rest
        place = 0
        while True:
            if place == len(self._made):
                new = next(self._rest, None)
                if new is None:
                    return
                self._made.append(new)
            yield self._made[place]
            place += 1
