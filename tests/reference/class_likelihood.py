"""Twin of `native/weighting/class_likelihood.cpp`: one class at a time."""

from __future__ import annotations

import math

import numpy as np

from rulewright.kernels.structs import STAT, ByteArray, FloatArray, IntArray, RowArray, StatArray


class ClassLikelihood:
    """State of a fit by maximum likelihood whose rules have their class chosen before."""

    def __init__(
        self,
        labels: IntArray,
        weights: FloatArray,
        exp_scores: FloatArray,
        stats: StatArray,
        scale: float,
    ) -> None:
        self.labels, self.weights, self.scale = labels, weights, scale
        self.exp_scores, self.stats = exp_scores, stats
        self.totals = np.add.accumulate(exp_scores, axis=0)[-1]

    def write_stats(self, k: int, n_threads: int) -> None:
        """Write g = w (p - [y = k]) and h = w p (1 - p) of all rows, in fixed point."""
        self.stats[:, :2] = self._pairs(np.arange(len(self.labels)), k, self.scale)

    def write_telling_rows(self, rows: RowArray, k: int, least: float) -> RowArray:
        """Write the statistics of rows of class k, or that have it with `least`; return them."""
        likely = self.exp_scores[k, rows] >= least * self.totals[rows]
        kept: RowArray = rows[(self.labels[rows] == k) | likely]
        self.stats[kept, :2] = self._pairs(kept, k, self.scale)
        return kept

    def sum_stats(self, rows: RowArray, k: int, scale: float, n_threads: int) -> StatArray:
        """Sum (g, h) of a vote for class k over the rows, with `scale` steps per unit."""
        sums: StatArray = self._pairs(rows, k, scale).sum(axis=0, dtype=STAT)
        return sums

    def loss_change(self, rows: RowArray, k: int, size: float, n_threads: int) -> float:
        """Tell what adding the step to class k would do to the loss."""
        p = self.exp_scores[k, rows] / self.totals[rows]
        hit = self.labels[rows] == k
        change = np.log1p(p * math.expm1(size)) - size * hit
        return float(np.sum(self.weights[rows] * change))

    def add_step(self, rows: RowArray, k: int, size: float, n_threads: int) -> float:
        """Add the step to the scores of class k; return the change of the loss."""
        change = self.loss_change(rows, k, size, n_threads)
        grown = self.exp_scores[k, rows] * math.exp(size)
        self.totals[rows] += grown - self.exp_scores[k, rows]
        self.exp_scores[k, rows] = grown
        large = rows[self.totals[rows] >= 1e200]
        self.exp_scores[:, large] /= self.totals[large]
        self.totals[large] = np.add.accumulate(self.exp_scores[:, large], axis=0)[-1]
        return change

    def residuals(self, rows: RowArray, n_threads: int) -> FloatArray:
        """Sum w (1 - p) of their own class over the rows of each class."""
        labels = self.labels[rows]
        p = self.exp_scores[labels, rows] / self.totals[rows]
        lacking = self.weights[rows] * (1 - p)
        return np.bincount(labels, lacking, len(self.exp_scores)).astype(np.float64)

    def class_weights(self, rows: RowArray, side: ByteArray, n_threads: int) -> FloatArray:
        """Return the weight of each class among the rows on side 0, and then on side 1."""
        n_classes = len(self.exp_scores)
        places = self.labels[rows] + n_classes * side[rows]
        return np.bincount(places, self.weights[rows], 2 * n_classes).astype(np.float64)

    def _pairs(self, rows: RowArray | np.ndarray, k: int, scale: float) -> StatArray:
        p, w = self.exp_scores[k, rows] / self.totals[rows], self.weights[rows]
        g = np.rint(w * (p - (self.labels[rows] == k)) * scale).astype(STAT)
        h = np.rint(w * p * (1 - p) * scale).astype(STAT)
        return np.stack([g, np.maximum(1, h)], axis=1)
