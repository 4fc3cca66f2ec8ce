"""Bounds for all classifiers of a class at once, by its size, a prior or its VC dimension."""

from __future__ import annotations

import math

from rulewright.bounds.checks import (
    checked_count,
    checked_delta,
    checked_positive,
    checked_rows,
    checked_share,
    ln_inverse,
)
from rulewright.bounds.record import (
    ERROR,
    FIXED_CLASS,
    FIXED_PRIOR,
    Bound,
    Quantity,
    bound_from_sample,
    state_bound,
)


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
    (n, rows), share = checked_rows(n), checked_share(error, "error", n)
    deviation = math.sqrt((cost + ln_inverse(delta)) / (2 * rows))
    return bound_from_sample(ERROR, share, {"deviation": deviation}, n, delta, given)


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
    v, (n, rows) = checked_count(v, "vc_dimension"), checked_rows(n)
    cost = math.log(events / checked_delta(delta))
    growth = v * math.log(2 * math.e * rows / v) if v else 0.0
    penalties = {"deviation": factor * math.sqrt(max(growth + cost, 0.0) / rows)}
    too_rich = (f"the VC dimension {v} exceeds n = {n}",) if v > n else ()
    share = checked_share(error, "error", n)
    return bound_from_sample(ERROR, share, penalties, n, delta, FIXED_CLASS, reasons=too_rich)


def srm_penalty(capacity: float, n: int) -> Bound:
    """Return sqrt(32 / n * h ln(en)), which ranks nested classes by capacity h (B5).

    For selection only: it is never a certificate.
    """
    h, n = checked_positive(capacity, "capacity"), checked_count(n, "n", least=1)
    quantity = Quantity("penalty for selection", limits=(0.0, math.inf))
    raw, why = math.sqrt(32 / n * h * (1 + math.log(n))), "it ranks classes and bounds nothing"
    return state_bound(quantity, raw, {"capacity": h}, n, reasons=(why,))
