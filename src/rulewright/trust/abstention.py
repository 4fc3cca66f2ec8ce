"""Abstention of votes and of any model of classes: errors against coverage, the lead to ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.bounds import checked_delta
from rulewright.evidence import count_risk_coverage, count_selective_score, lead_for_error
from rulewright.explain import checked_class_codes, model_of, rows_with_target
from rulewright.model import ClassModel, write_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.evidence import RiskCoverage, SelectiveScore
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import RuleSetVotes


def predict_or_abstain(model: RuleSetVotes, X: Any, abstain_label: Any = None) -> NDArray[Any]:
    """Return labels as objects, `abstain_label` on the rows where the model abstains."""
    scores = model.scores(X)
    labels = model.classes[model.decide(scores)].astype(object)
    labels[model.flags(scores)["abstains"]] = abstain_label
    return labels


def selective_score(model: RuleSetVotes, X: Any, y: Any) -> SelectiveScore:
    """Return the share of rows predicted, the errors among them, and those among all rows."""
    return count_selective_score(wrong_rows(model, X, y), ~model.abstains(X))


def risk_coverage(model: RuleSetVotes, X: Any, y: Any) -> RiskCoverage:
    """Return coverage and errors for each lead that `abstain` could be.

    Returns
    -------
    RiskCoverage
        Arrays ``theta`` (leads), ``coverage`` (share of rows predicted), ``error`` (among those)
        and ``joint_error`` (rows predicted and wrong, of all rows).
    """
    return count_risk_coverage(wrong_rows(model, X, y), model.margins(X))


def choose_abstain(
    model: RuleSetVotes, X: Any, y: Any, target_error: float, *, delta: float | None = None
) -> float:
    """Find the smallest lead at which at most `target_error` of the predictions are wrong.

    ``model.with_abstain(lead)`` is the model that asks for it.

    Parameters
    ----------
    model : RuleSetVotes
        The vote.
    X, y : rows and their labels
        Best rows that were not learned from.
    target_error : float
        Share of wrong predictions that is allowed.
    delta : float, optional
        Also for new rows, but for this probability: the exact bound of the error must be low
        enough, for all leads tried at once.
    """
    curve = risk_coverage(model, X, y)
    return lead_for_error(curve, len(np.asarray(y)), target_error, delta)


def wrong_rows(model: ClassModel, X: Any, y: Any) -> BoolArray:
    """Tell on which rows the predicted label is wrong, whether the model abstains or not."""
    predicted, labels = model.predict(X), np.asarray(y)
    if labels.shape != predicted.shape:
        raise ValueError(f"y has the shape {labels.shape}, not one label per row of X")
    return np.asarray(predicted != labels, dtype=np.bool_)


_STEPS = 50
"""Leads that are tried, fixed before the rows are seen: 0, 0.02, ..., 0.98."""


@dataclass(frozen=True, eq=False)
class Abstainer:
    """A model that predicts only where its probabilities are clear enough.

    Parameters
    ----------
    model : ClassModel
        The model.
    lead : float
        How much more probable the first class must be than the second.
    target_error, delta : float
        The error among predictions of new rows is at most the target, but for probability delta
        over draws of the calibration rows.
    coverage, error : float
        Share of the calibration rows that are predicted, and of errors among these.
    n_rows : int
        Calibration rows.
    """

    model: ClassModel
    lead: float
    target_error: float
    delta: float
    coverage: float
    error: float
    n_rows: int

    def abstains(self, X: Any) -> BoolArray:
        """Tell on which rows nothing is predicted."""
        return np.asarray(_leads(self.model.predict_proba(X)) < self.lead)

    def predict(self, X: Any, abstain_label: Any = None) -> Any:
        """Give labels as objects, `abstain_label` where nothing is predicted."""
        labels = self.model.predict(X).astype(object)
        labels[self.abstains(X)] = abstain_label
        return labels

    def __str__(self) -> str:
        return (
            f"predicts where the first class leads by {self.lead:.2f} or more: {self.coverage:.1%} "
            f"of {write_count(self.n_rows, 'calibration row')}, {self.error:.1%} of them "
            f"wrong; of new "
            f"predictions at most {self.target_error:.1%} are wrong, with confidence "
            f"{1 - self.delta:.0%}"
        )


def abstain_at(
    model: Any, X: Any, y: Any, target_error: float, *, delta: float = 0.05
) -> Abstainer:
    """Find the smallest lead at which the error among predictions is low enough.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        A model of classes, of any form.
    X, y : rows and their classes
        Calibration rows: none of them may have been used to learn, choose or calibrate the model.
    target_error : float
        Share of wrong predictions that is allowed.
    delta : float
        Probability, over draws of calibration rows, with which the promise may be wrong.

    Returns
    -------
    Abstainer
        The model with its lead; a ValueError tells if no lead is good enough.

    Notes
    -----
    The lead is the probability of the first class minus that of the second. For each of 50 leads,
    fixed beforehand, the error among predictions is bounded exactly (Clopper and Pearson), with
    delta / 50 each, so that the bound also holds for the lead that is chosen by it. Rows must be
    independent and of the same source as new rows.
    """
    model = model_of(model, "abstain_at")
    if not isinstance(model, ClassModel):
        raise ValueError(
            "abstain_at needs a model of classes; conformal gives intervals of numbers"
        )
    checked_delta(delta, "delta")
    if not 0 < target_error < 1:
        raise ValueError(f"target_error={target_error!r} must lie between 0 and 1")
    table = rows_with_target(model, X, y)
    wrong = checked_class_codes(model, table) != model.decide(model.scores(table))
    curve = _at_fixed_leads(wrong, _leads(model.predict_proba(table)))
    # Leads that no row reaches count too: how many there are depends on the rows.
    share = delta * len(curve.theta) / _STEPS
    lead = lead_for_error(curve, len(wrong), target_error, share)
    place = int(np.searchsorted(curve.theta, lead))
    figures = float(curve.coverage[place]), float(curve.error[place])
    return Abstainer(model, lead, target_error, delta, *figures, len(wrong))


def _leads(probabilities: FloatArray) -> FloatArray:
    """Give the largest probability minus the second largest, which is 0 of a single class."""
    ordered = np.sort(np.column_stack([np.zeros(len(probabilities)), probabilities]), axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])


def _at_fixed_leads(wrong: BoolArray, leads: FloatArray) -> RiskCoverage:
    """Count coverage and errors at the fixed leads that some row reaches."""
    grid = np.arange(_STEPS) / _STEPS
    return count_risk_coverage(wrong, grid[np.searchsorted(grid, leads, side="right") - 1])
