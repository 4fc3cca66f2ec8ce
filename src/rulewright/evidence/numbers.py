"""Numbers as people read them: thousands separators, never an exponent for a large number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rulewright.evidence.measure import NONE

if TYPE_CHECKING:
    from rulewright.data import Kind


def format_number(value: float, digits: int = 4) -> str:
    """Write a number with some significant digits; all digits before the point are kept."""
    if not math.isfinite(value):
        return NONE
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:,.{digits}g}"


def format_signed_number(value: float, *, points: bool = False) -> str:
    """Write a number with its sign; points have two decimals."""
    text = f"{value:.2f}" if points else format_number(value, 3)
    known = float(text.replace(",", ""))
    return f"+{text}" if known > 0 else text if known else "0"


def format_percent(share: float | None) -> str:
    """Write a share in percent; a rare one keeps a digit that is not 0."""
    if share is None or not math.isfinite(share):
        return NONE
    small = 0 < min(share, 1 - share) < 0.005
    return f"{100 * share:.{2 if small else 1}f}\N{NO-BREAK SPACE}%"


def write_threshold(value: float, kind: Kind) -> str:
    """Write a value of an ordered column: numbers with separators, dates as dates."""
    if not kind.arithmetic:
        return kind.write(value)
    return f"{value:,.0f}" if value == round(value) else f"{value:,.10g}"


_WORDS = {
    True: ("above", "below", "more", "less"),
    False: ("after", "before", "later", "earlier"),
}
"""Words for the ends of numbers, and of dates."""


def write_interval(
    low: float, high: float, kind: Kind, *, low_open: bool, high_open: bool, whole: bool = False
) -> str:
    """Write an interval in words; with `whole` numbers by the numbers that it holds."""
    if whole and math.isfinite(low):
        low, low_open = math.floor(low) + 1.0 if low_open else math.ceil(low), False
    if whole and math.isfinite(high):
        high, high_open = math.ceil(high) - 1.0 if high_open else math.floor(high), False
    first, last = (write_threshold(x, kind) if math.isfinite(x) else "" for x in (low, high))
    if not first and not last:
        return "all values"
    above, below, more, less = _WORDS[kind.arithmetic]
    if not last:
        return f"{above} {first}" if low_open else f"{first} or {more}"
    if not first:
        return f"{below} {last}" if high_open else f"{last} or {less}"
    if low == high:
        return first
    if not low_open and not high_open:
        return f"{first} to {last}"
    end = f"to {below}" if high_open else "to"
    return f"{above if low_open else 'from'} {first} {end} {last}"
