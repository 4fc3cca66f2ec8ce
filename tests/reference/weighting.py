"""Twins of `native/weighting/`: likelihood, weights of boosting, sparse fits."""

from __future__ import annotations

import math

import numpy as np

from rulewright.kernels.structs import (
    STAT,
    ByteArray,
    FloatArray,
    IntArray,
    RowArray,
    SignArray,
    StatArray,
    WordArray,
)

LEAST_WEIGHT = 1e-300
"""Weights never underflow to zero."""


class Exponential:
    """Weights of the pairs (row, head) of confidence-rated boosting, and their lanes (W+, W-)."""

    def __init__(
        self,
        own: IntArray,
        weights: FloatArray,
        scores: FloatArray,
        stats: StatArray,
        by_cost: bool,
    ) -> None:
        self.own = own[:, None] == np.arange(weights.shape[1])
        self.weights, self.scores, self.stats, self.by_cost = weights, scores, stats, by_cost

    def range(self) -> tuple[float, float]:
        """Return the sum of all weights, and the largest that a lane of a row stands for."""
        by_lane = self.weights.sum(axis=1) if self.by_cost else self.weights
        return float(self.weights.sum()), float(by_lane.max(initial=0.0))

    def add(self, rows: RowArray, place: int, confidence: float, n_threads: int) -> None:
        """Add a confidence to the scores of one head on the rows, and change their weights."""
        self.scores[rows, place] += confidence
        hit, positive = self.own[rows, place], self.weights > 0
        helped, hurt = rows[hit], rows[~hit]
        self.weights[hurt, place] *= math.exp(confidence)
        if self.by_cost:
            self.weights[helped] *= math.exp(-confidence)
        else:
            self.weights[helped, place] *= math.exp(-confidence)
        np.maximum(self.weights, LEAST_WEIGHT, out=self.weights, where=positive)

    def scale(self, factor: float, n_threads: int) -> None:
        """Multiply all weights."""
        positive = self.weights > 0
        self.weights *= factor
        np.maximum(self.weights, LEAST_WEIGHT, out=self.weights, where=positive)

    def write(self, rows: RowArray, scale: float, n_threads: int) -> None:
        """Write the lanes of the rows, in steps of 1 / scale."""
        last = 2 * self.weights.shape[1]
        self.stats[rows, :last] = self._lanes(rows, scale)

    def sum(self, rows: RowArray, place: int, scale: float, n_threads: int) -> StatArray:
        """Return (W+, W-) of a rule for one head that covers the rows, in steps of 1 / scale."""
        pairs = self._lanes(rows, scale)[:, 2 * place : 2 * place + 2]
        sums: StatArray = pairs.sum(axis=0, dtype=STAT)
        return sums

    def row_steps(self, n_threads: int) -> StatArray:
        """Return the steps of each row over all its pairs, read off its lanes."""
        lanes = self.stats[:, : 2 * self.weights.shape[1]]
        helped, hurt = lanes[:, 0::2], lanes[:, 1::2]
        apart = self.by_cost & self.own.any(axis=1, keepdims=True)
        steps: StatArray = (helped + np.where(apart, 0, hurt)).sum(axis=1, dtype=STAT)
        return steps

    def _lanes(self, rows: RowArray, scale: float) -> StatArray:
        """Return the lanes of every head, in fixed point; a row in play is never 0."""
        weights, own = self.weights[rows], self.own[rows]
        steps = np.rint(weights * scale).astype(STAT)
        np.maximum(steps, 1, out=steps, where=weights > 0)
        helped = steps.sum(axis=1, keepdims=True) if self.by_cost else steps
        lanes = np.empty((len(rows), 2 * weights.shape[1]), dtype=STAT)
        lanes[:, 0::2] = np.where(own, helped, 0)
        lanes[:, 1::2] = np.where(own, 0, steps)
        return lanes


