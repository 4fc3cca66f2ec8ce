"""Values and formulas as expressions of SQL, in the words of a database."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rulewright.programs.nodes import Binary, Choose, Constant, Exp
from rulewright.programs.sql_words import write_comment
from rulewright.programs.writer import Writer
from rulewright.rules import Conjunction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import ColumnSchema
    from rulewright.programs.nearest import Lookup
    from rulewright.programs.nodes import Node, Table
    from rulewright.programs.program import Program
    from rulewright.programs.sql_words import Dialect
    from rulewright.rules import Formula

_LOWEST_EXPONENT, _LOWEST_RATIO, _TINY = -708.0, -744.4, 1e-300
"""What PostgreSQL computes below these exponents, and below this number, may be an underflow."""


class SqlExpressions(Writer):
    """The expressions of one statement."""

    signs = MappingProxyType({"==": "=", "and": "AND", "or": "OR"})
    where, true, false = "CASE WHEN {} THEN {} ELSE {} END", "1 = 1", "1 = 0"
    missing = ("{} IS NULL", "{} IS NULL")
    known = ("{} IS NOT NULL", "{} IS NOT NULL")

    def __init__(self, program: Program, dialect: Dialect) -> None:
        super().__init__(program)
        self.dialect = dialect
        self.least, self.greatest = dialect.least, dialect.greatest
        self.exp = "EXP({0})"
        if dialect.refuses_underflow:
            self.exp = self._unless_tiny(f"{{0}} > {self.number(_LOWEST_EXPONENT)}", "EXP({0})")
        self.variables: dict[str, str] = {}

    def text(self, node: Node, k: int = 0) -> str:
        """Write a value, of a vector the number of class k."""
        text = super().text(node, k)
        return f"({text} = 1)" if node in self.names and self.is_stored_test(node) else text

    def is_stored_test(self, node: Node) -> bool:
        """Return whether a value is a test, and the database has columns of 1 and 0 only."""
        tests = ("==", "<", "<=", "and")
        return not self.dialect.has_booleans and isinstance(node, Binary) and node.sign in tests

    def comment(self, formula: Formula) -> str:
        """Write the comments on the rules that a formula tests, each on a line of its own."""
        return "".join(f"{write_comment(line)}\n    " for line in self.remarks(formula))

    def operation(self, node: Node, parts: Sequence[str]) -> str:
        """Write an operation on values that are written."""
        text = super().operation(node, parts)
        known = isinstance(node, Binary) and node.sign in ("*", "/")
        if not (self.dialect.refuses_underflow and known):
            return text
        assert isinstance(node, Binary)
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
        if not self.dialect.refuses_underflow or abs(factor) >= 1.0:
            return text
        return self._unless_tiny(f"ABS({value}) > {self.number(_TINY / factor)}", text)

    def _unless_tiny(self, test: str, text: str) -> str:
        """Write 0 where a test fails: PostgreSQL calls an underflow an error."""
        return f"({self.where.format(test, text, self.number(0.0))})"

    def cases(self, cases: Sequence[tuple[Formula, float]], otherwise: float) -> str:
        """Write the number of the first formula that holds."""
        last, whens = f"ELSE {self.number(otherwise)}", []
        for body, value in cases:
            comment = self.comment(body)
            if body == Conjunction():
                last = f"{comment}ELSE {self.number(value)}"
                break
            whens.append(f"{comment}WHEN {self.test(body)} THEN {self.number(value)}")
        gap = "\n    " if len(whens) > 1 or "\n" in "".join([*whens, last]) else " "
        text = gap.join(["CASE", *whens, last, "END"]) if whens else last.replace("ELSE ", "")
        self.count(len(text))
        return text

    def flag(self, node: Node) -> str:
        """Write a test as a Boolean."""
        if self.dialect.has_booleans:
            return self.text(node)
        true, false = map(self.dialect.boolean, (True, False))
        return self.where.format(self.text(node), true, false)

    def label_value(self, label: Any) -> str:
        """Write the label of a class."""
        if isinstance(label, str):
            return self.dialect.string(label)
        if isinstance(label, bool):
            return self.dialect.boolean(label)
        return str(label) if isinstance(label, int) else self.number(label)

    def variable(self, column: str) -> str:
        """Write the value of a column."""
        return self.variables[column]

    def numeric(self, column: str) -> str:
        """Write the number that stands for the value of an ordered column."""
        kind = self.program.schema[column].type
        return kind.sql_number(self.variable(column), self.dialect)

    def number(self, value: float) -> str:
        """Write a finite number exactly."""
        return self.dialect.number(value)

    def mark(self, column: ColumnSchema, value: Any) -> str:
        """Write a threshold or a label to compare with the value of a column."""
        return column.type.sql_literal(column, value, self.dialect)

    def labels(self, variable: str, labels: Sequence[str], negated: bool) -> str:
        """Test whether a label is one of some, or is known and none of them."""
        if len(labels) == 1:
            return f"{variable} {'<>' if negated else '='} {labels[0]}"
        return f"{variable} {'NOT IN' if negated else 'IN'} ({', '.join(labels)})"

    def steps(self, table: Table, value: str) -> str:
        """Write the height of a table of steps at a value."""
        thresholds, (*below, last) = (list(map(self.number, part)) for part in table)
        pairs = zip(thresholds, below, strict=True)
        whens = " ".join(f"WHEN {value} <= {bound} THEN {height}" for bound, height in pairs)
        return f"CASE {whens} ELSE {last} END" if whens else last

    def lookup(self, node: Lookup, k: int) -> str:
        """Write the number of class k of the vector at a place."""
        cases = enumerate(self.number(vector[k]) for vector in node.vectors)
        whens = " ".join(f"WHEN {i} THEN {number}" for i, number in cases)
        self.count(len(whens))
        return f"CASE {self.text(node.place)} {whens} END"

    def choose(self, node: Choose, values: Sequence[Any]) -> str:
        """Write the value of the first true test, in the order of preference."""
        pairs = zip(node.order, values, strict=True)
        whens = (f"WHEN {self.text(node.test, k)} THEN {value}" for k, value in pairs)
        return f"CASE {' '.join(whens)} END"
