"""PAC-Bayes bounds on the Gibbs loss, for all posteriors, and bounds on votes from these losses.

The Gibbs loss is the loss of a randomly drawn classifier; KL is the divergence KL(Q||P) of the
posterior Q from the prior P.

One posterior Q_i per class i votes c_i(x) in [-1, 1] for or against the class. The sum over classes
of 1 - chi_i(y) c_i(x), where chi_i(y) is 1 for the true class and -1 otherwise, is nonnegative with
mean 2 sum_i l(Q_i). A wrong prediction with a lead of theta raises it to at least 2 + theta;
Markov's inequality gives the bounds. Breiman's and AdaBoost's bounds need no sample.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from rulewright.bounds.classes import held_out_bound
from rulewright.bounds.record import (
    FIXED_PRIOR,
    Bound,
    Quantity,
    bound_from_sample,
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
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike


GIBBS = Quantity("Gibbs loss")
_SUM_ROUNDING = 1e-9


def kl_divergence(posterior: ArrayLike, prior: ArrayLike) -> float:
    """Return KL(Q||P) = sum Q ln(Q / P), infinite if Q exceeds the support of P.

    Duplicates of a hypothesis must be merged first, or the result is too small. The prior may
    sum to less than 1.
    """
    p = np.asarray(prior, dtype=np.float64)
    if not (p >= 0).all() or math.fsum(p.ravel()) > 1 + _SUM_ROUNDING:
        raise ValueError("prior must be nonnegative and sum to at most 1")
    with np.errstate(divide="ignore"):
        return kl_to_ln_prior(posterior, -np.log(p))


def kl_to_ln_prior(posterior: ArrayLike, ln_inverse_prior: ArrayLike) -> float:
    """Return KL(Q||P) = sum Q ln Q + sum Q ln(1 / P), for priors too small for floats."""
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
    if a > 0:  # two logarithms, because the quotient could overflow
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


Form = Literal["kl", "mcallester"]
_FORMS = {"kl": pac_bayes_kl, "mcallester": pac_bayes_mcallester}


def vote_bound(
    losses: Sequence[float],
    kls: Sequence[float],
    n: int,
    delta: float = 0.05,
    *,
    form: Form = "kl",
) -> Bound:
    """Bound the error of the class with the largest vote, ties counted as errors (B10).

    sum_i Bnd_i(delta / p) over the p classes, Bnd by `pac_bayes_kl` or `pac_bayes_mcallester`
    (`form`). `losses` are the empirical Gibbs losses of the classes' posteriors, one class against
    the rest; `kls` the divergences of the posteriors from their priors.
    """
    return _sum_class_bounds(losses, kls, n, delta, form, 0.0, "error of the vote")


def abstaining_vote_bound(
    losses: Sequence[float],
    kls: Sequence[float],
    n: int,
    theta: float,
    delta: float = 0.05,
    *,
    form: Form = "kl",
) -> Bound:
    """Bound Pr[predicts and is wrong] for a vote with a minimum lead of theta (B11).

    [sum_i Bnd_i(delta / p)] / (1 + theta / 2); beyond theta = 2 the vote never predicts. This is
    not the error among predictions: see `error_given_prediction`. Parameters as in `vote_bound`.
    """
    if not theta >= 0:
        raise ValueError(f"theta must be 0 or more, not {theta}")
    quantity = f"probability to predict, with a lead of {theta:g}, and be wrong"
    return _sum_class_bounds(losses, kls, n, delta, form, float(theta), quantity)


def _sum_class_bounds(
    losses: Sequence[float],
    kls: Sequence[float],
    n: int,
    delta: float,
    form: Form,
    theta: float,
    quantity: str,
) -> Bound:
    """Sum the bounds of the classes, each with an equal part of delta."""
    if form not in _FORMS:
        raise ValueError(f"form must be kl or mcallester, not {form!r}")
    if len(losses) == 0 or len(losses) != len(kls):
        raise ValueError(f"losses and kls must be one per class, not {len(losses)} and {len(kls)}")
    share = checked_delta(delta) / len(losses)
    bounds = [_FORMS[form](*figures, n, share) for figures in zip(losses, kls, strict=True)]
    certain = 0.0 if theta > 2 else 1.0
    terms = {f"class {i}": certain * b.value / (1 + theta / 2) for i, b in enumerate(bounds)}
    reasons = tuple(dict.fromkeys(reason for b in bounds for reason in b.reasons))
    raw, given = math.fsum(terms.values()), bounds[0].assumptions
    return state_bound(Quantity(quantity), raw, terms, bounds[0].n, delta, given, reasons)


def single_vote_bound(gibbs: Bound, threshold: float = 0.0) -> Bound:
    """Bound the vote of one posterior on two classes, from the bound on its Gibbs loss.

    2 Bnd / (1 + t) bounds Pr[predicts and is wrong] of the sign of c(x) when |c(x)| < t abstains.
    """
    if not threshold >= 0:
        raise ValueError(f"threshold must be 0 or more, not {threshold}")
    quantity = "error of the vote"
    if threshold > 0:
        quantity = f"probability to predict, with a vote of {threshold:g}, and be wrong"
    raw = 0.0 if threshold > 1 else 2 * gibbs.value / (1 + threshold)
    rest = (gibbs.n, gibbs.delta, gibbs.assumptions, gibbs.reasons)
    return state_bound(Quantity(quantity), raw, {"gibbs": raw}, *rest)


def error_given_prediction(
    joint: Bound, n_abstained: int, n_held_out: int, delta: float = 0.05
) -> Bound:
    """Bound the error among predictions from a bound on Pr[predicts and is wrong].

    `joint` is divided by a lower bound on the coverage: 1 - B1 of the abstentions among held-out
    rows; `delta` is spent on it in addition to the delta of `joint`.
    """
    k, n = checked_errors(n_abstained, n_held_out)
    coverage = 1 - held_out_bound(k, n, delta).value
    spent = checked_delta(delta + (joint.delta or 0.0), "the sum of both deltas")
    none_known = () if coverage > 0 else ("the held-out rows show no coverage",)
    raw = joint.value / coverage if coverage > 0 else math.inf
    terms = {"joint": joint.value, "coverage": coverage}
    given = (*joint.assumptions, f"coverage was counted on {n} held-out rows")
    quantity = Quantity("error among predictions")
    return state_bound(quantity, raw, terms, joint.n, spent, given, joint.reasons + none_known)


def breiman_bound(strength: float, correlation: float) -> Bound:
    """Bound the limit error of a majority vote by rho (1 - s^2) / s^2 (B6).

    Strength s = E[1 - 2 eps_b(x, y)] must be positive; rho is the mean correlation of y c(x) over
    pairs of independent base classifiers. Both are of the population, so this is a diagnostic.
    """
    terms = {"strength": strength, "correlation": correlation}
    for name, number in terms.items():
        if not -1 <= number <= 1:
            raise ValueError(f"{name} must lie between -1 and 1, not {number}")
    reasons: tuple[str, ...] = ("strength and correlation of the population are only estimated",)
    if strength > 0:
        raw = correlation * (1 - strength**2) / strength**2
    else:
        raw = math.inf
        reasons += ("the strength is not positive",)
    return state_bound(Quantity("limit error of the majority vote"), raw, terms, reasons=reasons)


def adaboost_bound(errors: Iterable[float]) -> Bound:
    """Bound the training error of AdaBoost by prod 2 sqrt(eps_i (1 - eps_i)) (B7).

    Terms: `ln_product`, and the looser `exponential`, exp(-2 sum (1/2 - eps_i)^2). The weighted
    errors eps_i lie above 0 and are 1/2 at most.
    """
    shares = [checked_share(error, "errors") for error in errors]
    ln_product = -math.inf
    if all(0 < e < 1 for e in shares):
        ln_product = math.fsum(math.log(2 * math.sqrt(e * (1 - e))) for e in shares)
    edges = math.fsum((0.5 - e) ** 2 for e in shares)
    terms = {"ln_product": ln_product, "exponential": math.exp(-2 * edges)}
    given = ("every round's response is ln((1 - eps) / eps) / 2",)
    outside = any(not 0 < e <= 0.5 for e in shares)
    reasons = ("a weighted error lies outside (0, 1/2]",) if outside else ()
    return state_bound(
        Quantity("training error"), math.exp(ln_product), terms, None, None, given, reasons
    )