class Likelihood:
    """State of a fit by maximum likelihood: exp scores and fixed-point statistics per row."""

    def __init__(
        self,
        labels: IntArray,
        weights: FloatArray,
        exp_scores: FloatArray,
        stats: StatArray,
        scale: float,
        cumulative: bool,
    ) -> None:
        self.labels, self.weights, self.scale = labels, weights, scale
        self.exp_scores, self.stats, self.cumulative = exp_scores, stats, cumulative

    def refresh_stats(self, rows: RowArray, n_threads: int) -> None:
        """Write g = w (P - [y in U]) and h = w P (1 - P) of the rows, in fixed point."""
        pairs = self._pairs(rows, self.scale)
        self.stats[rows, : pairs.shape[1]] = pairs

    def _pairs(self, rows: RowArray, scale: float) -> StatArray:
        e, labels = self.exp_scores[rows], self.labels[rows, None]
        total = e.sum(axis=1, keepdims=True)
        w, classes = self.weights[rows, None], np.arange(e.shape[1])
        if self.cumulative:
            tails = np.cumsum(e[:, ::-1], axis=1)[:, ::-1]
            p, hit = tails[:, 1:] / total, labels >= classes[1:]
        else:
            p, hit = e / total, labels == classes
        pairs = np.empty((len(rows), 2 * p.shape[1]), dtype=STAT)
        pairs[:, 0::2] = np.rint(w * (p - hit) * scale)
        pairs[:, 1::2] = np.maximum(1, np.rint(w * p * (1 - p) * scale))
        return pairs

    def loss_change(
        self, rows: RowArray, first: int, last: int, size: float, n_threads: int
    ) -> float:
        """Tell what adding the step to the classes first..last would do to the loss."""
        e, labels = self.exp_scores[rows], self.labels[rows]
        before = e.sum(axis=1)
        after = before + e[:, first : last + 1].sum(axis=1) * math.expm1(size)
        hit = (first <= labels) & (labels <= last)
        return float(np.sum(self.weights[rows] * (np.log(after / before) - size * hit)))

    def add_step(self, rows: RowArray, first: int, last: int, size: float, n_threads: int) -> float:
        """Add the step to the scores and refresh the statistics; return the change of the loss."""
        change = self.loss_change(rows, first, last, size, n_threads)
        self.exp_scores[rows, first : last + 1] *= math.exp(size)
        total = self.exp_scores[rows].sum(axis=1)
        extreme = rows[(total >= 1e200) | (total <= 1e-200)]
        self.exp_scores[extreme] /= self.exp_scores[extreme].sum(axis=1, keepdims=True)
        self.refresh_stats(rows, n_threads)
        return change

    def sum_pair(self, rows: RowArray, pair: int, scale: float, n_threads: int) -> StatArray:
        """Sum one pair over the rows, from their scores, in `scale` steps per unit."""
        lanes = self._pairs(rows, scale)[:, 2 * pair : 2 * pair + 2]
        sums: StatArray = lanes.sum(axis=0, dtype=STAT)
        return sums

    def sum_stats(self, rows: RowArray, n_threads: int) -> StatArray:
        """Sum all lanes over the rows."""
        sums: StatArray = self.stats[rows].sum(axis=0, dtype=STAT)
        return sums

    def class_weights(self, rows: RowArray, side: ByteArray, n_threads: int) -> FloatArray:
        """Return the weight of each class among the rows on side 0, and then on side 1."""
        n_classes = self.exp_scores.shape[1]
        places = self.labels[rows] + n_classes * side[rows]
        return np.bincount(places, self.weights[rows], 2 * n_classes).astype(np.float64)


class ResponseFit:
    """Responses of rules by coordinate descent on the penalised negative log-likelihood."""

    def __init__(
        self,
        shares: FloatArray,
        weights: FloatArray,
        probabilities: FloatArray,
        covers: WordArray,
        heads: IntArray,
        signs: SignArray,
    ) -> None:
        self.shares, self.weights, self.probabilities = shares, weights, probabilities
        classes = np.arange(probabilities.shape[1])
        bits = np.unpackbits(covers.astype("<u8").view(np.uint8), axis=1, bitorder="little")
        covered = bits[:, : len(shares), None].astype(np.bool_)
        speaks = (heads[:, :1] <= classes) & (classes <= heads[:, 1:])
        self.design = covered & speaks[:, None, :]  # rules x rows x classes
        self.signs = signs

    def gradients(self, rules: IntArray, n_threads: int) -> FloatArray:
        """Differentiate the negative log-likelihood along each rule."""
        residuals = self.weights[:, None] * (self.probabilities - self.shares)
        g: FloatArray = (self.design[rules] * residuals).sum(axis=(1, 2))
        return g

    def hessian(self, rules: IntArray, n_threads: int) -> FloatArray:
        """Differentiate twice: weighted covariances of the rules' votes, one after the other."""
        p, design = self.probabilities, self.design[rules].astype(np.float64)
        shares = np.einsum("jik,ik->ji", design, p)
        both = np.einsum("jik,lik,ik,i->jl", design, design, p, self.weights)
        second: FloatArray = both - np.einsum("ji,li,i->jl", shares, shares, self.weights)
        return second.ravel()

    def move(self, rules: IntArray, steps: FloatArray) -> None:
        """Add steps to the responses of rules: only the probabilities change."""
        for rule, step in zip(rules.tolist(), steps.tolist(), strict=True):
            self.probabilities[self.design[rule]] *= math.exp(step)
            self.probabilities /= self.probabilities.sum(axis=1, keepdims=True)

    def sweep(self, rules: IntArray, responses: FloatArray, l1: float, l2: float) -> float:
        """Take a Newton step for each rule in turn; return the sum of (h + l2) step^2."""
        change = 0.0
        for rule in rules.tolist():
            one = np.array([rule], dtype=np.int32)
            g, h = float(self.gradients(one, 1)[0]), float(self.hessian(one, 1)[0])
            sign, response = int(self.signs[rule]), float(responses[rule])
            curvature = h + l2 * abs(sign)
            step = -(g + sign * l1 + abs(sign) * l2 * response) / max(curvature, 1e-300)
            if sign * (response + step) < 0:
                step = -response
            step = min(max(step, -1.5), 1.5)
            self.move(one, np.array([step]))
            responses[rule] += step
            change += curvature * step * step
        return change
