"""The last step of a fit: calibrate the scores and say how reliable the probabilities are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

from rulewright.evidence import reliability

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.data import TrainingSet
    from rulewright.estimators.folds.folds import Folds
    from rulewright.kernels import FloatArray, IntArray
    from rulewright.model import AdditiveRules
    from rulewright.weighting import Calibration


class OutOfFold(NamedTuple):
    """Rows with scores (rows, classes) by models that did not see them, and their folds."""

    scores: FloatArray
    labels: IntArray
    weights: FloatArray
    folds: IntArray

    @classmethod
    def of(cls, scores: FloatArray, folds: Folds, rows: TrainingSet) -> Self:
        """Take the rows that some fold leaves out."""
        seen = folds.ever_held_out
        return cls(scores[seen], rows.labels[seen], rows.weights[seen], folds.of_rows[seen])


def with_probabilities(
    model: AdditiveRules,
    rows: TrainingSet,
    calibration: Calibration | None,
    out_of_fold: OutOfFold | None,
    known: FloatArray | None = None,
    source: str = "left out",
) -> AdditiveRules:
    """Calibrate a model and note in its summary how reliable its probabilities are.

    The figures are those of out-of-fold rows where there are any, each fold calibrated by the
    others; otherwise of the training rows, and then optimistic. `known` are the probabilities of
    the training rows if the learner has computed them; `source` names the out-of-fold rows.
    """
    if out_of_fold is None:
        p = model.predict_proba(rows.table) if known is None else known
        return note_figures(model, rows="training", **reliability(rows.labels, p, rows.weights))
    scores, labels, weights, _ = out_of_fold
    raw = reliability(labels, model.probabilities(scores), weights)
    if calibration is None:
        return note_figures(model, rows=source, **raw)
    figures = reliability(labels, calibration.cross_fit(*out_of_fold), weights)
    calibrated = calibration.fit(scores, labels, weights).apply(model)
    name = calibration.name
    return note_figures(calibrated, rows=source, **figures, calibration=name, uncalibrated=raw)


def note_figures(model: AdditiveRules, **figures: object) -> AdditiveRules:
    """Return the model with these figures in its summary."""
    return model.with_summary({**without_validation(model.summary), "reliability": figures})


def without_validation(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the notes on a model without figures that are those of another one by now."""
    return {name: value for name, value in summary.items() if name != "validation"}
