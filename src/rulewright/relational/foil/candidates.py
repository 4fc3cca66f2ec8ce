"""The candidate literals: the best one of each relation, with its gain.

A relation is a table that provides a new row, a column for a condition, or a comparison of two
rows. A new row may come with one condition on it, like a literal of FOIL with a constant or an
older variable as an argument.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from rulewright.data import short_between
from rulewright.relational.derived import (
    OPPOSITE,
    RelatedRow,
    RowComparison,
    RowCondition,
    SharedKey,
)
from rulewright.relational.foil.literals import (
    AbsentLiteral,
    BestChoice,
    BindLiteral,
    ComparisonLiteral,
    ConditionLiteral,
    KeyLiteral,
    Scope,
    best_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.relational.foil.literals import Bindings, Literal

Relation = tuple[str, ...]
COMPARISONS = {"numeric": (">", "<", "="), "nominal": ("=",)}


class LiteralCandidate(NamedTuple):
    """Literals that are added together, as one: a new row may have a condition."""

    gain: float
    relation: Relation
    n_choices: int
    literals: tuple[Literal, ...]


@dataclass(frozen=True)
class LiteralLanguage:
    """The allowed literals; see `RelationalFOILClassifier`."""

    negation: bool = False
    max_rows: int = 4
    max_bindings: int = 200_000


class LiteralJudge:
    """Evaluates the literals that may extend a clause.

    Parameters
    ----------
    bindings : Bindings
        The bindings that satisfy the clause so far.
    literals : sequence of Literal
        The clause so far.
    positive, negative : float64 arrays
        Weights of all instances for and against the class.
    language : LiteralLanguage
        The allowed literals.
    """

    def __init__(
        self,
        bindings: Bindings,
        literals: Sequence[Literal],
        positive: FloatArray,
        negative: FloatArray,
        language: LiteralLanguage,
    ) -> None:
        self._bindings, self._literals, self._language = bindings, literals, language
        self._positive, self._negative = positive, negative
        here = bindings.instances
        before = (float(positive[here].sum()), float(negative[here].sum()))
        self._scope = Scope(positive[here], negative[here], before)

    @property
    def most(self) -> float:
        """The gain of a literal that keeps all positive bindings and no negative one."""
        p, n = self._scope.before
        return p * math.log2((p + n) / p)

    def by_relation(self) -> list[LiteralCandidate]:
        """Return the best literal of each relation, in the order of search."""
        best: dict[Relation, LiteralCandidate] = {}
        for found in self._all():
            other = best.get(found.relation)
            if other is not None:
                first = found if found.gain > other.gain else other
                found = first._replace(n_choices=found.n_choices + other.n_choices)
            best[found.relation] = found
        return list(best.values())

    def determinate(self) -> list[BindLiteral]:
        """Return the new rows with one per positive binding and at most one per other binding."""
        positive, found = self._scope.positive > 0, []
        for literal in self._rows():
            low, high = self._bindings.find_reached(literal.table, literal.key)
            counts = high - low
            if (counts[positive] == 1).all() and (counts <= 1).all() and len(counts):
                found.append(literal)
        return found

    def weak(self) -> list[LiteralCandidate]:
        """Return the new rows that all positive bindings have and that add no other information."""
        positive, found = self._scope.positive > 0, []
        for literal in self._rows() if self._language.max_rows > 0 else ():
            low, high = self._bindings.find_reached(literal.table, literal.key)
            size = int((high - low).sum())
            if (high > low)[positive].all() and self._few(size) and not self._is_known(literal):
                found.append(LiteralCandidate(0.0, ("row", literal.table), 1, (literal,)))
        return found

    def _all(self) -> Iterator[LiteralCandidate]:
        variables = list(self._bindings.tables)
        for variable in variables:
            yield from self._conditions(self._bindings, self._scope, variable)
        for at, one in enumerate(variables):
            yield from self._pairs(self._bindings, self._scope, one, variables[:at])
        for literal in self._rows():
            low, high = self._bindings.find_reached(literal.table, literal.key)
            if self._language.negation:
                yield self._absent(literal, low == high)
            if self._language.max_rows > 0:
                yield from self._with_row(literal, int((high - low).sum()))

    def _rows(self) -> Iterator[BindLiteral]:
        """Return the new rows that keys of the same type lead to."""
        bindings, new = self._bindings, max(self._bindings.tables) + 1
        for variable, table in bindings.tables.items():
            for here, kind in table.types.items():
                for other in bindings.facts.tables.values():
                    for there, its in other.types.items():
                        itself = other is table and there == here and there in table.identified
                        if its == kind and not itself:
                            yield BindLiteral(new, other.name, SharedKey(there, variable, here))

    def _with_row(self, literal: BindLiteral, size: int) -> Iterator[LiteralCandidate]:
        """Yield a new row alone, and with one informative condition."""
        if size == 0 or not self._few(size):
            return
        extended, parents = self._bindings.with_row(literal)
        here = extended.instances
        scope = Scope(
            self._positive[here],
            self._negative[here],
            self._scope.before,
            parents,
            self._scope.positive,
        )
        relation = ("row", literal.table)
        if not self._is_known(literal):
            yield LiteralCandidate(scope.of_all(), relation, 1, (literal,))
        older = list(self._bindings.tables)
        found = [*self._conditions(extended, scope, literal.new)]
        found += self._pairs(extended, scope, literal.new, older, literal)
        for one in found:
            yield one._replace(relation=relation, literals=(literal, *one.literals))

    def _few(self, size: int) -> bool:
        """Return whether this number of bindings is allowed."""
        return size <= max(self._language.max_bindings, 4 * len(self._positive))

    def _is_known(self, literal: BindLiteral) -> bool:
        """Return whether the clause already has such a row."""
        rows = {(one.table, one.key) for one in self._literals if isinstance(one, BindLiteral)}
        return (literal.table, literal.key) in rows

    def _absent(self, literal: BindLiteral, nothing: BoolArray) -> LiteralCandidate:
        row = RelatedRow(literal.table, (literal.key,))
        gain = self._scope.of_mask(nothing)
        return LiteralCandidate(gain, ("no", literal.table), 1, (AbsentLiteral(row),))

    def _conditions(
        self, bindings: Bindings, scope: Scope, variable: int
    ) -> Iterator[LiteralCandidate]:
        """Return the best condition on each column of a row."""
        table = bindings.tables[variable]
        for name in table.columns:
            column, relation = bindings.column(variable, name), ("test", table.name, name)
            if column.schema.kind == "nominal":
                equal, other = scope.labels(column)
                for op, gains in (("=", equal), ("!=", other)):
                    best = best_of(gains) if op == "=" or self._language.negation else None
                    if best is not None:
                        where = RowCondition(name, op, column.schema.labels[best.choice])
                        yield _candidate(best, relation, ConditionLiteral(variable, where))
            elif column.schema.kind == "numeric":
                values, above, below = scope.cuts(column)
                for op, gains in ((">=", above), ("<=", below)):
                    if (best := best_of(gains)) is not None:
                        where = RowCondition(name, op, _cut(values, best.choice, op))
                        yield _candidate(best, relation, ConditionLiteral(variable, where))

    def _pairs(
        self,
        bindings: Bindings,
        scope: Scope,
        one: int,
        older: Sequence[int],
        found_by: BindLiteral | None = None,
    ) -> Iterator[LiteralCandidate]:
        """Yield keys that a row may share with older rows, and comparisons with them."""
        table, negation = bindings.tables[one], self._language.negation
        for other in older:
            before = bindings.tables[other]
            keys = [
                SharedKey(column, other, here)
                for column, kind in table.types.items()
                for here, its in before.types.items()
                if kind == its and (found_by is None or (column, other, here) != _key(found_by))
            ]
            literals: list[KeyLiteral | ComparisonLiteral] = [KeyLiteral(one, key) for key in keys]
            if negation:
                literals += [KeyLiteral(one, replace(key, op="!=")) for key in keys]
            if table is before and other != 0:
                literals += self._comparisons(one, other, bindings)
            for literal in literals:
                gain = scope.of_mask(bindings.satisfy(literal))
                if math.isfinite(gain):
                    yield LiteralCandidate(gain, _relation(literal, table.name), 1, (literal,))

    def _comparisons(self, one: int, other: int, bindings: Bindings) -> Iterator[ComparisonLiteral]:
        for name, column in bindings.tables[one].columns.items():
            signs = COMPARISONS.get(column.schema.kind, ())
            if self._language.negation:
                signs = (*signs, *(OPPOSITE[sign] for sign in signs))
            yield from (ComparisonLiteral(RowComparison(one, name, sign, other)) for sign in signs)


def _candidate(best: BestChoice, relation: Relation, literal: Literal) -> LiteralCandidate:
    return LiteralCandidate(best.gain, relation, best.n_choices, (literal,))


def _key(literal: BindLiteral) -> tuple[str, int, str]:
    return literal.key.column, literal.key.of, literal.key.here


def _relation(literal: KeyLiteral | ComparisonLiteral, table: str) -> Relation:
    if isinstance(literal, KeyLiteral):
        return ("same", table, literal.key.column)
    return ("compared", table, literal.compared.column)


def _cut(values: FloatArray, choice: int, op: str) -> float:
    """Return a short number between a value and the next one that the condition excludes."""
    value = float(values[choice])
    if op == ">=":
        return short_between(float(values[choice - 1]), math.nextafter(value, math.inf))
    return short_between(math.nextafter(value, -math.inf), float(values[choice + 1]))
