"""Weights of models from held-out densities: pseudo-BMA+, stacking, Bayesian combination.

Bayesian model combination has a posterior over mixtures of the models instead of models.
Pseudo-BMA+ is the softmax of summed log predictive densities, averaged over a Bayesian bootstrap.
Stacking combines predictive distributions (Yao, Vehtari, Simpson and Gelman, 2018).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import softmax

from rulewright.data import optional
from rulewright.weighting.posterior.weights import checked_densities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rulewright.kernels import FloatArray


N_DRAWS = 1000
MOST_MODELS = 50
"""With more models, random mixtures are all close to the plain average."""


def combination_weights(
    log_densities: ArrayLike,
    row_weights: ArrayLike | None = None,
    *,
    n_draws: int = N_DRAWS,
    random_state: object = None,
) -> FloatArray:
    """Average mixtures drawn from a Dirichlet(1), weighted by the likelihood of the mixture.

    The parameters are the same as for `pseudo_bma_weights`.
    """
    lp = checked_densities(log_densities)
    sizes = np.ones(len(lp)) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
    if n_draws < 1:
        raise ValueError(f"n_draws={n_draws} must be at least 1")
    random = optional("sklearn.utils").check_random_state(random_state)
    largest = lp.max(axis=1, keepdims=True)
    p = np.exp(lp - largest)
    mixtures = random.dirichlet(np.ones(lp.shape[1]), size=n_draws)
    logs = np.array([sizes @ np.log(p @ mixture) for mixture in mixtures])
    return np.asarray(softmax(logs) @ mixtures)


def pseudo_bma_weights(
    log_densities: ArrayLike,
    row_weights: ArrayLike | None = None,
    *,
    n_draws: int = N_DRAWS,
    random_state: object = None,
) -> FloatArray:
    r"""Average :math:`softmax(n \alpha' lp)` over draws of row weights from a Dirichlet(1).

    The draws reflect the uncertainty of the sums, which softens the weights. Without draws it is
    pseudo-BMA: the softmax of the sums themselves.

    Parameters
    ----------
    log_densities : array-like of shape (rows, models)
        Log predictive densities of rows that the models were not learned from.
    row_weights : array-like of shape (rows,), optional
        Row weights, as numbers of rows: the parameters of the Dirichlet distribution.
    n_draws : int
        Number of draws.
    random_state : int, RandomState or None
        Random numbers for the draws.
    """
    lp = checked_densities(log_densities)
    sizes = np.ones(len(lp)) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
    if not n_draws:
        return np.asarray(softmax(sizes @ lp))
    random = optional("sklearn.utils").check_random_state(random_state)
    total = np.zeros(lp.shape[1])
    for _ in range(n_draws):  # one at a time, to limit memory
        gammas = random.standard_gamma(sizes)
        total += softmax((sizes.sum() / gammas.sum()) * (gammas @ lp))
    return total / n_draws


TOLERANCE = 1e-8
MAX_STEPS = 100_000


def stacking_weights(
    log_densities: ArrayLike,
    row_weights: ArrayLike | None = None,
    *,
    tolerance: float = TOLERANCE,
    max_steps: int = MAX_STEPS,
) -> FloatArray:
    r"""Maximise :math:`\sum_i \log \sum_k w_k p_{ik}` over weights that sum to 1, by EM.

    A step multiplies each weight by the mean of :math:`p_{ik} / (pw)_i`, which cannot lower the
    concave objective. Weights are optimal if no such mean exceeds 1 (the Karush-Kuhn-Tucker
    condition). The steps stop when none exceeds 1 + `tolerance`, which also bounds the distance of
    the mean log density from its maximum.

    Parameters
    ----------
    log_densities : array-like of shape (rows, models)
        Log predictive densities of rows that the models were not learned from.
    row_weights : array-like of shape (rows,), optional
        Row weights; equal by default.
    tolerance : float
        Stopping threshold.
    max_steps : int
        Maximum number of steps; if they are not enough, a warning says how far the weights are off.
    """
    lp = checked_densities(log_densities)
    shares = _shares(row_weights, len(lp))
    p = np.exp(lp - lp.max(axis=1, keepdims=True))
    weights = np.full(lp.shape[1], 1.0 / lp.shape[1])
    gap = 0.0
    for _ in range(max_steps):
        factors = (shares / (p @ weights)) @ p
        gap = float(factors.max()) - 1.0
        if gap <= tolerance:
            return weights
        weights *= factors
        weights /= weights.sum()
    warnings.warn(
        f"stacking: after {max_steps} steps the mean log density is {gap:.1e} below its maximum",
        UserWarning,
        stacklevel=2,
    )
    return weights


def _shares(row_weights: ArrayLike | None, n_rows: int) -> FloatArray:
    weights = np.ones(n_rows) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
    shares: FloatArray = weights / weights.sum()
    return shares
