"""From margins to errors, and bounds on margins that hold for all weights of the rules.

The margin of weights w on a row is y w.x for rules x_j in [-1, 1]; MMV is its mean minus its
variance. Lower bounds of either become upper bounds of the error when L1(w) <= 1: divide the
weights by L1(w) first.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from rulewright.capacity.bounds.checks import (
    checked_count,
    checked_delta,
    checked_finite,
    checked_positive,
)
from rulewright.capacity.bounds.pac_bayes import kl_to_ln_prior
from rulewright.capacity.bounds.record import MARGIN, MMV, Bound, sampled, stated

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

SMALL_WEIGHTS = "L1(w) <= 1"
FIXED_RULES = ("rules are made without the labels", "rows are drawn independently")
MEAN_MARGIN = "mean margin"
MEAN_MINUS_VARIANCE = "mean minus variance of the margin"
_ROUNDING = 1e-9


def margin_to_error(margin: float | Bound, *, l1_norm: float = 1.0) -> Bound:
    """Bound the error by 1 - mu for a mean margin mu, or for a lower bound of it (B14)."""
    mu = _figure(margin, "margin", MEAN_MARGIN)
    return _error_from(margin, 1 - mu, {"margin": mu}, _too_large(l1_norm))


def mmv_to_error(
    mmv: float | Bound, *, l1_norm: float = 1.0, form: Literal["sharp", "thesis"] = "sharp"
) -> Bound:
    """Bound the error by the mean minus variance gamma of the margin, or a lower bound of it (B15).

    1 for gamma <= 0. Sharp: 1 / (1 + 4 gamma) up to 1/4, then 1 - sqrt(gamma). Thesis:
    1 / (1 + 4 gamma) up to 1/2, then (1 - gamma) / (2 - gamma), never below the sharp form.
    """
    if form not in ("sharp", "thesis"):
        raise ValueError(f"form must be sharp or thesis, not {form!r}")
    gamma = _figure(mmv, "mmv", MEAN_MINUS_VARIANCE)
    if gamma <= 0:
        raw = 1.0
    elif gamma <= (0.25 if form == "sharp" else 0.5):
        raw = 1 / (1 + 4 * gamma)
    else:
        raw = 1 - math.sqrt(gamma) if form == "sharp" else (1 - gamma) / (2 - gamma)
    return _error_from(mmv, raw, {"mmv": gamma}, _too_large(l1_norm))


def cantelli_bound(mean: float, variance: float) -> Bound:
    """Bound the error by s2 / (s2 + mu^2) for margins of any scale, 1 for mu <= 0 (B15')."""
    mu, s2 = checked_finite(mean, "mean"), checked_positive(variance, "variance")
    ratio = math.sqrt(s2) / mu if mu > 0 else math.inf
    raw = ratio / (ratio + 1 / ratio) if 0 < ratio < math.inf else float(ratio > 0)
    return stated(raw, {"mean": mu, "variance": s2}, "error")


def pac_bayes_margin_bound(margin: float, kl: float, n: int, delta: float = 0.05) -> Bound:
    """Bound the mean margin from below, for weights that are a distribution (B20).

    hat - sqrt((KL + ln(n / delta)) / (n / 2 - 1)), n >= 3. KL as `signed_rule_kl` gives it.
    """
    kl, n = checked_positive(kl, "kl"), checked_count(n, "n")
    cost = kl - math.log(checked_delta(delta))
    return sampled(
        checked_finite(margin, "margin", n),
        lambda: {"deviation": math.sqrt((cost + math.log(n)) / (n / 2 - 1))},
        MEAN_MARGIN,
        side="lower",
        n=n,
        delta=delta,
        least_n=3,
        assumptions=("the prior was fixed before the rows were seen", *FIXED_RULES),
        limits=MARGIN,
    )


def pac_bayes_mmv_bound(mmv: float, kl: float, n: int, delta: float = 0.05) -> Bound:
    """Bound mean minus variance from below, for weights that are a distribution (B21).

    hat - sqrt((2 KL + ln(n / (9 delta))) / (n / 18 - 1)), n >= 19.
    """
    kl, n = checked_positive(kl, "kl"), checked_count(n, "n")
    cost = 2 * kl - math.log(9 * checked_delta(delta))
    return sampled(
        checked_finite(mmv, "mmv", n),
        lambda: {"deviation": math.sqrt((cost + math.log(n)) / (n / 18 - 1))},
        MEAN_MINUS_VARIANCE,
        side="lower",
        n=n,
        delta=delta,
        least_n=19,
        assumptions=("the prior was fixed before the rows were seen", *FIXED_RULES),
        limits=MMV,
    )


def signed_rule_kl(weights: ArrayLike) -> float:
    """Return ln(2m) - entropy(w): the divergence of weights from all 2m signed rules alike.

    Weight w_j counts as |w_j| on rule j or on its negation; L1(w) must be 1.
    """
    shares = np.abs(np.asarray(weights, dtype=np.float64))
    if shares.ndim != 1 or not abs(math.fsum(shares) - 1) <= _ROUNDING:
        raise ValueError("weights must be a list with L1 norm 1; divide them by their L1 norm")
    return kl_to_ln_prior(shares, np.full(len(shares), math.log(2 * len(shares))))


def _figure(given: float | Bound, name: str, quantity: str) -> float:
    """Return the number that goes in: a figure of the population, or a lower bound of it."""
    if not isinstance(given, Bound):
        return checked_finite(given, name)
    if given.side != "lower" or given.quantity != quantity:
        raise ValueError(f"{name} must be a lower bound of the {quantity}, not: {given}")
    return given.value


def _too_large(l1_norm: float) -> tuple[str, ...]:
    norm = checked_positive(l1_norm, "l1_norm")
    return (f"L1(w) = {norm:g} exceeds 1",) if norm > 1 + _ROUNDING else ()


def _error_from(
    given: float | Bound, raw: float, terms: dict[str, float], reasons: tuple[str, ...]
) -> Bound:
    """State an error that rests on a figure, or on a bound with its own conditions."""
    if raw < 0:
        reasons = (*reasons, "no weights with L1(w) <= 1 have such margins")
    if not isinstance(given, Bound):
        return stated(raw, terms, "error", reasons=reasons, assumptions=(SMALL_WEIGHTS,))
    return stated(
        raw,
        terms,
        "error",
        delta=given.delta,
        n=given.n,
        reasons=given.reasons + reasons,
        assumptions=tuple(dict.fromkeys((*given.assumptions, SMALL_WEIGHTS))),
    )
