"""Bayesian model combination: the posterior is over mixtures of the models, not over the models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import softmax

from rulewright.data import optional
from rulewright.weighting.posterior.normalising import checked_densities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rulewright.kernels import FloatArray

N_DRAWS = 1000
MOST_MODELS = 50
"""Of more models, mixtures drawn at random are all near the plain average."""


def combination_weights(
    log_densities: ArrayLike,
    row_weights: ArrayLike | None = None,
    *,
    n_draws: int = N_DRAWS,
    random_state: object = None,
) -> FloatArray:
    """Average mixtures drawn from a Dirichlet(1), each weighed by the likelihood of the mixture.

    Parameters are those of `pseudo_bma_weights`.
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
