"""Abstention of a vote on labelled rows: errors against coverage, and the lead to ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.evidence import count_risk_coverage, count_selective_score, lead_for_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.evidence import RiskCoverage, SelectiveScore
    from rulewright.kernels import BoolArray
    from rulewright.model import ClassModel, RuleSetVotes


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
