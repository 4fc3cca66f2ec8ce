"""Statements of a bias over graphs: given, mined, dispersed and refined patterns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from rulewright.estimators import check_parameters
from rulewright.relational import (
    GraphLabels,
    Pattern,
    SubgraphFeatures,
    SubgraphIndex,
    each_subgraph,
    parse_pattern,
)
from rulewright.search import BiasError, check_whole
from rulewright.search import where as called
from rulewright_lab.framework.generators import graphs_of
from rulewright_lab.framework.instances import GraphInstances
from rulewright_lab.framework.levels import Needs
from rulewright_lab.framework.query import Occurrence, Query
from rulewright_lab.framework.statement import Statement, check_min_support

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulewright_lab.framework.levels import Context


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
        """Return the refinements of the strongest patterns, the strongest first."""
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


def graph_columns(statements: Sequence[Any]) -> set[str]:
    """Return the columns of graphs that statements name."""
    kinds = (Subgraphs, Occurs, RefinedTrees)
    found = (one.column for one in statements if isinstance(one, kinds))
    return {name for name in found if name is not None}
