"""The literals of clauses, and the bindings that satisfy them.

A binding is an instance with a row for every variable. Variables are numbered; 0 is the instance.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.relational.foil.facts import MISSING, FactTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rulewright.data import Column
    from rulewright.kernels import BoolArray
    from rulewright.relational.clauses import RelatedRow, RowComparison, SharedKey
    from rulewright.relational.derived import RowCondition
    from rulewright.relational.foil.facts import Facts, Places

SIGNS: dict[str, Any] = {"=": operator.eq, "!=": operator.ne, ">=": operator.ge}
SIGNS |= {"<=": operator.le, ">": operator.gt, "<": operator.lt}


@dataclass(frozen=True)
class BindLiteral:
    """A new variable: a row of a table with the key of an older one."""

    new: int
    table: str
    key: SharedKey

    @property
    def uses(self) -> set[int]:
        """Variables that it refers to."""
        return {self.key.of}


@dataclass(frozen=True)
class ConditionLiteral:
    """A condition on a row."""

    of: int
    where: RowCondition

    @property
    def uses(self) -> set[int]:
        """Variables that it refers to."""
        return {self.of}


@dataclass(frozen=True)
class KeyLiteral:
    """Two rows share a key, or have different ones; the first is the younger one."""

    one: int
    key: SharedKey

    @property
    def uses(self) -> set[int]:
        """Variables that it refers to."""
        return {self.one, self.key.of}


@dataclass(frozen=True)
class ComparisonLiteral:
    """Two rows of a table are compared by a column."""

    compared: RowComparison

    @property
    def uses(self) -> set[int]:
        """Variables that it refers to."""
        return {self.compared.one, self.compared.other}


@dataclass(frozen=True)
class AbsentLiteral:
    """There is no row of a table with the key of a variable."""

    row: RelatedRow

    @property
    def uses(self) -> set[int]:
        """Variables that it refers to."""
        return {key.of for key in self.row.keys}


Literal = BindLiteral | ConditionLiteral | KeyLiteral | ComparisonLiteral | AbsentLiteral


@dataclass(frozen=True, eq=False)
class Bindings:
    """Bindings of the variables of a clause; rows by variable."""

    facts: Facts
    tables: Mapping[int, FactTable]
    rows: Mapping[int, Places]

    @classmethod
    def of(cls, facts: Facts, instances: Places) -> Bindings:
        """Bind instances alone."""
        return cls(facts, {0: facts.instances}, {0: instances})

    @property
    def instances(self) -> Places:
        """The instance of each binding, ascending."""
        return self.rows[0]

    def __len__(self) -> int:
        return len(self.instances)

    def key(self, variable: int, column: str) -> Places:
        """Return the numbers of a key of a variable."""
        return self.tables[variable].keys[column][self.rows[variable]]

    def column(self, variable: int, name: str) -> Column:
        """Return a feature of a variable."""
        column = self.tables[variable].columns[name]
        return replace(column, values=column.values[self.rows[variable]])

    def take(self, kept: Places | BoolArray) -> Bindings:
        """Return some bindings."""
        return replace(self, rows={v: rows[kept] for v, rows in self.rows.items()})

    def find_reached(self, table: str, key: SharedKey) -> tuple[Places, Places]:
        """Return where in the index of a table the rows begin and end that each binding reaches."""
        found = self.facts.tables[table]
        return found.find_reached(key.column, self.key(key.of, key.here), self.instances)

    def with_row(self, literal: BindLiteral) -> tuple[Bindings, Places]:
        """Bind a new variable; also return which binding each new one extends, ascending."""
        table, key = self.facts.tables[literal.table], literal.key
        low, high = self.find_reached(literal.table, key)
        counts = high - low
        parents = np.repeat(np.arange(len(self)), counts)
        offsets = np.arange(len(parents)) - np.repeat(np.cumsum(counts) - counts, counts)
        found = table.indexes[key.column].rows[low[parents] + offsets]
        bound = self.take(parents)
        tables, rows = {**self.tables, literal.new: table}, {**bound.rows, literal.new: found}
        return replace(self, tables=tables, rows=rows), parents

    def after(self, literal: Literal) -> Bindings:
        """Return the bindings that satisfy a literal, extended if it has a new variable."""
        if isinstance(literal, BindLiteral):
            return self.with_row(literal)[0]
        return self.take(self.satisfy(literal))

    def satisfy(
        self, literal: ConditionLiteral | KeyLiteral | ComparisonLiteral | AbsentLiteral
    ) -> BoolArray:
        """Tell which bindings satisfy a literal; a missing value never does."""
        if isinstance(literal, ConditionLiteral):
            return holds(self.column(literal.of, literal.where.column), literal.where)
        if isinstance(literal, KeyLiteral):
            key = literal.key
            one, other = self.key(literal.one, key.column), self.key(key.of, key.here)
            known = (one != MISSING) & (other != MISSING)
            return np.asarray(known & SIGNS[key.op](one, other))
        if isinstance(literal, AbsentLiteral):
            low, high = self.find_reached(literal.row.table, literal.row.keys[0])
            return np.asarray(low == high)
        c = literal.compared
        one_column, other_column = self.column(c.one, c.column), self.column(c.other, c.column)
        return compare_columns(one_column, c.op, other_column)


def holds(column: Column, where: RowCondition) -> BoolArray:
    """Tell where a condition holds."""
    value = where.value
    if isinstance(value, str):
        value = column.schema.labels.index(value)
    with np.errstate(invalid="ignore"):
        return np.asarray(SIGNS[where.op](column.values, value) & ~column.is_missing)


def compare_columns(one: Column, op: str, other: Column) -> BoolArray:
    """Compare two columns of the same kind and labels."""
    known = ~one.is_missing & ~other.is_missing
    with np.errstate(invalid="ignore"):
        return np.asarray(known & SIGNS[op](one.values, other.values))


def find_bindings(facts: Facts, literals: Iterable[Literal], instances: Places) -> Bindings:
    """Return the bindings of some instances that satisfy all literals."""
    bindings = Bindings.of(facts, instances)
    for literal in literals:
        bindings = bindings.after(literal)
    return bindings
