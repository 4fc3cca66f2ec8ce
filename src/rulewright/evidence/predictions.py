"""How far predictions can be trusted: scores of probabilities, conformal sets, abstention.

Scores take class codes, probabilities of shape (rows, classes) and row weights, of which one at
least must be positive.

If calibration rows and a new row are exchangeable, the score of the new one is at most the k-th
smallest of n calibration scores, k = ceil((n + 1) (1 - alpha)), with probability 1 - alpha at least
(Vovk, Gammerman and Shafer, 2005; Papadopoulos et al., 2002).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betaincinv

from rulewright.bounds import selective_held_out_bound
from rulewright.evidence.measure import BRIER
from rulewright.evidence.ranking import Ranking

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray, IntArray


N_BINS = 10
"""Bins of confidence in the calibration error."""

_LEAST_PROBABILITY = float(np.finfo(np.float64).eps)


def accuracy(labels: IntArray, probabilities: FloatArray, weights: FloatArray) -> float:
    """Return the share of weight whose most probable class is the true one."""
    return float(np.average(probabilities.argmax(axis=1) == labels, weights=weights))


def log_loss(labels: IntArray, probabilities: FloatArray, weights: FloatArray) -> float:
    """Return the mean of -log of the true class's probability, which counts as at least 2e-16."""
    return float(np.average(row_losses(labels, probabilities), weights=weights))


def row_losses(labels: IntArray, probabilities: FloatArray) -> FloatArray:
    """Return -log of the probability of each row's true class, which counts as at least 2e-16."""
    given = probabilities[np.arange(len(labels)), labels]
    losses: FloatArray = -np.log(np.maximum(given, _LEAST_PROBABILITY))
    return losses


def brier(labels: IntArray, probabilities: FloatArray, weights: FloatArray) -> float:
    """Return the Brier score as scikit-learn's ``brier_score_loss`` defines it.

    Of two classes it is the mean of (p - [y = k])^2 for one of them, from 0 to 1; of any other
    number the sum of that over the classes, from 0 to 2.
    """
    return float(np.average(brier_scores(labels, probabilities), weights=weights))


def brier_scores(labels: IntArray, probabilities: FloatArray) -> FloatArray:
    """Return the Brier score of each row, see `brier`."""
    n_classes = probabilities.shape[1]
    hit = labels[:, None] == np.arange(n_classes)
    squares: FloatArray = np.square(probabilities - hit).sum(axis=1)
    return squares / 2 if n_classes == 2 else squares


def calibration_error(labels: IntArray, probabilities: FloatArray, weights: FloatArray) -> float:
    """Return the expected calibration error (ECE) of the most probable class.

    Rows are binned by the probability of that class, in ten bins of equal width; the error is the
    mean over the weight of |mean probability - share of right labels| in the row's bin.
    """
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == labels
    bins = np.clip(np.ceil(confidence * N_BINS).astype(np.intp) - 1, 0, N_BINS - 1)
    gaps = np.bincount(bins, weights * (confidence - right), N_BINS)
    return float(np.abs(gaps).sum() / weights.sum())


def auc(labels: IntArray, probabilities: FloatArray, weights: FloatArray) -> float:
    """Return the area under the ROC curve; with more than two classes the one-vs-rest mean.

    All rows are ranked together; folds are not averaged.

    Classes without weight, or without any beside them, are left out; NaN when none is left.
    """
    n_classes = probabilities.shape[1]
    kinds = [1] if n_classes == 2 else range(n_classes)
    areas = [
        Ranking.of(probabilities[:, k], labels == k, weights).auc
        for k in kinds
        if weights[labels == k].any() and weights[labels != k].any()
    ]
    return float(np.mean(areas)) if areas else float("nan")


def reliability(
    labels: IntArray, probabilities: FloatArray, weights: FloatArray
) -> dict[str, float]:
    """Return all figures by key: log_loss, brier_score_loss, ece, accuracy."""
    rows = (labels, probabilities, weights)
    return {
        "log_loss": log_loss(*rows),
        BRIER: brier(*rows),
        "ece": calibration_error(*rows),
        "accuracy": accuracy(*rows),
    }


