"""The last step of a fit: calibrate the scores and say how far the probabilities can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rulewright.capacity import reliability
from rulewright.weighting import calibrate, cross_fitted

if TYPE_CHECKING:
    from rulewright.data import Table
    from rulewright.kernels import FloatArray, IntArray
    from rulewright.model import AdditiveRules


class OutOfFold(NamedTuple):
    """Scores of every row (rows, classes) by a model that did not see it, and the row's fold."""

    scores: FloatArray
    folds: IntArray


def with_probabilities(
    model: AdditiveRules,
    table: Table,
    kind: str | None,
    left_out: OutOfFold | None,
    known: FloatArray | None = None,
) -> AdditiveRules:
    """Calibrate a model and note in its summary how reliable its probabilities are.

    The figures are those of rows left out where there are any, each row calibrated by the other
    folds; otherwise of the training rows, and then too good. `known` are the probabilities of the
    training rows if the learner has them at hand.
    """
    assert table.target is not None
    assert table.weights is not None
    labels, weights = table.target.codes, table.weights
    if left_out is None:
        p = model.predict_proba(table) if known is None else known
        figures = reliability(labels, p, weights)
        return _noted(model, {"rows": "training", **figures})
    raw = reliability(labels, model.probabilities(left_out.scores), weights)
    if kind is None:
        return _noted(model, {"rows": "left out", **raw})
    honest = cross_fitted(model, kind, left_out.scores, labels, weights, left_out.folds)
    figures = reliability(labels, honest, weights)
    calibrated = calibrate(model, kind, left_out.scores, labels, weights)
    return _noted(
        calibrated, {"rows": "left out", **figures, "calibration": kind, "uncalibrated": raw}
    )


def _noted(model: AdditiveRules, figures: dict[str, object]) -> AdditiveRules:
    model.summary["reliability"] = figures  # a copy would check every rule again
    return model
