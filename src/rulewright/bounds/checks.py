"""Checks of the arguments of bounds: each returns the plain number or names the argument."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

KL_ROUNDING = 1e-12
"""How far below zero rounding may put a divergence."""

_BISECTIONS = 60


def checked_delta(delta: float, name: str = "delta") -> float:
    """Return a probability of failure, above 0 and below 1."""
    if not 0 < delta < 1:
        raise ValueError(f"{name} must lie above 0 and below 1, not {delta}")
    return float(delta)


def ln_inverse(delta: float) -> float:
    """Return ln(1/delta) of a probability of failure."""
    return -math.log(checked_delta(delta))


def checked_count(count: float, name: str, least: int = 0) -> int:
    """Return a whole number, `least` or more."""
    if not (math.isfinite(count) and count == int(count) and count >= least):
        raise ValueError(f"{name} must be a whole number, {least} or more, not {count}")
    return int(count)


def checked_rows(n: float, least: int = 1) -> tuple[int, int]:
    """Return a number of rows, and the same or `least` as a divisor."""
    rows = checked_count(n, "n")
    return rows, max(rows, least)


def checked_share(share: float, name: str, n: int = 1) -> float:
    """Return a number from 0 to 1; without rows any number is accepted and counts as 0."""
    if n == 0:
        return 0.0
    if not -KL_ROUNDING <= share <= 1 + KL_ROUNDING:
        raise ValueError(f"{name} must lie between 0 and 1, not {share}")
    return min(max(float(share), 0.0), 1.0)


def checked_finite(number: float, name: str, n: int = 1) -> float:
    """Return a finite number; without rows any number is accepted and counts as 0."""
    if n == 0:
        return 0.0
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, not {number}")
    return float(number)


def checked_positive(number: float, name: str) -> float:
    """Return a number, 0 or more; infinity and rounding errors below 0 are accepted."""
    if not number >= -KL_ROUNDING:
        raise ValueError(f"{name} must be 0 or more, not {number}")
    return max(float(number), 0.0)


def checked_errors(errors: float, n: float) -> tuple[int, int]:
    """Return a number of errors and the number of rows they were made on."""
    k, rows = checked_count(errors, "errors"), checked_count(n, "n")
    if k > rows:
        raise ValueError(f"errors must be at most n = {rows}, not {k}")
    return k, rows


def largest(low: float, high: float, holds: Callable[[float], bool]) -> float:
    """Return the largest number between `low`, where it holds, and `high`, rounded upwards."""
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high
