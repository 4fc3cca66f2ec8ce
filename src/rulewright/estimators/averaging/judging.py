"""What models are judged by: their evidence, and their log densities of rows left out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from rulewright.model import DecisionList, NearestRules
from rulewright.weighting import ESTIMATORS, log_evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.kernels import FloatArray
    from rulewright.model import ClassModel

Estimates: TypeAlias = Literal["model", "ml", "laplace", "m", "integrated"]
ESTIMATES: tuple[Estimates, ...] = get_args(Estimates)
Evidence: TypeAlias = Literal["own", "shared", "heldout"]
EVIDENCE: tuple[Evidence, ...] = get_args(Evidence)
LEAST_PROBABILITY = 1e-12
"""What a class has at least where models are judged by rows left out."""
assert ESTIMATES[1:] == ESTIMATORS


def evidence_of(
    model: ClassModel,
    judged: TrainingSet,
    learned: TrainingSet | None,
    estimates: Estimates,
    m: float = 2.0,
) -> float:
    """Give the log probability of the classes of rows under a model.

    The model parts the rows into regions, in each of which it gives all rows the same scores: those
    won by a nearest rule or decided by a rule of a list. Probabilities of classes are estimated in
    each region from the rows that the model was `learned` from, by default the judged ones, or are
    those that the model says.
    """
    if estimates == "model":
        chances = model.predict_proba(judged.table)[np.arange(judged.n_rows), judged.labels]
        with np.errstate(divide="ignore"):
            return math.fsum((judged.weights * np.log(chances)).tolist())
    prior = (learned or judged).class_weights
    if learned is None or learned is judged:
        (counts,) = _counts(model, judged)
        return log_evidence(counts, estimates, prior=prior, m=m)
    counts, before = _counts(model, judged, learned)
    return log_evidence(counts, estimates, learned=before, prior=prior, m=m)


def _counts(model: ClassModel, *sets: TrainingSet) -> list[FloatArray]:
    """Sum the weights of the rows of sets by the regions of a model, and class."""
    if isinstance(model, DecisionList | NearestRules):
        regions = np.concatenate([model.deciders(rows.table) for rows in sets])
    else:
        scores = np.concatenate([model.scores(rows.table) for rows in sets])
        regions = np.unique(scores, axis=0, return_inverse=True)[1].ravel()
    n_regions, ends = int(regions.max()) + 1, np.cumsum([rows.n_rows for rows in sets])
    split = np.split(regions, ends[:-1])
    return [_sums(rows, own, n_regions) for rows, own in zip(sets, split, strict=True)]


def _sums(rows: TrainingSet, regions: NDArray[np.intp], n_regions: int) -> FloatArray:
    n_classes = len(rows.classes)
    cells = np.bincount(
        regions * n_classes + rows.labels, rows.weights, minlength=n_regions * n_classes
    )
    return cells.astype(np.float64).reshape(n_regions, n_classes)


def log_densities(
    models: Sequence[ClassModel], rows: TrainingSet, owners: NDArray[np.intp] | None = None
) -> FloatArray:
    """Give the log probability of the class of each row under each model: (rows, models).

    A row says nothing about the model that was learned from it (`owners`, -1 for none): there the
    model is taken to say what the others say on average, which neither helps nor harms it.
    """
    place = np.arange(rows.n_rows)
    chances = np.column_stack(
        [np.maximum(model.predict_proba(rows.table)[place, rows.labels], 0.0) for model in models]
    )
    chances = np.maximum(chances, LEAST_PROBABILITY)
    if owners is not None and len(models) > 1:
        owned = owners >= 0
        others = chances.sum(axis=1) - chances[place, np.maximum(owners, 0)]
        chances[place[owned], owners[owned]] = others[owned] / (len(models) - 1)
    return np.asarray(np.log(chances))
