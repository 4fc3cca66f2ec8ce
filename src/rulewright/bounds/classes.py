"""Bounds on the error of one classifier or of a class, and on the search for a consistent DNF.

A block of the search is a minimal set of positive rows whose common literals are also true for some
negative row.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


_LEAST_LN_DELTA = -600.0


def held_out_bound(errors: int, n: int, delta: float = 0.05) -> Bound:
    """Bound the error of a classifier fixed beforehand, exactly (B1).

    The largest e at which k or fewer errors on n rows still have probability delta:
    BetaQuantile(1 - delta; k + 1, n - k), and 1 for k = n.
    """
    k, n = checked_errors(errors, n)
    penalties = {"deviation": _deviation(k, n, -ln_inverse(delta))}
    return bound_from_sample(ERROR, k / max(n, 1), penalties, n, delta, HELD_OUT)


def selective_held_out_bound(errors: int, n_predicted: int, n: int, delta: float = 0.05) -> Bound:
    """Bound the error among predicted rows, given held-out rows some of which have no prediction.

    B1 on the `n_predicted` of `n` rows with a prediction; valid given which rows those are.
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
    """Return the distance of the exact bound from the share of errors."""
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


_ROWS_AT_ONCE = 256


def randomsearch_success(n_positives: int, k: int, block_size: float, delta: float = 0.05) -> Bound:
    """Bound from below the probability that one call finds an existing formula (B12).

    ln tau >= -n_p [ln k - ln(k^k / k!) / ((k - 1) b + 1)] for n_p distinct positive rows, k terms
    and an upper bound b (at least 2) on the size of the largest block. Terms: `ln_success`,
    `restarts` (number of calls that all fail with probability at most delta, ceil(ln(1 / delta) /
    tau); infinite beyond the largest float) and `ln_restarts` (before rounding up).
    """
    n_positives = checked_count(n_positives, "n_positives")
    k = checked_count(k, "k", least=1)
    if not block_size >= 0:
        raise ValueError(f"block_size must be 0 or more, not {block_size}")
    gain = (k * math.log(k) - math.lgamma(k + 1)) / ((k - 1) * max(block_size, 2.0) + 1)
    ln_success = min(-n_positives * (math.log(k) - gain), 0.0)
    ln_restarts = math.log(-math.log(checked_delta(delta))) - ln_success
    restarts = float(math.ceil(math.exp(ln_restarts))) if ln_restarts < 709 else math.inf
    terms = {"ln_success": ln_success, "restarts": restarts, "ln_restarts": ln_restarts}
    quantity = Quantity("probability that one call finds a formula", "lower")
    given = ("a formula exists", "rows are distinct and no positive row equals a negative one")
    return state_bound(quantity, math.exp(ln_success), terms, assumptions=given)


def block_size_bound(positives: ArrayLike, negatives: ArrayLike, *, pairs: bool = True) -> Bound:
    """Bound from above the size of the largest block (B13).

    min(n_p, 1 + max dH(p, x), 2 + max over p != p' of the variables on which p and p' agree
    against x), for positive p, p' and negative x. Every other member of a block needs a variable
    of its own on which all members but itself differ from x. Rows are Boolean, (rows, variables);
    repeated positive rows only loosen the bound. `pairs` includes the third term, which costs
    n_p^2 n_n variables operations.
    """
    held, denied = _rows(positives, "positives"), _rows(negatives, "negatives")
    if held.shape[1] != denied.shape[1]:
        raise ValueError(
            f"positives have {held.shape[1]} variables and negatives {denied.shape[1]}"
        )
    n_positives = len(held)
    quantity = Quantity("size of the largest block", limits=(0, n_positives))
    if n_positives == 0 or len(denied) == 0:
        return state_bound(quantity._replace(limits=(0, 0)), 0, {"positives": n_positives})
    distances = (held @ (1 - denied).T) + (1 - held) @ denied.T
    parts = {"positives": n_positives, "distance": 1 + distances.max()}
    if pairs and n_positives > 1:
        parts["pairs"] = 2 + _largest_agreement(held, denied, distances)
    shared = ("a positive row equals a negative one",) if distances.min() == 0 else ()
    return state_bound(quantity, min(parts.values()), parts, reasons=shared)


def _rows(rows: ArrayLike, name: str) -> NDArray[np.float32]:
    """Return Boolean rows as numbers whose products are exact."""
    values = np.asarray(rows)
    if values.ndim != 2 or not np.isin(values, (0, 1)).all():
        raise ValueError(f"{name} must be a table of 0 and 1")
    return values.astype(np.float32)


def _largest_agreement(
    held: NDArray[np.float32], denied: NDArray[np.float32], distances: NDArray[np.float32]
) -> float:
    """Return the maximum number of variables where two positive rows agree against a negative."""
    largest = 0.0
    for x, distance in zip(denied, distances.T, strict=True):
        far = np.flatnonzero(distance > largest)  # a nearer row cannot be in a better pair
        far = far[np.argsort(-distance[far])]
        differs = np.abs(held[far] - x)
        for start in range(0, len(far), _ROWS_AT_ONCE):
            if distance[far[start]] <= largest:
                break
            shared = differs[start : start + _ROWS_AT_ONCE] @ differs[start:].T
            np.fill_diagonal(shared, 0)
            largest = max(largest, float(shared.max()))
    return largest
