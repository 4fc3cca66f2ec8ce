"""Queries: what is asked of an instance, and how columns that the data lack are made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from rulewright.data import ColumnSchema
from rulewright.relational import ABSENT, PRESENT, GraphLabels, Pattern
from rulewright.rules import And, Conjunction, Labels, Not, Or, normalise, parse_formula

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rulewright.relational import DerivedColumn
    from rulewright.rules import Formula


class Made(Protocol):
    """A column that is made from the data by its definition; equal names are equal columns."""

    @property
    def name(self) -> str:
        """What conditions call the column."""


@dataclass(frozen=True)
class Related:
    """A column that is derived from related tables.

    Parameters
    ----------
    column : DerivedColumn
        What is computed.
    labels : tuple of str
        The labels of a column that holds labels; others are unseen ones.
    """

    column: DerivedColumn
    labels: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What conditions call the column."""
        return self.column.name


@dataclass(frozen=True)
class Occurrence:
    """Whether a pattern occurs in the graph of an instance."""

    pattern: Pattern

    @classmethod
    def of(cls, pattern: Pattern) -> Occurrence:
        """Write the pattern in the same way whatever graphs it was found in."""
        vertex = tuple(sorted(set(pattern.labels)))
        edge = tuple(sorted({label for *_, label in pattern.edges}))
        labels = GraphLabels(vertex, edge)
        code = pattern.code(labels)
        assert code is not None, "the labels are those of the pattern"
        return cls(Pattern.of(code, labels))

    @property
    def name(self) -> str:
        """The text of the pattern."""
        return self.pattern.text

    @property
    def schema(self) -> ColumnSchema:
        """The column of the pattern."""
        return ColumnSchema(self.name, "nominal", (ABSENT, PRESENT))

    @property
    def query(self) -> Query:
        """Ask whether it occurs."""
        return Query(
            Conjunction((Labels(self.name, (PRESENT,)),)), (self,), max(1, self.pattern.n_edges)
        )


@dataclass(frozen=True)
class Goal:
    """Whether Prolog proves a goal, in which the variable M is the key of the instance."""

    text: str

    @property
    def name(self) -> str:
        """The goal, without spaces at its ends and the full stop."""
        return self.text.strip().removesuffix(".").strip()

    @property
    def schema(self) -> ColumnSchema:
        """The column of the goal."""
        return ColumnSchema(self.name, "nominal", ("false", "true"), "boolean")

    @property
    def query(self) -> Query:
        """Ask whether it is proven."""
        return Query(Conjunction((Labels(self.name, ("true",)),)), (self,))


@dataclass(frozen=True)
class Query:
    """A question with the answers yes (1), no (-1) and unknown (0).

    Parameters
    ----------
    body : Formula
        The question as a formula over columns.
    made : tuple of Made
        Definitions of the columns that the data do not have themselves.
    size : int
        How large it is, for orders by size: conditions, or edges of a pattern.
    """

    body: Formula
    made: tuple[Made, ...] = ()
    size: int = 1

    @classmethod
    def of(cls, given: Query | Formula | str) -> Query:
        """Return a query, or make one of a formula or its text."""
        if isinstance(given, Query):
            return given
        body = parse_formula(given) if isinstance(given, str) else given
        return cls(body, size=len(body.conditions))

    @classmethod
    def over(cls, body: Formula, known: Iterable[Made]) -> Query:
        """Ask a formula over columns of which some are defined."""
        names = set(body.columns)
        made = {one.name: one for one in known if one.name in names}
        return cls(body, tuple(made.values()), len(body.conditions))

    @cached_property
    def key(self) -> str:
        """A text that two queries have in common exactly if they are the same question."""
        return canonical(normalise(self.body))

    def __str__(self) -> str:
        return str(self.body)


def canonical(body: Formula) -> str:
    """Write a formula with its parts sorted."""
    if isinstance(body, Not):
        return f"not ({canonical(body.part)})"
    if isinstance(body, And | Or):
        return f" {body.word} ".join(sorted({f"({canonical(part)})" for part in body.parts}))
    return " and ".join(sorted(set(map(str, body.conditions)))) or "true"


def definitions(queries: Sequence[Query]) -> list[Made]:
    """Return the definitions that queries need, each once, in their order."""
    return list({one.name: one for query in queries for one in query.made}.values())
