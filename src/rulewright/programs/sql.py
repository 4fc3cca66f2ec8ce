"""Programs as one SQL SELECT with the same answers.

The statement is a chain of steps: the input read as the library reads it, then the values that are
read more than once, each as soon as those it needs are there. Each step is materialized, or SQLite
would copy the sums into every place that uses them. In the steps missing is NULL, so comparisons
with it are not true. At most ``TERMS_PER_STEP`` terms are added in a step: databases limit how deep
an expression may nest.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rulewright.programs.databases import run_duckdb, run_sqlite
from rulewright.programs.nearest import Lookup, Nearest
from rulewright.programs.nodes import Binary, Choose, Constant, Exp, FirstThat, Maxima, TermSums
from rulewright.programs.program import ClassProgram, Program, order_nodes
from rulewright.programs.sql_nearest import nearest_steps
from rulewright.programs.sql_words import (
    READING,
    check_distinct_in_sql,
    checked_dialect,
    column_of,
    quoted_name,
    quoted_text,
    rows_of,
    unused_prefix,
    write_boolean,
    write_number,
)
from rulewright.programs.target import ExportTarget
from rulewright.programs.writer import Writer, find_long_repeated
from rulewright.rules import And, Conjunction, Formula, Or

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rulewright.data import ColumnSchema
    from rulewright.programs.nodes import Node, Table
    from rulewright.programs.sql_words import Dialect

_HEADER = """/* The answers of a rule model. Missing is NULL or NaN; an empty string is a label.
Numbers must be finite and of a numeric type: text is an error, so cast it. Labels may be text or
integers, Booleans also 1, 0 and text. */
"""

MAX_CLASSES = 500
_LOWEST_EXPONENT, _LOWEST_RATIO, _TINY = -708.0, -744.4, 1e-300
"""What PostgreSQL computes below these exponents, and below this number, may be an underflow."""
TERMS_PER_STEP = 200


@dataclass(frozen=True)
class Prelude:
    """Steps before a program that make the table it reads, and how its columns are called there."""

    steps: Sequence[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)


def write_sql(
    program: Program,
    table: str | Sequence[str] = "data",
    dialect: str = "duckdb",
    keep: Sequence[str] = (),
    prelude: Prelude | None = None,
) -> str:
    """Write a program as one SELECT; see ``RuleModel.to_sql``.

    A prelude holds steps that come before, and makes the table.
    """
    if isinstance(keep, str):
        raise ValueError(f"keep must be a list of column names, such as [{keep!r}]")
    if program.n_classes > MAX_CLASSES:
        raise ValueError(f"SQL of more than {MAX_CLASSES} classes is not supported")
    parts = [table] if isinstance(table, str) else table
    prelude = prelude or Prelude()
    return _SqlWriter(program, parts, checked_dialect(dialect), keep, prelude).statement()


TARGET = ExportTarget("one SELECT", write_sql, {"duckdb": run_duckdb, "sqlite": run_sqlite})


class _SqlWriter(Writer):
    """The steps of one statement."""

    signs = MappingProxyType({"==": "=", "and": "AND", "or": "OR"})
    where, true, false = "CASE WHEN {} THEN {} ELSE {} END", "1 = 1", "1 = 0"
    missing = ("{} IS NULL", "{} IS NULL")
    known = ("{} IS NOT NULL", "{} IS NOT NULL")

    def __init__(
        self,
        program: Program,
        table: Sequence[str],
        dialect: Dialect,
        keep: Sequence[str],
        prelude: Prelude,
    ) -> None:
        super().__init__(program)
        self.prelude = prelude
        self.dialect: Dialect = dialect
        self.least, self.greatest = ("MIN", "MAX") if dialect == "sqlite" else ("LEAST", "GREATEST")
        self.exp = "EXP({0})"
        if dialect == "postgres":
            self.exp = self._unless_tiny(f"{{0}} > {self.number(_LOWEST_EXPONENT)}", "EXP({0})")
        columns = [prelude.names.get(name, name) for name in program.columns]
        check_distinct_in_sql(columns, dialect)
        self.prefix = unused_prefix([*columns, *keep, *table])
        self.table = table
        self.alias = f"{self.prefix}table"
        self.kept = {f"{self.prefix}kept_{i}": name for i, name in enumerate(keep)}
        # Neutral names: SQLite takes a column "true" for 1.
        self.variables = {name: f"{self.prefix}x_{i}" for i, name in enumerate(program.columns)}
        self.level: dict[Node, int] = {}
        self.test_level: dict[str, int] = {}
        # The columns that each step computes, and the last step that reads each column.
        self.chain: defaultdict[int, dict[str, str]] = defaultdict(dict)
        self.last_read: defaultdict[str, int] = defaultdict(int)

    def statement(self) -> str:
        """Write the whole SELECT."""
        self.chain[0] |= {alias: self._input(name) for alias, name in self.kept.items()}
        for name, variable in self.variables.items():
            column = self.program.schema[name]
            read = column.type.sql_value(column, self._input(name), READING[self.dialect])
            self.chain[0][variable] = read
        self._share_tests()
        for node in self.program.nodes:
            if node in self.program.shared:
                self._add(node)
        end = 1 + max(self.level.values(), default=0)
        self._note(self._reads(self.program.outputs), self.kept, end)
        steps = [*self.prelude.steps, *self._steps(end)]
        select = _select(self._outputs(), self._step_name(end - 1))
        return f"{_HEADER}WITH {', '.join(steps)}\n{select}\n"

    def operation(self, node: Node, parts: Sequence[str]) -> str:
        """Write an operation on values that are written."""
        text = super().operation(node, parts)
        if (
            self.dialect != "postgres"
            or not isinstance(node, Binary)
            or node.sign not in ("*", "/")
        ):
            return text
        product = node.sign == "*"
        if not product and (isinstance(node.left, Exp) or isinstance(node.right, Constant)):
            return text  # neither so small nor divided by so much
        sizes = [f"LN(ABS({part}))" for part in parts]
        size = f"{sizes[0]} {'+' if product else '-'} {sizes[1]} > {self.number(_LOWEST_RATIO)}"
        zeros = [f"{part} = 0" for part in (parts if product else parts[:1])]
        nothing = f"WHEN {' OR '.join(zeros)} THEN {self.number(0.0)}"
        return f"CASE {nothing} WHEN {size} THEN {text} ELSE {self.number(0.0)} END"

    def product(self, value: str, factor: float) -> str:
        """Write a value times a constant."""
        text = super().product(value, factor)
        if self.dialect != "postgres" or abs(factor) >= 1.0:
            return text
        return self._unless_tiny(f"{value} > {self.number(_TINY / factor)}", text)

    def _unless_tiny(self, test: str, text: str) -> str:
        """Write 0 where a test fails: PostgreSQL calls an underflow an error."""
        return f"({self.where.format(test, text, self.number(0.0))})"

    def _input(self, name: str) -> str:
        return column_of(self.prelude.names.get(name, name), self.alias, self.dialect)

    def _share_tests(self) -> None:
        """Add columns for the tests that would be written so often that the text grows long."""
        uses = (
            (self.positive(body), self._n_texts(node, i))
            for node in self.program.nodes
            for i, body in enumerate(node.bodies)
        )
        for test in find_long_repeated(uses, lambda part: len(self.test(part))):
            inputs, name = self._inputs([test]), f"{self.prefix}test_{len(self.tests)}"
            level = 1 + max((self.test_level.get(read, 0) for read in inputs), default=0)
            self.chain[level][name] = self.where.format(self.test(test), 1, 0)
            self._note([], inputs, level)
            self.tests[id(test)], self.test_level[name] = f"{name} = 1", level

    def _n_texts(self, node: Node, i: int) -> int:
        """Tell how often the text of a value has its formula i: once for each class."""
        if isinstance(node, TermSums | Maxima):
            head = node.terms[i].head
            return head.last - head.first + 1
        return len(self.classes(node))

    def _inputs(self, bodies: Iterable[Formula]) -> set[str]:
        """Give the columns that the texts of formulas read: those of the table and of tests."""
        names: set[str] = set()
        seen: set[int] = set()
        waiting = list(map(self.positive, bodies))
        for formula in waiting:  # which grows
            if id(formula) in seen:
                continue
            seen.add(id(formula))
            if id(formula) in self.tests:
                names.add(self.tests[id(formula)].removesuffix(" = 1"))
            elif isinstance(formula, And | Or):
                waiting += formula.parts
            else:
                names.update(map(self.variable, formula.columns))
        return names

    def _add(self, node: Node) -> None:
        """Add the columns of a value to the first step that can compute them."""
        reads = self._reads([node])
        inputs = self._inputs(node.bodies).union(map(self.variable, node.columns))
        levels = [self.level[read] for read in reads]
        levels += [self.test_level.get(name, 0) for name in inputs]
        level, name = max(levels, default=0), f"{self.prefix}value_{len(self.names)}"
        for columns, read in self._value_steps(node, name):
            level += 1
            self.chain[level] |= columns
            self._note([], read, level)
        self._note(reads, inputs, level)
        self.names[node], self.level[node] = name, level

    def _note(self, reads: Iterable[Node], columns: Iterable[str], level: int) -> None:
        """Note that a step reads the columns of some values and others."""
        names = [name for node in reads for name in self._names(node, self.names[node])]
        for name in [*names, *columns]:
            self.last_read[name] = max(self.last_read[name], level)

    def _reads(self, nodes: Iterable[Node]) -> set[Node]:
        """Give the named values that the text of some nodes reads."""
        nodes = list(nodes)
        unnamed = [node for node in order_nodes(nodes, self.names) if node not in self.names]
        found = {child for node in unnamed for child in node.children} | set(nodes)
        return found & self.names.keys()

    def _steps(self, end: int) -> Iterator[str]:
        """Write the steps: the columns of earlier ones that later ones read, and their own."""
        known: dict[str, None] = {}
        for i in range(end):
            own, source = self.chain[i], self._step_name(i - 1)
            if not i:
                source = rows_of(self.table, self.alias, self.dialect)
            carried = [name for name in known if name not in own and self.last_read[name] > i]
            columns = [*carried, *(f"{text} AS {name}" for name, text in own.items())]
            text = _select(columns or [f"1 AS {self.prefix}row"], source)
            self.count(len(text))
            yield f"{self._step_name(i)} AS MATERIALIZED (\n{text}\n)"
            known = dict.fromkeys([*carried, *own])

    def _step_name(self, i: int) -> str:
        return f"{self.prefix}step_{i}"

    def _names(self, node: Node, name: str) -> list[str]:
        return [self.name(node, name, k) for k in self.classes(node)]

    def _value_steps(self, node: Node, name: str) -> Iterator[tuple[dict[str, str], list[str]]]:
        """Write a value: for each step that it takes its columns, and those of its own it reads."""
        if isinstance(node, Nearest):
            yield from nearest_steps(node, name, self)
            return
        for columns in self._columns(node, name):
            yield dict(zip(self._names(node, name), columns, strict=True)), []

    def _columns(self, node: Node, name: str) -> Iterator[list[str]]:
        """Write a value: for each step that it takes the texts of all classes."""
        classes = self.classes(node)
        if isinstance(node, TermSums):
            sums = [[self.text(node.start, k)] for k in classes]
            for start in range(0, max(1, len(node.terms)), TERMS_PER_STEP):
                for term in node.terms[start : start + TERMS_PER_STEP]:
                    text = self._case([(term.body, term.amount)], 0.0)
                    self.count(len(text) * (term.head.last - term.head.first))
                    for texts in sums[term.head.classes]:
                        texts.append(text)
                yield ["\n    + ".join(texts) for texts in sums]
                sums = [[column] for column in self._names(node, name)]
        elif isinstance(node, Maxima):
            yield [self._highest(node, k, start) for k, start in enumerate(node.start.numbers)]
        elif isinstance(node, FirstThat):
            cases = [[(body, values[k]) for body, values in node.terms] for k in classes]
            yield [self._case(cases[k], node.start.numbers[k]) for k in classes]
        else:
            yield [self.text(node, k) for k in classes]

    def _highest(self, node: Maxima, k: int, start: float) -> str:
        """Write the largest amount of the terms of a class that hold: that of the first of them."""
        of_class = [(t.body, t.amount) for t in node.terms if t.head.first <= k <= t.head.last]
        cases = sorted(of_class, key=lambda case: -case[1])
        return self._case([case for case in cases if case[1] > start], start)

    def _case(self, cases: Sequence[tuple[Formula, float]], otherwise: float) -> str:
        """Write the number of the first formula that holds."""
        rest, whens = self.number(otherwise), []
        for body, value in cases:
            if body == Conjunction():
                rest = self.number(value)
                break
            whens.append(f"WHEN {self.test(body)} THEN {self.number(value)}")
        text = f"CASE {' '.join(whens)} ELSE {rest} END" if whens else rest
        self.count(len(text))
        return text

    def _outputs(self) -> Iterator[str]:
        program = self.program
        for alias, name in self.kept.items():
            yield f"{alias} AS {quoted_name(name)}"
        if not isinstance(program, ClassProgram):
            yield f"{self.text(program.scores)} AS {quoted_name('prediction')}"
            return
        for what, node in (("score_", program.scores), ("probability_", program.probabilities)):
            for k, name in enumerate(program.class_names):
                yield f"{self.text(node, k)} AS {quoted_name(what + name)}"
        yield f"{self._label(program)} AS {quoted_name('label')}"
        for name, node in program.flags.items():
            yield f"{self.text(node)} AS {quoted_name(name)}"

    def _label(self, program: ClassProgram) -> str:
        labels, chosen = [self._literal(label) for label in program.labels], program.chosen
        if chosen in self.names:
            whens = " ".join(f"WHEN {k} THEN {label}" for k, label in enumerate(labels))
            return f"CASE {self.names[chosen]} {whens} END"
        assert isinstance(chosen, Choose)
        return self.choose(chosen, [labels[k] for k in chosen.order])

    def _literal(self, label: Any) -> str:
        if isinstance(label, str):
            return quoted_text(label)
        if isinstance(label, bool):
            return write_boolean(label, self.dialect)
        return str(label) if isinstance(label, int) else self.number(label)

    def variable(self, column: str) -> str:
        return self.variables[column]

    def numeric(self, column: str) -> str:
        kind = self.program.schema[column].type
        return kind.sql_number(self.variable(column), READING[self.dialect])

    def number(self, value: float) -> str:
        return write_number(value, self.dialect)

    def mark(self, column: ColumnSchema, value: Any) -> str:
        return column.type.sql_literal(column, value, READING[self.dialect])

    def labels(self, variable: str, labels: Sequence[str], negated: bool) -> str:
        if len(labels) == 1:
            return f"{variable} {'<>' if negated else '='} {labels[0]}"
        return f"{variable} {'NOT IN' if negated else 'IN'} ({', '.join(labels)})"

    def steps(self, table: Table, value: str) -> str:
        thresholds, (*below, last) = (list(map(self.number, part)) for part in table)
        pairs = zip(thresholds, below, strict=True)
        whens = " ".join(f"WHEN {value} <= {bound} THEN {height}" for bound, height in pairs)
        return f"CASE {whens} ELSE {last} END" if whens else last

    def lookup(self, node: Lookup, k: int) -> str:
        cases = enumerate(self.number(vector[k]) for vector in node.vectors)
        whens = " ".join(f"WHEN {i} THEN {number}" for i, number in cases)
        self.count(len(whens))
        return f"CASE {self.text(node.place)} {whens} END"

    def choose(self, node: Choose, values: Sequence[Any]) -> str:
        pairs = zip(node.order, values, strict=True)
        whens = (f"WHEN {self.text(node.test, k)} THEN {value}" for k, value in pairs)
        return f"CASE {' '.join(whens)} END"


def _select(columns: Iterable[str], source: str) -> str:
    return "  SELECT " + ",\n    ".join(columns) + f"\n  FROM {source}"
