"""Regression in `learn`: when a target is taken as numbers, and its cross-validation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold

from rulewright.estimators.common.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rulewright.data import Table
    from rulewright.estimators.common.base import RuleRegressor


class NumberScores(NamedTuple):
    """Measures of predicted numbers."""

    r2: float
    mae: float
    rmse: float


def score_numbers(
    truth: NDArray[np.float64], found: NDArray[np.float64], weights: NDArray[np.float64]
) -> NumberScores:
    """Return all measures of one set of rows; R2 is NaN where the numbers do not vary."""
    errors = truth - found
    mse = float(np.average(errors**2, weights=weights))
    mean = np.average(truth, weights=weights)
    variance = float(np.average((truth - mean) ** 2, weights=weights))
    r2 = 1 - mse / variance if variance > 0 else np.nan
    return NumberScores(r2, float(np.average(abs(errors), weights=weights)), float(np.sqrt(mse)))


def cross_validate_numbers(
    estimator: RuleRegressor, table: Table, weights: NDArray[np.float64], n_folds: int, seed: int
) -> tuple[dict[str, list[NumberScores]], NDArray[np.float64]]:
    """Return the scores of a learner and of the mean of the training rows, fold by fold.

    The second result is what the learner predicts for each row left out, NaN for rows of weight 0.
    """
    kept, truth = np.flatnonzero(weights > 0), table.known_numbers.values
    n_folds, name = min(n_folds, len(kept)), type(estimator).__name__
    scores: dict[str, list[NumberScores]] = {name: [], "mean": []}
    left_out = np.full(len(truth), np.nan)
    if n_folds < 2:
        return scores, left_out
    with progress_bar("cross-validation", n_folds, sys.stderr.isatty()) as advance:
        for train, test in _splits(kept, n_folds, seed):
            left_out[test] = found = estimator.fit(table.take(train)).predict(table.take(test))
            mean = np.full(len(test), np.average(truth[train], weights=weights[train]))
            for learner, answer in ((name, found), ("mean", mean)):
                scores[learner].append(score_numbers(truth[test], answer, weights[test]))
            advance()
    return scores, left_out


def _splits(kept: NDArray[Any], n_folds: int, seed: int) -> Iterator[tuple[Any, Any]]:
    for train, test in KFold(n_folds, shuffle=True, random_state=seed).split(kept):
        yield kept[train], kept[test]
