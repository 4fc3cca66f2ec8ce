"""Statements of a bias over related tables, graphs and Prolog: each makes queries in order.

They stand in a `Bias` beside those of one table. `over` names statements before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from rulewright.data import DerivedColumn, Where
from rulewright.estimators.common.parameters import check_parameters
from rulewright.relational.choosing import DEFAULT_FUNCTIONS, Choosing, proposed
from rulewright.relational.framework.generators import graphs_of
from rulewright.relational.framework.instances import GraphInstances, RelatedInstances
from rulewright.relational.framework.levels import Needs
from rulewright.relational.framework.query import Goal, Occurrence, Query, Related
from rulewright.relational.graphs.database import Labels as GraphLabels
from rulewright.relational.graphs.database import each_subgraph
from rulewright.relational.graphs.features import SubgraphFeatures
from rulewright.relational.graphs.local_search import SubgraphIndex
from rulewright.relational.graphs.pattern import Pattern
from rulewright.relational.graphs.reading_text import parse_pattern
from rulewright.rules import Conjunction, Labels, Range, parse_condition
from rulewright.search.options import check_whole
from rulewright.search.repository import Base, BiasError
from rulewright.search.repository.blocks import Sources
from rulewright.search.repository.generators import check_generator
from rulewright.search.repository.generators import where as called

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulewright.data import Recipe
    from rulewright.relational.framework.instances import Language
    from rulewright.relational.framework.levels import Context
    from rulewright.relational.paths import Path
    from rulewright.search.repository.blocks import RuleBlock

OF_ROWS = ("exists", "count")
FUNCTIONS = (*OF_ROWS, *(f for f in DEFAULT_FUNCTIONS if f != "count"), "median", "value")


class Statement:
    """What the statements of this module share."""

    id: str
    limit: int | None
    simple: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_generator(self)

    @property
    def needs(self) -> Needs:
        """What it looks at."""
        return Needs.INSTANCES

    @property
    def looks_at_rows(self) -> bool:
        """Whether its rules depend on the values of the rows."""
        return Needs.INSTANCES in self.needs

    def blocks(self, sources: Sources) -> Iterator[RuleBlock]:
        """Refuse: one table is not enough."""
        raise BiasError(
            called(self),
            "needs related tables, graphs or Prolog: learn with rulewright.relational.Pipeline",
        )


@dataclass(frozen=True)
class Sql(Statement):
    """Conditions on the rows that join paths reach.

    Parameters
    ----------
    function : str
        "exists", "count", or an aggregate of the values of a column: min, max, mean, sum, median,
        last, recency, and "value" where a path leads to one row.
    path : str, optional
        A join path such as "orders -> items"; all of at most `max_depth` joins by default.
    column : str, optional
        The column that is aggregated; all by default.
    where : sequence of str, optional
        Conditions on the rows, such as "kind = gift" or "size >= 3", of "exists" and "count"; an
        empty list is none. By default none, and those on frequent labels and at quantiles.
    at_least : sequence of int
        Of "count": how many rows there must be.
    n_bins : int
        Intervals of an aggregate.
    max_depth, max_labels, n_thresholds, min_support
        As of `RelationalClassifier`.
    """

    function: str = "exists"
    path: str | None = None
    column: str | None = None
    where: Sequence[str] | None = None
    at_least: Sequence[int] = (1,)
    n_bins: int = 4
    max_depth: int = 2
    max_labels: int = 10
    n_thresholds: int = 3
    min_support: float = 0.01
    id: str = ""
    limit: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        at = called(self)
        if self.function not in FUNCTIONS:
            raise BiasError(at, f"function={self.function!r} must be one of {', '.join(FUNCTIONS)}")
        check_min_support(self.min_support, at)
        for name in ("max_depth", "n_bins"):
            check_whole(f"{at}: {name}", getattr(self, name), 1 if name == "max_depth" else 2)
        for name in ("where", "at_least"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.where and self.function not in OF_ROWS:
            raise BiasError(at, f"where belongs to exists and count, not to {self.function}")
        for least in self.at_least:
            check_whole(f"{at}: at_least", least, 1)
        for text in self.where or ():
            _where(text, at)

    @property
    def needs(self) -> Needs:
        """The instances, unless all is said."""
        said = self.where is not None and self.function in OF_ROWS
        return Needs.NOTHING if said else Needs.INSTANCES

    def queries(self, ctx: Context, earlier: Mapping[str, list[Query]]) -> Iterator[Query]:
        """Make the queries of one path after the other."""
        names = None if self.path is None else [self.path]
        language = ctx.language
        if self.where is not None and self.function in OF_ROWS:
            for path in language.paths(names, self.max_depth):
                yield from self._said(path, language)
            return
        made = [Related(column, labels) for column, labels in self._seen(ctx)]
        if self.function in OF_ROWS:
            yield from (query for one in made for query in self._of_rows(one))
        else:
            yield from self._intervals(made, ctx)

    def _said(self, path: Path, language: Language) -> Iterator[Query]:
        at = called(self)
        for text in self.where or (None,):
            test = None if text is None else _where(text, at)
            if test is not None:
                _check_kind(test, path, language, at)
            yield from self._of_rows(Related(DerivedColumn(path, self.function, where=test)))

    def _of_rows(self, made: Related) -> Iterator[Query]:
        if self.function == "exists":
            yield Query(Conjunction((Labels(made.name, ("true",)),)), (made,))
        else:
            for least in self.at_least:
                yield Query(Conjunction((Range(made.name, float(least)),)), (made,))

    def _seen(self, ctx: Context) -> Iterator[tuple[DerivedColumn, tuple[str, ...]]]:
        """Give the columns that the rows of the instances suggest."""
        inst = ctx.inst
        if not isinstance(inst, RelatedInstances):
            raise BiasError(called(self), "needs related tables: Relations(...)")
        tested = self.function in OF_ROWS
        choosing = Choosing(
            self.max_depth,
            (self.function,),
            max_labels=self.max_labels,
            n_thresholds=self.n_thresholds if tested else 0,
            min_support=self.min_support,
            max_features=10**6,
            paths=None if self.path is None else [self.path],
        )
        recipe, _ = proposed(inst.relations, choosing)
        for column in recipe.grouped:
            if column.function == self.function and self.column in (None, column.column):
                yield column, _labels(recipe, column)

    def _intervals(self, made: Sequence[Related], ctx: Context) -> Iterator[Query]:
        probes = [Query(Conjunction((Range(one.name, 0.0),)), (one,)) for one in made]
        table = ctx.inst.table(probes)
        base = Base([one.name for one in made], self.n_bins)
        for block in base.blocks(Sources.of(table, weights=ctx.inst.weights)) if made else ():
            yield from (Query.over(block.body(line), made) for line in range(len(block)))


def _labels(recipe: Recipe, column: DerivedColumn) -> tuple[str, ...]:
    if column.column is None:
        return ()
    described = recipe[column.table][column.column]
    return described.labels if described.kind == "nominal" else ()


def _where(text: str, at: str) -> Where:
    """Read a condition on the rows of a related table."""
    try:
        condition = parse_condition(text)
    except ValueError as error:
        raise BiasError(at, f"the condition {text!r} cannot be read: {error}") from None
    if isinstance(condition, Labels) and len(condition.labels) == 1 and not condition.negated:
        return Where(condition.column, "=", condition.labels[0])
    if isinstance(condition, Range) and not (condition.low_open or condition.high_open):
        if np.isinf(condition.high):
            return Where(condition.column, ">=", condition.low)
        if np.isinf(condition.low):
            return Where(condition.column, "<=", condition.high)
    raise BiasError(at, f"the condition {text!r} must be 'a = label', 'x >= 1' or 'x <= 1'")


def _check_kind(test: Where, path: Path, language: Language, at: str) -> None:
    table = path[-1].table
    kind = language.kinds.get((table, test.column))
    wanted = "nominal" if isinstance(test.value, str) else "numeric"
    if kind != wanted:
        what = "no column" if kind is None else f"a {kind} column"
        raise BiasError(at, f"the condition '{test}': {table}.{test.column} is {what}")


def check_min_support(share: float, at: str) -> None:
    """Refuse a share that is not above 0 and at most 1."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise BiasError(at, f"min_support={share!r} must be above 0 and at most 1")


