"""Programs: the answers of a model for one row, as named values over its columns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from rulewright.data import Schema, label_of
from rulewright.programs.nearest import Nearest
from rulewright.programs.nodes import Choose, Constant, Exp, LineValue, Mix, Reduce, Steps, TermFold
from rulewright.rules import And, Conjunction, Formula, Not, Or, negate, normalise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulewright.programs.nodes import Node


class RuleNote(NamedTuple):
    """How the comments of an export show a rule."""

    number: int  # from 1, in the order in which the model prints its rules
    text: str  # its points and its condition, on one line
    body: Formula


@dataclass(frozen=True, eq=False)
class Program:
    """Program of a regression model: one number per row."""

    schema: Schema  # columns of a row
    scores: Node  # the number, or one for each class
    notes: tuple[RuleNote, ...] = field(
        default=(), kw_only=True
    )  # for comments; bodies by identity
    # other tests of the row that exports give, by name; SQL also gives numbers
    flags: dict[str, Node] = field(default_factory=dict, kw_only=True)
    # the numbers that exports give, by name, where these are not the scores alone
    derived: dict[str, Node] = field(default_factory=dict, kw_only=True)

    @property
    def n_classes(self) -> int:
        """Length of a vector."""
        return 0

    @cached_property
    def numbers(self) -> dict[str, Node]:
        """The numbers that exports give, by name; the first one is the prediction."""
        return self.derived or {"prediction": self.scores}

    @cached_property
    def outputs(self) -> tuple[Node, ...]:
        """The values that every target gives."""
        return (*self.numbers.values(), *self.flags.values())

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All values that the outputs need, inputs before results."""
        return order_nodes(self.outputs)

    @cached_property
    def bodies(self) -> tuple[Formula, ...]:
        """All formulas that are tested."""
        return tuple(body for node in self.nodes for body in node.bodies)

    @cached_property
    def marked(self) -> tuple[Formula, ...]:
        """All formulas whose thresholds and labels matter."""
        return tuple(body for node in self.nodes for body in node.marked)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the formulas use, in the order of the schema."""
        used = {column for leaf in list_conjunctions(self.bodies) for column in leaf.columns}
        used.update(column for node in self.nodes for column in node.columns)
        return tuple(name for name in self.schema.names if name in used)

    @cached_property
    def given(self) -> tuple[str, ...]:
        """Names of the columns that a row must have: dates, not their parts."""
        used = map(self.schema.__getitem__, self.columns)
        return tuple(column.name for column in self.schema.sources_of(used))

    @cached_property
    def exact(self) -> bool:
        """Whether scores have the same bits in all targets: exponentials and totals need not."""
        return not any(
            isinstance(node, Exp) or (isinstance(node, Reduce) and node.how == "total")
            for node in order_nodes([self.scores])
        )

    @cached_property
    def shared(self) -> frozenset[Node]:
        """The values that are read more than once; a writer computes and names them once."""
        reads: Counter[Node] = Counter()
        for node in self.nodes:
            for child in node.children:
                reads[child] += _reads(node, child)
        of_columns = {
            node for node in self.nodes if isinstance(node, TermFold | LineValue | Nearest)
        }
        read = {node for node in self.nodes if reads[node] > 1 and not isinstance(node, Constant)}
        return frozenset(of_columns | read)


@dataclass(frozen=True, eq=False)
class ClassProgram(Program):
    """Program of a classifier: scores, probabilities and a label per row."""

    labels: tuple[Any, ...]
    probabilities: Node  # a number for each class
    chosen: Node  # index of the predicted class
    costs: Node | None = None  # expected cost of predicting each class, if the label depends on it

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.labels)

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """Class labels as text."""
        return tuple(map(label_of, self.labels))

    @cached_property
    def outputs(self) -> tuple[Node, ...]:
        """The values that every target gives."""
        return (self.scores, self.probabilities, self.chosen, *self.flags.values())


def order_nodes(outputs: Iterable[Node], known: Iterable[Node] = ()) -> tuple[Node, ...]:
    """Return all nodes that some need, known ones first, each once and after its children."""
    found: dict[Node, None] = dict.fromkeys(known)

    def visit(node: Node) -> None:
        if node not in found:
            for child in node.children:
                visit(child)
            found[node] = None

    for output in outputs:
        visit(output)
    return tuple(found)


def _reads(node: Node, child: Node) -> int:
    """Return how often the text of a node repeats a child's text; 2 stands for many."""
    if isinstance(node, Steps | Mix):
        return 2
    if child.is_vector or isinstance(node, Reduce | Choose):
        return 1
    return 2 if node.is_vector else 1


def positive(formula: Formula, known: dict[int, Formula]) -> Formula:
    """Return a formula without "not" that holds on the same rows.

    What is unknown does not hold: targets then need no logic of three values. ``known`` keeps what
    was found by the identity of formulas, so that what several formulas share stays shared.
    """
    if id(formula) not in known:
        known[id(formula)] = _positive(formula, known)
    return known[id(formula)]


def _positive(formula: Formula, known: dict[int, Formula]) -> Formula:
    if isinstance(formula, And | Or):
        parts = tuple(positive(part, known) for part in formula.parts)
        same = all(new is old for new, old in zip(parts, formula.parts, strict=True))
        return formula if same else type(formula)(parts)
    if not isinstance(formula, Not):
        return formula
    moved = normalise(formula)
    if isinstance(moved, Not):  # before a condition that decides missing values, and only there
        return Conjunction(tuple(map(negate, moved.conditions)))
    return positive(moved, {})


def list_conjunctions(formulas: Iterable[Formula]) -> list[Conjunction]:
    """Return the conjunctions that formulas are made of, each once however often it is used."""
    found: list[Conjunction] = []
    seen: set[int] = set()
    waiting: list[Formula] = list(formulas)
    for formula in waiting:  # which grows
        if id(formula) in seen:
            continue
        seen.add(id(formula))
        if isinstance(formula, Conjunction):
            found.append(formula)
        else:
            waiting += (formula.part,) if isinstance(formula, Not) else formula.parts
    return found
