"""Bounds for all classifiers of a class at once, by its size, a prior or its VC dimension."""

from __future__ import annotations

import math

from rulewright.capacity.bounds.checks import (
    checked_count,
    checked_delta,
    checked_positive,
    checked_share,
)
from rulewright.capacity.bounds.record import Bound, sampled, stated

FIXED_CLASS = ("the class was fixed before the rows were seen", "rows are drawn independently")
FIXED_PRIOR = ("the prior was fixed before the rows were seen", "rows are drawn independently")


def ln_dnf_class(k: int, m: int) -> float:
    """Return k m ln 3, which bounds ln of the number of k-term DNF formulas over m Booleans."""
    return checked_count(k, "k") * checked_count(m, "m") * math.log(3)


def finite_class_bound(error: float, ln_size: float, n: int, delta: float = 0.05) -> Bound:
    """Bound the error of every member of a finite class (B3).

    hat + sqrt((ln|H| + L) / 2n), with the training error hat, `ln_size` = ln|H|, L = ln(1/delta).
    """
    cost = checked_positive(ln_size, "ln_size")
    return _hoeffding_with_cost(error, cost, n, delta, FIXED_CLASS)


def occam_bound(error: float, ln_inverse_prior: float, n: int, delta: float = 0.05) -> Bound:
    """Bound the error of every classifier by its prior P(h), which may sum to less than 1 (B3').

    hat + sqrt((ln(1 / P(h)) + L) / 2n). `exact_occam_bound` is tighter and needs error counts.
    """
    cost = checked_positive(ln_inverse_prior, "ln_inverse_prior")
    return _hoeffding_with_cost(error, cost, n, delta, FIXED_PRIOR)


def _hoeffding_with_cost(
    error: float, cost: float, n: int, delta: float, given: tuple[str, ...]
) -> Bound:
    n = checked_count(n, "n")
    total = cost - math.log(checked_delta(delta))
    return sampled(
        checked_share(error, "error", n),
        lambda: {"deviation": math.sqrt(total / (2 * n))},
        "error",
        n=n,
        delta=delta,
        assumptions=given,
    )


def vc_bound(error: float, vc_dimension: int, n: int, delta: float = 0.05) -> Bound:
    """Bound the error of every member of a class of VC dimension v (B4).

    hat + 2 sqrt((v ln(2en / v) + ln(2 / delta)) / n); v may not exceed n. Valid but loose.
    """
    return _vc(error, vc_dimension, n, delta, 2.0, 2.0)


def vapnik_bound(error: float, vc_dimension: int, n: int, delta: float = 0.05) -> Bound:
    """Bound the same error as `vc_bound` by less (B4, Vapnik's form).

    hat + sqrt((v ln(2en / v) + ln(4 / delta)) / n).
    """
    return _vc(error, vc_dimension, n, delta, 1.0, 4.0)


def _vc(error: float, v: int, n: int, delta: float, factor: float, events: float) -> Bound:
    v, n = checked_count(v, "vc_dimension"), checked_count(n, "n")
    cost = math.log(events / checked_delta(delta))
    too_rich = (f"the VC dimension {v} exceeds n = {n}",) if v > n else ()

    def deviation() -> dict[str, float]:
        growth = v * math.log(2 * math.e * n / v) if v else 0.0
        return {"deviation": factor * math.sqrt(max(growth + cost, 0.0) / n)}

    share = checked_share(error, "error", n)
    given = FIXED_CLASS
    return sampled(share, deviation, "error", n=n, delta=delta, reasons=too_rich, assumptions=given)


def srm_penalty(capacity: float, n: int) -> Bound:
    """Return sqrt(32 / n * h ln(en)), which ranks nested classes by capacity h (B5).

    For selection only: it is never a certificate.
    """
    h, n = checked_positive(capacity, "capacity"), checked_count(n, "n", least=1)
    raw = math.sqrt(32 / n * h * (1 + math.log(n)))
    why = ("it ranks classes and bounds nothing",)
    return stated(
        raw, {"capacity": h}, "penalty for selection", n=n, reasons=why, limits=(0.0, math.inf)
    )
