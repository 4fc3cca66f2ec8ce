"""Reasons for the answer on one row as text: the strongest, the others in one line, the sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from rulewright.html import move, table
from rulewright.model.text import aligned, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from markupsafe import Markup
    from numpy.typing import NDArray

SHOWN_REASONS = 5
T = TypeVar("T")


class Reason(NamedTuple):
    """A rule that holds, or a line: what it says, and the scores after it and those before it."""

    amount: str
    text: str
    scores: NDArray[np.float64] | None = None
    is_line: bool = False


class ReasonLine(NamedTuple):
    """A line of the table of reasons: what is added, what that changes, why, and how much it is.

    `moves` is the change of the probability or of the number, None if it is not known.
    """

    amount: str
    change: str
    text: str
    moves: float | None = None


def shown_of(reasons: list[T], max_reasons: int | None) -> list[T]:
    """Give the reasons that are written out."""
    if max_reasons is not None and max_reasons < 0:
        raise ValueError(f"max_reasons={max_reasons}: must be 0 or more, or None for all")
    return reasons if max_reasons is None else reasons[:max_reasons]


def others_text(reasons: Sequence[Reason]) -> str:
    """Say how many rules and lines are not written out."""
    lines = sum(reason.is_line for reason in reasons)
    numbers = {"rule": len(reasons) - lines, "line": lines}
    return " and ".join(counted(n, f"more {noun}") for noun, n in numbers.items() if n)


def used_columns(rows: Sequence[ReasonLine]) -> list[list[str]]:
    """Give amounts, changes and reasons; a column without entries is left out."""
    cells = [row[:3] for row in rows]
    used = [any(column) for column in zip(*cells[1:], strict=True)]
    return [[cell for cell, use in zip(row, used, strict=True) if use] for row in cells]


def reason_table(rows: Sequence[ReasonLine]) -> list[str]:
    """Write amounts, changes and reasons below each other."""
    return [f"  {line}" for line in aligned(used_columns(rows))]


def reason_html(rows: Sequence[ReasonLine]) -> Markup:
    """Write the same as a table, with bars of what each reason changes if that is known."""
    cells: list[list[str]] = used_columns(rows)
    largest = max((abs(row.moves) for row in rows if row.moves is not None), default=0.0)
    if largest:
        drawn = ["" if row.moves is None else move(row.moves, largest) for row in rows]
        cells = [[*line[:-1], mark, line[-1]] for line, mark in zip(cells, drawn, strict=True)]
    return table(cells[:1], cells[1:], text={len(cells[0]) - 1})
