"""Tempered posteriors: likelihoods to a power between the plain average (0) and Bayes (1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from rulewright.weighting.posterior.normalising import (
    checked_densities,
    log_posterior,
    weights_from_logs,
)
from rulewright.weighting.posterior.report import perplexity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from rulewright.kernels import FloatArray

BETAS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Powers to choose from: 0 is the plain average, 1 Bayes."""
_STEPS = 200


def beta_by_log_loss(
    log_likelihoods: ArrayLike,
    log_densities: ArrayLike,
    *,
    prior: ArrayLike | None = None,
    row_weights: ArrayLike | None = None,
    betas: Sequence[float] = BETAS,
) -> float:
    """Choose the power whose average predicts rows best; of equal ones the smallest.

    Parameters
    ----------
    log_likelihoods : array-like of shape (models,)
        What is raised to the power.
    log_densities : array-like of shape (rows, models)
        Log predictive densities of rows that the models were not learned from.
    prior, row_weights : array-like, optional
        Weights of models before any data, and of the rows; all alike by default.
    betas : sequence of float
        The powers to choose from.
    """
    lp = checked_densities(log_densities)
    logs = np.asarray(log_likelihoods, dtype=np.float64)
    losses = [log_loss_of(lp, log_posterior(logs, prior, beta), row_weights) for beta in betas]
    return float(betas[int(np.argmin(losses))])


def beta_for_perplexity(
    log_likelihoods: ArrayLike, target: float, *, prior: ArrayLike | None = None
) -> float:
    """Find the power, from 0 to 1, at which the weights have a perplexity, by bisection.

    With a uniform prior the perplexity falls as the power grows. Where even Bayes' weights have at
    least the target the power is 1.
    """
    logs = np.asarray(log_likelihoods, dtype=np.float64)
    if not 1.0 <= target <= len(logs):
        raise ValueError(f"target={target}: a perplexity of {len(logs)} models is from 1 to that")

    def spread(beta: float) -> float:
        return perplexity(weights_from_logs(log_posterior(logs, prior, beta)))

    if spread(1.0) >= target:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if spread(middle) >= target else (low, middle)
        if high - low <= 1e-15 * high:
            break
    return low


def log_loss_of(
    log_densities: FloatArray, log_weights: FloatArray, row_weights: ArrayLike | None = None
) -> float:
    """Give the mean negative log density of rows under a weighted average of models."""
    losses = -logsumexp(log_densities + log_weights, axis=1)
    weights = None if row_weights is None else np.asarray(row_weights, dtype=np.float64)
    return float(np.average(losses, weights=weights))
