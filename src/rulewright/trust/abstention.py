"""Abstention of votes and classifiers: errors by coverage, and the choice of the lead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.bounds import checked_delta
from rulewright.evidence import count_risk_coverage, count_selective_score, lead_for_error
from rulewright.explain import checked_class_codes, independent_rows, model_of
from rulewright.model import ClassModel, write_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.evidence import RiskCoverage, SelectiveScore
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import RuleSetVotes


def predict_or_abstain(model: RuleSetVotes, X: Any, abstain_label: Any = None) -> NDArray[Any]:
    """Return labels as objects, with `abstain_label` for rows where the model abstains."""
    scores = model.scores(X)
    labels = model.classes[model.decide(scores)].astype(object)
    labels[model.flags(scores)["abstains"]] = abstain_label
    return labels


def selective_score(model: RuleSetVotes, X: Any, y: Any) -> SelectiveScore:
    """Return the share of predicted rows, and the errors among them and among all rows."""
    return count_selective_score(wrong_rows(model, X, y), ~model.abstains(X))


def risk_coverage(model: RuleSetVotes, X: Any, y: Any) -> RiskCoverage:
    """Return coverage and errors for each possible value of `abstain`.

    Returns
    -------
    RiskCoverage
        Arrays ``theta`` (leads), ``coverage`` (share of rows predicted), ``error`` (among these)
        and ``joint_error`` (wrong predictions among all rows).
    """
    return count_risk_coverage(wrong_rows(model, X, y), model.margins(X))


def choose_abstain(
    model: RuleSetVotes, X: Any, y: Any, target_error: float, *, delta: float | None = None
) -> float:
    """Find the smallest lead at which at most `target_error` of the predictions are wrong.

    ``model.with_abstain(lead)`` returns a model with this lead.

    Parameters
    ----------
    model : RuleSetVotes
        The vote.
    X, y : rows and their labels
        Ideally rows that the model was not learned from.
    target_error : float
        Maximum share of wrong predictions.
    delta : float, optional
        If given, the error on new rows is bounded, too, except with this probability: the exact
        upper bound of the error must reach the target, for all tried leads at once.
    """
    curve = risk_coverage(model, X, y)
    return lead_for_error(curve, len(np.asarray(y)), target_error, delta)


def wrong_rows(model: ClassModel, X: Any, y: Any) -> BoolArray:
    """Return the rows whose predicted label is wrong, whether the model abstains or not."""
    predicted, labels = model.predict(X), np.asarray(y)
    if labels.shape != predicted.shape:
        raise ValueError(f"y has the shape {labels.shape}, not one label per row of X")
    return np.asarray(predicted != labels, dtype=np.bool_)


_STEPS = 50
"""Leads to try, fixed in advance: 0, 0.02, ..., 0.98."""


@dataclass(frozen=True, eq=False)
class Abstainer:
    """A model that abstains unless its probabilities are clear enough.

    Parameters
    ----------
    model : ClassModel
        The model.
    lead : float
        Required difference of the two largest probabilities.
    target_error, delta : float
        The error among predictions of new rows is at most the target, except with probability
        delta over draws of the calibration rows.
    coverage, error : float
        Share of calibration rows with a prediction, and the error rate among them.
    n_rows : int
        Number of calibration rows.
    """

    model: ClassModel
    lead: float
    target_error: float
    delta: float
    coverage: float
    error: float
    n_rows: int

    def abstains(self, X: Any) -> BoolArray:
        """Return the rows without a prediction."""
        return np.asarray(_leads(self.model.predict_proba(X)) < self.lead)

    def predict(self, X: Any, abstain_label: Any = None) -> Any:
        """Return labels as objects, with `abstain_label` for rows without a prediction."""
        labels = self.model.predict(X).astype(object)
        labels[self.abstains(X)] = abstain_label
        return labels

    def __str__(self) -> str:
        return (
            f"predicts if the first class leads by {self.lead:.2f} or more: {self.coverage:.1%} "
            f"of {write_count(self.n_rows, 'calibration row')}, {self.error:.1%} of them "
            f"wrong; at most {self.target_error:.1%} of new predictions are wrong, with confidence "
            f"{1 - self.delta:.0%}"
        )


def abstain_at(
    model: Any, X: Any, y: Any, target_error: float, *, delta: float = 0.05, groups: Any = None
) -> Abstainer:
    """Find the smallest lead at which the error among predictions is low enough.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        A classification model of any form.
    X, y : rows and their classes
        Calibration rows, not used to learn, choose or calibrate the model.
    target_error : float
        Maximum share of wrong predictions.
    delta : float
        Failure probability of the guarantee, over draws of calibration rows.
    groups : array-like or str, optional
        Group of each row, such as its customer, or the name of the column of X that holds it; by
        default the groups that a Table was read with. One row of each group is drawn, and the
        guarantee is for a random row of a new group.

    Returns
    -------
    Abstainer
        The model with its lead. Raises a ValueError if no lead reaches the target.

    Notes
    -----
    The lead is the difference of the two largest probabilities. For each of 50 leads, fixed in
    advance, the error among predictions is bounded exactly (Clopper and Pearson) at level delta /
    50, so that the bound also holds for the chosen lead. Rows must be independent and from the same
    source as new rows.
    """
    model = model_of(model, "abstain_at")
    if not isinstance(model, ClassModel):
        raise ValueError(
            "abstain_at needs a classification model; conformal gives intervals for regression"
        )
    checked_delta(delta, "delta")
    if not 0 < target_error < 1:
        raise ValueError(f"target_error={target_error!r} must lie between 0 and 1")
    table = independent_rows(model, X, y, groups)
    wrong = checked_class_codes(model, table) != model.decide(model.scores(table))
    curve = _at_fixed_leads(wrong, _leads(model.predict_proba(table)))
    # Leads that no row reaches count, too: their number depends on the rows.
    share = delta * len(curve.theta) / _STEPS
    lead = lead_for_error(curve, len(wrong), target_error, share)
    place = int(np.searchsorted(curve.theta, lead))
    figures = float(curve.coverage[place]), float(curve.error[place])
    return Abstainer(model, lead, target_error, delta, *figures, len(wrong))


def _leads(probabilities: FloatArray) -> FloatArray:
    """Return the difference of the two largest probabilities; 0 for a single class."""
    ordered = np.sort(np.column_stack([np.zeros(len(probabilities)), probabilities]), axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])


def _at_fixed_leads(wrong: BoolArray, leads: FloatArray) -> RiskCoverage:
    """Count coverage and errors at the fixed leads that some row reaches."""
    grid = np.arange(_STEPS) / _STEPS
    return count_risk_coverage(wrong, grid[np.searchsorted(grid, leads, side="right") - 1])
