"""Pseudo-BMA+: softmax of summed log predictive densities, averaged over a Bayesian bootstrap."""

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


def pseudo_bma_weights(
    log_densities: ArrayLike,
    row_weights: ArrayLike | None = None,
    *,
    n_draws: int = N_DRAWS,
    random_state: object = None,
) -> FloatArray:
    r"""Average :math:`softmax(n \alpha' lp)` over draws of row weights from a Dirichlet(1).

    The draws show how uncertain the sums are, which softens the weights. Without draws it is
    pseudo-BMA: the softmax of the sums themselves.

    Parameters
    ----------
    log_densities : array-like of shape (rows, models)
        Log predictive densities of rows that the models were not learned from.
    row_weights : array-like of shape (rows,), optional
        Weights of the rows, read as numbers of rows: the Dirichlet distribution has them as
        parameters.
    n_draws : int
        Number of draws.
    random_state : int, RandomState or None
        Source of the draws.
    """
    lp = checked_densities(log_densities)
    sizes = np.ones(len(lp)) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
    if not n_draws:
        return np.asarray(softmax(sizes @ lp))
    random = optional("sklearn.utils").check_random_state(random_state)
    total = np.zeros(lp.shape[1])
    for _ in range(n_draws):  # one at a time: the rows may be many
        gammas = random.standard_gamma(sizes)
        total += softmax((sizes.sum() / gammas.sum()) * (gammas @ lp))
    return total / n_draws
