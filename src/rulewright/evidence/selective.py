"""Predictions that may be sets or missing: split conformal thresholds, and abstention, from counts.

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

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray


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
    """Return the lead that was given or that a target needs, and what the curve says of it.

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
