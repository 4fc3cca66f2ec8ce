"""What an ensemble of rule sets is sure of: PAC-Bayes and held-out bounds, risk and coverage."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.capacity.bounds import (
    Bound,
    abstaining_vote_bound,
    held_out_bound,
    pac_bayes_kl,
    pac_bayes_mcallester,
    selective_held_out_bound,
    single_vote_bound,
    vote_bound,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.kernels import BoolArray, FloatArray

SAME_ROWS = "the values and intervals that the prior counts were read off the same rows"
WEIGHTED = "rows count by their weights, so they are no independent sample"


@dataclass(frozen=True)
class EnsembleCertificate:
    """PAC-Bayes bounds of the vote, and what they are made of.

    Parameters
    ----------
    prior : str
        Name of the prior of the rule sets.
    labels : tuple of str
        The classes that have rule sets.
    losses : tuple of float
        Mean loss of a rule set of each of them, drawn by weight, on the rows of the bound.
    divergences : tuple of float
        KL(Q||P) of each class.
    effective_sizes : tuple of float
        Number of equally weighted rule sets that would be as many, of each class.
    gibbs : tuple of Bound
        Bound of the true loss of a rule set of each class, drawn by weight (B9).
    vote, vote_mcallester : Bound
        Error of the vote without abstention (B10), from B9 and as in the thesis from B8.
    abstaining, abstaining_mcallester : Bound
        Probability to predict and be wrong (B11), from B9 and from B8.
    """

    prior: str
    labels: tuple[str, ...]
    losses: tuple[float, ...]
    divergences: tuple[float, ...]
    effective_sizes: tuple[float, ...]
    gibbs: tuple[Bound, ...]
    vote: Bound
    vote_mcallester: Bound
    abstaining: Bound
    abstaining_mcallester: Bound

    def __str__(self) -> str:
        figures = zip(self.labels, self.losses, self.divergences, self.effective_sizes, strict=True)
        lines = [f"{self.vote}", f"{self.abstaining}", f"prior {self.prior!r}"]
        return "\n".join(
            lines
            + [
                f"class {label}: loss {loss:.4g}, KL {kl:.4g} nats, {size:.3g} rule sets"
                for label, loss, kl, size in figures
            ]
        )


class HeldOutCertificate(NamedTuple):
    """Bounds from rows that played no part in learning; each fails with probability delta.

    `error` is of all rows, abstained or not; `among_predicted` of those with a prediction;
    `joint` is the probability to predict and be wrong.
    """

    error: Bound
    among_predicted: Bound
    joint: Bound

    def __str__(self) -> str:
        return "\n".join(map(str, (self.error, self.among_predicted, self.joint)))


class SelectiveScore(NamedTuple):
    """Share of rows predicted, of errors among them (NaN if none is), of errors among all rows."""

    coverage: float
    error: float
    joint_error: float


class RiskCoverage(NamedTuple):
    """What abstaining below each lead costs and gains; leads ascend from 0."""

    theta: FloatArray
    coverage: FloatArray
    error: FloatArray
    joint_error: FloatArray


def ensemble_certificate(
    prior: str,
    labels: Sequence[str],
    losses: Sequence[float],
    divergences: Sequence[float],
    effective_sizes: Sequence[float],
    n: int,
    *,
    theta: float,
    delta: float,
    single: bool,
    doubts: tuple[str, ...],
) -> EnsembleCertificate:
    """State the bounds; each class has an equal part of delta.

    With `single` the one class that has rule sets stands for its opposite too.
    """
    figures = list(zip(losses, divergences, strict=True))
    gibbs = [pac_bayes_kl(loss, kl, n, delta / len(figures)) for loss, kl in figures]
    if single:
        forms = gibbs[0], pac_bayes_mcallester(*figures[0], n, delta)
        # The lead over the opposite is twice the vote.
        bounds = [single_vote_bound(form, lead / 2) for lead in (0.0, theta) for form in forms]
    else:
        given = (losses, divergences, n)
        bounds = [
            vote_bound(*given, delta, form="kl"),
            vote_bound(*given, delta, form="mcallester"),
            abstaining_vote_bound(*given, theta, delta, form="kl"),
            abstaining_vote_bound(*given, theta, delta, form="mcallester"),
        ]
    return EnsembleCertificate(
        prior,
        tuple(labels),
        tuple(losses),
        tuple(divergences),
        tuple(effective_sizes),
        tuple(bound.doubted(*doubts) for bound in gibbs),
        *(bound.doubted(*doubts) for bound in bounds),
    )


def held_out_certificate(
    wrong: BoolArray, predicted: BoolArray, delta: float
) -> HeldOutCertificate:
    """State the exact bounds of held-out rows, given which are wrong and which get a prediction."""
    n, n_predicted, n_joint = len(wrong), int(predicted.sum()), int((wrong & predicted).sum())
    return HeldOutCertificate(
        held_out_bound(int(wrong.sum()), n, delta),
        selective_held_out_bound(n_joint, n_predicted, n, delta),
        replace(held_out_bound(n_joint, n, delta), quantity="probability to predict and be wrong"),
    )


def selective_score(wrong: BoolArray, predicted: BoolArray) -> SelectiveScore:
    """Count coverage and errors of a model that may abstain."""
    n, n_predicted, n_joint = len(wrong), int(predicted.sum()), int((wrong & predicted).sum())
    error = n_joint / n_predicted if n_predicted else math.nan
    return SelectiveScore(n_predicted / n, error, n_joint / n)


def risk_coverage(
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


def chosen_lead(
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
