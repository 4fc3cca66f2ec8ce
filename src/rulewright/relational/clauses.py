"""Clauses: whether an instance has related rows that fit together, as a derived column.

Row 0 is the instance. Every other row belongs to a table and has keys equal to those of rows before
it, so that rows share what they refer to; conditions are on single rows or compare two of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rulewright.data import ColumnSchema
from rulewright.relational.derived import Join, RowCondition, bare_word

OPPOSITE = {"=": "!=", "!=": "=", ">": "<=", "<=": ">", "<": ">=", ">=": "<"}
"""Comparisons of two rows, each with its negation."""


@dataclass(frozen=True)
class SharedKey:
    """A key of a row that equals, or differs from, a key of a row before it."""

    column: str
    of: int  # the row before
    here: str  # its key
    op: str = "="


@dataclass(frozen=True)
class RelatedRow:
    """A row of a table; the first key, which is equal to another, finds it."""

    table: str
    keys: tuple[SharedKey, ...]


@dataclass(frozen=True)
class RowComparison:
    """A comparison of two rows of the same table by one of its columns."""

    one: int
    column: str
    op: str
    other: int


@dataclass(frozen=True)
class Clause:
    """Tells whether there are rows with their keys and conditions, and none that must be absent.

    Parameters
    ----------
    rows : tuple of RelatedRow
        Row 1, 2 and so on.
    tests : tuple of (int, RowCondition)
        Conditions on single rows.
    compared : tuple of RowComparison
        Conditions on two rows.
    absent : tuple of RelatedRow
        Rows that there must not be.
    """

    rows: tuple[RelatedRow, ...]
    tests: tuple[tuple[int, RowCondition], ...] = ()
    compared: tuple[RowComparison, ...] = ()
    absent: tuple[RelatedRow, ...] = ()

    function = "exists"

    @cached_property
    def name(self) -> str:
        """What the column is called: ``exists(atoms a1 where a1.molecule = id and ...)``."""
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
        """What the rows are called: the first letter of their table and a number."""
        words = [""]
        for row in self.rows:
            letter = row.table[:1].lower()
            letter = letter if letter.isalpha() and letter.isascii() else "t"
            words.append(f"{letter}{1 + sum(word.startswith(letter) for word in words)}")
        return words

    @property
    def joins(self) -> Iterator[Join]:
        """The keys that are compared, each with a table before; None is the instances."""
        tables = [None, *(row.table for row in self.rows)]
        for row in (*self.rows, *self.absent):
            for key in row.keys:
                yield Join(tables[key.of], key.here, row.table, key.column)

    @property
    def needs(self) -> set[tuple[str, str]]:
        """The columns of tables that it needs, beside keys."""
        table = [row.table for row in self.rows]
        found = {(table[at - 1], where.column) for at, where in self.tests}
        return found | {(table[one.one - 1], one.column) for one in self.compared}

    @property
    def wheres(self) -> Iterator[tuple[str, RowCondition]]:
        """The conditions on single rows, with their tables."""
        return ((self.rows[at - 1].table, where) for at, where in self.tests)

    def disorder(self) -> str | None:
        """Tell why rows are not in order, each found by one before it, or None."""
        n = len(self.rows)
        if not n:
            return "asks for no row"
        for at, row in (*enumerate(self.rows, 1), *((n + 1, row) for row in self.absent)):
            wrong = [k for k in row.keys if not 0 <= k.of < at or k.op not in ("=", "!=")]
            if not row.keys or row.keys[0].op != "=" or wrong:
                return f"has a row of {row.table!r} that no key of a row before it leads to"
        places = {at for at, _ in self.tests} | {c.one for c in self.compared}
        places |= {c.other for c in self.compared}
        if not places <= set(range(1, n + 1)):
            return "has a condition on a row that there is not"
        return None

    def problem(self, columns: dict[tuple[str, str], ColumnSchema]) -> str | None:
        """Tell why the column cannot be made of the columns of tables, or None."""
        if not self.needs <= columns.keys():
            return f"needs {min(self.needs - columns.keys())!r}, which the recipe does not describe"
        return self._unfit(columns)

    def _unfit(self, columns: dict[tuple[str, str], ColumnSchema]) -> str | None:
        for table, where in self.wheres:
            if not where.fits(columns[table, where.column]):
                return f"has the condition {where}, which does not fit the kind of the column"
        for one in self.compared:
            table = self.rows[one.one - 1].table
            ordered = columns[table, one.column].kind == "numeric"
            if self.rows[one.other - 1].table != table or one.op not in OPPOSITE:
                return "compares rows of different tables, or by an unknown sign"
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
        """Write the keys of a row; those of the instance stand alone."""
        own = f"{word}." if word else ""
        texts = []
        for key in row.keys:
            before = f"{self.words[key.of]}." if key.of else ""
            texts.append(f"{own}{bare_word(key.column)} {key.op} {before}{bare_word(key.here)}")
        return texts


def _row_json(row: RelatedRow) -> dict[str, Any]:
    return {"table": row.table, "keys": [dict(vars(key)) for key in row.keys]}
