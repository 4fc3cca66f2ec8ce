"""Bounds on the error of one classifier from held-out rows, or of all classifiers of a class."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainccinv, gammaln, logsumexp

from rulewright.bounds.record import (
    ERROR,
    FIXED_CLASS,
    FIXED_PRIOR,
    HELD_OUT,
    Bound,
    Quantity,
    bound_from_sample,
    checked_count,
    checked_delta,
    checked_errors,
    checked_positive,
    checked_rows,
    checked_share,
    largest,
    ln_inverse,
    state_bound,
)

_LEAST_LN_DELTA = -600.0


def held_out_bound(errors: int, n: int, delta: float = 0.05) -> Bound:
    """Bound the error of a classifier fixed beforehand, exactly (B1).

    The largest e for which k or fewer errors on n rows still have probability delta:
    BetaQuantile(1 - delta; k + 1, n - k), and 1 for k = n.
    """
    k, n = checked_errors(errors, n)
    penalties = {"deviation": _deviation(k, n, -ln_inverse(delta))}
    return bound_from_sample(ERROR, k / max(n, 1), penalties, n, delta, HELD_OUT)


def selective_held_out_bound(errors: int, n_predicted: int, n: int, delta: float = 0.05) -> Bound:
    """Bound the error among predicted rows from held-out rows of which some were left out.

    B1 on the `n_predicted` of `n` rows that got a prediction; valid given which rows those are.
    """
    k, n_predicted = checked_errors(errors, n_predicted)
    if n_predicted > checked_errors(0, n)[1]:
        raise ValueError(f"n_predicted must be at most n = {n}, not {n_predicted}")
    quantity = Quantity(f"error among predicted rows ({n_predicted} of {n})")
    penalties = {"deviation": _deviation(k, n_predicted, -ln_inverse(delta))}
    return bound_from_sample(
        quantity, k / max(n_predicted, 1), penalties, n_predicted, delta, HELD_OUT
    )


def hoeffding_bound(errors: int, n: int, delta: float = 0.05) -> Bound:
    """Bound the error of a fixed classifier by k/n + sqrt(L / 2n), L = ln(1/delta) (B2a)."""
    k, n = checked_errors(errors, n)
    rows = max(n, 1)
    penalties = {"deviation": math.sqrt(ln_inverse(delta) / (2 * rows))}
    return bound_from_sample(ERROR, k / rows, penalties, n, delta, HELD_OUT)


def chernoff_bound(errors: int, n: int, delta: float = 0.05) -> Bound:
    """Bound the error of a fixed classifier by k/n + sqrt(2 (k/n) L / n) + 2L / n (B2b)."""
    k, n = checked_errors(errors, n)
    rows, cost = max(n, 1), ln_inverse(delta)
    penalties = {"deviation": math.sqrt(2 * k * cost) / rows, "remainder": 2 * cost / rows}
    return bound_from_sample(ERROR, k / rows, penalties, n, delta, HELD_OUT)


def exact_occam_bound(errors: int, ln_inverse_prior: float, n: int, delta: float = 0.05) -> Bound:
    """Bound the error of any classifier of a class with a prior, exactly (B3', tighter form).

    B1 with delta P(h), for k training errors and `ln_inverse_prior` = ln(1 / P(h)).
    """
    k, n = checked_errors(errors, n)
    cost = checked_positive(ln_inverse_prior, "ln_inverse_prior")
    penalties = {"deviation": _deviation(k, n, -ln_inverse(delta) - cost)}
    return bound_from_sample(ERROR, k / max(n, 1), penalties, n, delta, FIXED_PRIOR)


def _deviation(k: int, n: int, ln_delta: float) -> float:
    """Return how far the exact bound lies above the share of errors."""
    return _binomial_upper(k, n, ln_delta) - k / max(n, 1)


def _binomial_upper(k: int, n: int, ln_delta: float) -> float:
    """Return the largest e for which k or fewer of n have log-probability `ln_delta`."""
    if k == n:
        return 1.0
    if k == 0:
        return -math.expm1(ln_delta / n)
    if ln_delta > _LEAST_LN_DELTA:
        return float(betainccinv(k + 1, n - k, math.exp(ln_delta)))
    counts = np.arange(k + 1)
    ln_ways = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)

    def likely(e: float) -> bool:
        terms = ln_ways + counts * math.log(e) + (n - counts) * math.log1p(-e)
        return bool(logsumexp(terms) >= ln_delta)

    return largest(k / n, 1.0, likely)


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
