"""Reasons for the answer on one row as text: the strongest, the others in one line, the sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from rulewright.model.text import aligned, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

SHOWN_REASONS = 5
T = TypeVar("T")


class Reason(NamedTuple):
    """A rule that holds, or a line: what it says, and the scores after it and those before it."""

    amount: str
    text: str
    scores: NDArray[np.float64] | None = None
    is_line: bool = False


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


def reason_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write amounts, changes and reasons below each other; a column without entries is left out."""
    used = [any(cells) for cells in zip(*rows[1:], strict=True)]
    kept = [[cell for cell, use in zip(row, used, strict=True) if use] for row in rows]
    return [f"  {line}" for line in aligned(kept)]
