"""Cross-validation of pipelines: what has seen data is rerun in every fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from rulewright.data import DataError
from rulewright.estimators import assign_folds
from rulewright_lab.framework.running import learn_per_fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.kernels import FloatArray, IntArray
    from rulewright_lab.framework.pipeline import Pipeline
    from rulewright_lab.framework.query import Query


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """What cross-validation found.

    Attributes
    ----------
    predictions : ndarray
        The class of each instance by the model that was learned without its fold.
    accuracies : ndarray
        Share of right answers, fold by fold.
    folds : ndarray
        The fold of each instance, -1 for none.
    queries : list of list of Query
        The queries of each fold.
    """

    predictions: NDArray[Any]
    accuracies: FloatArray
    folds: IntArray
    queries: list[list[Query]]

    def __str__(self) -> str:
        mean, spread = self.accuracies.mean(), self.accuracies.std(ddof=min(1, len(self.folds)))
        return f"accuracy {mean:.3f} +- {spread:.3f} over {len(self.accuracies)} folds"


def cross_validate(
    pipeline: Pipeline,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    cv: Any = 10,
    random_state: Any = 0,
) -> CrossValidation:
    """Cross-validate a pipeline: what looks at data is rerun on the training part of each fold.

    Only queries of generators that look at no data are made once for all folds.

    Parameters
    ----------
    pipeline : Pipeline
        The learner.
    X, y, sample_weight
        As of `Pipeline.fit`.
    cv : int or splitter
        The folds.
    random_state : int, RandomState or None
        Seed of folds and learner.
    """
    instances, target = pipeline.read(X, y, sample_weight)
    random = check_random_state(random_state)
    seed = random.randint(2**31 - 1)
    folds = assign_folds(target.codes, cv, random)
    if folds is None:
        raise DataError("A class has one instance only, which cannot be left out. Take another cv.")
    predictions = np.empty(len(instances), dtype=target.classes.dtype)
    accuracies, queries = [], []
    parts = pipeline.components(seed)
    for inside, found in learn_per_fold(parts, instances, target, folds, seed):
        answers = found.rules.predict(instances.take(inside).table(found.queries))
        predictions[inside] = answers
        truth = target.classes[target.codes[inside]]
        accuracies.append(np.average(answers == truth, weights=instances.weights[inside]))
        queries.append(found.queries)
    return CrossValidation(predictions, np.array(accuracies), folds.of_rows, queries)
