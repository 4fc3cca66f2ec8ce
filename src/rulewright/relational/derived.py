"""Derived columns: functions of the rows of related tables, and clauses.

A recipe is plain data and part of the schema, and thus of the model. It says which columns and keys
a derived column uses; this package computes the columns and writes them as SQL.

A clause says whether an instance has related rows that fit together. Row 0 is the instance. Every
other row belongs to a table and has keys equal to keys of earlier rows, so that rows share what
they refer to; conditions apply to single rows or compare two rows.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from rulewright.data import KINDS, ColumnSchema

OF_ROWS = frozenset({"exists", "count", "recency"})
"""Functions of rows; the others are functions of the values of a column."""
ADDED = frozenset({"mean", "sum", "stddev"})
"""Functions that sum values, as integer multiples of a unit, independent of the row order."""
OF_LABELS = frozenset({"value", "last"})
"""Functions that return a label for columns with labels."""
TIMED = frozenset({"last", "recency"})
"""Functions that need the time of a row."""
FUNCTIONS = OF_ROWS | ADDED | OF_LABELS | {"min", "max", "median"}
_BARE = re.compile(r"[^\W\d][\w\-]*")


class Join(NamedTuple):
    """Two keys that are compared: of an earlier table (None: the instances), and of a table."""

    before: str | None
    here: str
    table: str
    there: str


@dataclass(frozen=True)
class Step:
    """One join: the rows of a table whose key equals the key of the earlier rows."""

    table: str
    here: str  # column of the earlier table
    there: str  # column of this table
    by: str | None = None  # the key to show in names, if several are possible

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
        """Return whether the condition matches the kind and labels of a column."""
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
    within: float | None = None  # maximum time before the cutoff, in days if `dated`
    dated: bool = False  # whether the times of the rows are dates, not numbers
    factor: float | None = None  # factor of values before they are summed

    @cached_property
    def name(self) -> str:
        """Name of the column: ``count(orders where kind = "gift" within 30 days)``."""
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
        """Required columns of the last table."""
        return {name for name in (self.column, self.where and self.where.column) if name}

    @property
    def needs(self) -> set[tuple[str, str]]:
        """Required columns of tables, except keys."""
        return {(self.table, name) for name in self.columns}

    @property
    def joins(self) -> Iterator[Join]:
        """The compared keys, each with an earlier table; None stands for the instances."""
        for at, step in enumerate(self.path):
            before = self.path[at - 1].table if at else None
            yield Join(before, step.here, step.table, step.there)

    @property
    def wheres(self) -> Iterator[tuple[str, RowCondition]]:
        """The conditions on single rows, with their tables."""
        return iter(() if self.where is None else ((self.table, self.where),))


def bare_word(text: str) -> str:
    """Write a name, in quotes unless it is a single plain word."""
    return text if _BARE.fullmatch(text) else json.dumps(text, ensure_ascii=not text.isprintable())


OPPOSITE = {"=": "!=", "!=": "=", ">": "<=", "<=": ">", "<": ">=", ">=": "<"}
"""Comparisons of two rows, each with its negation."""


@dataclass(frozen=True)
class SharedKey:
    """A key of a row that equals, or differs from, a key of an earlier row."""

    column: str
    of: int  # the earlier row
    here: str  # its key
    op: str = "="


@dataclass(frozen=True)
class RelatedRow:
    """A row of a table, found by its first key, which equals another key."""

    table: str
    keys: tuple[SharedKey, ...]


@dataclass(frozen=True)
class RowComparison:
    """A comparison of two rows of the same table on one column."""

    one: int
    column: str
    op: str
    other: int


@dataclass(frozen=True)
class Clause:
    """Condition that required rows exist and that forbidden rows do not, by keys and conditions.

    Parameters
    ----------
    rows : tuple of RelatedRow
        Row 1, 2 and so on.
    tests : tuple of (int, RowCondition)
        Conditions on single rows.
    compared : tuple of RowComparison
        Conditions on pairs of rows.
    absent : tuple of RelatedRow
        Rows that must not exist.
    """

    rows: tuple[RelatedRow, ...]
    tests: tuple[tuple[int, RowCondition], ...] = ()
    compared: tuple[RowComparison, ...] = ()
    absent: tuple[RelatedRow, ...] = ()

    function = "exists"

    @cached_property
    def name(self) -> str:
        """Name of the column: ``exists(atoms a1 where a1.molecule = id and ...)``."""
        words = self.words
        parts = [self._keys(word, row) for word, row in zip(words[1:], self.rows, strict=True)]
        for at, where in self.tests:
            parts.append([f"{words[at]}.{where}"])
        for c in self.compared:
            column = bare_word(c.column)
            parts.append([f"{words[c.one]}.{column} {c.op} {words[c.other]}.{column}"])
        for row in self.absent:
            keys = " and ".join(self._keys("", row))
            parts.append([f"no {bare_word(row.table)} where {keys}"])
        pairs = zip(self.rows, words[1:], strict=True)
        rows = ", ".join(f"{bare_word(row.table)} {word}" for row, word in pairs)
        return f"exists({rows} where {' and '.join(text for part in parts for text in part)})"

    @cached_property
    def words(self) -> list[str]:
        """Names of the rows: the first letter of their table and a number."""
        words = [""]
        for row in self.rows:
            letter = row.table[:1].lower()
            letter = letter if letter.isalpha() and letter.isascii() else "t"
            words.append(f"{letter}{1 + sum(word.startswith(letter) for word in words)}")
        return words

    @property
    def joins(self) -> Iterator[Join]:
        """The compared keys, each with an earlier table; None stands for the instances."""
        tables = [None, *(row.table for row in self.rows)]
        for row in (*self.rows, *self.absent):
            for key in row.keys:
                yield Join(tables[key.of], key.here, row.table, key.column)

    @property
    def needs(self) -> set[tuple[str, str]]:
        """Required columns of tables, except keys."""
        table = [row.table for row in self.rows]
        found = {(table[at - 1], where.column) for at, where in self.tests}
        return found | {(table[one.one - 1], one.column) for one in self.compared}

    @property
    def wheres(self) -> Iterator[tuple[str, RowCondition]]:
        """The conditions on single rows, with their tables."""
        return ((self.rows[at - 1].table, where) for at, where in self.tests)

    def disorder(self) -> str | None:
        """Return why the rows are not in order, each found by an earlier one, or None."""
        n = len(self.rows)
        if not n:
            return "requests no row"
        for at, row in (*enumerate(self.rows, 1), *((n + 1, row) for row in self.absent)):
            wrong = [k for k in row.keys if not 0 <= k.of < at or k.op not in ("=", "!=")]
            if not row.keys or row.keys[0].op != "=" or wrong:
                return f"has a row of {row.table!r} that no key of an earlier row leads to"
        places = {at for at, _ in self.tests} | {c.one for c in self.compared}
        places |= {c.other for c in self.compared}
        if not places <= set(range(1, n + 1)):
            return "has a condition on a row that does not exist"
        return None

    def problem(self, columns: dict[tuple[str, str], ColumnSchema]) -> str | None:
        """Return why the column cannot be computed from the columns of tables, or None."""
        if not self.needs <= columns.keys():
            return f"needs {min(self.needs - columns.keys())!r}, which the recipe does not describe"
        return self._unfit(columns)

    def _unfit(self, columns: dict[tuple[str, str], ColumnSchema]) -> str | None:
        for table, where in self.wheres:
            if not where.fits(columns[table, where.column]):
                return f"has the condition {where}, which does not match the kind of the column"
        for one in self.compared:
            table = self.rows[one.one - 1].table
            ordered = columns[table, one.column].kind == "numeric"
            if self.rows[one.other - 1].table != table or one.op not in OPPOSITE:
                return "compares rows of different tables, or by an unknown operator"
            if not ordered and one.op not in ("=", "!="):
                return f"compares labels of {one.column!r} by {one.op!r}"
        return None

    def to_json(self) -> dict[str, Any]:
        """Return the clause as plain data."""
        return {
            "rows": [_row_json(row) for row in self.rows],
            "tests": [[at, vars(where)] for at, where in self.tests],
            "compared": [dict(vars(one)) for one in self.compared],
            "absent": [_row_json(row) for row in self.absent],
        }

    def _keys(self, word: str, row: RelatedRow) -> list[str]:
        """Write the keys of a row; keys of the instance have no prefix."""
        own = f"{word}." if word else ""
        texts = []
        for key in row.keys:
            before = f"{self.words[key.of]}." if key.of else ""
            texts.append(f"{own}{bare_word(key.column)} {key.op} {before}{bare_word(key.here)}")
        return texts


def _row_json(row: RelatedRow) -> dict[str, Any]:
    return {"table": row.table, "keys": [dict(vars(key)) for key in row.keys]}
