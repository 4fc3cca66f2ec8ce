"""Log evidence of models that part the rows into regions (Buntine; Domingos, 1997, eq. 1 to 7)."""

from __future__ import annotations

import math
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
    r"""Give the log probability of the classes of some rows, given the regions they fall into.

    Parameters
    ----------
    counts : array-like of shape (regions, classes)
        Weight of the judged rows of each class.
    estimator : {"ml", "laplace", "m", "integrated"}
        The probability of a class in a region: its share; (e + 1) / (n + C); (e + m p) / (n + m);
        or no estimate, but the likelihood integrated over a uniform Dirichlet distribution.
    learned : array-like of shape (regions, classes), optional
        The counts that the probabilities are estimated from; by default those of the judged rows
        themselves.
    prior : array-like of shape (classes,), optional
        The p of the m-estimate; by default the shares of the classes where it is learned.
    m : float
        How many rows the prior counts as.

    Returns
    -------
    float
        At most 0; -inf where a judged class has a share of 0.
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
        chances = _chances(seen, estimator, prior, m)
        return math.fsum(np.where(judged > 0.0, xlogy(judged, chances), 0.0).ravel().tolist())


def log_marginal(counts: ArrayLike, alpha: float = 1.0) -> FloatArray:
    r"""Give the log probability of label sequences with these counts, for a Dirichlet prior.

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


def _chances(
    seen: FloatArray, estimator: Estimator, prior: ArrayLike | None, m: float
) -> FloatArray:
    """Estimate the probability of each class in each region."""
    totals = seen.sum(axis=1, keepdims=True)
    if estimator == "ml":
        return np.where(totals > 0.0, seen / totals, 0.0)
    if estimator == "laplace":
        return np.asarray((seen + 1.0) / (totals + seen.shape[1]))
    if not 0.0 < m < math.inf:
        raise ValueError(f"m={m} must be above 0 and finite")
    given = seen.sum(axis=0) if prior is None else np.asarray(prior, dtype=np.float64)
    return np.asarray((seen + m * given / given.sum()) / (totals + m))
