"""Losses that are sums over rows: the constant that minimises them and their negative gradient.

Scores F have the shape (rows, outputs); all losses but softmax have one output. `start` is F_0, one
number per output; ``residuals(F, rows)`` is -dL/dF at some of the rows. Squared and ramp losses
drop the factor 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, softmax

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray, IntArray, RowArray


class SquaredLoss:
    """(y - F)^2."""

    def __init__(self, target: FloatArray, weights: FloatArray) -> None:
        self.target = target[:, np.newaxis]
        self.start: FloatArray = np.average(self.target, axis=0, weights=weights)

    def residuals(self, scores: FloatArray, rows: RowArray) -> FloatArray:
        """Return y - F."""
        answer: FloatArray = self.target[rows] - scores[rows]
        return answer


class RampLoss(SquaredLoss):
    """(y - clip(F, -1, 1))^2 for y = -1 or +1."""

    def residuals(self, scores: FloatArray, rows: RowArray) -> FloatArray:
        """Return y - F where F is not clipped, 0 elsewhere."""
        inside = np.abs(scores[rows]) < 1
        answer: FloatArray = np.where(inside, self.target[rows] - scores[rows], 0.0)
        return answer


class LogisticLoss:
    """log(1 + exp(-y F)) for y = -1 or +1."""

    def __init__(self, target: FloatArray, weights: FloatArray) -> None:
        self.target = target[:, np.newaxis]
        self.start: FloatArray = logit(np.average(self.target > 0, axis=0, weights=weights))

    def residuals(self, scores: FloatArray, rows: RowArray) -> FloatArray:
        """Return y / (1 + exp(y F))."""
        y = self.target[rows]
        answer: FloatArray = y * expit(-y * scores[rows])
        return answer


class HuberLoss:
    """(y - F)^2 / 2 up to a deviation of `delta`, and linear beyond."""

    def __init__(self, target: FloatArray, weights: FloatArray, delta: float) -> None:
        self.target, self.delta = target[:, np.newaxis], delta

        def slope(centre: float) -> float:
            return float(weights @ np.clip(target - centre, -delta, delta))

        low, high = float(target.min()), float(target.max())
        self.start: FloatArray = np.array([brentq(slope, low, high) if low < high else low])

    def residuals(self, scores: FloatArray, rows: RowArray) -> FloatArray:
        """Return y - F, no farther from 0 than `delta`."""
        answer: FloatArray = np.clip(self.target[rows] - scores[rows], -self.delta, self.delta)
        return answer


class SoftmaxLoss:
    """-log of the probability of the row's class, one output per class."""

    def __init__(self, labels: IntArray, weights: FloatArray, n_classes: int) -> None:
        self.indicators = np.eye(n_classes)[labels]
        with np.errstate(divide="ignore"):  # a class without rows has the probability 0
            self.start: FloatArray = np.log(np.average(self.indicators, axis=0, weights=weights))

    def residuals(self, scores: FloatArray, rows: RowArray) -> FloatArray:
        """Return [y = k] - p_k."""
        answer: FloatArray = self.indicators[rows] - softmax(scores[rows], axis=1)
        return answer
