"""Cross-validation: splits and scores of classes and of numbers, and the majority baseline."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulewright.data import optional
from rulewright.evidence import accuracy, auc, log_loss
from rulewright.report import NumberAnswers, measures

Codes: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.intp]
Learn: TypeAlias = Callable[[Rows, Rows], Floats]
"""Learns from the rows of the first array and returns the probabilities of the second's."""
Split: TypeAlias = tuple[Rows, Rows]


class ClassScores(NamedTuple):
    """Measures of predicted probabilities."""

    accuracy: float
    log_loss: float
    auc: float


def score_probabilities(codes: Codes, probabilities: Floats, weights: Floats) -> ClassScores:
    """Return all measures of one set of rows."""
    rows = (codes, probabilities, weights)
    return ClassScores(accuracy(*rows), log_loss(*rows), auc(*rows))


def stratified_splits(codes: Codes, n_folds: int, seed: int) -> list[Split]:
    """Return training and test rows of each fold."""
    folds = optional("sklearn.model_selection").StratifiedKFold(
        n_folds, shuffle=True, random_state=seed
    )
    return list(folds.split(np.zeros(len(codes)), codes))


def majority(codes: Codes, weights: Floats, n_classes: int) -> Learn:
    """Return the learner that predicts the class shares of its training rows for every row."""

    def learn(train: Rows, test: Rows) -> Floats:
        totals = np.bincount(codes[train], weights[train], n_classes)
        return np.tile(totals / totals.sum(), (len(test), 1))

    return learn


def cross_validate(
    learn: Learn, codes: Codes, weights: Floats, splits: Sequence[Split]
) -> Iterator[ClassScores]:
    """Learn on each fold's training rows and yield the scores of its test rows."""
    for train, test in splits:
        yield score_probabilities(codes[test], learn(train, test), weights[test])


class NumberScores(NamedTuple):
    """Measures of predicted numbers."""

    r2: float
    mae: float
    rmse: float


def score_numbers(answers: NumberAnswers) -> NumberScores:
    """Return all measures of one set of rows; R2 is NaN where the numbers do not vary."""
    found = {one.name: one.value for one in measures(answers)}
    return NumberScores(found.get("R2", np.nan), found["MAE"], found["RMSE"])


def number_splits(kept: Rows, n_folds: int, seed: int) -> list[Split]:
    """Return training and test rows of each fold, at most as many as there are rows."""
    n_folds = min(n_folds, len(kept))
    if n_folds < 2:
        return []
    folds = optional("sklearn.model_selection").KFold(n_folds, shuffle=True, random_state=seed)
    return [(kept[train], kept[test]) for train, test in folds.split(kept)]
