"""The literals of clauses, the bindings that satisfy them, and the gain of many at once.

A binding is an instance with a row for every variable. Variables are numbered; 0 is the instance.

The gain is T (log2(p1 / (p1 + n1)) - log2(p0 / (p0 + n0))). Here p and n are positive and negative
bindings before (0) and after (1) a literal, and T counts the positive ones before it that are still
extended.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.relational.foil.facts import MISSING, Facts, FactTable, Places

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rulewright.data import Column
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.relational.derived import RelatedRow, RowComparison, RowCondition, SharedKey


SIGNS: dict[str, Any] = {"=": operator.eq, "!=": operator.ne, ">=": operator.ge}
SIGNS |= {"<=": operator.le, ">": operator.gt, "<": operator.lt}


@dataclass(frozen=True)
class BindLiteral:
    """A new variable: a row of a table with the key of an older row."""

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
    """Two rows share a key, or have different keys; the first row is the newer one."""

    one: int
    key: SharedKey

    @property
    def uses(self) -> set[int]:
        """Variables that it refers to."""
        return {self.one, self.key.of}


@dataclass(frozen=True)
class ComparisonLiteral:
    """Two rows of a table are compared on a column."""

    compared: RowComparison

    @property
    def uses(self) -> set[int]:
        """Variables that it refers to."""
        return {self.compared.one, self.compared.other}


@dataclass(frozen=True)
class AbsentLiteral:
    """No row of a table has the key of a variable."""

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
        """Create bindings of instances without further variables."""
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
        """Return, for each binding, the index range of the rows of a table that it reaches."""
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
        """Return which bindings satisfy a literal; missing values never do."""
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
    """Return where a condition is true."""
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


class BestChoice(NamedTuple):
    """The best of several choices."""

    gain: float
    choice: int
    n_choices: int


@dataclass(frozen=True, eq=False)
class Scope:
    """Bindings that literals are evaluated on; each may extend an older one.

    Attributes
    ----------
    positive, negative : float64 arrays
        Weight of each binding for and against the class.
    before : tuple of float
        Weights p0 and n0 before the literal.
    parents : int array, optional
        The older binding that each one extends, ascending; None if unchanged.
    weights : float64 array, optional
        Positive weights of the older bindings.
    """

    positive: FloatArray
    negative: FloatArray
    before: tuple[float, float]
    parents: Places | None = None
    weights: FloatArray | None = None

    def gain(self, t: FloatArray, p: FloatArray, n: FloatArray) -> FloatArray:
        """Return the gains of literals; without positive bindings there is none."""
        p0, n0 = self.before
        with np.errstate(divide="ignore", invalid="ignore"):
            gains = t * (np.log2(p / (p + n)) - np.log2(p0 / (p0 + n0)))
        return np.where(p > 0, gains, -np.inf)

    def of_all(self) -> float:
        """Return the gain of the new variable alone."""
        return self.of_mask(np.ones(len(self.positive), dtype=np.bool_))

    def of_mask(self, mask: BoolArray) -> float:
        """Return the gain of a literal that some bindings satisfy."""
        p, n = self.positive[mask].sum(), self.negative[mask].sum()
        t = p
        if self.parents is not None and self.weights is not None:
            kept = np.zeros(len(self.weights), dtype=np.bool_)
            kept[self.parents[mask]] = True
            t = self.weights[kept].sum()
        return float(self.gain(np.array(t), np.array(p), np.array(n)))

    def labels(self, column: Column) -> tuple[FloatArray, FloatArray]:
        """Return the gains of each label of a column, and of its negation."""
        known = ~column.is_missing
        codes, size = column.values[known], len(column.schema.labels)
        p, n = _sums(codes, self.positive[known], size), _sums(codes, self.negative[known], size)
        t, others = p, p.sum() - p
        if self.parents is not None and self.weights is not None:
            parents, weights = self.parents[known], self.weights
            pairs = np.unique(parents * size + codes)
            t = _sums(pairs % size, weights[pairs // size], size)
            labels_of = np.bincount(pairs // size, minlength=len(weights))
            alone = pairs[labels_of[pairs // size] == 1]
            only = _sums(alone % size, weights[alone // size], size)
            others = weights[labels_of > 0].sum() - only
        return self.gain(t, p, n), self.gain(others, p.sum() - p, n.sum() - n)

    def cuts(self, column: Column) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the values of a column, and the gains of ``>=`` and ``<=`` at each value.

        The smallest value is excluded for ``>=``, the largest for ``<=``: they are always true.
        """
        known = ~column.is_missing
        values, places = np.unique(column.values[known], return_inverse=True)
        size = len(values)
        p, n = _sums(places, self.positive[known], size), _sums(places, self.negative[known], size)
        highest = lowest = p
        if self.parents is not None and self.weights is not None:
            parents = self.parents[known]
            first = np.flatnonzero(np.diff(parents, prepend=-1))
            own = self.weights[parents[first]]
            if size:
                highest = _sums(np.maximum.reduceat(places, first), own, size)
                lowest = _sums(np.minimum.reduceat(places, first), own, size)
        above = self.gain(_from(highest), _from(p), _from(n))
        below = self.gain(np.cumsum(lowest), np.cumsum(p), np.cumsum(n))
        above[:1], below[-1:] = -np.inf, -np.inf
        return values, above, below


def best_of(gains: FloatArray) -> BestChoice | None:
    """Return the first of the best gains, if there is one."""
    allowed = np.isfinite(gains)
    if not allowed.any():
        return None
    choice = int(gains.argmax())
    return BestChoice(float(gains[choice]), choice, int(allowed.sum()))


def _sums(codes: Places, weights: FloatArray, size: int) -> FloatArray:
    """Sum weights by code."""
    return np.bincount(codes, weights, size).astype(np.float64)


def _from(sums: FloatArray) -> FloatArray:
    """Sum from each place to the end."""
    return np.cumsum(sums[::-1])[::-1]
