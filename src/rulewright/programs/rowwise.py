"""What the writers of languages that answer one row at a time share: a function of statements.

The text has a function that reads the columns and checks them, and one of the rules, whose
parameters are the values of the columns.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from rulewright.programs.distances import NumberDistance
from rulewright.programs.naming import Names, role_of
from rulewright.programs.nearest import Gap, Lookup, Nearest, squared_labels, squared_unseen
from rulewright.programs.nodes import Choose, FirstThat, Node, Table, TermFold, TermSums
from rulewright.programs.writer import Writer, find_repeated

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from rulewright.data import ColumnSchema
    from rulewright.programs.program import Program
    from rulewright.rules import Formula

TERMS = 50
"""Terms of a sum that are written in one expression: languages limit how deep it may nest."""
_USED = re.compile(r"\w+(?=\()|\b_?[A-Z]+\b")
"""Functions that are called, and constants."""


def keep_used(parts: Sequence[str], text: str, defined: re.Pattern[str]) -> list[str]:
    """Return the parts whose names a text uses, directly or through other parts, in their order."""
    names = [set(defined.findall(part)) for part in parts]
    used, kept = set(_USED.findall(text)), set[int]()
    while new := {k for k, own in enumerate(names) if own & used} - kept:
        kept |= new
        used.update(*(_USED.findall(parts[k]) for k in new))
    return [parts[k] for k in sorted(kept)]


class RowWriter(Writer):
    """Statements that compute the values of a program from the variables of a row.

    The exported text has the functions ``step`` of thresholds, heights and a number, ``gap`` of a
    number, bounds and a width, ``far`` of pairs, a label and a number for all others, and those
    that read a value (``Kind.reader``), all with ``prefix`` before their names.
    """

    prefix = ""
    reserved: Collection[str] = ()
    """What no value may be called: words of the language, and the functions that rules use."""
    declare: str
    """A template of the statement that gives a name to a value."""
    comment: str
    """A template of a line of comment."""
    read: str
    """A template of the value of a column of the row: its reader, its name."""
    first: str
    """A template of an item of one array, that at the place of the first true item of another."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.tables: dict[str, str] = {}
        self.free = Names(self.reserved)
        columns = enumerate(program.columns)
        self.variables = {name: self.free.of_column(name, i) for i, name in columns}
        # Formulas that are part of several others, and rules that are part of one, are tested once.
        bodies = ((self.positive(body), 1) for body in program.bodies)
        self.repeated = find_repeated(bodies, self.notes)

    def columns(self) -> Iterator[str]:
        """Write the value of each column that is used: read, and checked."""
        for name in self.variables:
            column = self.program.schema[name]
            reader = self.prefix + column.reader
            yield self.read.format(reader, self.literal(column.source))

    def statements(self) -> Iterator[str]:
        """Write all values that are read more than once."""
        for statement in self._all_statements():
            self.count(len(statement))
            yield statement

    def _all_statements(self) -> Iterator[str]:
        for key, (part, _) in self.repeated.items():
            name = self.free.of_value(self.rule_name(part, "test"))
            yield from self._comments(part)
            yield self.declare.format(name, self.test(part))
            self.tests[key] = name
        for node in self.program.nodes:
            if node in self.program.shared:
                name = self.free.of_value(role_of(node, self.program))
                yield from self._statements(node, name)
                self.names[node] = name

    def _comments(self, formula: Formula) -> Iterator[str]:
        for line in self.remarks(formula):
            yield self.comment.format(line)

    def _statements(self, node: Node, name: str) -> Iterator[str]:
        """Declare a value; terms that hold then change it."""
        if isinstance(node, Nearest):
            yield from self._nearest(node, name)
            return
        start = node.start if isinstance(node, TermFold) else node
        for k in self.classes(node):
            yield self.declare.format(self.name(node, name, k), self.text(start, k))
        if isinstance(node, FirstThat):
            if node.terms[1:]:
                yield self.comment.format("the first rule that applies decides, so it comes last")
            for body, values in reversed(node.terms):
                numbers = map(self.number, values)
                items = [self.name(node, name, k) for k in range(len(values))]
                changes = [f"{one} = {number}" for one, number in zip(items, numbers, strict=True)]
                yield from self._comments(body)
                yield self.guard(self.test(body), changes)
        elif isinstance(node, TermFold):
            for body, head, amount in node.terms:
                items = [self.name(node, name, k) for k in range(head.first, head.last + 1)]
                changes = [self._change(node, item, self.number(amount)) for item in items]
                yield from self._comments(body)
                yield self.guard(self.test(body), changes)

    def _nearest(self, node: Nearest, name: str) -> Iterator[str]:
        """Declare the place of the nearest rule: a rule that is nearer takes it over."""
        places = {}
        for i, distance in enumerate(node.used):
            if isinstance(distance, NumberDistance):
                places[distance.column] = f"{name}_x{i}"
                held = self.write_held(
                    self.variable(distance.column), *distance.limits, distance.scale
                )
                yield self.declare.format(f"{name}_x{i}", held)
        labels = {key: f"{name}_l{i}" for i, key in enumerate(node.label_gaps)}
        for key, gap in node.label_gaps.items():
            yield self.declare.format(labels[key], self._far(gap))
        for i, rule in enumerate(node.gaps):
            terms = [
                f"{self.prefix}gap({places[gap.distance.column]}, "
                f"{', '.join(map(self.number, (gap.low, gap.high, gap.distance.width)))})"
                if isinstance(gap.distance, NumberDistance)
                else labels[gap.label_key]
                for gap in rule
            ]
            total = f"{name}_d{i}"
            yield from self._comments(node.rules[i])
            yield from self._declare_sum(total, terms)
            if i == 0:
                yield self.declare.format(f"{name}_least", total)
                yield self.declare.format(name, 0)
            else:
                changes = [f"{name}_least = {total}", f"{name} = {i}"]
                yield self.guard(f"{total} < {name}_least", changes)

    def _declare_sum(self, name: str, terms: Sequence[str]) -> Iterator[str]:
        """Declare a sum, added up in the order of its terms."""
        sums = [self.number(0.0), *terms] if not terms else [*terms]
        for n, start in enumerate(range(0, len(sums), TERMS)):
            last = start + TERMS >= len(sums)
            part = ([f"{name}_{n - 1}"] if n else []) + sums[start : start + TERMS]
            yield self.declare.format(name if last else f"{name}_{n}", " + ".join(part))

    def _far(self, gap: Gap) -> str:
        """Write the squared distance of a label, from a table outside the function."""
        name = gap.distance.column
        column, schema = self.program.schema[name], self.program.schema
        pairs = [
            f"[{self.literal(None) if label is None else self.mark(column, label)}, "
            f"{self.number(square)}], "
            for label, square in squared_labels(gap, schema)
        ]
        table = self._outside("".join(pairs))
        unseen = self.number(squared_unseen(gap))
        return f"{self.prefix}far({table}, {self.variable(name)}, {unseen})"

    def _outside(self, text: str) -> str:
        """Name a table that is written once, outside the function."""
        return self.tables.setdefault(text, f"{self.prefix}T{len(self.tables)}")

    def lookup(self, node: Lookup, k: int) -> str:
        """Write the number of class k of the vector at a place."""
        vectors = "".join(f"{self.literal(list(vector))}, " for vector in node.vectors)
        return f"{self._outside(vectors)}[{self.text(node.place)}][{k}]"

    def _change(self, node: TermFold, item: str, amount: str) -> str:
        if isinstance(node, TermSums):
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
        return f"{self.prefix}step({self._outside(text)}, {value})"

    def choose(self, node: Choose, values: Sequence[Any]) -> str:
        """Write the value of the first true test, in the order of preference."""
        tests = ", ".join(self.text(node.test, k) for k in node.order)
        return self.first.format(self.literal(list(values)), f"[{tests}]")

    @abstractmethod
    def literal(self, value: Any) -> str:
        """Write a string, a number, a truth value, or a list of such."""

    @abstractmethod
    def guard(self, test: str, statements: Iterable[str]) -> str:
        """Write statements that are executed where a test holds."""
