"""A bias as a generator of queries: its statements one after the other, each at its own level."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.data import DataError
from rulewright.encoding import SignedCovers
from rulewright.search import Base, BiasError, RuleBlock, Sources, where
from rulewright_lab.framework.generators import ROUND
from rulewright_lab.framework.levels import Needs
from rulewright_lab.framework.prolog import EngineUnavailable
from rulewright_lab.framework.query import Query, definitions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.data import Table
    from rulewright.search import Bias
    from rulewright_lab.framework.generators import _Round
    from rulewright_lab.framework.levels import Context


def statement_needs(statement: Any) -> Needs:
    """Return what a statement looks at: it says so, or looks at rows, or at rules before."""
    declared = getattr(statement, "needs", None)
    if isinstance(declared, Needs):
        return declared
    seen = Needs.INSTANCES if statement.looks_at_rows else Needs.NOTHING
    return seen | (Needs.QUERIES if getattr(statement, "over", None) else Needs.NOTHING)


@dataclass(frozen=True)
class FromBias:
    """The queries of the statements of a bias, in their order, which is the prior.

    Every statement ends a batch: later ones see what earlier ones made.
    """

    bias: Bias

    name: ClassVar[str] = "bias"

    @property
    def needs(self) -> Needs:
        """What all statements look at."""
        needs = Needs.NOTHING
        for statement in self.bias.generators:
            needs |= statement_needs(statement)
        return needs

    def generate(self, ctx: Context) -> Iterator[Query | _Round]:
        """Return the queries of one statement after the other; warn of those without any."""
        earlier: dict[str, list[Query]] = {}
        for statement in self.bias.generators:
            made = earlier.setdefault(statement.id, [])
            try:
                for query in islice(self._queries(statement, ctx, earlier), statement.limit):
                    made.append(query)
                    yield query
            except EngineUnavailable:
                raise
            except DataError as error:
                reason = error.reason if isinstance(error, BiasError) else str(error)
                raise BiasError(self._place(statement), reason) from None
            self._warn(statement, len(made))
            yield ROUND

    def _queries(
        self, statement: Any, ctx: Context, earlier: dict[str, list[Query]]
    ) -> Iterator[Query]:
        if hasattr(statement, "queries"):
            yield from statement.queries(ctx.of(statement), earlier)
            return
        over = {name: earlier[name] for name in getattr(statement, "over", None) or ()}
        parts = [query for queries in over.values() for query in queries]
        known = definitions(parts)
        for block in statement.blocks(_sources(statement, ctx, over)):
            yield from (Query.over(block.body(line), known) for line in range(len(block)))

    def _place(self, statement: Any) -> str:
        return self.bias.places.get(statement.id, where(statement))

    def _warn(self, statement: Any, n_made: int) -> None:
        if n_made == 0:
            text = f"bias: no rules came of {self._place(statement)}"
            warnings.warn(text, UserWarning, stacklevel=2)
        elif isinstance(statement, Base) and statement.kind == "numeric" and statement.columns:
            asked = len(statement.columns) * len(statement.only or range(statement.n_bins))
            if n_made < min(asked, statement.limit or asked):
                text = f"bias: {self._place(statement)}: equal cuts leave {n_made} bins of {asked}"
                warnings.warn(text, UserWarning, stacklevel=2)


def _sources(statement: Any, ctx: Context, over: dict[str, list[Query]]) -> Sources:
    """Pass its rows to a statement of one table, or none if it does not need them."""
    looks = Needs.INSTANCES in statement_needs(statement)
    parts = [query for queries in over.values() for query in queries]
    table, weights = ctx.language.empty, np.ones(0)
    if looks:
        table, weights = _with_made(ctx.inst.own, ctx.inst.table(parts)), ctx.inst.weights
    made = {}
    for name, queries in over.items():
        covers = ctx.inst.covers(queries) if looks else _no_rows(len(queries))
        made[name] = [RuleBlock(covers, [query.body for query in queries].__getitem__)]
    return Sources(table, table, weights, made)


def _with_made(own: Table, asked: Table) -> Table:
    columns = {column.schema.name: column for column in (*own.columns, *asked.columns)}
    return type(own)(tuple(columns.values()), own.named, own.n_rows)


def _no_rows(n: int) -> SignedCovers:
    return SignedCovers.pack(np.zeros((n, 0), dtype=np.int8))
