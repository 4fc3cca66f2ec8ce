"""Nodes of a program: the computation of a model for one row, shared by all targets.

A value is a number for each class (a vector) or one number for the row (a scalar); an operation on
both repeats the scalar for every class. Nodes are compared by identity: a node used twice is
computed once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.rules import Formula, Head

Sign: TypeAlias = Literal["+", "-", "*", "/", "min", "==", "<", "<=", "and"]
Table: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
"""Ascending thresholds, and one value more; on a threshold the value below it counts."""


@dataclass(frozen=True, eq=False)
class Node:
    """A value of a program."""

    joins_classes: ClassVar[bool] = False
    """Whether it makes a scalar of a vector."""

    @cached_property
    def children(self) -> tuple[Node, ...]:
        """The values that this one is computed from."""
        values = [getattr(self, item.name) for item in fields(self)]
        return tuple(value for value in values if isinstance(value, Node))

    @cached_property
    def schedules(self) -> dict[frozenset[Node], Any]:
        """Plans for the evaluation of this value, by the values that are given."""
        return {}

    @cached_property
    def is_vector(self) -> bool:
        """Whether there is a number for each class."""
        return not self.joins_classes and any(child.is_vector for child in self.children)

    @cached_property
    def bodies(self) -> tuple[Formula, ...]:
        """The formulas that this node tests itself."""
        return ()

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns that this node reads itself, without the columns of its formulas."""
        return frozenset()

    @cached_property
    def marked(self) -> tuple[Formula, ...]:
        """The formulas whose thresholds and labels matter, tested or not."""
        return self.bodies

    @cached_property
    def total(self) -> Node:
        """The sum over all classes, in their order."""
        return Reduce("total", self)

    @cached_property
    def largest(self) -> Node:
        """The largest number of all classes."""
        return Reduce("largest", self)

    @cached_property
    def smallest(self) -> Node:
        """The smallest number of all classes."""
        return Reduce("smallest", self)

    def __add__(self, other: Node | float) -> Node:
        return Binary("+", self, node(other))

    def __sub__(self, other: Node | float) -> Node:
        return Binary("-", self, node(other))

    def __rsub__(self, other: float) -> Node:
        return Binary("-", node(other), self)

    def __mul__(self, other: Node | float) -> Node:
        return Binary("*", self, node(other))

    def __rmul__(self, other: float) -> Node:
        return Binary("*", node(other), self)

    def __truediv__(self, other: Node | float) -> Node:
        return Binary("/", self, node(other))

    def __lt__(self, other: Node | float) -> Node:
        return Binary("<", self, node(other))

    def __le__(self, other: Node | float) -> Node:
        return Binary("<=", self, node(other))

    def __and__(self, other: Node) -> Node:
        return Binary("and", self, other)

    def equals(self, other: Node | float) -> Node:
        """Test whether two numbers are equal."""
        return Binary("==", self, node(other))

    def at_most(self, other: Node | float) -> Node:
        """Return the smaller of two numbers."""
        return Binary("min", self, node(other))


@dataclass(frozen=True, eq=False)
class Constant(Node):
    """A number, or one for each class."""

    values: float | tuple[float, ...]

    @property
    def numbers(self) -> tuple[float, ...]:
        """The number, or the numbers of all classes."""
        return self.values if isinstance(self.values, tuple) else (self.values,)

    @cached_property
    def is_vector(self) -> bool:
        """Whether there is a number for each class."""
        return isinstance(self.values, tuple)


@dataclass(frozen=True, eq=False)
class GivenVector(Node):
    """A vector that is handed in, for evaluation from scores that are already there."""

    @cached_property
    def is_vector(self) -> bool:
        """Whether there is a number for each class."""
        return True


@dataclass(frozen=True, eq=False)
class Binary(Node):
    """An operation on two numbers (``+ - * / min``), a comparison, or an "and" of two tests."""

    sign: Sign
    left: Node
    right: Node


@dataclass(frozen=True, eq=False)
class Where(Node):
    """One value where a test holds, another elsewhere."""

    test: Node
    then: Node
    otherwise: Node


@dataclass(frozen=True, eq=False)
class Exp(Node):
    """The exponential of a value that is at most 700: larger ones overflow."""

    value: Node


@dataclass(frozen=True, eq=False)
class Reduce(Node):
    """The sum, the largest or the smallest of a vector: a scalar."""

    joins_classes: ClassVar[bool] = True

    how: Literal["total", "largest", "smallest"]
    value: Node


@dataclass(frozen=True, eq=False)
class Steps(Node):
    """For each class the value of its table of steps at the number of a vector."""

    value: Node
    tables: tuple[Table, ...]


@dataclass(frozen=True, eq=False)
class Mix(Node):
    """A row vector times a matrix, products added up in the order of the rows."""

    value: Node
    matrix: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, eq=False)
class LineValue(Node):
    """The value of a numeric column held between two bounds, minus a center; 0 if it is missing."""

    column: str
    low: float
    high: float
    center: float

    @cached_property
    def columns(self) -> frozenset[str]:
        """The column."""
        return frozenset({self.column})


def line_values(line: LineValue, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evaluate a line at the values of its column, NaN for missing."""
    return np.where(np.isnan(values), 0.0, np.clip(values, line.low, line.high) - line.center)


@dataclass(frozen=True, eq=False)
class Choose(Node):
    """The index of the first class, in an order of preference, for which a test holds."""

    joins_classes: ClassVar[bool] = True

    test: Node
    order: tuple[int, ...]


class Term(NamedTuple):
    """What the classes of ``head`` get where ``body`` holds."""

    body: Formula
    head: Head
    amount: float


@dataclass(frozen=True, eq=False)
class TermFold(Node):
    """Start values that are changed where the formulas of terms hold."""

    start: Constant
    terms: tuple[Any, ...]

    @cached_property
    def bodies(self) -> tuple[Formula, ...]:
        """The formulas of all terms."""
        return tuple(term[0] for term in self.terms)


@dataclass(frozen=True, eq=False)
class TermSums(TermFold):
    """The start plus the amounts of the terms that hold; a scalar start has heads of class 0."""

    terms: tuple[Term, ...]

    @cached_property
    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The heads and the amounts of all terms."""
        heads = np.array([term.head for term in self.terms], dtype=np.int32).reshape(-1, 2)
        return heads, np.array([term.amount for term in self.terms], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Maxima(TermFold):
    """The largest of the start and of the amounts of the terms that hold."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class FirstThat(TermFold):
    """The vector of the first formula that holds, the start where none does."""

    terms: tuple[tuple[Formula, tuple[float, ...]], ...]


def node(value: Node | float) -> Node:
    """Return a node as it is, a number as a constant."""
    return value if isinstance(value, Node) else Constant(float(value))
