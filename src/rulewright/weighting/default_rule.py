"""The rule that always fires: scores to start from (MLRules, section 4.1 of its card)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.weighting.votes import heads

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.kernels import FloatArray
    from rulewright.rules import Head


class Prior(NamedTuple):
    """Shares of the classes among the training rows, and the votes a default rule may cast."""

    shares: FloatArray
    heads: tuple[Head, ...]
    half_row: float
    l2: float
    learning_rate: float
    total: float

    def share(self, head: Head) -> float:
        """Share of the classes of a head, kept off 0 and 1 by half a row."""
        share = float(self.shares[head.classes].sum())
        return min(max(share, self.half_row), 1 - self.half_row)

    def derivatives(self, head: Head) -> tuple[float, float]:
        """Return g and h of a vote of the rule that always fires, at scores of zero."""
        k, size = len(self.shares), head.last - head.first + 1
        g = self.total * (size / k - self.share(head))
        return g, self.total * size * (k - size) / k**2

    def best_head(self) -> Head:
        """Return the head with the lowest g / sqrt(h + l2), the first of equals.

        With a vote per class it is the majority class: all h are equal.
        """

        def criterion(head: Head) -> float:
            g, h = self.derivatives(head)
            return g / math.sqrt(h + self.l2)

        return min(self.heads, key=criterion)

    def vote(self, head: Head, alpha: float) -> FloatArray:
        """Return scores of `alpha` for the classes of the head and 0 for the others."""
        scores = np.zeros(len(self.shares))
        scores[head.classes] = alpha
        return scores


def exact(prior: Prior) -> FloatArray:
    """Vote for the best head with the response that minimises the loss."""
    head = prior.best_head()
    share, size = prior.share(head), head.last - head.first + 1
    odds = share * (len(prior.shares) - size) / ((1 - share) * size)
    return prior.vote(head, math.log(odds))


def newton(prior: Prior) -> FloatArray:
    """Vote for the best head with one Newton step, as the paper prints it."""
    head = prior.best_head()
    g, h = prior.derivatives(head)
    return prior.vote(head, -g / (h + prior.l2))


def newton_shrunk(prior: Prior) -> FloatArray:
    """Vote with a shrunk Newton step, as the authors' program does."""
    return prior.learning_rate * newton(prior)


def log_prior(prior: Prior) -> FloatArray:
    """Start from the logarithms of the shares: the best constant model."""
    return np.log(np.clip(prior.shares, prior.half_row, 1 - prior.half_row))


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
    kind: str,
    class_weights: FloatArray,
    n_rows: int,
    l2: float,
    learning_rate: float,
    ordinal: bool = False,
) -> FloatArray:
    """Return the scores of the default rule for the given weights of the classes."""
    total = float(class_weights.sum())
    votes = heads(len(class_weights), ordinal)
    prior = Prior(class_weights / total, votes, 1 / (2 * n_rows), l2, learning_rate, total)
    return DEFAULT_RULES[kind](prior)
