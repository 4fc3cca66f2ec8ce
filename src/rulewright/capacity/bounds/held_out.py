"""Bounds on the error of one classifier from rows that played no part in its choice."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainccinv, gammaln, logsumexp

from rulewright.capacity.bounds.checks import checked_delta, checked_errors, checked_positive
from rulewright.capacity.bounds.record import Bound, sampled

HELD_OUT = ("the classifier was chosen without these rows", "rows are drawn independently")

_LEAST_LN_DELTA = -600.0
_BISECTIONS = 60


def held_out_bound(errors: int, n: int, delta: float = 0.05) -> Bound:
    """Bound the error of a classifier fixed beforehand, exactly (B1).

    The largest e for which k or fewer errors on n rows still have probability delta:
    BetaQuantile(1 - delta; k + 1, n - k), and 1 for k = n.
    """
    k, n = checked_errors(errors, n)
    return _binomial_bound(k, n, math.log(checked_delta(delta)), delta, "error", HELD_OUT)


def selective_held_out_bound(errors: int, n_predicted: int, n: int, delta: float = 0.05) -> Bound:
    """Bound the error among predicted rows from held-out rows of which some were left out.

    B1 on the `n_predicted` of `n` rows that got a prediction; valid given which rows those are.
    """
    k, n_predicted = checked_errors(errors, n_predicted)
    if n_predicted > checked_errors(0, n)[1]:
        raise ValueError(f"n_predicted must be at most n = {n}, not {n_predicted}")
    quantity = f"error among predicted rows ({n_predicted} of {n})"
    ln_delta = math.log(checked_delta(delta))
    return _binomial_bound(k, n_predicted, ln_delta, delta, quantity, HELD_OUT)


def hoeffding_bound(errors: int, n: int, delta: float = 0.05) -> Bound:
    """Bound the error of a fixed classifier by k/n + sqrt(L / 2n), L = ln(1/delta) (B2a)."""
    k, n = checked_errors(errors, n)
    cost = -math.log(checked_delta(delta))
    return sampled(
        k / max(n, 1),
        lambda: {"deviation": math.sqrt(cost / (2 * n))},
        "error",
        n=n,
        delta=delta,
        assumptions=HELD_OUT,
    )


def chernoff_bound(errors: int, n: int, delta: float = 0.05) -> Bound:
    """Bound the error of a fixed classifier by k/n + sqrt(2 (k/n) L / n) + 2L / n (B2b)."""
    k, n = checked_errors(errors, n)
    cost = -math.log(checked_delta(delta))
    return sampled(
        k / max(n, 1),
        lambda: {"deviation": math.sqrt(2 * k * cost) / n, "remainder": 2 * cost / n},
        "error",
        n=n,
        delta=delta,
        assumptions=HELD_OUT,
    )


def exact_occam_bound(errors: int, ln_inverse_prior: float, n: int, delta: float = 0.05) -> Bound:
    """Bound the error of any classifier of a class with a prior, exactly (B3', tighter form).

    B1 with delta P(h), for k training errors and `ln_inverse_prior` = ln(1 / P(h)).
    """
    k, n = checked_errors(errors, n)
    cost = checked_positive(ln_inverse_prior, "ln_inverse_prior")
    ln_delta = math.log(checked_delta(delta)) - cost
    given = ("the prior was fixed before the rows were seen", "rows are drawn independently")
    return _binomial_bound(k, n, ln_delta, delta, "error", given)


def _binomial_bound(
    k: int, n: int, ln_delta: float, delta: float, quantity: str, given: tuple[str, ...]
) -> Bound:
    """State the exact bound as the share of errors and what is added to it."""
    share = k / max(n, 1)
    return sampled(
        share,
        lambda: {"deviation": _binomial_upper(k, n, ln_delta) - share},
        quantity,
        n=n,
        delta=delta,
        assumptions=given,
    )


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
    low, high = k / n, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        terms = ln_ways + counts * math.log(middle) + (n - counts) * math.log1p(-middle)
        low, high = (middle, high) if logsumexp(terms) >= ln_delta else (low, middle)
    return high
