"""The result of every bound: a number, its meaning and assumptions; validation of arguments."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


Side = Literal["upper", "lower"]
_ROUNDING = 1e-9


class Quantity(NamedTuple):
    """The bounded quantity: its name, the side of the bound, and its range."""

    name: str
    side: Side = "upper"
    limits: tuple[float, float] = (0.0, 1.0)


ERROR = Quantity("error")
MEAN_MARGIN = Quantity("mean margin", "lower", (-1.0, 1.0))
MMV = Quantity("mean minus variance of the margin", "lower", (-1.25, 1.0))
"""Range for margins in [-1, 1]: the minimum has margin -1 with probability 3/4."""

HELD_OUT = ("the classifier was chosen without these rows", "rows are drawn independently")
FIXED_CLASS = ("the class was fixed before the rows were seen", "rows are drawn independently")
FIXED_PRIOR = ("the prior was fixed before the rows were seen", "rows are drawn independently")
FIXED_RULES = ("rules are made without the labels", "rows are drawn independently")
SMALL_WEIGHTS = "L1(w) <= 1"


@dataclass(frozen=True, slots=True)
class Bound:
    """A guarantee, or a figure with the reasons why it is not a guarantee.

    Parameters
    ----------
    value, raw : float
        The bound, clipped to the range of the quantity and before clipping.
    side : {"upper", "lower"}
        Side of the quantity on which the bound lies.
    quantity : str
        The bounded quantity.
    delta : float or None
        Failure probability over the sample; None if nothing is random.
    n : int or None
        Number of rows of the sample.
    terms : dict of str to float
        The summands of `raw`; if it is not a sum, its input figures.
    certified : bool
        False when a condition of the bound is known to fail, for the `reasons`.
    assumptions : tuple of str
        Conditions that cannot be checked from the numbers.
    limits : tuple of float
        Range of the quantity.
    """

    value: float
    raw: float
    side: Side
    quantity: str
    delta: float | None
    n: int | None
    terms: dict[str, float]
    certified: bool = True
    reasons: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    limits: tuple[float, float] = ERROR.limits

    @property
    def vacuous(self) -> bool:
        """Whether the bound is no better than the range of the quantity."""
        low, high = self.limits
        return self.value >= high if self.side == "upper" else self.value <= low

    def doubt(self, *reasons: str) -> Bound:
        """Return the same figure marked as uncertified, for these additional reasons."""
        return replace(
            self, certified=self.certified and not reasons, reasons=self.reasons + reasons
        )

    def __str__(self) -> str:
        upper = self.side == "upper"
        text = f"{self.quantity} {'<=' if upper else '>='} {_outward(self.value, upper)}"
        if self.vacuous:
            text += " (vacuous: it says nothing"
            text += ")" if self.raw == self.value else f"; unclipped {_outward(self.raw, upper)})"
        if self.delta is not None:
            text += f" with probability at least 1 - {self.delta:g}"
        if self.n is not None:
            text += f", n = {self.n}"
        if self.assumptions:
            text += f", provided that {' and '.join(self.assumptions)}"
        if not self.certified:
            text += f"; not a certificate: {'; '.join(self.reasons)}"
        return text


def _outward(value: float, upper: bool) -> str:
    """Format four digits, rounded so that the bound stays valid."""
    if not math.isfinite(value):
        return str(value)
    rounding = ROUND_CEILING if upper else ROUND_FLOOR
    return f"{float(Context(prec=4, rounding=rounding).create_decimal(repr(value))):g}"


def state_bound(
    quantity: Quantity,
    raw: float,
    terms: Mapping[str, float],
    n: int | None = None,
    delta: float | None = None,
    assumptions: tuple[str, ...] = (),
    reasons: tuple[str, ...] = (),
) -> Bound:
    """Create the record: clipped, and certified unless there are reasons against it."""
    (name, side, (low, high)), raw = quantity, float(raw)
    delta = None if delta is None else float(delta)
    figures = {key: float(figure) for key, figure in terms.items()}
    value, certified = min(max(raw, low), high), not reasons
    return Bound(
        value, raw, side, name, delta, n, figures, certified, reasons, assumptions, (low, high)
    )


def bound_from_sample(
    quantity: Quantity,
    empirical: float,
    penalties: Mapping[str, float],
    n: int,
    delta: float,
    assumptions: tuple[str, ...],
    *,
    least_n: int = 1,
    reasons: tuple[str, ...] = (),
) -> Bound:
    """Add penalties to (upper) or subtract them from (lower) the empirical figure.

    Certified from `least_n` rows on; penalties divide by at least `least_n`, so that they exist.
    """
    sign = 1.0 if quantity.side == "upper" else -1.0
    terms = {"empirical": empirical} | {name: sign * part for name, part in penalties.items()}
    raw = math.fsum(terms.values())
    if n < least_n:
        terms, raw = {}, sign * math.inf
        reasons = (*reasons, f"it needs {least_n} or more rows, not {n}")
    elif math.isinf(raw):
        reasons = (*reasons, "a prior of 0 or an infinite class makes the penalty infinite")
    elif empirical > quantity.limits[1] + _ROUNDING:
        reasons = (*reasons, f"the empirical figure {empirical:g} is out of range")
    return state_bound(quantity, raw, terms, n, delta, assumptions, reasons)


KL_ROUNDING = 1e-12
"""Maximum rounding error of a divergence below zero."""

_BISECTIONS = 60


def checked_delta(delta: float, name: str = "delta") -> float:
    """Return a failure probability, above 0 and below 1."""
    if not 0 < delta < 1:
        raise ValueError(f"{name} must lie above 0 and below 1, not {delta}")
    return float(delta)


def ln_inverse(delta: float) -> float:
    """Return ln(1/delta)."""
    return -math.log(checked_delta(delta))


def checked_count(count: float, name: str, least: int = 0) -> int:
    """Return an integer of at least `least`."""
    if not (math.isfinite(count) and count == int(count) and count >= least):
        raise ValueError(f"{name} must be a whole number, {least} or more, not {count}")
    return int(count)


def checked_rows(n: float, least: int = 1) -> tuple[int, int]:
    """Return a number of rows, and the same number, at least `least`, as a divisor."""
    rows = checked_count(n, "n")
    return rows, max(rows, least)


def checked_share(share: float, name: str, n: int = 1) -> float:
    """Return a number in [0, 1]; without rows any number is accepted and counts as 0."""
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
    """Return a nonnegative number; infinity and rounding errors below 0 are accepted."""
    if not number >= -KL_ROUNDING:
        raise ValueError(f"{name} must be 0 or more, not {number}")
    return max(float(number), 0.0)


def checked_errors(errors: float, n: float) -> tuple[int, int]:
    """Return the number of errors and the number of rows."""
    k, rows = checked_count(errors, "errors"), checked_count(n, "n")
    if k > rows:
        raise ValueError(f"errors must be at most n = {rows}, not {k}")
    return k, rows


def largest(low: float, high: float, holds: Callable[[float], bool]) -> float:
    """Return the largest number between `low` (where it holds) and `high`, rounded upwards."""
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high
