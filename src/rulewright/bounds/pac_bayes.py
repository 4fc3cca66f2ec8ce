"""PAC-Bayes bounds on the loss of a randomly drawn classifier (the Gibbs loss), for all posteriors.

KL is the divergence KL(Q||P) of the posterior Q from the prior P.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rulewright.bounds.checks import (
    checked_positive,
    checked_rows,
    checked_share,
    largest,
    ln_inverse,
)
from rulewright.bounds.record import FIXED_PRIOR, Bound, Quantity, bound_from_sample

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

GIBBS = Quantity("Gibbs loss")
_SUM_ROUNDING = 1e-9


def kl_divergence(posterior: ArrayLike, prior: ArrayLike) -> float:
    """Return KL(Q||P) = sum Q ln(Q / P), infinite when Q leaves the support of P.

    Duplicates of one hypothesis must have been merged, or the result is too small. The prior may
    sum to less than 1.
    """
    p = np.asarray(prior, dtype=np.float64)
    if not (p >= 0).all() or math.fsum(p.ravel()) > 1 + _SUM_ROUNDING:
        raise ValueError("prior must be 0 or more and sum to 1 at most")
    with np.errstate(divide="ignore"):
        return kl_to_ln_prior(posterior, -np.log(p))


def kl_to_ln_prior(posterior: ArrayLike, ln_inverse_prior: ArrayLike) -> float:
    """Return KL(Q||P) = sum Q ln Q + sum Q ln(1 / P), for priors too small to be written out."""
    q = np.asarray(posterior, dtype=np.float64)
    costs = np.asarray(ln_inverse_prior, dtype=np.float64)
    if q.ndim != 1 or q.shape != costs.shape:
        raise ValueError(
            f"posterior and prior must be lists of one length, not {q.shape}, {costs.shape}"
        )
    if not (q >= 0).all() or abs(math.fsum(q) - 1) > _SUM_ROUNDING:
        raise ValueError("posterior must be 0 or more and sum to 1")
    if np.isnan(costs).any():
        raise ValueError("ln_inverse_prior must not be NaN")
    used = q > 0
    divergence = math.fsum(q[used] * (np.log(q[used]) + costs[used]))
    if divergence < -_SUM_ROUNDING:
        raise ValueError(f"ln_inverse_prior belongs to no prior: the divergence is {divergence}")
    return max(divergence, 0.0)


def binary_kl(a: float, b: float) -> float:
    """Return kl(a||b) = a ln(a / b) + (1 - a) ln((1 - a) / (1 - b))."""
    a, b = checked_share(a, "a"), checked_share(b, "b")
    if a == b:
        return 0.0
    if b in (0, 1):
        return math.inf
    hits = 0.0
    if a > 0:  # two logarithms where the quotient could overflow
        hits = a * (math.log(a) - math.log(b) if a < b / 2 else -math.log1p((b - a) / a))
    misses = (1 - a) * math.log1p((b - a) / (1 - b)) if a < 1 else 0.0
    return max(hits + misses, 0.0)


def kl_inverse(a: float, c: float) -> float:
    """Return the largest b in [a, 1] with kl(a||b) <= c, up to rounding upwards."""
    a, c = checked_share(a, "a"), checked_positive(c, "c")
    if a == 1 or math.isinf(c):
        return 1.0
    if a == 0:
        return -math.expm1(-c)
    return largest(a, min(1.0, a + math.sqrt(c / 2)), lambda b: binary_kl(a, b) <= c)


def pac_bayes_mcallester(loss: float, kl: float, n: int, delta: float = 0.05) -> Bound:
    """Bound the Gibbs loss by hat + sqrt((KL + L + ln n + 2) / (2n - 1)), L = ln(1/delta) (B8)."""
    kl, (n, rows) = checked_positive(kl, "kl"), checked_rows(n)
    cost, share = kl + ln_inverse(delta) + 2, checked_share(loss, "loss", n)
    penalties = {"deviation": math.sqrt((cost + math.log(rows)) / (2 * rows - 1))}
    return bound_from_sample(GIBBS, share, penalties, n, delta, FIXED_PRIOR)


def pac_bayes_kl(loss: float, kl: float, n: int, delta: float = 0.05) -> Bound:
    """Bound the Gibbs loss by inverting kl (B9); never above `pac_bayes_mcallester`.

    The largest b with kl(hat||b) <= (KL + ln(2 sqrt(n) / delta)) / n.
    """
    kl, (n, rows) = checked_positive(kl, "kl"), checked_rows(n)
    cost, share = kl + ln_inverse(delta), checked_share(loss, "loss", n)
    upper = kl_inverse(share, (cost + math.log(2 * math.sqrt(rows))) / rows)
    deviation = math.inf if math.isinf(kl) else upper - share
    return bound_from_sample(GIBBS, share, {"deviation": deviation}, n, delta, FIXED_PRIOR)
