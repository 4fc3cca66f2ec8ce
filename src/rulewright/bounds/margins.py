"""From margins to errors, and bounds on margins that hold for all weights of the rules.

The margin of weights w on a row is y w.x for rules x_j in [-1, 1]; MMV is its mean minus its
variance. Lower bounds on either become upper bounds on the error if L1(w) <= 1: divide the weights
by L1(w) first. Rademacher penalties measure how well the class follows random signs on these rows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from rulewright.bounds.record import (
    ERROR,
    FIXED_CLASS,
    FIXED_PRIOR,
    FIXED_RULES,
    MEAN_MARGIN,
    MMV,
    SMALL_WEIGHTS,
    Bound,
    Quantity,
    bound_from_sample,
    checked_delta,
    checked_finite,
    checked_positive,
    checked_rows,
    checked_share,
    ln_inverse,
    state_bound,
)
from rulewright.bounds.votes import kl_to_ln_prior

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray


_ROUNDING = 1e-9
_FIXED_PRIOR_AND_RULES = (FIXED_PRIOR[0], *FIXED_RULES)


def margin_to_error(margin: float | Bound, *, l1_norm: float = 1.0) -> Bound:
    """Bound the error by 1 - mu, for a mean margin mu or a lower bound on it (B14)."""
    mu = _figure(margin, "margin", MEAN_MARGIN)
    return _error_from(margin, 1 - mu, {"margin": mu}, l1_norm)


def mmv_to_error(
    mmv: float | Bound, *, l1_norm: float = 1.0, form: Literal["sharp", "thesis"] = "sharp"
) -> Bound:
    """Bound the error by the mean minus variance gamma of the margin, or a lower bound of it (B15).

    1 for gamma <= 0. Sharp: 1 / (1 + 4 gamma) up to 1/4, then 1 - sqrt(gamma). Thesis:
    1 / (1 + 4 gamma) up to 1/2, then (1 - gamma) / (2 - gamma), never below the sharp form.
    """
    if form not in ("sharp", "thesis"):
        raise ValueError(f"form must be sharp or thesis, not {form!r}")
    gamma = _figure(mmv, "mmv", MMV)
    if gamma <= 0:
        raw = 1.0
    elif gamma <= (0.25 if form == "sharp" else 0.5):
        raw = 1 / (1 + 4 * gamma)
    else:
        raw = 1 - math.sqrt(gamma) if form == "sharp" else (1 - gamma) / (2 - gamma)
    return _error_from(mmv, raw, {"mmv": gamma}, l1_norm)


def _figure(given: float | Bound, name: str, quantity: Quantity) -> float:
    """Return a population figure, or the value of a lower bound on it."""
    if not isinstance(given, Bound):
        return checked_finite(given, name)
    if (given.quantity, given.side) != quantity[:2]:
        raise ValueError(f"{name} must be a lower bound of the {quantity.name}, not: {given}")
    return given.value


def _error_from(given: float | Bound, raw: float, terms: dict[str, float], l1_norm: float) -> Bound:
    """Compute an error bound from a figure, or from a bound with its own conditions."""
    norm = checked_positive(l1_norm, "l1_norm")
    reasons: tuple[str, ...] = ()
    if norm > 1 + _ROUNDING:
        reasons += (f"L1(w) = {norm:g} exceeds 1",)
    if raw < 0:
        reasons += ("no weights with L1(w) <= 1 have such margins",)
    if not isinstance(given, Bound):
        return state_bound(ERROR, raw, terms, assumptions=(SMALL_WEIGHTS,), reasons=reasons)
    assumptions = tuple(dict.fromkeys((*given.assumptions, SMALL_WEIGHTS)))
    return state_bound(
        ERROR, raw, terms, given.n, given.delta, assumptions, given.reasons + reasons
    )


def cantelli_bound(mean: float, variance: float) -> Bound:
    """Bound the error by s2 / (s2 + mu^2) for margins of any scale, 1 for mu <= 0 (B15')."""
    mu, s2 = checked_finite(mean, "mean"), checked_positive(variance, "variance")
    ratio = math.sqrt(s2) / mu if mu > 0 else math.inf
    raw = ratio / (ratio + 1 / ratio) if 0 < ratio < math.inf else float(ratio > 0)
    return state_bound(ERROR, raw, {"mean": mu, "variance": s2})


def pac_bayes_margin_bound(margin: float, kl: float, n: int, delta: float = 0.05) -> Bound:
    """Bound the mean margin from below, for weights that are a distribution (B20).

    hat - sqrt((KL + ln(n / delta)) / (n / 2 - 1)), n >= 3. KL as `signed_rule_kl` gives it.
    """
    kl, (n, rows) = checked_positive(kl, "kl"), checked_rows(n, 3)
    cost, empirical = kl + ln_inverse(delta), checked_finite(margin, "margin", n)
    penalties = {"deviation": math.sqrt((cost + math.log(rows)) / (rows / 2 - 1))}
    given = _FIXED_PRIOR_AND_RULES
    return bound_from_sample(MEAN_MARGIN, empirical, penalties, n, delta, given, least_n=3)


def pac_bayes_mmv_bound(mmv: float, kl: float, n: int, delta: float = 0.05) -> Bound:
    """Bound mean minus variance from below, for weights that are a distribution (B21).

    hat - sqrt((2 KL + ln(n / (9 delta))) / (n / 18 - 1)), n >= 19.
    """
    kl, (n, rows) = checked_positive(kl, "kl"), checked_rows(n, 19)
    cost, empirical = 2 * kl - math.log(9 * checked_delta(delta)), checked_finite(mmv, "mmv", n)
    penalties = {"deviation": math.sqrt((cost + math.log(rows)) / (rows / 18 - 1))}
    return bound_from_sample(
        MMV, empirical, penalties, n, delta, _FIXED_PRIOR_AND_RULES, least_n=19
    )


def signed_rule_kl(weights: ArrayLike) -> float:
    """Return ln(2m) - entropy(w): the divergence of weights from the uniform prior.

    The prior covers all 2m signed rules. Weight w_j counts as |w_j| on rule j or on its negation;
    L1(w) must be 1.
    """
    shares = np.abs(np.asarray(weights, dtype=np.float64))
    if shares.ndim != 1 or not abs(math.fsum(shares) - 1) <= _ROUNDING:
        raise ValueError("weights must be a list with L1 norm 1; divide them by their L1 norm")
    return kl_to_ln_prior(shares, np.full(len(shares), math.log(2 * len(shares))))


RANDOM_SIGNS = "signs are uniform and independent of the rows"


def rademacher_error_bound(error: float, complexity: float, n: int, delta: float = 0.05) -> Bound:
    """Bound the error of every member of a class (B16).

    hat + 2 R_X + 5 sqrt(ln(2 / delta) / 2n), where R_X is the largest |mean of rho_i loss_i| over
    the class for one draw of signs rho.
    """
    penalties = {
        "complexity": 2 * checked_positive(complexity, "complexity"),
        "deviation": 5 * _deviation(n, delta, 2),
    }
    given = (RANDOM_SIGNS, *FIXED_CLASS)
    return bound_from_sample(
        ERROR, checked_share(error, "error", n), penalties, int(n), delta, given
    )


def mcdiarmid_tail(t: float, differences: Iterable[float]) -> Bound:
    """Bound Pr[f - E f >= t] by exp(-2 t^2 / sum c_i^2) for bounded differences c_i (B17)."""
    t = checked_positive(t, "t")
    total = math.fsum(checked_positive(c, "differences") ** 2 for c in differences)
    raw = math.exp(-2 * t * t / total) if total > 0 else float(t == 0)
    quantity = Quantity(f"probability of a deviation of {t:g} or more")
    given = ("the arguments are independent",)
    return state_bound(quantity, raw, {"t": t, "squares": total}, assumptions=given)


def rademacher_margin_bound(
    margin: float, complexity: float, n: int, delta: float = 0.05, *, radius: float = 1.0
) -> Bound:
    """Bound the mean margin from below, for all w with Lp(w) <= 1 (B18).

    hat - 2 S_X - 6 R_q sqrt(ln(2 / delta) / 2n), with S_X by `margin_complexity` and R_q by
    `rule_radius` (1 for p = 1).
    """
    radius = checked_positive(radius, "radius")
    penalties = {
        "complexity": 2 * checked_positive(complexity, "complexity"),
        "deviation": 6 * radius * _deviation(n, delta, 2),
    }
    quantity = MEAN_MARGIN._replace(limits=(-radius, radius))
    given = ("Lp(w) <= 1", RANDOM_SIGNS, *FIXED_RULES)
    return bound_from_sample(
        quantity, checked_finite(margin, "margin", n), penalties, int(n), delta, given
    )


def rademacher_mmv_bound(
    mmv: float, complexity: float, products: float, n: int, delta: float = 0.05
) -> Bound:
    """Bound mean minus variance of the margin from below, for all w with L1(w) <= 1 (B19).

    hat - 6 S_X - 2 T_X - 22 sqrt(ln(3 / delta) / 2n), with S_X by `margin_complexity` (p = 1) and
    an upper value of T_X by `product_complexity`.
    """
    penalties = {
        "complexity": 6 * checked_positive(complexity, "complexity"),
        "products": 2 * checked_positive(products, "products"),
        "deviation": 22 * _deviation(n, delta, 3),
    }
    given = (SMALL_WEIGHTS, RANDOM_SIGNS, *FIXED_RULES)
    return bound_from_sample(MMV, checked_finite(mmv, "mmv", n), penalties, int(n), delta, given)


def _deviation(n: int, delta: float, events: int) -> float:
    """Return sqrt(ln(events / delta) / 2n)."""
    return math.sqrt(math.log(events / checked_delta(delta)) / (2 * checked_rows(n)[1]))


def margin_complexity(x: ArrayLike, signs: ArrayLike, p: float = 1.0) -> float:
    """Return S_X, the q-norm of X' rho / n, where 1/p + 1/q = 1 and p >= 1.

    `x`, of shape (rows, rules), holds the outputs of rules in [-1, 1]; `signs`, of shape (rows,)
    or (draws, rows), are uniform random signs rho. The mean over several draws is valid too.
    """
    if not p >= 1:
        raise ValueError(f"p must be 1 or more, not {p}")
    outputs, rho = _checked_draws(x, signs)
    q = math.inf if p == 1 else 1 / (1 - 1 / p)
    sums = np.linalg.norm(rho @ outputs / outputs.shape[0], ord=q, axis=1)
    return float(sums.mean())


def product_complexity(x: ArrayLike, signs: ArrayLike) -> float:
    """Return max over rules j, l of |mean of rho_i x_ij x_il|, an upper value of T_X.

    Parameters as in `margin_complexity`.
    """
    outputs, rho = _checked_draws(x, signs)
    n = outputs.shape[0]
    return float(np.mean([np.abs((outputs.T * r) @ outputs).max() / n for r in rho]))


def _checked_draws(
    x: ArrayLike, signs: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return outputs of at least one rule on at least one row, and signs as a table of draws."""
    outputs = np.asarray(x, dtype=np.float64)
    if outputs.ndim != 2 or 0 in outputs.shape or not (np.abs(outputs) <= 1).all():
        raise ValueError("x must be a table of rows and rules with values in [-1, 1]")
    rho = np.atleast_2d(np.asarray(signs, dtype=np.float64))
    if rho.ndim != 2 or rho.shape[1] != outputs.shape[0] or not (np.abs(rho) == 1).all():
        raise ValueError(f"signs must be 1 or -1 for each of the {outputs.shape[0]} rows")
    return outputs, rho
