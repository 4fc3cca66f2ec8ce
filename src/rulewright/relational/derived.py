"""Derived columns: what is said of an instance by the rows of related tables.

A recipe is plain data and a part of the schema, hence of the model. It tells from which columns
along which keys a column is made; this room carries it out and writes it as SQL.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rulewright.data import KINDS, ColumnSchema

OF_ROWS = frozenset({"exists", "count", "recency"})
"""Functions of rows; the others are of the values of a column."""
ADDED = frozenset({"mean", "sum"})
"""Functions that add values up, as whole multiples of a unit, so that no order of rows matters."""
OF_LABELS = frozenset({"value", "last"})
"""Functions that give a label where a column holds labels."""
TIMED = frozenset({"last", "recency"})
"""Functions that need to know when a row happened."""
FUNCTIONS = OF_ROWS | ADDED | OF_LABELS | {"min", "max", "median"}
_BARE = re.compile(r"[^\W\d][\w\-]*")


class Join(NamedTuple):
    """Two keys that are compared: of a table before (None: of the instances), and of a table."""

    before: str | None
    here: str
    table: str
    there: str


@dataclass(frozen=True)
class Step:
    """One join: the rows of a table whose key equals that of the rows before."""

    table: str
    here: str  # the column of the table before
    there: str  # the column of this table
    by: str | None = None  # the key in names, if several lead there

    def __str__(self) -> str:
        return bare_word(self.table) + ("" if self.by is None else f"[{bare_word(self.by)}]")


@dataclass(frozen=True)
class RowCondition:
    """A condition on the rows of the last table of a path: a label, or a threshold."""

    column: str
    op: str  # = or != for labels, >= or <= for numbers
    value: str | float

    def __str__(self) -> str:
        value = (
            json.dumps(self.value, ensure_ascii=False)
            if isinstance(self.value, str)
            else KINDS["numeric"].write(self.value)
        )
        return f"{bare_word(self.column)} {self.op} {value}"

    def fits(self, column: ColumnSchema) -> bool:
        """Tell whether the condition fits the kind and the labels of a column."""
        if column.kind == "nominal":
            return self.op in ("=", "!=") and self.value in column.labels
        numbers = self.op in (">=", "<=") and isinstance(self.value, float)
        return column.kind == "numeric" and numbers


@dataclass(frozen=True)
class DerivedColumn:
    """A function of the rows that a path reaches, or of their values in a column."""

    path: tuple[Step, ...]
    function: str
    column: str | None = None
    where: RowCondition | None = None
    within: float | None = None  # how long before the cutoff rows count, in days if `dated`
    dated: bool = False  # whether the times of the rows are dates, not plain numbers
    factor: float | None = None  # what values are multiplied by before they are added up

    @cached_property
    def name(self) -> str:
        """What the column is called: ``count(orders where kind = "gift" within 30 days)``."""
        if self.function == "value":
            return ".".join([*(str(step) for step in self.path), bare_word(self.column or "")])
        rows = " -> ".join(map(str, self.path))
        text = rows if self.column is None else f"{rows}.{bare_word(self.column)}"
        if self.where is not None:
            text += f" where {self.where}"
        if self.within is not None:
            text += f" within {self.within:g}{' days' if self.dated else ''}"
        return f"{self.function}({text})"

    @property
    def table(self) -> str:
        """The last table of the path."""
        return self.path[-1].table

    @property
    def columns(self) -> set[str]:
        """The columns of the last table that it needs."""
        return {name for name in (self.column, self.where and self.where.column) if name}

    @property
    def needs(self) -> set[tuple[str, str]]:
        """The columns of tables that it needs, beside keys."""
        return {(self.table, name) for name in self.columns}

    @property
    def joins(self) -> Iterator[Join]:
        """The keys that are compared, each with a table before; None is the instances."""
        for at, step in enumerate(self.path):
            before = self.path[at - 1].table if at else None
            yield Join(before, step.here, step.table, step.there)

    @property
    def wheres(self) -> Iterator[tuple[str, RowCondition]]:
        """The conditions on single rows, with their tables."""
        return iter(() if self.where is None else ((self.table, self.where),))


def bare_word(text: str) -> str:
    """Write a name, in quotes if it is not one plain word."""
    return text if _BARE.fullmatch(text) else json.dumps(text, ensure_ascii=not text.isprintable())
