"""Weights from log likelihoods: nothing is exponentiated before it is normalised."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rulewright.kernels import FloatArray

LEAST_WEIGHT = 1e-300
"""Weights below it are reported as 0; their logs are kept."""


def log_posterior(
    log_likelihoods: ArrayLike, prior: ArrayLike | None = None, beta: float = 1.0
) -> FloatArray:
    r"""Give the logs of the weights :math:`w_k \propto prior_k L_k^\beta`, which sum to 1.

    Parameters
    ----------
    log_likelihoods : array-like of shape (models,)
        Log likelihoods; -inf for a model that calls the data impossible.
    prior : array-like of shape (models,), optional
        Not negative; by default all models are alike.
    beta : float
        0 leaves the prior, 1 is Bayes' theorem, more sharpens.
    """
    logs = np.asarray(log_likelihoods, dtype=np.float64)
    if logs.ndim != 1 or not len(logs):
        raise ValueError("there must be at least one model to weigh")
    if np.isnan(logs).any() or (logs == math.inf).any():
        k = int(np.flatnonzero(np.isnan(logs) | (logs == math.inf))[0])
        raise ValueError(f"the log likelihood of model {k} is {logs[k]}: it must be a number")
    start = _log_prior(prior, len(logs))
    if not 0.0 <= checked_beta(beta) < math.inf:
        raise ValueError(f"beta must be finite here, not {beta}")
    with np.errstate(invalid="ignore"):
        found = start + (beta * logs if beta else 0.0)
    if np.max(found) == -math.inf:
        raise ValueError(
            "every model has likelihood 0: each gives some row a class of probability 0; take a "
            'smoothed estimator, such as "laplace"'
        )
    # The largest is taken off first: a constant added to all must change nothing.
    found = found - found.max()
    normalised: FloatArray = found - logsumexp(found)
    return normalised


def weights_from_logs(log_weights: ArrayLike) -> FloatArray:
    """Give the weights of normalised logs; those below 1e-300 are 0."""
    weights = np.exp(np.asarray(log_weights, dtype=np.float64))
    weights[weights < LEAST_WEIGHT] = 0.0
    normalised: FloatArray = weights / math.fsum(weights.tolist())
    return normalised


def checked_beta(beta: float) -> float:
    """Return an exponent of the likelihood, or raise if it is negative or no number."""
    if not beta >= 0.0:
        raise ValueError(f"beta={beta} must be a number of at least 0")
    return float(beta)


def checked_densities(log_densities: ArrayLike) -> FloatArray:
    """Return log predictive densities of shape (rows, models); all must be finite."""
    lp = np.asarray(log_densities, dtype=np.float64)
    if lp.ndim != 2 or not lp.shape[1]:
        raise ValueError("there must be at least one model: densities have shape (rows, models)")
    if not len(lp):
        raise ValueError("there must be at least one row to judge the models by")
    if not np.isfinite(lp).all():
        row, k = np.argwhere(~np.isfinite(lp))[0]
        raise ValueError(
            f"the log density of row {row} under model {k} is {lp[row, k]}: smooth the "
            "probabilities, so that no class is impossible"
        )
    return lp


def _log_prior(prior: ArrayLike | None, n_models: int) -> FloatArray:
    if prior is None:
        return np.zeros(n_models)
    shares = np.asarray(prior, dtype=np.float64)
    if shares.shape != (n_models,):
        raise ValueError(f"prior has shape {shares.shape}; {n_models} models need as many numbers")
    if not (np.isfinite(shares).all() and (shares >= 0.0).all()):
        raise ValueError("prior must be finite and not negative")
    if not shares.any():
        raise ValueError("prior must not be 0 for every model")
    with np.errstate(divide="ignore"):
        logs: FloatArray = np.log(shares / shares.max())
    return logs
