"""What the writers of languages that answer one row at a time share: a function of statements."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar

from rulewright.programs.nodes import FirstThat, Fold, Sums
from rulewright.programs.program import conjunctions
from rulewright.programs.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rulewright.data import ColumnSchema
    from rulewright.programs.nodes import Constant, Mix, Node, Reduce, Steps, Term
    from rulewright.programs.program import Program
    from rulewright.rules import Formula


class RowWriter(Writer):
    """Statements that compute the values of a program from the variables of a row.

    The numbers of a vector are written as items of an array at the index ``k``. The exported text
    has the functions ``total``, ``largest`` and ``smallest`` of an array, ``step`` of a table and a
    number, ``dot`` of two arrays, and ``number`` and ``label`` that read a value: all with
    ``prefix`` before their names.
    """

    prefix: ClassVar[str] = ""
    array: ClassVar[str]
    """A template of the array of an expression in ``k``: the expression, the number of classes."""
    declare: ClassVar[str]
    """A template of the statement that gives a name to a value."""
    read: ClassVar[str]
    """A template of the value of a column of the row: its reader, its name."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.tables: dict[str, str] = {}
        self.variables = {name: f"x{i}" for i, name in enumerate(program.columns)}
        # Conjunctions of several formulas are tested once.
        times = Counter(id(part) for body in program.bodies for part in conjunctions(body))
        self.repeated = {part for part, count in times.items() if count > 1}
        self.tests: dict[int, str] = {}

    def statements(self) -> Iterator[str]:
        """Write all values that are read more than once."""
        for name, variable in self.variables.items():
            reader = self.prefix + self.program.schema[name].type.reader
            yield self.declare.format(variable, self.read.format(reader, self.literal(name)))
        for body in self.program.bodies:
            for part in conjunctions(body):
                if id(part) in self.repeated and id(part) not in self.tests:
                    name = f"holds{len(self.tests)}"
                    yield self.declare.format(name, self.test(part))
                    self.tests[id(part)] = name
        for node in self.program.nodes:
            if node in self.program.shared:
                name = f"v{len(self.names)}"
                yield from self._statements(node, name)
                self.names[node] = name

    def _statements(self, node: Node, name: str) -> Iterator[str]:
        if isinstance(node, Fold):
            yield self.declare.format(name, self.literal(node.start.values))
            for term in node.terms:
                yield self.guarded(self.test(term.body), self._changes(node, name, term))
        elif isinstance(node, FirstThat):
            yield self.declare.format(name, self.literal(node.otherwise.values))
            for body, values in reversed(node.cases):  # the first overwrites those after it
                yield self.guarded(self.test(body), [f"{name} = {self.literal(values)}"])
        else:
            yield self.declare.format(name, self.value(node))

    def _changes(self, node: Fold, name: str, term: Term) -> Iterator[str]:
        amount = self.number(term.amount)
        for k in range(term.head.first, term.head.last + 1):
            item = f"{name}[{k}]" if node.is_vector else name
            changed = f"+= {amount}" if isinstance(node, Sums) else None
            yield f"{item} {changed or '= ' + self.call('max', [item, amount])}"

    def value(self, node: Node) -> str:
        """Write a whole value, of a vector an array."""
        if node in self.names:
            return self.names[node]
        text = self.text(node)
        return self.array.format(text, self.n_classes) if node.is_vector else text

    def test(self, formula: Formula) -> str:
        """Write a formula such that it is not true where it is unknown."""
        return self.tests.get(id(formula)) or super().test(formula)

    def _table(self, values: object) -> str:
        """Give the name of a constant that is written once, outside the function."""
        return self.tables.setdefault(self.literal(values), f"{self.prefix}T{len(self.tables)}")

    def variable(self, column: str) -> str:
        """Write the value of a column."""
        return self.variables[column]

    def number(self, value: float) -> str:
        """Write a finite number: the shortest decimal is read back exactly."""
        return repr(float(value))

    def mark(self, column: ColumnSchema, value: Any) -> str:
        """Write a threshold or a label to compare with the value of a column."""
        return self.number(value) if column.type.ordered else self.literal(value)

    def item(self, name: str, k: int) -> str:
        """Write an item of a named vector."""
        return f"{name}[k]"

    def constant(self, node: Constant, k: int) -> str:
        """Write a constant; one with a number for each class is a table."""
        return f"{self._table(node.values)}[k]" if node.is_vector else self.number(node.numbers[0])

    def reduce(self, node: Reduce) -> str:
        """Write the sum or an extreme of a vector."""
        return f"{self.prefix}{node.how}({self.value(node.value)})"

    def steps(self, node: Steps, k: int) -> str:
        """Write the step of a class at its value."""
        return f"{self.prefix}step({self._table(node.tables)}[k], {self.text(node.value)})"

    def mix(self, node: Mix, k: int) -> str:
        """Write the product of a vector with a column of a matrix."""
        columns = self._table(tuple(zip(*node.matrix, strict=True)))
        return f"{self.prefix}dot({self.value(node.value)}, {columns}[k])"

    @abstractmethod
    def literal(self, value: object) -> str:
        """Write a string, a number, a truth value, or a tuple of such as an array."""

    @abstractmethod
    def guarded(self, test: str, statements: Iterable[str]) -> str:
        """Write statements that are executed where a test holds."""
