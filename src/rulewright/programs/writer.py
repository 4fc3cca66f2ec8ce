"""What the writers of all languages share: values and formulas as expressions.

A writer names the values that are read more than once and writes all others where they are read;
the numbers of all classes are written one by one. Names and labels enter a text only through the
quoting of its language, so none can become code.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rulewright.programs import nodes
from rulewright.programs.naming import class_suffixes, escape_comment
from rulewright.programs.nearest import Lookup
from rulewright.programs.program import Program, RuleNote, positive
from rulewright.rules import And, Condition, Formula, Labels, Not, Or, Plain, Presence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from rulewright.data import ColumnSchema

_GROUP = 50
MAX_CHARACTERS = 100_000_000


class Writer(ABC):
    """Expressions of one language; a subclass gives the syntax."""

    signs: Mapping[str, str] = MappingProxyType({})
    """The operators of ``nodes.Binary``, and "or", that are written otherwise."""
    least, greatest = "min", "max"
    """The names of functions."""
    exp, where = "exp({0})", ""
    """Templates of the exponential and of a choice: test, then, otherwise."""
    true, false = "true", "false"
    missing, known = ("", ""), ("", "")
    """Templates of tests whether the value of a nominal, and of an ordered, column is there."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names: dict[nodes.Node, str] = {}
        self.tests: dict[int, str] = {}
        """Formulas that are tested before they are used, by identity."""
        self._positive: dict[int, Formula] = {}
        self._length = 0
        self.suffixes = class_suffixes(program)
        self.notes: dict[int, list[RuleNote]] = {}
        """The rules of formulas, by identity."""
        for note in program.notes:
            self.notes.setdefault(id(self.positive(note.body)), []).append(note)
        self._commented: set[int] = set()

    def positive(self, formula: Formula) -> Formula:
        """Return a formula without "not" that holds on the same rows, the same one every time."""
        return positive(formula, self._positive)

    def count(self, n_characters: int) -> None:
        """Count what was written, and refuse a text that no language can run."""
        self._length += n_characters
        if self._length > MAX_CHARACTERS:
            raise ValueError(
                f"the text of this model is longer than {MAX_CHARACTERS:,} characters: its rules "
                "are too many, too long or for too many classes; export a model of fewer rules"
            )

    def remarks(self, formula: Formula) -> list[str]:
        """Return the lines of comment on the rules that a formula tests; each rule has one line."""
        if isinstance(formula, Not) and id(self.positive(formula.part)) in self.notes:
            notes = self.notes[id(self.positive(formula.part))]
            return [f"rule {note.number} is false" for note in notes]
        formula = self.positive(formula)
        if id(formula) in self.tests or id(formula) in self._commented:
            return []
        self._commented.add(id(formula))
        notes = self.notes.get(id(formula), [])
        lines = [escape_comment(f"rule {note.number}: {note.text}") for note in notes]
        for part in formula.parts if isinstance(formula, And | Or) else ():
            lines += self.remarks(part)
        return lines

    def rule_name(self, formula: Formula, otherwise: str) -> str:
        """Name the test of a formula after the rule whose condition it is, if it is one."""
        notes = self.notes.get(id(formula))
        return f"rule_{notes[0].number}" if notes else otherwise

    def classes(self, node: nodes.Node) -> range:
        """Return the classes that a value has numbers for; a scalar has one."""
        return range(self.program.n_classes if node.is_vector else 1)

    def name(self, node: nodes.Node, name: str, k: int) -> str:
        """Return the name of the number of class k of a named value."""
        return f"{name}_{self.suffixes[k]}" if node.is_vector else name

    def text(self, node: nodes.Node, k: int = 0) -> str:
        """Write a value, of a vector the number of class k."""
        if node in self.names:
            return self.name(node, self.names[node], k)
        match node:
            case nodes.Constant():
                return self.number(node.numbers[k if node.is_vector else 0])
            case nodes.Binary() | nodes.Where() | nodes.Exp():
                return self.operation(node, [self.text(child, k) for child in node.children])
            case nodes.Reduce():
                values = [self.text(node.value, j) for j in self.classes(node.value)]
                return self._reduce(node.how, values)
            case nodes.Mix():
                weights = [(j, row[k]) for j, row in enumerate(node.matrix) if row[k]]
                terms = [self.product(self.text(node.value, j), w) for j, w in weights]
                return self._reduce("total", terms or [self.number(0.0)])
            case nodes.Steps():
                return self.steps(node.tables[k], self.text(node.value, k))
            case nodes.Choose():
                return self.choose(node, node.order)
            case nodes.LineValue():
                return self._line(node)
            case Lookup():
                return self.lookup(node, k)
        raise TypeError(f"{type(self).__name__} cannot write {type(node).__name__}")

    def write_held(self, value: str, low: float, high: float, scale: float = 1.0) -> str:
        """Write a value held between two bounds, and scaled."""
        above = self.extreme("max", [value, self.number(low)])
        held = self.extreme("min", [above, self.number(high)])
        return held if scale == 1.0 else self.product(held, scale)

    def _line(self, node: nodes.LineValue) -> str:
        value = self.variable(node.column)
        beyond = f"({self.write_held(value, node.low, node.high)} - {self.number(node.center)})"
        return self.where.format(self.missing[1].format(value), self.number(0.0), beyond)

    def operation(self, node: nodes.Node, parts: Sequence[str]) -> str:
        """Write an operation on values that are written."""
        if not isinstance(node, nodes.Binary):
            return (self.where if isinstance(node, nodes.Where) else self.exp).format(*parts)
        if node.sign == "min":
            return self.extreme("min", parts)
        return f"({parts[0]} {self.signs.get(node.sign, node.sign)} {parts[1]})"

    def product(self, value: str, factor: float) -> str:
        """Write a value times a constant."""
        return f"{value} * {self.number(factor)}"

    def _reduce(self, how: str, values: Sequence[str]) -> str:
        if how == "total":
            return f"({' + '.join(values)})"
        return self.extreme("max" if how == "largest" else "min", values)

    def extreme(self, function: str, values: Sequence[str]) -> str:
        """Write the smallest ("min") or largest ("max") of some values."""
        name = self.least if function == "min" else self.greatest
        return join_in_groups(
            lambda part: f"{name}({', '.join(part)})" if part[1:] else part[0], values
        )

    def test(self, formula: Formula) -> str:
        """Write a formula that is not true if it is unknown."""
        formula = self.positive(formula)
        if id(formula) in self.tests:
            return self.tests[id(formula)]
        if isinstance(formula, And | Or):
            parts = [f"({self.test(part)})" for part in formula.parts]
            return self.join_tests(formula.word, parts) if parts else self.false
        tests = [self._condition(condition) for condition in formula.conditions]
        return self.join_tests("and", tests) if tests else self.true

    def _condition(self, condition: Condition) -> str:
        parts = [self._plain(part) for part in condition.alternatives]
        return parts[0] if len(parts) == 1 else f"({self.join_tests('or', parts)})"

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
        return self.join_tests("and", bounds)

    def join_tests(self, word: str, tests: Sequence[str]) -> str:
        """Join tests by "and" or "or"."""
        return join_in_groups(f" {self.signs.get(word, word)} ".join, tests)

    @abstractmethod
    def variable(self, column: str) -> str:
        """Write the value of a column."""

    def numeric(self, column: str) -> str:
        """Write the number that stands for the value of an ordered column."""
        return self.variable(column)

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
    def steps(self, table: nodes.Table, value: str) -> str:
        """Write the height of a table of steps at a value."""

    @abstractmethod
    def lookup(self, node: Lookup, k: int) -> str:
        """Write the number of class k of the vector at a place."""

    @abstractmethod
    def choose(self, node: nodes.Choose, values: Sequence[Any]) -> str:
        """Write the value of the first true test, in the order of preference."""


