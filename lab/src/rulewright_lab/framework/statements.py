"""Statements of a bias over related tables and Prolog: each makes queries in order.

They stand in a `Bias` with statements on one table. `over` names earlier statements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rulewright.relational import (
    DEFAULT_FUNCTIONS,
    ChoiceSettings,
    DerivedColumn,
    RowCondition,
    propose_columns,
)
from rulewright.rules import Conjunction, Labels, Range, parse_condition
from rulewright.search import Base, BiasError, Sources, check_whole
from rulewright.search import where as called
from rulewright_lab.framework.instances import RelatedInstances
from rulewright_lab.framework.levels import Needs
from rulewright_lab.framework.query import Goal, Query, Related
from rulewright_lab.framework.statement import Statement, check_min_support

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulewright.relational import Path, Recipe
    from rulewright_lab.framework.instances import Language
    from rulewright_lab.framework.levels import Context

OF_ROWS = ("exists", "count")
FUNCTIONS = (*OF_ROWS, *(f for f in DEFAULT_FUNCTIONS if f != "count"), "median", "stddev", "value")


@dataclass(frozen=True)
class Sql(Statement):
    """Conditions on the rows that join paths reach.

    Parameters
    ----------
    function : str
        "exists", "count", or an aggregate of the values of a column: min, max, mean, sum, median,
        stddev, last, recency, and "value" where a path leads to one row.
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
        """Create the queries of one path after the other."""
        names = None if self.path is None else [self.path]
        language = ctx.language
        if self.where is not None and self.function in OF_ROWS:
            paths = language.paths(names, self.max_depth)
            yield from (
                query for path in paths for query in self._ask_conditions(path, paths, language)
            )
            return
        made = [Related(column, labels) for column, labels in self._suggest_columns(ctx)]
        if self.function in OF_ROWS:
            yield from (query for one in made for query in self._of_rows(one))
        else:
            yield from self._intervals(made, ctx)

    def _ask_conditions(self, path: Path, paths: list[Path], language: Language) -> Iterator[Query]:
        """Ask the given conditions of a path, if it leads to a table that has the column."""
        at = called(self)
        for text in self.where or (None,):
            test = None if text is None else _where(text, at)
            if test is not None and not _fits(test, path, paths, language, at):
                continue
            yield from self._of_rows(Related(DerivedColumn(path, self.function, where=test)))

    def _of_rows(self, made: Related) -> Iterator[Query]:
        if self.function == "exists":
            yield Query(Conjunction((Labels(made.name, ("true",)),)), (made,))
        else:
            for least in self.at_least:
                yield Query(Conjunction((Range(made.name, float(least)),)), (made,))

    def _suggest_columns(self, ctx: Context) -> Iterator[tuple[DerivedColumn, tuple[str, ...]]]:
        """Return the columns that the rows of the instances suggest."""
        inst = ctx.inst
        if not isinstance(inst, RelatedInstances):
            raise BiasError(called(self), "needs related tables: Relations(...)")
        tested = self.function in OF_ROWS
        choosing = ChoiceSettings(
            self.max_depth,
            (self.function,),
            max_labels=self.max_labels,
            n_thresholds=self.n_thresholds if tested else 0,
            min_support=self.min_support,
            max_features=10**6,
            paths=None if self.path is None else [self.path],
        )
        recipe, _ = propose_columns(inst.relations, choosing)
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


def _where(text: str, at: str) -> RowCondition:
    """Read a condition on the rows of a related table."""
    try:
        condition = parse_condition(text)
    except ValueError as error:
        raise BiasError(at, f"the condition {text!r} cannot be read: {error}") from None
    if isinstance(condition, Labels) and len(condition.labels) == 1 and not condition.negated:
        return RowCondition(condition.column, "=", condition.labels[0])
    if isinstance(condition, Range) and not (condition.low_open or condition.high_open):
        if np.isinf(condition.high):
            return RowCondition(condition.column, ">=", condition.low)
        if np.isinf(condition.low):
            return RowCondition(condition.column, "<=", condition.high)
    raise BiasError(at, f"the condition {text!r} must be 'a = label', 'x >= 1' or 'x <= 1'")


def _fits(test: RowCondition, path: Path, paths: list[Path], language: Language, at: str) -> bool:
    """Return whether the table of a path has the column of a condition; that of one must."""
    kinds = [language.kinds.get((one[-1].table, test.column)) for one in paths]
    if not any(kinds):
        tables = ", ".join(dict.fromkeys(one[-1].table for one in paths))
        raise BiasError(at, f"the condition '{test}': no column {test.column!r} in {tables}")
    kind = language.kinds.get((path[-1].table, test.column))
    wanted = "nominal" if isinstance(test.value, str) else "numeric"
    if kind not in (None, wanted):
        place = f"{path[-1].table}.{test.column}"
        raise BiasError(at, f"the condition '{test}': {place} is a {kind} column")
    return kind is not None


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
        for text in inst.prolog.propose_goals(inst.relations, self.predicate, most):
            yield Goal(text).query
