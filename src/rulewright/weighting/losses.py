"""Losses that are sums over rows: their best constant, and their negative gradient.

Scores F have the shape (rows, outputs); all losses except softmax have one output. `start` is F_0,
one number per output; ``residuals(F, rows)`` is -dL/dF for some rows. The formulas agree with
the datafits of `l1`, where squared and ramp losses are halved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit, softmax

from rulewright.weighting.l1.datafits import Datafit, Huber, Logistic, Ramp, Squared

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray, IntArray, RowArray


class PointwiseLoss:
    """A datafit with one output over given rows."""

    def __init__(self, target: FloatArray, weights: FloatArray, datafit: Datafit) -> None:
        self.target, self.datafit = target[:, np.newaxis], datafit
        self.start: FloatArray = np.array([datafit.constant(target, weights)])

    def residuals(self, scores: FloatArray, rows: RowArray) -> FloatArray:
        """Return -dL/dF."""
        return self.datafit.residual(self.target[rows], scores[rows])


class SquaredLoss(PointwiseLoss):
    """(y - F)^2."""

    def __init__(self, target: FloatArray, weights: FloatArray) -> None:
        super().__init__(target, weights, Squared())


class RampLoss(PointwiseLoss):
    """(y - clip(F, -1, 1))^2 for y = -1 or +1."""

    def __init__(self, target: FloatArray, weights: FloatArray) -> None:
        super().__init__(target, weights, Ramp())


class LogisticLoss(PointwiseLoss):
    """log(1 + exp(-y F)) for y = -1 or +1; 0 for a single class, whose start is infinite."""

    def __init__(self, target: FloatArray, weights: FloatArray) -> None:
        super().__init__(target, weights, Logistic())
        self.start = logit(np.average(self.target > 0, axis=0, weights=weights))


class HuberLoss(PointwiseLoss):
    """(y - F)^2 / 2 up to a deviation of `delta`, and linear beyond."""

    def __init__(self, target: FloatArray, weights: FloatArray, delta: float) -> None:
        super().__init__(target, weights, Huber(delta))


class SoftmaxLoss:
    """-log of the probability of the row's class, one output per class."""

    def __init__(self, labels: IntArray, weights: FloatArray, n_classes: int) -> None:
        self.indicators = np.eye(n_classes)[labels]
        with np.errstate(divide="ignore"):  # a class without rows has probability 0
            self.start: FloatArray = np.log(np.average(self.indicators, axis=0, weights=weights))

    def residuals(self, scores: FloatArray, rows: RowArray) -> FloatArray:
        """Return [y = k] - p_k."""
        answer: FloatArray = self.indicators[rows] - softmax(scores[rows], axis=1)
        return answer