def join_in_groups(join: Callable[[Sequence[str]], str], parts: Sequence[str]) -> str:
    """Join many parts in groups, because languages limit both depth and arguments."""
    while len(parts) > _GROUP:
        groups = [parts[i : i + _GROUP] for i in range(0, len(parts), _GROUP)]
        parts = [f"({join(group)})" for group in groups]
    return join(parts)


MAX_SHARED, MIN_CHARACTERS = 400, 50_000
"""Databases limit the columns of a step, and few repetitions are easier to read than a column."""


def find_repeated(
    uses: Iterable[tuple[Formula, int]], named: Collection[int] = ()
) -> dict[int, tuple[Formula, int]]:
    """Return the formulas, and parts of them before the whole, that are used more than once.

    Formulas, which have no "not", come with how often each is used; they are found by identity.
    Parts that are `named` count twice.
    """
    times: Counter[int] = Counter()
    found: dict[int, Formula] = {}

    def visit(formula: Formula, n: int) -> None:
        times[id(formula)] += n
        if id(formula) not in found:
            for part in formula.parts if isinstance(formula, And | Or) else ():
                visit(part, 2 if id(part) in named else 1)
            found[id(formula)] = formula

    for formula, n in uses:
        visit(formula, n)
    return {key: (formula, times[key]) for key, formula in found.items() if times[key] > 1}


def find_long_repeated(
    uses: Iterable[tuple[Formula, int]],
    length: Callable[[Formula], int],
    named: Collection[int] = (),
) -> list[Formula]:
    """Return the repeated formulas whose repetitions are longest, parts before wholes.

    `length` returns the length of a conjunction's text. Conjunctions in `named` are all returned,
    however short, unless there are too many.
    """
    known: dict[int, int] = {}

    def size(formula: Formula) -> int:
        if id(formula) not in known:
            if isinstance(formula, And | Or):
                known[id(formula)] = sum(size(part) for part in formula.parts)
            else:
                known[id(formula)] = length(formula)
        return known[id(formula)]

    found = find_repeated(uses, named)
    costs = {key: (n - 1) * size(formula) for key, (formula, n) in found.items()}
    large = sorted((key for key in costs if costs[key] > MIN_CHARACTERS), key=lambda k: -costs[k])
    chosen = set(large[:MAX_SHARED])
    rules = chosen | (found.keys() & set(named))
    if len(rules) <= MAX_SHARED:
        chosen = rules
    return [formula for key, (formula, _) in found.items() if key in chosen]
