"""Programs as one SQL SELECT with the same answers.

The statement is a chain of steps: first the input, read as the library reads it and checked, then
the model: the values that are read more than once, each as soon as those it needs are there. Steps
are materialized, or SQLite would copy the sums into every place that uses them. In the steps
missing is NULL, so comparisons with it are not true. At most ``TERMS_PER_STEP`` terms are added in
a step: databases limit how deep an expression may nest.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING

from rulewright.programs.databases import run_duckdb, run_sqlite
from rulewright.programs.naming import Names, role_of
from rulewright.programs.nearest import Nearest
from rulewright.programs.nodes import Choose, FirstThat, Maxima, TermSums
from rulewright.programs.program import ClassProgram, Program, order_nodes
from rulewright.programs.sql_dialects import checked_dialect
from rulewright.programs.sql_expressions import SqlExpressions
from rulewright.programs.sql_nearest import nearest_steps
from rulewright.programs.sql_reserved import RESERVED
from rulewright.programs.sql_syntax import TRANSLATIONS
from rulewright.programs.sql_words import unused_prefix
from rulewright.programs.target import ExportTarget
from rulewright.programs.writer import find_long_repeated
from rulewright.rules import And, Formula, Or

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rulewright.programs.nodes import Node
    from rulewright.programs.sql_words import Dialect

_ORDER = """Rules have the numbers of the printed model; sums add them in the order of learning.
Missing is NULL or NaN; an empty string is a label."""

MAX_CLASSES = 500
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


TARGET = ExportTarget(
    "one SELECT", write_sql, {"duckdb": run_duckdb, "sqlite": run_sqlite}, TRANSLATIONS
)


class _SqlWriter(SqlExpressions):
    """The steps of one statement."""

    def __init__(
        self,
        program: Program,
        table: Sequence[str],
        dialect: Dialect,
        keep: Sequence[str],
        prelude: Prelude,
    ) -> None:
        super().__init__(program, dialect)
        self.prelude = prelude
        columns = [prelude.names.get(name, name) for name in program.given]
        dialect.check_distinct(columns)
        self.prefix = unused_prefix([*columns, *keep, *table])
        self.table = table
        self.alias = f"{self.prefix}table"
        self.kept = {f"{self.prefix}kept_{i}": name for i, name in enumerate(keep)}
        self.free = Names()
        self.variables = self._variables(program.columns)
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
            self.chain[0][variable] = column.sql_value(self._input(column.source), self.dialect)
        self._share_tests()
        for node in self.program.nodes:
            if node in self.program.shared:
                self._add(node)
        end = 1 + max(self.level.values(), default=0)
        self._note(self._reads(self.program.outputs), self.kept, end)
        steps = [*self.prelude.steps, *self._steps(end)]
        select = _select(self._outputs(), self._step_name(end - 1))
        title = f"A rule model exported by rulewright for {self.dialect.title}."
        about = " ".join([title, self.dialect.promise, _ORDER, self.dialect.input_rules])
        return f"{fill(f'/* {about} */', 100)}\nWITH {', '.join(steps)}\n{select}\n"

    def _variables(self, columns: Iterable[str]) -> dict[str, str]:
        """Name the values of columns like the columns, unless a database mistakes the name."""
        names: dict[str, str] = {}
        seen: set[str] = set()
        for i, name in enumerate(columns):
            part = self.program.schema[name].part
            text = name if part is None else "_".join(part)
            lowered = text.lower()
            # SQLite takes a column "true" for 1, and PostgreSQL cuts long names
            is_unfit = lowered in (*seen, "true", "false", "null", "rowid")
            is_unfit |= name in self.prelude.names and not self.dialect.can_hold(text)
            if is_unfit or len(text.encode()) > 60:
                names[name] = f"{self.prefix}x_{i}"
            else:
                plain = re.fullmatch(r"[a-z][a-z0-9_]*", text) and text not in RESERVED
                names[name] = text if plain else self.dialect.quote(text)
            seen.add(lowered)
        return names

    def _input(self, name: str) -> str:
        return self.dialect.column(self.prelude.names.get(name, name), self.alias)

    def _share_tests(self) -> None:
        """Add columns for repeated rules, and for tests that are long and repeated."""
        uses = (
            (self.positive(body), self._n_texts(node, i))
            for node in self.program.nodes
            for i, body in enumerate(node.bodies)
        )
        for test in find_long_repeated(uses, lambda part: len(self.test(part)), self.notes):
            inputs = self._inputs([test])
            name = self.free.of_value(self.prefix + self.rule_name(test, "test"))
            level = 1 + max((self.test_level.get(read, 0) for read in inputs), default=0)
            comment = self.comment(test)
            self.chain[level][name] = comment + self.where.format(self.test(test), 1, 0)
            self._note([], inputs, level)
            self.tests[id(test)], self.test_level[name] = f"{name} = 1", level

    def _n_texts(self, node: Node, i: int) -> int:
        """Return how often the text of a value has its formula i: once per class."""
        if isinstance(node, TermSums | Maxima):
            head = node.terms[i].head
            return head.last - head.first + 1
        return len(self.classes(node))

    def _inputs(self, bodies: Iterable[Formula]) -> set[str]:
        """Return the columns of the table and of tests that the texts of formulas read."""
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
        level = max(levels, default=0)
        name = self.free.of_value(self.prefix + role_of(node, self.program))
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
        """Return the named values that the text of some nodes reads."""
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
                source = self.dialect.rows(self.table, self.alias)
            carried = [name for name in known if name not in own and self.last_read[name] > i]
            columns = [*carried, *(f"{text} AS {name}" for name, text in own.items())]
            text = _select(columns or [f"1 AS {self.prefix}row"], source)
            self.count(len(text))
            yield f"{self._step_name(i)} {self.dialect.as_step} (\n{text}\n)"
            known = dict.fromkeys([*carried, *own])

    def _step_name(self, i: int) -> str:
        return self.prefix + (f"model_{i}" if i > 1 else "model" if i else "checked_input")

    def _names(self, node: Node, name: str) -> list[str]:
        return [self.name(node, name, k) for k in self.classes(node)]

    def _value_steps(self, node: Node, name: str) -> Iterator[tuple[dict[str, str], list[str]]]:
        """Write a value: for each of its steps the columns, and the step columns that it reads."""
        if isinstance(node, Nearest):
            yield from nearest_steps(node, name, self)
            return
        for columns in self._columns(node, name):
            yield dict(zip(self._names(node, name), columns, strict=True)), []

    def _columns(self, node: Node, name: str) -> Iterator[list[str]]:
        """Write a value: for each step that it takes the texts of all classes."""
        classes = self.classes(node)
        if isinstance(node, TermSums):
            sums = [self.text(node.start, k) for k in classes]
            for start in range(0, max(1, len(node.terms)), TERMS_PER_STEP):
                for term in node.terms[start : start + TERMS_PER_STEP]:
                    comment = self.comment(term.body)
                    text = self.cases([(term.body, term.amount)], 0.0)
                    self.count(len(text) * (term.head.last - term.head.first))
                    for k in classes[term.head.classes]:
                        sums[k] += f"\n    {comment}+ {text}"
                yield sums
                sums = self._names(node, name)
        elif isinstance(node, Maxima):
            yield [self._highest(node, k, start) for k, start in enumerate(node.start.numbers)]
        elif isinstance(node, FirstThat):
            cases = [[(body, values[k]) for body, values in node.terms] for k in classes]
            yield [self.cases(cases[k], node.start.numbers[k]) for k in classes]
        elif self.is_stored_test(node):
            yield [self.where.format(self.text(node, k), 1, 0) for k in classes]
        else:
            yield [self.text(node, k) for k in classes]

    def _highest(self, node: Maxima, k: int, start: float) -> str:
        """Write the largest amount of the true terms of a class: the first true one in order."""
        of_class = [(t.body, t.amount) for t in node.terms if t.head.first <= k <= t.head.last]
        cases = sorted(of_class, key=lambda case: -case[1])
        return self.cases([case for case in cases if case[1] > start], start)

    def _outputs(self) -> Iterator[str]:
        program, quoted = self.program, self.dialect.quote
        for alias, name in self.kept.items():
            yield f"{alias} AS {quoted(name)}"
        if not isinstance(program, ClassProgram):
            for name, node in program.numbers.items():
                yield f"{self.text(node)} AS {quoted(name)}"
        else:
            yield from self._class_outputs(program)
        for name, node in program.flags.items():
            yield f"{self.flag(node)} AS {quoted(name)}"

    def _class_outputs(self, program: ClassProgram) -> Iterator[str]:
        quoted = self.dialect.quote
        for what, node in (("score_", program.scores), ("probability_", program.probabilities)):
            for k, name in enumerate(program.class_names):
                yield f"{self.text(node, k)} AS {quoted(what + name)}"
        yield f"{self._label(program)} AS {quoted('label')}"

    def _label(self, program: ClassProgram) -> str:
        labels, chosen = [self.label_value(label) for label in program.labels], program.chosen
        if chosen in self.names:
            whens = " ".join(f"WHEN {k} THEN {label}" for k, label in enumerate(labels))
            return f"CASE {self.names[chosen]} {whens} END"
        assert isinstance(chosen, Choose)
        return self.choose(chosen, [labels[k] for k in chosen.order])


def _select(columns: Iterable[str], source: str) -> str:
    return "  SELECT\n    " + ",\n    ".join(columns) + f"\n  FROM {source}"
