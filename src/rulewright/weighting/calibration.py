"""Calibration: scores of rows that the rules were not learned from become honest probabilities.

``temperature`` and ``platt`` fit softmax(slope * s_k + offset_k) by maximum likelihood and move
into the responses of the model; ``isotonic`` learns steps that the model keeps. Labels are class
codes, scores have the shape (rows, classes), rows without weight count for nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.model.decisions import margins, softmax
from rulewright.model.steps import Steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.model import AdditiveRules

CALIBRATIONS = ("temperature", "platt", "isotonic")

LEAST_SLOPE = 1e-3
"""Least slope times mean spread of the scores: worthless scores still decide ties."""

MOST_STEPS = 100
"""Newton steps at most; a handful is the rule."""


def fit_temperature(scores: FloatArray, labels: IntArray, weights: FloatArray) -> float:
    """Fit softmax(slope * s); the slope is one over the temperature.

    The label of a row counts as ``(N e_y + 2/K) / (N + 2)``, where N is the number of rows of its
    class: Platt's targets, which keep the slope finite when the scores part the classes.

    Returns
    -------
    float
        The slope, above 0: the most probable class of a row stays the same.
    """
    return _fit_linear(scores, labels, weights, with_offsets=False)[0]


def fit_platt(
    scores: FloatArray, labels: IntArray, weights: FloatArray
) -> tuple[float, tuple[float, ...]]:
    """Fit softmax(slope * s_k + offset_k) to the same targets as `fit_temperature`.

    With two classes this is Platt's scaling of s_1 - s_0.

    Returns
    -------
    tuple of float and tuple of float
        The slope, above 0, and the offsets of the classes, the first of which is 0.
    """
    slope, offsets = _fit_linear(scores, labels, weights, with_offsets=True)
    return slope, tuple(offsets.tolist())


def fit_isotonic(scores: FloatArray, labels: IntArray, weights: FloatArray) -> tuple[Steps, ...]:
    """Fit for each class the monotone steps of [y = k] on its margin over the best other class.

    Values are kept off 0 and 1 by 1 / (n + 2), thresholds lie halfway between two blocks.
    """
    seen = weights > 0
    least = 1 / (np.count_nonzero(seen) + 2)
    labels, weights = labels[seen], weights[seen] / weights.max(initial=0.0)
    return tuple(
        _fit_steps(margin, labels == k, weights, least)
        for k, margin in enumerate(margins(scores[seen]).T)
    )


def calibrate(
    model: AdditiveRules, kind: str, scores: FloatArray, labels: IntArray, weights: FloatArray
) -> AdditiveRules:
    """Return the model with its probabilities calibrated on the given scores."""
    if kind == "isotonic":
        return replace(model, steps=fit_isotonic(scores, labels, weights))
    slope, offsets = _fit_linear(scores, labels, weights, with_offsets=kind == "platt")
    return model.scaled(slope, offsets.tolist())


def cross_fitted(
    model: AdditiveRules,
    kind: str,
    scores: FloatArray,
    labels: IntArray,
    weights: FloatArray,
    folds: NDArray[np.integer],
) -> FloatArray:
    """Return the probabilities of the rows, each fold calibrated on the other folds.

    Figures taken from them are honest: no row calibrates itself.
    """
    probabilities = np.empty_like(scores)
    for fold in np.unique(folds):
        inside = folds == fold
        rows = (scores[~inside], labels[~inside], weights[~inside])
        if kind == "isotonic":
            fitted = replace(model, steps=fit_isotonic(*rows))
            probabilities[inside] = fitted.probabilities(scores[inside])
        else:
            slope, offsets = _fit_linear(*rows, with_offsets=kind == "platt")
            probabilities[inside] = softmax(slope * scores[inside] + offsets)
    return probabilities


def targets(labels: IntArray, weights: FloatArray, n_classes: int) -> FloatArray:
    """Return the smoothed labels that temperature and Platt scaling are fitted to."""
    shares = np.bincount(labels, weights, n_classes) / weights.sum()
    counts = len(labels) * shares[labels, None]
    hit = labels[:, None] == np.arange(n_classes)
    smooth: FloatArray = (counts * hit + 2 / n_classes) / (counts + 2)
    return smooth


# -- slope and offsets -------------------------------------------------------------------------


def _fit_linear(
    scores: FloatArray, labels: IntArray, weights: FloatArray, with_offsets: bool
) -> tuple[float, FloatArray]:
    """Fit in units of the mean spread of a row's scores, so that their size does not matter."""
    seen, n_classes = weights > 0, scores.shape[1]
    if n_classes == 1 or not seen.any():
        return 1.0, np.zeros(n_classes)
    gaps, labels = scores[seen] - scores[seen].max(axis=1, keepdims=True), labels[seen]
    shares = weights[seen] / weights.max()
    shares /= shares.sum()
    largest = -float(gaps.min())
    spread = float(shares @ (gaps.min(axis=1) / -largest)) * largest if largest > 0 else 0.0
    if spread == 0 and not with_offsets:
        return 1.0, np.zeros(n_classes)
    objective = _Objective(gaps / (spread or 1.0), targets(labels, shares, n_classes), shares)
    point = np.zeros(n_classes)  # the slope, then the offsets of all classes but the first
    point[0] = 1.0
    free = np.full(n_classes, with_offsets)
    free[0] = spread > 0
    point = objective.minimise(point, free)
    if point[0] < LEAST_SLOPE:  # of a convex function: the constrained minimum is on the bound
        free[0], point[0] = False, LEAST_SLOPE
        point = objective.minimise(point, free)
    return float(point[0]) / (spread or 1.0), np.concatenate([[0.0], point[1:]])


