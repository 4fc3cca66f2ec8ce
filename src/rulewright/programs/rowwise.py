"""What the writers of languages that answer one row at a time share: a function of statements."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from rulewright.programs.nodes import FirstThat, Fold, Sums
from rulewright.programs.sharing import repeated
from rulewright.programs.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rulewright.data import ColumnSchema
    from rulewright.programs.nodes import Choose, Node, Table
    from rulewright.programs.program import Program


class RowWriter(Writer):
    """Statements that compute the values of a program from the variables of a row.

    The exported text has the function ``step`` of thresholds, heights and a number, and those that
    read a value (``Kind.reader``), all with ``prefix`` before their names.
    """

    prefix = ""
    declare: str
    """A template of the statement that gives a name to a value."""
    read: str
    """A template of the value of a column of the row: its reader, its name."""
    first: str
    """A template of an item of one array, that at the place of the first true item of another."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.tables: dict[str, str] = {}
        self.variables = {name: f"x{i}" for i, name in enumerate(program.columns)}
        # Formulas that are part of several others are tested once.
        self.repeated = repeated((self.positive(body), 1) for body in program.bodies)

    def statements(self) -> Iterator[str]:
        """Write all values that are read more than once."""
        for statement in self._all_statements():
            self.count(len(statement))
            yield statement

    def _all_statements(self) -> Iterator[str]:
        for name, variable in self.variables.items():
            column = self.program.schema[name]
            reader = self.prefix + column.type.reader(column)
            yield self.declare.format(variable, self.read.format(reader, self.literal(name)))
        for key, (part, _) in self.repeated.items():
            yield self.declare.format(f"holds{len(self.tests)}", self.test(part))
            self.tests[key] = f"holds{len(self.tests)}"
        for node in self.program.nodes:
            if node in self.program.shared:
                name = f"v{len(self.names)}"
                yield from self._statements(node, name)
                self.names[node] = name

    def _statements(self, node: Node, name: str) -> Iterator[str]:
        """Declare a value; terms that hold then change it."""
        start = node.start if isinstance(node, Fold) else node
        for k in self.classes(node):
            yield self.declare.format(self.name(node, name, k), self.text(start, k))
        if isinstance(node, FirstThat):  # the first overwrites those after it
            for body, values in reversed(node.terms):
                numbers = map(self.number, values)
                changes = [f"{name}_{k} = {number}" for k, number in enumerate(numbers)]
                yield self.guarded(self.test(body), changes)
        elif isinstance(node, Fold):
            for body, head, amount in node.terms:
                items = [self.name(node, name, k) for k in range(head.first, head.last + 1)]
                changes = [self._change(node, item, self.number(amount)) for item in items]
                yield self.guarded(self.test(body), changes)

    def _change(self, node: Fold, item: str, amount: str) -> str:
        if isinstance(node, Sums):
            return f"{item} += {amount}"
        return f"{item} = {self.extreme('max', [item, amount])}"

    def value(self, node: Node) -> str:
        """Write a whole value, of a vector an array."""
        numbers = [self.text(node, k) for k in self.classes(node)]
        return f"[{', '.join(numbers)}]" if node.is_vector else numbers[0]

    def variable(self, column: str) -> str:
        """Write the value of a column."""
        return self.variables[column]

    def number(self, value: float) -> str:
        """Write a finite number: the shortest decimal is read back exactly."""
        return repr(float(value))

    def mark(self, column: ColumnSchema, value: Any) -> str:
        """Write a threshold or a label to compare with the value of a column."""
        return self.number(value) if column.type.ordered else self.literal(value)

    def steps(self, table: Table, value: str) -> str:
        """Write the height of a table of steps, which is written once, outside the function."""
        text = ", ".join(self.literal(list(part)) for part in table)
        name = self.tables.setdefault(text, f"{self.prefix}T{len(self.tables)}")
        return f"{self.prefix}step({name}, {value})"

    def choose(self, node: Choose, values: Sequence[Any]) -> str:
        """Write one of some values in the order of preference: that of the first true test."""
        tests = ", ".join(self.text(node.test, k) for k in node.order)
        return self.first.format(self.literal(list(values)), f"[{tests}]")

    @abstractmethod
    def literal(self, value: Any) -> str:
        """Write a string, a number, a truth value, or a list of such."""

    @abstractmethod
    def guarded(self, test: str, statements: Iterable[str]) -> str:
        """Write statements that are executed where a test holds."""