@dataclass(frozen=True)
class Subgraphs(Statement):
    """Patterns of graphs, found as `SubgraphFeatures` finds them.

    Parameters
    ----------
    column : str, optional
        The column that holds the graphs.
    method : {"frequent", "dispersion"}
        Mined, or found by stochastic local search.
    allow_cycles : bool
        Whether patterns may have cycles; free trees have none.
    min_support : float
        Share of the graphs that "frequent" patterns occur in.
    min_count : int, optional
        Number of the graphs, instead.
    n : int, optional
        Patterns of "dispersion".
    order, max_edges, score, max_steps, noise, max_active, constant_column
        As of `SubgraphFeatures`; the score is "dispersion" or "class".
    """

    column: str | None = None
    method: Literal["frequent", "dispersion"] = "frequent"
    allow_cycles: bool = True
    min_support: float = 0.06
    min_count: int | None = None
    n: int | None = None
    order: str = "size"
    max_edges: int = 15
    score: Literal["dispersion", "class"] = "dispersion"
    max_steps: int = 2000
    noise: float = 0.2
    max_active: int | None = None
    constant_column: bool = True
    id: str = ""
    limit: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        at = called(self)
        check_min_support(self.min_support, at)
        if self.min_count is not None:
            check_whole(f"{at}: min_count", self.min_count, 1)
        if self.n is not None:
            check_whole(f"{at}: k", self.n, 1)
        if self.score not in ("dispersion", "class"):
            raise BiasError(at, f"score={self.score!r} must be dispersion or class")
        try:
            check_parameters(
                "patterns", self._features.get_params(deep=False), self._features.DOMAINS
            )
        except ValueError as error:
            raise BiasError(at, str(error)) from None

    @property
    def needs(self) -> Needs:
        """The queries so far and the instances, with an order or score by classes also these.

        With a limit on active patterns the choice depends on the weights, and so on a model.
        """
        seen = Needs.QUERIES | Needs.INSTANCES
        if self._features.looks_at_classes:
            seen |= Needs.LABELS
        return seen | (Needs.MODEL if self.max_active is not None else Needs.NOTHING)

    def queries(self, ctx: Context, earlier: Mapping[str, list[Query]]) -> Iterator[Query]:
        """Find patterns and ask for each whether it occurs."""
        graphs_of(ctx)
        inst = ctx.inst
        assert isinstance(inst, GraphInstances), "checked before"
        labels = ctx.labels if self._features.looks_at_classes else None
        found = self._features.set_params(random_state=ctx.seed).fit_graphs(inst.graphs, labels)
        for pattern in found.patterns_:
            yield Occurrence.of(pattern).query

    @cached_property
    def _features(self) -> SubgraphFeatures:
        return SubgraphFeatures(
            self.method,
            n_features=self.n if self.n is not None else self.limit,
            min_support=self.min_support if self.min_count is None else self.min_count,
            max_edges=self.max_edges,
            allow_cycles=self.allow_cycles,
            order=self.order,
            class_correlated=self.score == "class",
            max_steps=self.max_steps,
            noise=self.noise,
            max_active=self.max_active,
            constant_column=self.constant_column,
        )


