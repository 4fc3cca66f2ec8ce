"""Weights from log likelihoods, tempering, and diagnostics of concentration.

Nothing is exponentiated before normalisation. Tempered posteriors raise likelihoods to a power
between 0 (plain average) and 1 (Bayes).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp, xlogy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from rulewright.kernels import FloatArray


LEAST_WEIGHT = 1e-300
"""Smaller weights are reported as 0; their logs are kept."""


def log_posterior(
    log_likelihoods: ArrayLike, prior: ArrayLike | None = None, beta: float = 1.0
) -> FloatArray:
    r"""Return the logs of the weights :math:`w_k \propto prior_k L_k^\beta`, which sum to 1.

    Parameters
    ----------
    log_likelihoods : array-like of shape (models,)
        Log likelihoods; -inf for a model under which the data are impossible.
    prior : array-like of shape (models,), optional
        Nonnegative; uniform by default.
    beta : float
        0 returns the prior, 1 is Bayes' theorem, more than 1 sharpens.
    """
    logs = np.asarray(log_likelihoods, dtype=np.float64)
    if logs.ndim != 1 or not len(logs):
        raise ValueError("there must be at least one model to weight")
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
            "every model has likelihood 0: each gives some row's class probability 0; use a "
            'smoothed estimator, such as "laplace"'
        )
    # Subtract the maximum first, so that a common constant changes nothing.
    found = found - found.max()
    normalised: FloatArray = found - logsumexp(found)
    return normalised


def weights_from_logs(log_weights: ArrayLike) -> FloatArray:
    """Return the weights of normalised logs; those below 1e-300 are 0."""
    weights = np.exp(np.asarray(log_weights, dtype=np.float64))
    weights[weights < LEAST_WEIGHT] = 0.0
    normalised: FloatArray = weights / math.fsum(weights.tolist())
    return normalised


def checked_beta(beta: float) -> float:
    """Return the exponent of the likelihood; raise an error unless it is a nonnegative number."""
    if not beta >= 0.0:
        raise ValueError(f"beta={beta} must be a number >= 0")
    return float(beta)


def checked_densities(log_densities: ArrayLike) -> FloatArray:
    """Return log predictive densities of shape (rows, models); all must be finite."""
    lp = np.asarray(log_densities, dtype=np.float64)
    if lp.ndim != 2 or not lp.shape[1]:
        raise ValueError("there must be at least one model: densities have shape (rows, models)")
    if not len(lp):
        raise ValueError("there must be at least one row to evaluate the models on")
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


TOPS = (1, 5, 10)


@dataclass(frozen=True)
class PosteriorReport:
    """Diagnostics of weights that sum to 1.

    Parameters
    ----------
    n_models : int
        Number of weights.
    entropy, perplexity : float
        Shannon entropy in nats, and its exponential: an effective number of models.
    kish : float
        1 / sum of squared weights: another effective number, at most the perplexity.
    w_max : float
        The largest weight.
    rest_ratio : float
        Mean of the other weights divided by the largest (Domingos); 0 for one model.
    top : dict of int to float
        Total weight of the 1, 5 and 10 heaviest models.
    log_odds : float or None
        Log ratio of the two largest weights; None without a second one, or if it is 0.
    agreement : float or None
        Share of rows on which the average predicts like the heaviest model, if known.
    """

    n_models: int
    entropy: float
    perplexity: float
    kish: float
    w_max: float
    rest_ratio: float
    top: dict[int, float]
    log_odds: float | None
    agreement: float | None = None

    @classmethod
    def of(cls, log_weights: ArrayLike, agreement: float | None = None) -> PosteriorReport:
        """Create a report from log weights, which are normalised."""
        logs = np.sort(np.asarray(log_weights, dtype=np.float64))[::-1]
        if not len(logs) or not logs[0] < math.inf or logs[0] == -math.inf:
            raise ValueError("a report needs at least one weight above 0")
        weights = np.exp(logs - logs[0])
        weights /= math.fsum(weights.tolist())
        n, w_max = len(logs), float(weights[0])
        odds = float(logs[0] - logs[1]) if n > 1 and logs[1] > -math.inf else None
        spread = perplexity(weights)
        squares = math.fsum((weights * weights).tolist())
        rest = math.fsum(weights[1:].tolist())
        return cls(
            n_models=n,
            entropy=math.log(spread),
            perplexity=spread,
            kish=1.0 / squares,
            w_max=w_max,
            rest_ratio=rest / ((n - 1) * w_max) if n > 1 else 0.0,
            top={k: min(1.0, math.fsum(weights[:k].tolist())) for k in TOPS},
            log_odds=odds,
            agreement=agreement,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return asdict(self) | {"top": {str(k): mass for k, mass in self.top.items()}}

    def __str__(self) -> str:
        odds = "" if self.log_odds is None else f", {self.log_odds:.3g} nats above the second"
        agrees = "" if self.agreement is None else f"; agrees with it on {self.agreement:.1%}"
        return (
            f"{self.n_models} weights, effectively {self.perplexity:.3g} (perplexity) or "
            f"{self.kish:.3g} (Kish); the largest is {self.w_max:.3g}{odds}{agrees}"
        )


def perplexity(weights: ArrayLike) -> float:
    """Return exp of the entropy of weights that sum to 1: between 1 and their number."""
    shares = np.asarray(weights, dtype=np.float64)
    entropy = -math.fsum(xlogy(shares, shares).tolist())
    return min(max(math.exp(entropy), 1.0), float(len(shares)))


BETAS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Candidate powers: 0 is the plain average, 1 Bayes."""
_STEPS = 200


def beta_by_log_loss(
    log_likelihoods: ArrayLike,
    log_densities: ArrayLike,
    *,
    prior: ArrayLike | None = None,
    row_weights: ArrayLike | None = None,
    betas: Sequence[float] = BETAS,
) -> float:
    """Choose the power whose average predicts rows best; ties go to the smallest.

    Parameters
    ----------
    log_likelihoods : array-like of shape (models,)
        The log likelihoods to temper.
    log_densities : array-like of shape (rows, models)
        Log predictive densities of rows that the models were not learned from.
    prior, row_weights : array-like, optional
        Prior weights of models, and row weights; uniform by default.
    betas : sequence of float
        The candidate powers.
    """
    lp = checked_densities(log_densities)
    logs = np.asarray(log_likelihoods, dtype=np.float64)
    losses = [log_loss_of(lp, log_posterior(logs, prior, beta), row_weights) for beta in betas]
    return float(betas[int(np.argmin(losses))])


def beta_for_perplexity(
    log_likelihoods: ArrayLike, target: float, *, prior: ArrayLike | None = None
) -> float:
    """Find the power in [0, 1] at which the weights have a given perplexity, by bisection.

    With a uniform prior the perplexity decreases in the power. If even Bayes' weights reach the
    target, the power is 1.
    """
    logs = np.asarray(log_likelihoods, dtype=np.float64)
    if not 1.0 <= target <= len(logs):
        raise ValueError(f"target={target}: the perplexity of {len(logs)} models is from 1 to that")

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
    """Return the mean negative log density of rows under a weighted average of models."""
    losses = -logsumexp(log_densities + log_weights, axis=1)
    weights = None if row_weights is None else np.asarray(row_weights, dtype=np.float64)
    return float(np.average(losses, weights=weights))