class _Objective:
    """Mean cross-entropy between targets and softmax(slope * s + offsets), convex in both."""

    def __init__(self, scores: FloatArray, targets: FloatArray, shares: FloatArray) -> None:
        self.scores, self.targets, self.shares = scores, targets, shares

    def logits(self, point: FloatArray) -> FloatArray:
        logits: FloatArray = point[0] * self.scores
        logits[:, 1:] += point[1:]
        logits -= logits.max(axis=1, keepdims=True)
        return logits

    def value(self, point: FloatArray) -> float:
        logits = self.logits(point)
        totals = np.log(np.exp(logits).sum(axis=1))
        return float(self.shares @ (totals - (self.targets * logits).sum(axis=1)))

    def derivatives(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient and the Hessian: means and covariances of (s, e_1, ..) under p."""
        p = softmax(self.logits(point))
        errors = self.shares[:, None] * (p - self.targets)
        gradient = np.concatenate([[(errors * self.scores).sum()], errors.sum(axis=0)[1:]])
        weighted = self.shares[:, None] * p
        off = self.scores - (p * self.scores).sum(axis=1, keepdims=True)
        hessian = np.diag(np.concatenate([[0.0], weighted.sum(axis=0)[1:]]))
        hessian[1:, 1:] -= weighted[:, 1:].T @ p[:, 1:]
        hessian[0, 1:] = hessian[1:, 0] = (weighted * off).sum(axis=0)[1:]
        hessian[0, 0] = (weighted * off**2).sum()
        return gradient, hessian

    def minimise(self, point: FloatArray, free: BoolArray) -> FloatArray:
        """Take Newton steps over the free coordinates, halved until the value falls enough."""
        value = self.value(point)
        for _ in range(MOST_STEPS):
            gradient, hessian = (part[free] for part in self.derivatives(point))
            hessian = hessian[:, free]
            # The shift keeps directions without curvature from being followed.
            shift = 1e-10 * np.trace(hessian) + 1e-300
            step = np.zeros_like(point)
            step[free] = np.linalg.solve(hessian + shift * np.eye(len(gradient)), -gradient)
            promised = float(gradient @ step[free])
            if -promised <= 1e-15 * (1 + value):
                break
            size = 1.0
            while (moved := self.value(point + size * step)) > value + 1e-4 * size * promised:
                size /= 2
                if size < 1e-10:  # the promise is below the rounding of the value
                    return point
            point, value = point + size * step, moved
        return point


# -- steps -------------------------------------------------------------------------------------


def _fit_steps(margin: FloatArray, hit: BoolArray, weights: FloatArray, least: float) -> Steps:
    """Pool adjacent violators; equal margins are one block from the start."""
    places, block = np.unique(margin, return_inverse=True)
    if len(places) == 0:
        return Steps((), (0.5,))
    totals, hits = np.bincount(block, weights), np.bincount(block, weights * hit)
    ends: list[int] = []
    values: list[float] = []
    for end, value in _pooled(totals.tolist(), hits.tolist()):
        value = min(max(value, least), 1 - least)
        if values and value == values[-1]:
            ends[-1] = end
        else:
            ends.append(end)
            values.append(value)
    inner = np.array(ends[:-1], dtype=np.intp)
    low, high = places[inner], places[inner + 1]
    halfway = low / 2 + high / 2
    # Neighbouring floats have nothing between them: the lower one stays below its threshold.
    cuts = np.where((halfway >= low) & (halfway < high), halfway, low)
    return Steps(tuple(cuts.tolist()), tuple(values))


def _pooled(totals: list[float], hits: list[float]) -> list[tuple[int, float]]:
    """Return the last index and the mean of each block, with means that ascend."""
    blocks: list[tuple[int, float, float]] = []
    for end, (total, hit) in enumerate(zip(totals, hits, strict=True)):
        while blocks and blocks[-1][2] * total >= hit * blocks[-1][1]:
            _, more, more_hits = blocks.pop()
            total, hit = total + more, hit + more_hits
        blocks.append((end, total, hit))
    return [(end, hit / total) for end, total, hit in blocks]
