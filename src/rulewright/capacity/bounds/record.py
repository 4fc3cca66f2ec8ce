"""What every bound returns: a number, what it bounds, and on what it rests."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Side = Literal["upper", "lower"]

ERROR = (0.0, 1.0)
"""Where errors and probabilities lie."""

MARGIN = (-1.0, 1.0)
"""Where margins lie when L1(w) <= 1."""

MMV = (-1.25, 1.0)
"""Where mean minus variance lies for margins in [-1, 1]; the least has -1 three times in four."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Bound:
    """A guarantee, or the figure of one with the reasons why it is none.

    Parameters
    ----------
    value : float
        The bound, within the range of the quantity.
    raw : float
        The bound before it was clipped to that range.
    side : {"upper", "lower"}
        On which side of the quantity it lies.
    quantity : str
        What is bounded.
    delta : float or None
        Probability, over the sample, that the bound fails; None where chance plays no part.
    n : int or None
        Number of rows it is stated on.
    terms : dict of str to float
        The summands of `raw`; for what is no sum, the figures that went in.
    certified : bool
        False when a condition of the bound is known to fail.
    reasons : tuple of str
        Which conditions those are.
    assumptions : tuple of str
        Conditions that the numbers cannot show.
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
    limits: tuple[float, float] = ERROR

    @property
    def vacuous(self) -> bool:
        """Whether the bound says no more than the range of the quantity does."""
        low, high = self.limits
        return self.value >= high if self.side == "upper" else self.value <= low

    def doubted(self, *reasons: str) -> Bound:
        """Return the same figure as no certificate, for these reasons too (none: unchanged)."""
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
    """Write four digits, rounded so that the bound stays true."""
    if not math.isfinite(value):
        return str(value)
    rounding = ROUND_CEILING if upper else ROUND_FLOOR
    return f"{float(Context(prec=4, rounding=rounding).create_decimal(repr(value))):g}"


def stated(
    raw: float,
    terms: Mapping[str, float],
    quantity: str,
    *,
    side: Side = "upper",
    delta: float | None = None,
    n: int | None = None,
    reasons: tuple[str, ...] = (),
    assumptions: tuple[str, ...] = (),
    limits: tuple[float, float] = ERROR,
) -> Bound:
    """Make the record: clip, and certify what has no reason against it."""
    raw, delta = float(raw), None if delta is None else float(delta)
    value = min(max(raw, limits[0]), limits[1])
    parts = {name: float(part) for name, part in terms.items()}
    certified = not reasons
    return Bound(
        value, raw, side, quantity, delta, n, parts, certified, reasons, assumptions, limits
    )


def sampled(
    empirical: float,
    penalties: Callable[[], Mapping[str, float]],
    quantity: str,
    *,
    n: int,
    delta: float,
    side: Side = "upper",
    least_n: int = 1,
    reasons: tuple[str, ...] = (),
    assumptions: tuple[str, ...] = (),
    limits: tuple[float, float] = ERROR,
) -> Bound:
    """State the empirical figure plus (upper) or minus (lower) penalties, if rows are enough."""
    sign = 1.0 if side == "upper" else -1.0
    terms: dict[str, float] = {}
    if n < least_n:
        raw = sign * math.inf
        reasons = (*reasons, f"it needs {least_n} or more rows, not {n}")
    else:
        terms = {"empirical": empirical}
        terms |= {name: sign * part for name, part in penalties().items()}
        raw = math.fsum(terms.values())
        if math.isinf(raw):
            reasons = (*reasons, "a prior of 0 or an endless class makes the penalty infinite")
        elif empirical > limits[1] + _ROUNDING:
            reasons = (*reasons, f"the empirical figure {empirical:g} is out of range")
    return stated(
        raw,
        terms,
        quantity,
        side=side,
        delta=delta,
        n=n,
        reasons=reasons,
        assumptions=assumptions,
        limits=limits,
    )
