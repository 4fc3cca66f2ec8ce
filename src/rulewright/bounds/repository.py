"""Bounds on margins by the number of generated rules, and the choice of a prefix of them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from rulewright.bounds.margins import margin_to_error, mmv_to_error
from rulewright.bounds.record import (
    FIXED_PRIOR,
    FIXED_RULES,
    MEAN_MARGIN,
    MMV,
    SMALL_WEIGHTS,
    Bound,
    bound_from_sample,
    checked_count,
    checked_delta,
    checked_finite,
    checked_rows,
    ln_inverse,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_ROUNDING = 1e-9


def rule_radius(m: int, p: float = 1.0) -> float:
    """Return R_q = m^(1/q), the largest q-norm of m rules in [-1, 1], where 1/p + 1/q = 1."""
    if not p >= 1:
        raise ValueError(f"p must be 1 or more, not {p}")
    return math.exp((1 - 1 / p) * math.log(max(checked_count(m, "m"), 1)))


def repository_margin_bound(
    margin: float,
    m: int,
    n: int,
    delta: float = 0.05,
    *,
    p: float = 1.0,
    example_weights: ArrayLike | None = None,
) -> Bound:
    """Bound the mean margin from below, for all w with Lp(w) <= 1, p >= 1 (B22).

    hat - sqrt((2 / n) m^(2/q) ln(2m / delta)) for m generated rules, used or not; 0 counts as the
    constant rule alone. Row weights of the mean (`example_weights`) sum to 1; the sum of their
    squares replaces 1/n.
    """
    m, n = max(checked_count(m, "m"), 1), checked_count(n, "n")
    cost, radius = math.log(2 * m) + ln_inverse(delta), rule_radius(m, p)
    penalties = {"deviation": radius * math.sqrt(2 * _spread(example_weights, n) * cost)}
    quantity = MEAN_MARGIN._replace(limits=(-radius, radius))
    given = (f"L{p:g}(w) <= 1", *FIXED_RULES)
    return bound_from_sample(
        quantity, checked_finite(margin, "margin", n), penalties, n, delta, given
    )


def repository_mmv_bound(
    mmv: float, m: int, n: int, delta: float = 0.05, *, distribution: bool = False
) -> Bound:
    """Bound mean minus variance of the margin from below, for all w with L1(w) <= 1 (B23).

    hat - sqrt(18 (2 ln(2m) + L) / n) with m generated rules; 2 ln m only if `distribution`, that
    is, if w >= 0 with sum 1.
    """
    m, (n, rows) = max(checked_count(m, "m"), 1), checked_rows(n)
    cost = 2 * math.log(m if distribution else 2 * m) + ln_inverse(delta)
    given = ("w >= 0 with sum 1" if distribution else SMALL_WEIGHTS, *FIXED_RULES)
    penalties = {"deviation": math.sqrt(18 * cost / rows)}
    return bound_from_sample(MMV, checked_finite(mmv, "mmv", n), penalties, n, delta, given)


def prior_costs(ln_inverse_priors: ArrayLike, n: float, delta: float = 0.05) -> NDArray[np.float64]:
    """Return sqrt(2 ln(2 / (pi_j delta)) / n): the cost of a unit of |w_j|, for ln(1 / pi_j)."""
    costs = np.asarray(ln_inverse_priors, dtype=np.float64)
    if costs.ndim != 1 or not (costs >= 0).all() or np.exp(-costs).sum() > 1 + _ROUNDING:
        raise ValueError("ln_inverse_priors must be ln(1 / pi_j) for priors with sum 1 or less")
    if not n > 0:
        raise ValueError(f"n must be above 0, not {n}")
    return np.asarray(np.sqrt(2 * (math.log(2) + costs + ln_inverse(delta)) / n))


def prior_margin_bound(
    margin: float, weights: ArrayLike, ln_inverse_priors: ArrayLike, n: int, delta: float = 0.05
) -> Bound:
    """Bound the mean margin from below, for all w with L1(w) <= 1 and individual rule priors.

    hat - sum_j |w_j| sqrt(2 ln(2 / (pi_j delta)) / n). Equal priors of m rules give B22 for p = 1
    and L1(w) = 1.
    """
    shares = np.abs(np.asarray(weights, dtype=np.float64))
    n, rows = checked_rows(n)
    costs = prior_costs(ln_inverse_priors, rows, delta)
    if shares.shape != costs.shape or not math.fsum(shares) <= 1 + _ROUNDING:
        raise ValueError(f"weights must be {len(costs)} numbers with L1 norm 1 or less")
    penalties = {"deviation": math.fsum(shares[shares > 0] * costs[shares > 0])}
    given = (SMALL_WEIGHTS, FIXED_PRIOR[0], *FIXED_RULES)
    return bound_from_sample(
        MEAN_MARGIN, checked_finite(margin, "margin", n), penalties, n, delta, given
    )


def prefix_delta(prefix: int, delta: float) -> float:
    """Return delta / (i (i + 1)), the part of delta for prefix i = 1, 2, ... (B24).

    The parts of all prefixes sum to at most delta, so the best may be chosen afterwards.
    """
    i = checked_count(prefix, "prefix", least=1)
    return checked_delta(delta) / (i * (i + 1))


def prefix_certificate(
    figure: float,
    prefix: int,
    n: int,
    delta: float = 0.05,
    *,
    criterion: Literal["mmv", "margin"] = "mmv",
) -> Bound:
    """Bound the error of weights on the first `prefix` rules, chosen among all prefixes.

    B23 with `prefix_delta`, then `mmv_to_error`; or B22 (p = 1) and `margin_to_error`. The
    figure is the empirical mean minus variance, or mean margin, of weights with L1(w) <= 1. Below
    about 2000 rows it is mostly vacuous: prefer `held_out_bound`.
    """
    spent = prefix_delta(prefix, delta)
    if criterion == "mmv":
        bound = mmv_to_error(repository_mmv_bound(figure, prefix, n, spent))
    elif criterion == "margin":
        bound = margin_to_error(repository_margin_bound(figure, prefix, n, spent))
    else:
        raise ValueError(f"criterion must be mmv or margin, not {criterion!r}")
    return replace(bound, delta=float(delta), terms={**bound.terms, "prefix_delta": spent})


def _spread(example_weights: ArrayLike | None, n: int) -> float:
    """Return the sum of squared weights in the mean, 1/n when all are equal."""
    if example_weights is None:
        return 1 / max(n, 1)
    a = np.asarray(example_weights, dtype=np.float64)
    if a.shape != (n,) or not (a >= 0).all() or not abs(math.fsum(a) - 1) <= _ROUNDING:
        raise ValueError(f"example_weights must be {n} numbers, 0 or more, with sum 1")
    return math.fsum(a * a)
