"""Votes of rules, the row statistics for each vote, and start scores.

A vote is for a union of adjacent classes. The statistics are pairs (g, h) of derivatives: one pair
for each class, or for each cut between ordered classes, which serves both of its sides. Scores
start from the default rule (MLRules, section 4.1 of its card).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.kernels import FloatArray, Score, StatArray
from rulewright.rules import Head

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def heads(n_classes: int, ordinal: bool) -> tuple[Head, ...]:
    """Return the possible votes of a rule; with two classes the order does not matter."""
    if not ordinal:
        return tuple(Head(k, k) for k in range(n_classes))
    cuts = range(1, n_classes)
    return tuple(head for k in cuts for head in (Head(0, k - 1), Head(k, n_classes - 1)))


def is_cumulative(n_classes: int, ordinal: bool) -> bool:
    """Return whether votes are for the sides of cuts, as with two classes."""
    return ordinal or n_classes == 2


class VoteLanes:
    """The votes of a fit, and the statistics for each.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    ordinal : bool
        Whether the classes are ordered and rules vote for "at least" or "at most" a class.
    unit : float
        The value of one unit of the statistics.
    """

    def __init__(self, n_classes: int, ordinal: bool, unit: float) -> None:
        self.n_classes, self.unit = n_classes, unit
        self.heads = heads(n_classes, ordinal)
        self.cumulative = is_cumulative(n_classes, ordinal)
        self.n_pairs = n_classes - self.cumulative
        self._scores: dict[tuple[str, float, Head | None], Score] = {}  # with their bound structs

    def score(self, kind: str, l2: float, head: Head | None = None) -> Score:
        """Describe the score for the search: over all votes, or for one `head` only."""
        key = kind, l2, head
        if key not in self._scores:
            self._scores[key] = self._new_score(*key)
        return self._scores[key]

    def _new_score(self, kind: str, l2: float, head: Head | None) -> Score:
        if head is None:
            return Score(
                kind, unit=self.unit, n_lanes=2 * self.n_pairs, l2=l2, down=self.cumulative
            )
        pair, down = self.pair_of(head)
        return Score(kind, unit=self.unit, first_lane=2 * pair, l2=l2, up=not down, down=down)

    def head_of(self, score: Score, vote: int) -> Head:
        """Return the head that a vote of a search with this score belongs to."""
        pair, down = score.first_lane // 2 + vote // 2, vote % 2
        if not self.cumulative:
            return Head(pair, pair)
        return Head(0, pair) if down else Head(pair + 1, self.n_classes - 1)

    def pair_of(self, head: Head) -> tuple[int, bool]:
        """Return the pair of statistics for the head, and whether to negate g."""
        if not self.cumulative:
            return head.first, False
        down = head.first == 0
        return (head.last if down else head.first - 1), down

    def best_head(self, totals: StatArray, kind: str, l2: float) -> Head:
        """Return the head whose criterion is lowest, given the sums of the statistics."""
        pairs, signs = self._head_pairs
        criterion = totals[2 * pairs] * self.unit * signs
        if kind == "newton":
            h = totals[2 * pairs + 1] * self.unit
            criterion = criterion / np.sqrt(np.maximum(h + l2, 1e-12))
        return self.heads[int(np.argmin(criterion))]

    @cached_property
    def _head_pairs(self) -> tuple[NDArray[np.intp], FloatArray]:
        """The pair of each head, and the sign with which it reads g."""
        found = [self.pair_of(head) for head in self.heads]
        pairs = np.array([pair for pair, _ in found], dtype=np.intp)
        return pairs, np.array([-1.0 if down else 1.0 for _, down in found])


class Prior(NamedTuple):
    """Class shares of the training rows, and the possible votes of a default rule."""

    shares: FloatArray
    heads: tuple[Head, ...]
    half_row: float
    l2: float
    learning_rate: float
    total: float

    def share(self, head: Head) -> float:
        """Share of the classes of a head, at least half a row away from 0 and 1."""
        share = float(self.shares[head.classes].sum())
        return min(max(share, self.half_row), 1 - self.half_row)

    def derivatives(self, head: Head) -> tuple[float, float]:
        """Return g and h of a vote of the default rule, at scores of zero."""
        k, size = len(self.shares), head.last - head.first + 1
        g = self.total * (size / k - self.share(head))
        return g, self.total * size * (k - size) / k**2

    def best_head(self) -> Head:
        """Return the head with the lowest g / sqrt(h + l2); ties go to the first.

        With one vote per class it is the majority class: all h are equal.
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
    """Vote for the best head with one Newton step, as in the paper."""
    head = prior.best_head()
    g, h = prior.derivatives(head)
    return prior.vote(head, -g / (h + prior.l2))


def newton_shrunk(prior: Prior) -> FloatArray:
    """Vote with a shrunken Newton step, as in the authors' program."""
    return prior.learning_rate * newton(prior)


def log_prior(prior: Prior) -> FloatArray:
    """Start from the logs of the class shares: the best constant model."""
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
    """Return the scores of the default rule for the given class weights."""
    total = float(class_weights.sum())
    votes = heads(len(class_weights), ordinal)
    prior = Prior(class_weights / total, votes, 1 / (2 * n_rows), l2, learning_rate, total)
    return DEFAULT_RULES[kind](prior)