@dataclass(frozen=True)
class Occurs(Statement):
    """Given patterns, as texts such as "c:c-N"."""

    patterns: Sequence[str] = ()
    column: str | None = None
    id: str = ""
    limit: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "patterns", tuple(self.patterns))
        for text in self.patterns:
            try:
                parse_pattern(text)
            except ValueError as error:
                raise BiasError(called(self), str(error)) from None

    @property
    def needs(self) -> Needs:
        """Nothing."""
        return Needs.NOTHING

    def queries(self, ctx: Context, earlier: Mapping[str, list[Query]]) -> Iterator[Query]:
        """Ask for each pattern whether it occurs."""
        for text in self.patterns:
            yield Occurrence.of(parse_pattern(text)).query


@dataclass(frozen=True)
class RefinedTrees(Statement):
    """Patterns with one edge more than those with the largest weights in the model so far.

    Parameters
    ----------
    over : sequence of str, optional
        Statements whose patterns are refined; all before by default.
    top_k : int
        How many of them.
    allow_cycles : bool
        Whether an edge may close a cycle.
    """

    over: Sequence[str] | None = None
    top_k: int = 10
    allow_cycles: bool = False
    column: str | None = None
    id: str = ""
    limit: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(f"{called(self)}: top_k", self.top_k, 1)

    @property
    def needs(self) -> Needs:
        """The model, the queries and the instances."""
        return Needs.QUERIES | Needs.INSTANCES | Needs.MODEL

    def queries(self, ctx: Context, earlier: Mapping[str, list[Query]]) -> Iterator[Query]:
        """Give the refinements of the strongest patterns, the strongest first."""
        graphs, weights = graphs_of(ctx), ctx.model
        labels = GraphLabels.of(graphs)
        patterns = {
            query.key: one.pattern
            for name in self.over or ()
            for query in earlier[name]
            for one in query.made
            if isinstance(one, Occurrence) and query.made == (one,)
        }
        strongest = sorted(patterns, key=lambda key: -abs(weights.get(key, 0.0)))[: self.top_k]
        most = 1 + max((patterns[key].n_edges for key in strongest), default=0)
        index = SubgraphIndex(labels.arrays(graphs), most, self.allow_cycles)
        for key in strongest:
            code = patterns[key].code(labels)
            around = each_subgraph(index.neighbours(code)) if code and weights.get(key) else ()
            for found, _ in around:
                if len(found) > len(code or ()):
                    yield Occurrence.of(Pattern.of(found, labels)).query


