"""How far probabilities can be trusted: log-loss, Brier score, calibration error, accuracy, AUC.

All take class codes, probabilities of shape (rows, classes) and row weights, of which one at least
must be positive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray, IntArray

N_BINS = 10
"""Bins of confidence in the calibration error."""

_LEAST_PROBABILITY = float(np.finfo(np.float64).eps)


def accuracy(labels: IntArray, probabilities: FloatArray, weights: FloatArray) -> float:
    """Give the share of weight whose most probable class is the true one."""
    return float(np.average(probabilities.argmax(axis=1) == labels, weights=weights))


def log_loss(labels: IntArray, probabilities: FloatArray, weights: FloatArray) -> float:
    """Give the mean of -log of the true class's probability, which counts as at least 2e-16."""
    return float(np.average(row_losses(labels, probabilities), weights=weights))


def row_losses(labels: IntArray, probabilities: FloatArray) -> FloatArray:
    """Give -log of the probability of each row's true class, which counts as at least 2e-16."""
    given = probabilities[np.arange(len(labels)), labels]
    losses: FloatArray = -np.log(np.maximum(given, _LEAST_PROBABILITY))
    return losses


def brier(labels: IntArray, probabilities: FloatArray, weights: FloatArray) -> float:
    """Give the mean of sum_k (p_k - [y = k])^2 over all classes, from 0 to 2.

    With two classes this is twice the score of one class alone that some libraries report.
    """
    hit = labels[:, None] == np.arange(probabilities.shape[1])
    return float(np.average(np.square(probabilities - hit).sum(axis=1), weights=weights))


def calibration_error(labels: IntArray, probabilities: FloatArray, weights: FloatArray) -> float:
    """Give the expected calibration error (ECE) of the most probable class.

    Rows are binned by the probability of that class, in ten bins of equal width; the error is the
    mean over the weight of |mean probability - share of right labels| in the row's bin.
    """
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == labels
    bins = np.clip(np.ceil(confidence * N_BINS).astype(np.intp) - 1, 0, N_BINS - 1)
    gaps = np.bincount(bins, weights * (confidence - right), N_BINS)
    return float(np.abs(gaps).sum() / weights.sum())


def auc(labels: IntArray, probabilities: FloatArray, weights: FloatArray) -> float:
    """Give the area under the ROC curve: of two classes, or the mean of each against the rest.

    Classes without weight, or without any beside them, are left out; NaN when none is left.
    """
    n_classes = probabilities.shape[1]
    kinds = [1] if n_classes == 2 else range(n_classes)
    areas = [
        _area(probabilities[:, k], labels == k, weights)
        for k in kinds
        if weights[labels == k].any() and weights[labels != k].any()
    ]
    return float(np.mean(areas)) if areas else float("nan")


def _area(scores: FloatArray, positive: BoolArray, weights: FloatArray) -> float:
    """Give the share of pairs in which the positive row has the higher score; ties count half."""
    _, places = np.unique(scores, return_inverse=True)
    ours = np.bincount(places, weights * positive)
    others = np.bincount(places, weights * ~positive)
    below = np.cumsum(others) - others / 2
    return float(ours @ below / (ours.sum() * others.sum()))


def reliability(
    labels: IntArray, probabilities: FloatArray, weights: FloatArray
) -> dict[str, float]:
    """Give all figures by name: log_loss, brier, ece, accuracy."""
    rows = (labels, probabilities, weights)
    return {
        "log_loss": log_loss(*rows),
        "brier": brier(*rows),
        "ece": calibration_error(*rows),
        "accuracy": accuracy(*rows),
    }
