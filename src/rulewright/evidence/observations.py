"""How many independent observations rows stand for: weights, repeated rows, groups of rows.

Rows of unequal weight count as their effective number (Kish). Rows of a group share what the model
does not know. With an intra-group correlation r of the residuals, n rows of weights w count as

    (sum w)^2 / ((1 - r) sum w^2 + r sum W^2),

where W are the sums of the groups. Rows repeated within a group have r = 1: groups count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulewright.data import Groups
    from rulewright.kernels import FloatArray, IntArray

_DEVIATIONS = 1.0
"""Standard errors that are added to an estimated correlation."""

_LEAST_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Observations:
    """Weights, groups and repetitions of rows.

    Parameters
    ----------
    weights : float array
        Weight of each row, above 0.
    groups : int array, optional
        Group of each row; None if rows are independent.
    repeats : float array, optional
        Number of observations behind each row; None: one.
    """

    weights: FloatArray
    groups: Groups | None = None
    repeats: FloatArray | None = None

    @classmethod
    def of(cls, rows: Any) -> Self:
        """Return the observations of training rows."""
        return cls(rows.weights, rows.groups, rows.repeats)

    @property
    def are_rows(self) -> bool:
        """Whether every row counts as its weight: no groups, and weights are numbers of rows."""
        repeats = 1.0 if self.repeats is None else self.repeats
        return self.groups is None and bool(np.all(self.weights == repeats))

    def take(self, rows: Any) -> Self:
        """Return the observations of some rows: a mask or places."""
        parts = (self.weights, self.groups, self.repeats)
        return type(self)(*(part if part is None else part[rows] for part in parts))  # type: ignore[arg-type]

    def count(self, correlation: float = 1.0) -> float:
        """Return the effective number of observations; 0 without rows."""
        total, alone, grouped = self._sums()
        return total**2 / (alone + correlation * max(grouped - alone, 0.0)) if total else 0.0

    def _sums(self) -> tuple[float, float, float]:
        """Return the sum of the weights, of their squares, and of the squares of group sums."""
        if not len(self.weights):
            return 0.0, 0.0, 0.0
        weights = self.weights / self.weights.max()
        squares = np.square(weights) if self.repeats is None else np.square(weights) / self.repeats
        alone = float(squares.sum())
        grouped = alone
        if self.groups is not None:
            grouped = float(np.square(np.bincount(self.groups, weights)).sum())
        return float(weights.sum()), alone, grouped

    def correlate(self, parts: Iterable[tuple[Any, FloatArray]]) -> float:
        """Estimate from above how strongly values are correlated within groups.

        `parts` are rows (masks or places) with the values of all rows: values vary around the mean
        of a part. The correlation is pooled over the parts, and one standard error is added. It is
        1 if the parts do not determine it.
        """
        if self.groups is None:
            return 0.0
        _, groups = np.unique(self.groups, return_inverse=True)
        products, pairs = np.zeros(groups.max() + 1), np.zeros(groups.max() + 1)
        for rows, values in parts:
            own = groups[rows], self.weights[rows], values[rows]
            for sums, part in zip((products, pairs), _sum_products(*own, len(pairs)), strict=True):
                sums += part
        if not (whole := float(pairs.sum())):
            return 1.0
        found = float(products.sum()) / whole
        error = float(np.sqrt(np.square(products - found * pairs).sum())) / whole
        return min(max(found + _DEVIATIONS * error, 0.0), 1.0)


def _sum_products(
    groups: IntArray, weights: FloatArray, values: FloatArray, n_groups: int
) -> tuple[FloatArray, FloatArray]:
    """Sum products of the residuals of two rows of a group, and what they are if rows are equal."""
    present, total = len(np.unique(groups)), float(weights.sum())
    residuals = values - weights @ values / total if total else values
    variance = float(weights @ np.square(residuals)) / total if total else 0.0
    if present < 2 or variance < _LEAST_VARIANCE:
        return np.zeros(n_groups), np.zeros(n_groups)
    moments = weights * residuals

    def add(part: FloatArray) -> FloatArray:
        return np.bincount(groups, part, n_groups).astype(np.float64)

    # Residuals around an estimated mean are too small by one group.
    sums = np.square(add(moments)) * present / (present - 1)
    products = (sums - add(np.square(moments))) / variance
    return products, np.square(add(weights)) - add(np.square(weights))