@dataclass(frozen=True)
class Goals(Statement):
    """Given goals of Prolog, in which M is the key of the instance."""

    goals: Sequence[str] = ()
    id: str = ""
    limit: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        goals = (self.goals,) if isinstance(self.goals, str) else tuple(self.goals)
        object.__setattr__(self, "goals", goals)

    @property
    def needs(self) -> Needs:
        """Nothing."""
        return Needs.NOTHING

    def queries(self, ctx: Context, earlier: Mapping[str, list[Query]]) -> Iterator[Query]:
        """Ask for each goal whether it is proven."""
        yield from (Goal(text).query for text in self.goals)


@dataclass(frozen=True)
class Operator(Statement):
    """Goals that a predicate of the user gives: ``name(M, Goal)``, run on the training rows."""

    predicate: str = ""
    id: str = ""
    limit: int | None = None

    MOST: ClassVar[int] = 10_000

    def queries(self, ctx: Context, earlier: Mapping[str, list[Query]]) -> Iterator[Query]:
        """Ask for each goal that comes whether it is proven."""
        inst = ctx.inst
        if not isinstance(inst, RelatedInstances) or inst.prolog is None:
            raise BiasError(called(self), "needs engine = 'prolog'")
        most = self.MOST if self.limit is None else self.limit
        for text in inst.prolog.proposed(inst.relations, self.predicate, most):
            yield Goal(text).query


def graph_columns(statements: Sequence[Any]) -> set[str]:
    """Return the columns of graphs that statements name."""
    found = (getattr(one, "column", None) for one in statements if not isinstance(one, Sql))
    return {name for name in found if isinstance(name, str)}
