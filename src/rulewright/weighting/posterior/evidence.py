r"""Log evidence of models that partition the rows, and log weights of rules that cover a row.

Evidence follows Buntine, and Domingos (1997, eq. 1 to 7); the schemes for single rules are from
his section 3. A rule covers :math:`n_r` of n examples with class counts :math:`e_{r,j}`; its
complement has :math:`e_j - e_{r,j}`. Scheme 1 divides the likelihood of the covered classes by the
likelihood under the overall class shares: :math:`n_r KL(p_r \| p)`, half of CN2's likelihood-ratio
statistic. Scheme 2 is the likelihood of the covered and the other classes: :math:`n (I(class; r) -
H(class))`. Scheme 3 is the probability of the counts themselves, a multinomial over all cells at
its maximum: by Stirling's formula a product of powers of the counts, not exponential in them, so it
is the flattest.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
from scipy.special import gammaln, xlogy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rulewright.kernels import FloatArray


Estimator: TypeAlias = Literal["ml", "laplace", "m", "integrated"]
ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)


def log_evidence(
    counts: ArrayLike,
    estimator: Estimator = "ml",
    *,
    learned: ArrayLike | None = None,
    prior: ArrayLike | None = None,
    m: float = 2.0,
) -> float:
    r"""Return the log probability of the classes of some rows, given the regions they fall into.

    Parameters
    ----------
    counts : array-like of shape (regions, classes)
        Weight of the evaluated rows of each class.
    estimator : {"ml", "laplace", "m", "integrated"}
        The probability of a class in a region: its share; (e + 1) / (n + C); (e + m p) / (n + m);
        or the likelihood integrated over a uniform Dirichlet distribution.
    learned : array-like of shape (regions, classes), optional
        The counts that the probabilities are estimated from; by default the counts of the
        evaluated rows.
    prior : array-like of shape (classes,), optional
        The p of the m-estimate; by default the class shares of the learning counts.
    m : float
        Weight of the prior, in rows.

    Returns
    -------
    float
        At most 0; -inf if an evaluated class has probability 0.
    """
    judged = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    seen = judged if learned is None else np.atleast_2d(np.asarray(learned, dtype=np.float64))
    if seen.shape != judged.shape:
        raise ValueError(f"counts have shape {judged.shape}, learned has {seen.shape}")
    if estimator not in ESTIMATORS:
        raise ValueError(f"estimator must be one of {', '.join(ESTIMATORS)}, not {estimator!r}")
    if estimator == "integrated":
        before = np.zeros(len(judged)) if learned is None else log_marginal(seen)
        after = judged if learned is None else seen + judged
        return math.fsum((log_marginal(after) - before).tolist())
    with np.errstate(divide="ignore", invalid="ignore"):
        chances = region_shares(seen, estimator, prior, m)
        return math.fsum(np.where(judged > 0.0, xlogy(judged, chances), 0.0).ravel().tolist())


def log_marginal(counts: ArrayLike, alpha: float = 1.0) -> FloatArray:
    r"""Return the log probability of label sequences with these counts, for a Dirichlet prior.

    :math:`\ln\Gamma(Ca) - \ln\Gamma(N + Ca) + \sum_j (\ln\Gamma(e_j + a) - \ln\Gamma(a))`, for each
    row of an array of shape (regions, classes).
    """
    e = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    whole = e.shape[1] * alpha
    found: FloatArray = (
        gammaln(whole)
        - gammaln(e.sum(axis=1) + whole)
        + (gammaln(e + alpha) - gammaln(alpha)).sum(axis=1)
    )
    return found


def region_shares(
    counts: ArrayLike,
    estimator: Estimator = "ml",
    prior: ArrayLike | None = None,
    m: float = 2.0,
) -> FloatArray:
    """Estimate the probability of each class in each region, as `log_evidence` does.

    Regions without rows have zeros by "ml". The likelihood integrated over all shares gives the
    next row the Laplace estimate.
    """
    seen = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    totals = seen.sum(axis=1, keepdims=True)
    if estimator == "ml":
        return np.asarray(seen / np.where(totals > 0.0, totals, 1.0))
    if estimator in ("laplace", "integrated"):
        return np.asarray((seen + 1.0) / (totals + seen.shape[1]))
    if not 0.0 < m < math.inf:
        raise ValueError(f"m={m} must be above 0 and finite")
    given = seen.sum(axis=0) if prior is None else np.asarray(prior, dtype=np.float64)
    return np.asarray((seen + m * given / given.sum()) / (totals + m))


SCHEMES = (1, 2, 3)


def log_rule_weights(covered: ArrayLike, totals: ArrayLike, scheme: int) -> FloatArray:
    """Return the log weight of each rule, up to a constant common to all rules.

    Parameters
    ----------
    covered : array-like of shape (rules, classes)
        Weight of the covered rows of each class. A rule that covers nothing has weight 0 (log
        -inf), with a warning.
    totals : array-like of shape (classes,)
        Weight of all rows of each class.
    scheme : {1, 2, 3}
        Number of the weighting scheme.
    """
    inside, whole = checked_counts(covered, totals)
    if scheme not in SCHEMES:
        raise ValueError(f"scheme must be 1, 2 or 3, not {scheme!r}")
    found = _SCHEMES[scheme](inside, np.maximum(whole - inside, 0.0), whole)
    empty = inside.sum(axis=1) == 0.0
    if empty.any():
        warnings.warn(
            f"rule {np.flatnonzero(empty)[0]} covers no row: rules without rows are dropped",
            UserWarning,
            stacklevel=2,
        )
    return np.where(empty, -np.inf, found)


def normalise_by_coverage(log_weights: ArrayLike, supports: ArrayLike, gamma: float) -> FloatArray:
    r"""Temper each rule by its coverage: :math:`\log w / n_r^\gamma`; gamma 0 changes nothing."""
    if not 0.0 <= gamma <= 1.0:
        raise ValueError(f"gamma={gamma} must be from 0 to 1")
    logs, sizes = np.asarray(log_weights, float), np.asarray(supports, float)
    return np.asarray(logs / np.maximum(sizes, np.finfo(float).tiny) ** gamma)


def checked_counts(covered: ArrayLike, totals: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return counts of rules and of all rows, or raise an error if they are inconsistent."""
    whole = np.asarray(totals, dtype=np.float64)
    inside = np.asarray(covered, dtype=np.float64).reshape(-1, len(whole))
    for what, counts in (("covered", inside), ("totals", whole)):
        if not (np.isfinite(counts).all() and (counts >= 0.0).all()):
            raise ValueError(f"{what}: weights of classes must be finite and not negative")
    if (inside > whole * (1.0 + 1e-9)).any():
        rule = int(np.flatnonzero((inside > whole * (1.0 + 1e-9)).any(axis=1))[0])
        raise ValueError(f"rule {rule} covers more rows of a class than exist")
    return inside, whole


def log_shares(counts: FloatArray) -> FloatArray:
    """Return the log likelihood of each row of counts at its own shares; 0 for a row of zeros."""
    totals = counts.sum(axis=-1)
    likelihood: FloatArray = xlogy(counts, counts).sum(axis=-1) - xlogy(totals, totals)
    return likelihood


def _against_prior(inside: FloatArray, _: FloatArray, whole: FloatArray) -> FloatArray:
    prior = whole / whole.sum()
    divergence: FloatArray = log_shares(inside) - xlogy(inside, prior).sum(axis=1)
    return np.maximum(divergence, 0.0)  # below 0 by rounding only


def _both_sides(inside: FloatArray, outside: FloatArray, _: FloatArray) -> FloatArray:
    return log_shares(inside) + log_shares(outside)


def _triplet(inside: FloatArray, outside: FloatArray, whole: FloatArray) -> FloatArray:
    cells, n = np.concatenate([inside, outside], axis=1), float(whole.sum())
    powers = xlogy(cells, cells / n).sum(axis=1)
    found: FloatArray = gammaln(n + 1.0) - gammaln(cells + 1.0).sum(axis=1) + powers
    return found


_SCHEMES = {1: _against_prior, 2: _both_sides, 3: _triplet}
