"""Stacking of predictive distributions (Yao, Vehtari, Simpson and Gelman, 2018)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting.posterior.normalising import checked_densities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rulewright.kernels import FloatArray

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
    concave objective. Weights are optimal where no such mean is above 1 (the condition of Karush,
    Kuhn and Tucker): the steps end when none is above 1 + `tolerance`, which also bounds how far
    the mean log density is from its maximum.

    Parameters
    ----------
    log_densities : array-like of shape (rows, models)
        Log predictive densities of rows that the models were not learned from.
    row_weights : array-like of shape (rows,), optional
        Weights of the rows; all alike by default.
    tolerance : float
        When to stop.
    max_steps : int
        Most steps; if they do not suffice, a warning tells how far the weights are off.
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
        f"stacking: {max_steps} steps leave the mean log density up to {gap:.1e} below its maximum",
        UserWarning,
        stacklevel=2,
    )
    return weights


def _shares(row_weights: ArrayLike | None, n_rows: int) -> FloatArray:
    weights = np.ones(n_rows) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
    shares: FloatArray = weights / weights.sum()
    return shares
