"""Reasons for the answer on one row: what a form gives, and the table that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from rulewright.html import draw_move, table
from rulewright.model.text import align_cells, escape_line, write_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from markupsafe import Markup
    from numpy.typing import NDArray

    from rulewright.data import Table
    from rulewright.rules import Rule

SHOWN_REASONS = 5
T = TypeVar("T")


class ReasonLine(NamedTuple):
    """A line of the table of reasons: what is added, what that changes, why, and how much it is.

    `moves` is the change of the probability or of the number, None if it is not known.
    """

    amount: str
    change: str
    text: str
    moves: float | None = None


class Reason(NamedTuple):
    """A rule, a line or a member of a model: what it says and why.

    Either the form gives the scores after this reason and those before it, and what it changes is
    the difference of their probabilities; or it writes the change itself.
    """

    amount: str
    text: str
    scores: NDArray[np.float64] | None = None
    change: str = ""
    moves: float | None = None
    is_line: bool = False

    @property
    def line(self) -> ReasonLine:
        """The reason in the table, with the change that the form has written."""
        return ReasonLine(self.amount, self.change, self.text, self.moves)


class RowReasons(NamedTuple):
    """What a form gives for one row: titles, the start, the reasons to show, the others, the sum.

    `rest` is one reason for all that are not shown; start, rest and total may be missing.
    """

    titles: ReasonLine
    reasons: Sequence[Reason]
    start: Sequence[Reason] = ()
    rest: Sequence[Reason] = ()
    total: Sequence[ReasonLine] = ()


def plain_reasons(texts: Sequence[str], rest: Sequence[str] = ()) -> RowReasons:
    """Give reasons that are nothing but texts."""
    titles = ReasonLine("", "", "reason")
    others = [Reason("", text) for text in rest]
    return RowReasons(titles, [Reason("", text) for text in texts], rest=others)


def rule_text(rules: Sequence[Rule], i: int) -> str:
    """Write the number of a rule and its conditions."""
    return f"rule {i}: IF {rules[i].body}"


def value_text(table: Table, name: str, row: int) -> str:
    """Write the value of a column in a row."""
    column = table[name]
    if column.is_missing[row]:
        return f"{escape_line(name)} is missing"
    kind = column.schema.type
    if kind.ordered:
        return f"{escape_line(name)} is {escape_line(kind.write(column.values[row].item()))}"
    return f"{escape_line(name)} is {escape_line(kind.raw(column).values[row])}"


def select_shown(reasons: Sequence[T], max_reasons: int | None) -> Sequence[T]:
    """Give the reasons that are written out."""
    if max_reasons is not None and max_reasons < 0:
        raise ValueError(f"max_reasons={max_reasons}: must be 0 or more, or None for all")
    return reasons if max_reasons is None else reasons[:max_reasons]


def others_text(reasons: Sequence[Reason]) -> str:
    """Say how many rules and lines are not written out."""
    lines = sum(reason.is_line for reason in reasons)
    numbers = {"rule": len(reasons) - lines, "line": lines}
    return " and ".join(write_count(n, f"more {noun}") for noun, n in numbers.items() if n)


def used_columns(rows: Sequence[ReasonLine]) -> list[list[str]]:
    """Give amounts, changes and reasons; a column without entries is left out."""
    cells = [row[:3] for row in rows]
    used = [any(column) for column in zip(*cells[1:], strict=True)]
    return [[cell for cell, use in zip(row, used, strict=True) if use] for row in cells]


def reason_table(rows: Sequence[ReasonLine]) -> list[str]:
    """Write amounts, changes and reasons below each other."""
    return [f"  {line}" for line in align_cells(used_columns(rows))]


def reason_html(rows: Sequence[ReasonLine]) -> Markup:
    """Write the same as a table, with bars of what each reason changes if that is known."""
    cells: list[list[str]] = used_columns(rows)
    largest = max((abs(row.moves) for row in rows if row.moves is not None), default=0.0)
    if largest:
        drawn = ["" if row.moves is None else draw_move(row.moves, largest) for row in rows]
        cells = [[*line[:-1], mark, line[-1]] for line, mark in zip(cells, drawn, strict=True)]
    return table(cells[:1], cells[1:], text={len(cells[0]) - 1})
