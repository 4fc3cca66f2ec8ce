"""Blocks of generated rules, the inputs of generators, combined formulas, and errors."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rulewright.data import DataError
from rulewright.encoding import PackedCovers, SignedCovers
from rulewright.rules import And, Conjunction, Contradiction, Not, Or, normalise, opposite
from rulewright.search.options import offer_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rulewright.data import Table
    from rulewright.kernels import FloatArray
    from rulewright.rules import Condition, Formula


class BiasError(DataError):
    """A bias that is invalid or does not fit the columns: the statement, and the reason."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(where, reason)
        self.where, self.reason = where, reason

    def __str__(self) -> str:
        return f"bias: {self.where}: {self.reason}" if self.where else f"bias: {self.reason}"


@dataclass(frozen=True, eq=False)
class RuleBlock:
    """Rules generated together.

    Parameters
    ----------
    covers : SignedCovers
        The rows of the repository where each rule applies and where it does not.
    body : callable
        Returns the formula of the rule at a line; formulas are created on request.
    """

    covers: SignedCovers
    body: Callable[[int], Formula]

    @classmethod
    def of(cls, bodies: Sequence[Formula], table: Table) -> RuleBlock:
        """Evaluate formulas on rows."""
        return cls(covers_of(bodies, table), bodies.__getitem__)

    def first(self, n: int) -> RuleBlock:
        """Return the first rules."""
        return RuleBlock(self.covers[:n], self.body)

    def __len__(self) -> int:
        return len(self.covers)


def covers_of(bodies: Iterable[Formula], table: Table) -> SignedCovers:
    """Return where formulas are true and where they are false; elsewhere they are unknown."""
    bodies, n = list(bodies), len(table)
    return SignedCovers(
        PackedCovers.pack_lines((body.holds(table) for body in bodies), n),
        PackedCovers.pack_lines((body.fails(table) for body in bodies), n),
    )


@dataclass(frozen=True, eq=False)
class Sources:
    """The inputs of generators; labels are not among them.

    Parameters
    ----------
    table : Table
        The rows that rules are evaluated on.
    making : Table
        The rows for cutting intervals and choosing pairs; by default the rows of `table`.
    weights : array
        Weights of the rows of `making`.
    made : dict of str to list of RuleBlock
        The rules so far, by generator id.
    """

    table: Table
    making: Table
    weights: FloatArray
    made: dict[str, list[RuleBlock]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, table: Table, making: Table | None = None, weights: FloatArray | None = None
    ) -> Sources:
        """Return the sources before any rule is generated."""
        rows = table if making is None else making
        return cls(table, rows, np.ones(len(rows)) if weights is None else weights)

    def columns(self, names: Sequence[str] | None, where: str) -> list[int]:
        """Return the positions of columns; by default of all."""
        schema = self.table.schema
        for name in names or ():
            if name not in schema:
                raise BiasError(
                    where, f"there is no column {name!r}. {offer_names(str(name), schema.names)}"
                )
        return [*range(len(schema))] if names is None else [schema.index(name) for name in names]

    def rules(self, ids: Sequence[str]) -> RuleBlock:
        """Return the rules of some generators as one block."""
        blocks = [block for name in ids for block in self.made[name]]
        places = [(block, line) for block in blocks for line in range(len(block))]
        if not blocks:
            return RuleBlock.of([], self.table)
        covers = blocks[0].covers.stack(*(block.covers for block in blocks[1:]))
        return RuleBlock(covers, lambda line: places[line][0].body(places[line][1]))


def any_body(bodies: Sequence[Formula]) -> Formula:
    """Return a formula that is true if any of several is; one condition per column if possible."""
    by_column: dict[str, list[Condition]] = {}
    others: list[Formula] = []
    for body in bodies:
        condition = _plain(body)
        if condition is None:
            others.append(body)
        else:
            by_column.setdefault(condition.column, []).append(condition)
    parts = [part for same in by_column.values() for part in _union(same)]
    return normalise(Or((*parts, *others)))


def all_body(bodies: Sequence[Formula]) -> Formula:
    """Return a formula that is true if all of several are; one condition per column if possible."""
    if all(map(_merges, bodies)):
        with suppress(Contradiction):
            return Conjunction.of(c for body in bodies for c in body.conditions)
    return normalise(And(tuple(bodies)))


def not_body(body: Formula) -> Formula:
    """Return the negation of a formula; unknown where the formula is."""
    return normalise(Not(body))


def _plain(body: Formula) -> Condition | None:
    """Return the only condition of a body if it is unknown on missing values."""
    if not isinstance(body, Conjunction) or len(body) != 1:
        return None
    (condition,) = body.conditions
    return None if condition.decides_missing else condition


def _merges(body: Formula) -> bool:
    # Merged with others, a condition that is known on missing values would be unknown there.
    return isinstance(body, Conjunction) and not any(c.decides_missing for c in body.conditions)


def _union(conditions: Sequence[Condition]) -> list[Formula]:
    """Combine conditions on one column: all are false where all their negations are true."""
    try:
        apart = Conjunction.of(map(opposite, conditions))
    except Contradiction:  # one is always true, except unknown on missing values
        return [Conjunction((condition,)) for condition in conditions]
    return [Conjunction((opposite(condition),)) for condition in apart.conditions]
