"""Twins of `native/weighting/rule_matrix.cpp` and `descent.cpp`, on the dense matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.kernels.structs import FloatArray, IntArray, WordArray


@dataclass(frozen=True)
class Quadratic:
    """How coordinate descent looks at columns: weight of all rows, means, scales, norms."""

    weight: float
    means: FloatArray
    scales: FloatArray
    norms: FloatArray


class RuleMatrix:
    """Columns of 0 and 1, then columns of numbers."""

    def __init__(self, covers: WordArray, dense: FloatArray) -> None:
        bits = np.unpackbits(covers.astype("<u8").view(np.uint8), axis=1, bitorder="little")
        self.x = np.vstack([bits[:, : dense.shape[1]].astype(np.float64), dense]).T

    def sums(self, columns: IntArray, values: FloatArray, n_threads: int) -> FloatArray:
        """Give sum_i x_ij v_i of the columns."""
        return np.asarray(values @ self.x[:, columns])

    def add(self, columns: IntArray, coefs: FloatArray, scores: FloatArray) -> None:
        """Add sum_j coefs_j x_ij to the scores."""
        scores += self.x[:, columns] @ coefs

    def cross(
        self, columns: IntArray, others: IntArray, weights: FloatArray, n_threads: int
    ) -> FloatArray:
        """Give sum_i w_i x_ij x_ik, columns x others; without weights every row weighs one."""
        w = weights if len(weights) else np.ones(len(self.x))
        products = (self.x[:, columns] * w[:, None]).T @ self.x[:, others]
        return np.asarray(products.ravel())

    def descend(
        self,
        quadratic: Quadratic,
        weights: FloatArray,
        columns: IntArray,
        l1: float,
        l2: float,
        change: float,
        max_sweeps: int,
        coefs: FloatArray,
        residuals: FloatArray,
    ) -> int:
        """Minimise the penalised quadratic over the columns; the residuals are w_i r_i."""
        a = (self.x - quadratic.means) * quadratic.scales

        def move(j: int, step: float) -> None:
            residuals[:] -= step * weights * a[:, j]

        def pull(j: int) -> float:
            return float(a[:, j] @ residuals)

        return _descend(pull, move, quadratic.norms, columns, l1, l2, change, max_sweeps, coefs)


def descend_products(
    products: FloatArray | IntArray,
    quadratic: Quadratic,
    columns: IntArray,
    l1: float,
    l2: float,
    change: float,
    max_sweeps: int,
    coefs: FloatArray,
    sums: FloatArray,
) -> int:
    """Minimise the penalised quadratic from raw cross-products and the sums of w_i r_i x_ij."""
    n, means, scales = len(coefs), quadratic.means, quadratic.scales
    gram = products[:n, :n] - quadratic.weight * np.outer(means, means)

    def move(j: int, step: float) -> None:
        sums[:] -= step * scales[j] * gram[j]

    def pull(j: int) -> float:
        return float(scales[j] * sums[j])

    return _descend(pull, move, quadratic.norms, columns, l1, l2, change, max_sweeps, coefs)


def _descend(
    pull: Callable[[int], float],
    move: Callable[[int, float], None],
    norms: FloatArray,
    columns: IntArray,
    l1: float,
    l2: float,
    change: float,
    max_sweeps: int,
    coefs: FloatArray,
) -> int:
    """Sweep over all columns, over those not zero until nothing changes, and over all again.

    The kernel also extrapolates from five sweeps to the next, and solves for the least point with
    the same signs after many; both end at the same minimum.
    """

    def sweep(swept: IntArray) -> float:
        largest = 0.0
        for j in swept.tolist():
            if norms[j] <= 0:
                continue
            target = pull(j) + norms[j] * coefs[j]
            found = np.sign(target) * max(abs(target) - l1, 0.0) / (norms[j] + l2)
            step = float(found - coefs[j])
            move(j, step)
            coefs[j] += step
            largest = max(largest, norms[j] * step * step)
        return largest

    n_sweeps = 0
    while n_sweeps < max_sweeps:
        n_sweeps += 1
        if sweep(columns) <= change:
            break
        active = columns[coefs[columns] != 0]
        while n_sweeps < max_sweeps:
            n_sweeps += 1
            if sweep(active) <= change:
                break
    return n_sweeps
