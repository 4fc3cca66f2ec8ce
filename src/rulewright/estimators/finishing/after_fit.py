"""The last steps of additive models, in a fit and after it: calibration, reliability, decisions.

Compression, the third step after a fit, has its own file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from rulewright.data import DataError, TrainingSet, optional, read_like
from rulewright.estimators.contract.parameters import Named
from rulewright.estimators.folds.folds import Folds, divide_rows
from rulewright.evidence import reliability
from rulewright.model import AdditiveRules, ClassModel
from rulewright.weighting import CALIBRATIONS, Calibration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.kernels import FloatArray, IntArray

CALIBRATION = Named(CALIBRATIONS, Calibration)
"""A calibration, by name or as an object."""


class OutOfFold(NamedTuple):
    """Rows with out-of-fold scores (rows, classes), and their folds."""

    scores: FloatArray
    labels: IntArray
    weights: FloatArray
    folds: IntArray

    @classmethod
    def of(cls, scores: FloatArray, folds: Folds, rows: TrainingSet) -> Self:
        """Select the rows that some fold holds out."""
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
    """Calibrate a model and record the reliability of its probabilities in its summary.

    The figures are out-of-fold where possible, each fold calibrated by the others; otherwise they
    are on training rows, and optimistic. `known` are the probabilities of the training rows, if the
    learner has computed them; `source` names the out-of-fold rows.
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
    """Return the notes on a model without figures that no longer apply to it."""
    return {name: value for name, value in summary.items() if name != "validation"}


def calibrate(
    model: Any,
    X: Any,
    y: Any = None,
    method: str | Calibration = "platt",
    *,
    sample_weight: Any = None,
    groups: Any = None,
    random_state: Any = 0,
) -> AdditiveRules:
    """Calibrate the probabilities of a model on rows that it was not learned from.

    Parameters
    ----------
    model : AdditiveRules or fitted estimator
        The model; its rules stay, an earlier stepwise calibration is dropped.
    X : array, dataframe, dict of columns, path of a file or Table
        Rows to calibrate on. Do not use the training rows: their scores are overfitted, and the
        probabilities become worse.
    y : array-like or str, optional
        Classes, or the name of the column of X that holds them; by default the target that
        a Table was read with.
    method : {"temperature", "platt", "isotonic"} or Calibration
        Calibration method; the folds of an object are used for the figures below.
    sample_weight : array-like or str, optional
        Row weights, or the name of the column of X that holds them.
    groups : array-like or str, optional
        Group of each row, or the name of the column of X that holds it; by default the groups that
        a Table was read with. Folds keep groups whole.
    random_state : int, RandomState or None
        Seed of the folds.

    Returns
    -------
    AdditiveRules
        The calibrated model. The ``reliability`` entry of its summary has cross-validated figures
        on the given rows.
    """
    model = additive_of(model, "calibrate")
    if not CALIBRATION.accepts(method):
        raise ValueError(f"calibrate: method={method!r} must be {CALIBRATION}")
    calibration: Calibration = CALIBRATION.make(method)
    rows = read_model_rows(model, X, y, sample_weight, "calibrate", groups=groups)
    random = optional("sklearn.utils").check_random_state(random_state)  # slow to import
    folds = divide_rows(rows, calibration.cv, random)
    if folds is None:
        raise ValueError("calibrate needs two rows or more of two classes or more")
    given = OutOfFold(model.scores(rows.table), rows.labels, rows.weights, folds.of_rows)
    return with_probabilities(model, rows, calibration, given, source="given")


def with_decision(model: Any, decision: Any) -> ClassModel:
    """Change how a model chooses classes; its rules and probabilities stay the same.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        A classification model of any form.
    decision : str, float, mapping, array or Decision
        "accuracy" predicts the most probable class. "balanced" divides probabilities by the class
        shares of the training rows. A number is a threshold: the second of two classes is predicted
        if its probability is at least that number; ``{class: threshold}`` names the class. A cost
        matrix (rows: true class, 0 on the diagonal) or ``{true: {predicted: cost}}`` predicts the
        class with minimum expected cost; errors that are not named cost 1. "absolute" uses the
        distance between ordered classes as cost, so that the median is predicted.

    Returns
    -------
    ClassModel
        The model with the decision, which is part of saved models, exports and explanations.
    """
    model = getattr(model, "model_", model)
    if not isinstance(model, ClassModel):
        raise ValueError(
            "with_decision needs a classification model or a fitted classifier, not "
            f"{type(model).__name__}"
        )
    return model.with_decision(decision).with_summary(without_validation(model.summary))


def additive_of(model: Any, step: str) -> AdditiveRules:
    """Return the additive model of a fitted estimator, or the model itself."""
    model = getattr(model, "model_", model)
    if not isinstance(model, AdditiveRules):
        raise ValueError(
            f"{step} needs an AdditiveRules model or a fitted estimator, not {type(model).__name__}"
        )
    return model


def read_model_rows(
    model: ClassModel,
    X: Any,
    y: Any,
    sample_weight: Any,
    step: str,
    *,
    every_column: bool = False,
    groups: Any = None,
) -> TrainingSet:
    """Read rows with their classes and the columns of the model: the used ones, or all."""
    needed = None if every_column else model.columns
    table = read_like(X, model.schema, needed, target=y, weights=sample_weight, groups=groups)
    if table.target is None:
        raise ValueError(f"{step} needs y: the classes, or the name of their column in X")
    places = {label: place for place, label in enumerate(model.classes.tolist())}
    given = table.known_target
    found = given.classes.tolist()
    strange = [found[code] for code in np.unique(given.codes) if found[code] not in places]
    if strange:
        known = ", ".join(map(repr, places))
        raise DataError(
            f"y has the class {strange[0]!r}, which is not a class of the model. "
            f"The classes of the model are: {known}."
        )
    codes = np.array([places.get(label, -1) for label in found], dtype=np.int32)
    target = replace(given, classes=model.classes, codes=codes[given.codes])
    return TrainingSet.of(replace(table, target=target))