def rank_of(n: int, alpha: float) -> int:
    """Return which of n scores in ascending order is the threshold; n + 1 for none of them."""
    # Products such as 10 * 0.7 may lie just above the whole number that they stand for.
    return max(1, math.ceil((n + 1) * (1 - alpha) - 1e-9))


def conformal_threshold(scores: FloatArray, alpha: float) -> float:
    """Return the threshold of calibration scores; infinite if they are too few."""
    rank = rank_of(len(scores), alpha)
    return math.inf if rank > len(scores) else float(np.sort(scores)[rank - 1])


def coverage_bound(n: int, alpha: float, delta: float) -> float:
    """Bound the coverage that calibration rows, once drawn, have on all new rows.

    Coverage is 1 - alpha on average over draws of the calibration rows. Given n of them it is
    distributed at least as Beta(k, n + 1 - k) if rows are independent, so that it is below this
    bound with probability `delta` at most (Vovk, 2012).
    """
    rank = rank_of(n, alpha)
    return 1.0 if rank > n else float(betaincinv(rank, n + 1 - rank, delta))


class SelectiveScore(NamedTuple):
    """Share of rows predicted, of errors among them (NaN if none is), of errors among all rows."""

    coverage: float
    error: float
    joint_error: float


class RiskCoverage(NamedTuple):
    """Coverage and errors where the model abstains below each lead; leads ascend from 0."""

    theta: FloatArray
    coverage: FloatArray
    error: FloatArray
    joint_error: FloatArray


def count_selective_score(wrong: BoolArray, predicted: BoolArray) -> SelectiveScore:
    """Count coverage and errors of a model that may abstain."""
    n, n_predicted, n_joint = len(wrong), int(predicted.sum()), int((wrong & predicted).sum())
    error = n_joint / n_predicted if n_predicted else math.nan
    return SelectiveScore(n_predicted / n, error, n_joint / n)


def count_risk_coverage(
    wrong: BoolArray, lead: FloatArray, weights: FloatArray | None = None
) -> RiskCoverage:
    """Count coverage and errors for each lead that abstaining could ask for."""
    theta = np.unique(np.append(lead, 0.0))
    theta = theta[theta <= lead.max()]
    order = np.argsort(lead, kind="stable")
    first = np.searchsorted(lead[order], theta)
    counts = np.ones(len(lead)) if weights is None else weights
    above, wrong_above = (
        np.cumsum(part[order][::-1])[::-1][first] for part in (counts, counts * wrong)
    )
    return RiskCoverage(theta, above / above[0], wrong_above / above, wrong_above / above[0])


def lead_for_error(curve: RiskCoverage, n: int, target_error: float, delta: float | None) -> float:
    """Return the smallest lead with an error among predictions of at most `target_error`.

    With `delta` the error must be so by its exact bound, at all leads of the curve at once.
    """
    errors = curve.error
    if delta is not None:
        share = delta / len(curve.theta)
        wrong, predicted = (np.rint(n * part) for part in (curve.joint_error, curve.coverage))
        pairs = zip(wrong.astype(int).tolist(), predicted.astype(int).tolist(), strict=True)
        errors = np.array([selective_held_out_bound(k, m, n, share).value for k, m in pairs])
    enough = np.flatnonzero(errors <= target_error)
    if not len(enough):
        raise ValueError(
            f"target_error={target_error} is not reached at any lead; the lowest is "
            f"{errors.min():.4g}"
        )
    return float(curve.theta[enough[0]])


def choose_lead(
    curve: RiskCoverage, lead: float, target_error: float | None
) -> tuple[float, dict[str, float | None]]:
    """Return the given lead, or the lead that a target needs, with its point on the curve.

    The figures are the error of all predictions, and for the lead the coverage and the error among
    predictions (None if there are none).
    """
    if target_error is not None:
        lead = lead_for_error(curve, 0, target_error, None)
    place = int(np.searchsorted(curve.theta, lead))
    some = place < len(curve.theta)
    return lead, {
        "error": float(curve.error[0]),
        "coverage": float(curve.coverage[place]) if some else 0.0,
        "error_among_predicted": float(curve.error[place]) if some else None,
    }
