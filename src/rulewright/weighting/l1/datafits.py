"""Losses of a score F for a target y, row by row, for the solvers.

A datafit provides its `value`, its `residual` -dL/dF, a `curvature` (weights of the quadratic that
approximates the loss near F), the `conjugate` L*(-theta) for the dual problem, and the best
`constant` score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
from scipy.special import xlogy

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray

LEAST_CURVATURE = 1e-5
"""Minimum curvature of perfectly fitted rows, so that Newton steps stay finite."""


class Datafit(Protocol):
    """A loss."""

    name: ClassVar[str]
    is_quadratic: ClassVar[bool]
    is_convex: ClassVar[bool]

    def check(self, y: FloatArray) -> None:
        """Raise an error for invalid targets."""

    def value(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Return the losses."""

    def residual(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Return the negative derivatives."""

    def curvature(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Return the weights of the quadratic approximation of the loss."""

    def conjugate(self, y: FloatArray, theta: FloatArray) -> FloatArray:
        """Return the conjugate of the losses at -theta."""

    def constant(self, y: FloatArray, weights: FloatArray) -> float:
        """Return the constant score with minimum loss."""


@dataclass(frozen=True)
class Squared:
    """Half the squared error, (y - F)^2 / 2."""

    name: ClassVar[str] = "squared"
    is_quadratic: ClassVar[bool] = True
    is_convex: ClassVar[bool] = True

    def check(self, y: FloatArray) -> None:
        """Accept all numbers."""

    def value(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Return (y - F)^2 / 2."""
        return np.asarray(0.5 * (y - scores) ** 2)

    def residual(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Return y - F."""
        return y - scores

    def curvature(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Return 1."""
        return np.ones(len(y))

    def conjugate(self, y: FloatArray, theta: FloatArray) -> FloatArray:
        """Return theta^2 / 2 - theta y."""
        return np.asarray(0.5 * theta**2 - theta * y)

    def constant(self, y: FloatArray, weights: FloatArray) -> float:
        """Return the mean."""
        return float(np.average(y, weights=weights))


@dataclass(frozen=True)
class Ramp(Squared):
    """Half the squared error of the score clipped to [-1, 1], for classes -1 and 1."""

    name: ClassVar[str] = "ramp"
    is_quadratic: ClassVar[bool] = False
    is_convex: ClassVar[bool] = False

    def check(self, y: FloatArray) -> None:
        """Require -1 and 1."""
        _check_signs(y, "ramp")

    def value(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Return (y - clip(F))^2 / 2."""
        return np.asarray(0.5 * (y - np.clip(scores, -1, 1)) ** 2)

    def residual(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Return y - F inside (-1, 1) and 0 outside."""
        return np.asarray(np.where(np.abs(scores) < 1, y - scores, 0.0))


@dataclass(frozen=True)
class Logistic:
    """The negative log-likelihood log(1 + exp(-y F)) of classes -1 and 1."""

    name: ClassVar[str] = "logistic"
    is_quadratic: ClassVar[bool] = False
    is_convex: ClassVar[bool] = True

    def check(self, y: FloatArray) -> None:
        """Require -1 and 1."""
        _check_signs(y, "logistic")

    def value(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Return log(1 + exp(-y F))."""
        margins = y * scores
        return np.asarray(np.log1p(np.exp(-np.abs(margins))) - np.minimum(margins, 0.0))

    def residual(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Return y / (1 + exp(y F))."""
        margins = y * scores
        odds = np.exp(-np.abs(margins))
        return np.asarray(y * np.where(margins > 0, odds, 1.0) / (1.0 + odds))

    def curvature(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Return p (1 - p)."""
        odds = np.exp(-np.abs(scores))
        return np.asarray(np.maximum(odds / (1.0 + odds) ** 2, LEAST_CURVATURE))

    def conjugate(self, y: FloatArray, theta: FloatArray) -> FloatArray:
        """Return u log u + (1 - u) log(1 - u) with u = y theta."""
        u = np.clip(y * theta, 0.0, 1.0)
        return np.asarray(xlogy(u, u) + xlogy(1 - u, 1 - u))

    def constant(self, y: FloatArray, weights: FloatArray) -> float:
        """Return the log-odds, clipped at 35 so that a single class has no residual."""
        up, down = float(weights[y > 0].sum()), float(weights[y < 0].sum())
        with np.errstate(divide="ignore"):
            return float(np.clip(np.log(up) - np.log(down), -35.0, 35.0))


@dataclass(frozen=True)
class Huber:
    """Squared error of small residuals, absolute error beyond `delta`."""

    delta: float = 1.35
    name: ClassVar[str] = "huber"
    is_quadratic: ClassVar[bool] = False
    is_convex: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.delta > 0:
            raise ValueError(f"delta must be above 0, not {self.delta}")

    def check(self, y: FloatArray) -> None:
        """Accept all numbers."""

    def value(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Return r^2 / 2, or delta |r| - delta^2 / 2 beyond delta."""
        r = np.abs(y - scores)
        near = np.minimum(r, self.delta)
        return np.asarray(near * (r - near / 2))

    def residual(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Return y - F, clipped to [-delta, delta]."""
        return np.clip(y - scores, -self.delta, self.delta)

    def curvature(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Return the weight of the quadratic majorant that touches the loss at F."""
        r = np.abs(y - scores)
        return np.asarray(self.delta / np.maximum(r, self.delta))

    def conjugate(self, y: FloatArray, theta: FloatArray) -> FloatArray:
        """Return theta^2 / 2 - theta y, for |theta| <= delta."""
        return np.asarray(0.5 * theta**2 - theta * y)

    def constant(self, y: FloatArray, weights: FloatArray) -> float:
        """Find the score at which the residuals sum to 0, by bisection."""
        low, high = float(y.min()), float(y.max())
        while True:
            middle = 0.5 * (low + high)
            if not low < middle < high:
                return middle
            if float(weights @ self.residual(y, np.full(len(y), middle))) > 0:
                low = middle
            else:
                high = middle


def _check_signs(y: FloatArray, name: str) -> None:
    other = np.flatnonzero(np.abs(y) != 1)
    if len(other):
        raise ValueError(
            f"the {name} loss needs targets -1 and 1: row {other[0]} has {y[other[0]]}"
        )
