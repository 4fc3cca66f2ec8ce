"""What the writers of all languages share: values and formulas as expressions.

A writer names the values that are read more than once and writes all others where they are read.
Names and labels enter a text only through the quoting of its language, so none can become code.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from rulewright.programs.nodes import Binary, Choose, Constant, Exp, Mix, Reduce, Steps, Where
from rulewright.programs.program import positive
from rulewright.rules import And, Labels, Or, Presence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rulewright.data import ColumnSchema
    from rulewright.programs.nodes import Node
    from rulewright.programs.program import Program
    from rulewright.rules import Condition, Formula, Plain

_GROUP = 50


class Writer(ABC):
    """Expressions of one language; a subclass gives the syntax.

    Parameters
    ----------
    program : Program
        What to write.
    """

    signs: ClassVar[Mapping[str, str]]
    """The operators of ``nodes.Binary``, and "or"."""
    functions: ClassVar[Mapping[str, str]]
    """The functions "min", "max" and "exp"."""
    where: ClassVar[str]
    """A template of a choice: test, then, otherwise."""
    true: ClassVar[str]
    false: ClassVar[str]
    missing: ClassVar[Mapping[bool, str]]
    """Templates of the test that a value is missing, by whether its column is ordered."""
    known: ClassVar[Mapping[bool, str]]
    """Templates of the test that a value is known, by whether its column is ordered."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.n_classes = len(program.labels)
        self.names: dict[Node, str] = {}

    def text(self, node: Node, k: int = 0) -> str:
        """Write a value: its name if it has one, of a vector the number of class k."""
        if node in self.names:
            return self.item(self.names[node], k) if node.is_vector else self.names[node]
        match node:
            case Constant():
                return self.constant(node, k)
            case Binary() | Where() | Exp():
                return self._operation(node, [self.text(child, k) for child in node.children])
            case Reduce():
                return self.reduce(node)
            case Steps():
                return self.steps(node, k)
            case Mix():
                return self.mix(node, k)
            case Choose():
                return self.choose(node)
        raise TypeError(f"{type(self).__name__} cannot write {type(node).__name__}")

    def _operation(self, node: Node, parts: Sequence[str]) -> str:
        if isinstance(node, Binary):
            if node.sign == "min":
                return self.call("min", parts)
            return f"({parts[0]} {self.signs[node.sign]} {parts[1]})"
        return self.where.format(*parts) if isinstance(node, Where) else self.call("exp", parts)

    def call(self, function: str, values: Sequence[str]) -> str:
        """Write "min" or "max" of several values, or "exp" of one."""
        return f"{self.functions[function]}({', '.join(values)})"

    def test(self, formula: Formula) -> str:
        """Write a formula such that it is not true where it is unknown."""
        formula = positive(formula)
        if isinstance(formula, And | Or):
            parts = [f"({self.test(part)})" for part in formula.parts]
            return self.joined(formula.word, parts) if parts else self.false
        tests = [self._condition(condition) for condition in formula.conditions]
        return self.joined("and", tests) if tests else self.true

    def _condition(self, condition: Condition) -> str:
        parts = [self._plain(part) for part in condition.alternatives]
        return parts[0] if len(parts) == 1 else f"({self.joined('or', parts)})"

    def _plain(self, part: Plain) -> str:
        variable, column = self.variable(part.column), self.program.schema[part.column]
        if isinstance(part, Presence):
            tests = self.missing if part.missing else self.known
            return tests[column.type.ordered].format(variable)
        marks = [self.mark(column, mark) for mark in part.marks]
        if isinstance(part, Labels):
            return self.labels(variable, marks, part.negated)
        bounds = []
        if part.low > -math.inf:
            bounds.append(f"{variable} {'>' if part.low_open else '>='} {marks[0]}")
        if part.high < math.inf:
            bounds.append(f"{variable} {'<' if part.high_open else '<='} {marks[-1]}")
        return self.joined("and", bounds)

    def joined(self, word: str, tests: Sequence[str]) -> str:
        """Join tests by "and" or "or"."""
        return grouped(f" {self.signs[word]} ".join, tests)

    @abstractmethod
    def variable(self, column: str) -> str:
        """Write the value of a column."""

    @abstractmethod
    def number(self, value: float) -> str:
        """Write a finite number such that exactly this double is read back."""

    @abstractmethod
    def mark(self, column: ColumnSchema, value: Any) -> str:
        """Write a threshold or a label to compare with the value of a column."""

    @abstractmethod
    def labels(self, variable: str, labels: Sequence[str], negated: bool) -> str:
        """Test whether a label is one of some, or is known and none of them."""

    @abstractmethod
    def item(self, name: str, k: int) -> str:
        """Write the number of class k of a named vector."""

    @abstractmethod
    def constant(self, node: Constant, k: int) -> str:
        """Write a constant, of a vector the number of class k."""

    @abstractmethod
    def reduce(self, node: Reduce) -> str:
        """Write the sum or an extreme of a vector."""

    @abstractmethod
    def steps(self, node: Steps, k: int) -> str:
        """Write the step of class k at its value."""

    @abstractmethod
    def mix(self, node: Mix, k: int) -> str:
        """Write the product of a vector with column k of a matrix."""

    @abstractmethod
    def choose(self, node: Choose) -> str:
        """Write the index of the first class whose test holds."""


def grouped(join: Callable[[Sequence[str]], str], parts: Sequence[str]) -> str:
    """Join many parts in groups, because languages limit both depth and arguments."""
    while len(parts) > _GROUP:
        groups = [parts[i : i + _GROUP] for i in range(0, len(parts), _GROUP)]
        parts = [f"({join(group)})" for group in groups]
    return join(parts)
