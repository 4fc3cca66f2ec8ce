"""Cross-validation of learners of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.data import optional
from rulewright.report import measures

if TYPE_CHECKING:
    from rulewright.cli.cross_validation import Rows, Split
    from rulewright.report import NumberAnswers


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
