"""The rule that always fires: scores to start from (MLRules, section 4.1 of its card)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.kernels import FloatArray


class Prior(NamedTuple):
    """Shares of the classes among the training rows, kept off 0 and 1 by half a row."""

    shares: FloatArray
    l2: float
    shrinkage: float
    total: float

    @property
    def majority(self) -> int:
        """Class with the largest share; the lower one of equals."""
        return int(np.argmax(self.shares))


def _vote(prior: Prior, alpha: float) -> FloatArray:
    scores = np.zeros(len(prior.shares))
    scores[prior.majority] = alpha
    return scores


def exact(prior: Prior) -> FloatArray:
    """Vote for the majority class with the response that minimises the loss."""
    share = prior.shares[prior.majority]
    return _vote(prior, math.log(share * (len(prior.shares) - 1) / (1 - share)))


def newton(prior: Prior) -> FloatArray:
    """Vote for the majority class with one Newton step, as the paper prints it."""
    k = len(prior.shares)
    g = prior.total * (1 / k - prior.shares[prior.majority])
    return _vote(prior, -g / (prior.total * (k - 1) / k**2 + prior.l2))


def newton_shrunk(prior: Prior) -> FloatArray:
    """Vote with a shrunk Newton step, as the authors' program does."""
    return prior.shrinkage * newton(prior)


def log_prior(prior: Prior) -> FloatArray:
    """Start from the logarithms of the shares: the best constant model."""
    return np.log(prior.shares)


def none(prior: Prior) -> FloatArray:
    """Start from zero."""
    return np.zeros(len(prior.shares))


DEFAULT_RULES: dict[str, Callable[[Prior], FloatArray]] = {
    "exact": exact,
    "newton": newton,
    "newton_shrunk": newton_shrunk,
    "prior": log_prior,
    "none": none,
}


def default_scores(
    kind: str, class_weights: FloatArray, n_rows: int, l2: float, shrinkage: float
) -> FloatArray:
    """Return the scores of the default rule for the given weights of the classes."""
    total = float(class_weights.sum())
    shares = np.clip(class_weights / total, 1 / (2 * n_rows), 1 - 1 / (2 * n_rows))
    return DEFAULT_RULES[kind](Prior(shares, l2, shrinkage, total))
