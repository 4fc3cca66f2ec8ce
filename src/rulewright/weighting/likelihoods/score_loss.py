"""Losses of one score per row, such as a log-rate: values, derivatives, and their bounds.

A loss is a negative log-likelihood of weighted rows, in nats. The search counts sums of g = w dL/dF
and h = w d2L/dF2 as 64-bit integers, in a unit that is a power of two: sums of the absolute
values are at most `bound`, and 2^61 units hold them, so that no sum overflows and a row loses at
most half a unit. A loss states its bound; where a bound depends on the scores, statistics that
exceed it are halved until they fit, all alike, which leaves their order.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray

LARGEST_SCORE = 700.0
"""Scores of losses with a logarithmic link count as no more: their exponentials are finite."""


class ScoreLoss(ABC):
    """A loss of one score per row.

    Parameters
    ----------
    weights : float64 array
        Weight of each row: a number of rows; rows of weight 0 are not learned from.
    """

    has_intercept: ClassVar[bool] = True
    """Whether a constant that is added to all scores changes the loss."""
    has_scale: ClassVar[bool] = False
    """Whether values are in units of an unknown scale, instead of nats."""

    def __init__(self, weights: FloatArray) -> None:
        self.weights, self.total = weights, float(weights.sum())

    @abstractmethod
    def losses(self, scores: FloatArray) -> FloatArray:
        """Return the loss of each row, without its weight."""

    @abstractmethod
    def derivatives(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the first and second derivative of each row, times its weight."""

    @property
    @abstractmethod
    def start(self) -> float:
        """The best constant score, or a number near it."""

    @property
    def bound(self) -> float:
        """What sums of |g|, and of h, do not exceed at the best constant score or a better fit."""
        return self.total

    def value(self, scores: FloatArray) -> float:
        """Return the weighted sum of the losses."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.weights * self.losses(scores)
        return float(found[self.weights > 0].sum())

    def curvature(
        self, scores: FloatArray, left: FloatArray, right: FloatArray, h: FloatArray
    ) -> FloatArray:
        """Return the second derivatives between columns, lines of the arrays, at some scores."""
        found: FloatArray = np.einsum("an,bn->ab", left * h, right)
        return found

    def own_curvature(self, scores: FloatArray, columns: FloatArray, h: FloatArray) -> FloatArray:
        """Return the second derivative of each column along itself."""
        found: FloatArray = np.einsum("an,an,n->a", columns, columns, h)
        return found


class LogLink(ScoreLoss):
    """Base of losses of numbers whose mean is an exponential: exposure times the rate.

    Parameters
    ----------
    numbers : float64 array
        The numbers, not negative.
    weights : float64 array
        Weight of each row.
    exposure : float64 array, optional
        What the expected numbers are proportional to; 1 by default. Its logarithm is the offset.
    """

    def __init__(
        self, numbers: FloatArray, weights: FloatArray, exposure: FloatArray | None = None
    ) -> None:
        super().__init__(weights)
        self.numbers = numbers
        self.exposure = np.ones(len(numbers)) if exposure is None else exposure

    def means(self, scores: FloatArray) -> FloatArray:
        """Return the expected numbers."""
        found: FloatArray = self.exposure * np.exp(np.minimum(scores, LARGEST_SCORE))
        return found

    @property
    def start(self) -> float:
        """The logarithm of the overall rate; half an event where there is none."""
        events = float(self.weights @ self.numbers)
        return math.log(max(events, 0.5) / float(self.weights @ self.exposure))
