"""What few rules for numbers are compared with: the many rules of boosted trees, on the same folds.

As a teacher of numbers such trees do not pay (`docs/defaults.md`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.kernels import ROW
from rulewright.search import SearchLimits, Subsampler, TreeGrower

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.encoding import BinnedColumns
    from rulewright.estimators.folds.folds import Folds
    from rulewright.kernels import BoolArray, FloatArray

N_TREES, N_LEAVES, LEARNING_RATE, SUBSAMPLE, LEAST_WEIGHT = 100, 6, 0.1, 0.5, 5.0


class _BoostedAnswers(NamedTuple):
    """Answers of rows, and the number of rules: leaves of trees."""

    answers: FloatArray
    n_rules: int


def price_of_numbers(
    few: FloatArray,
    n_rules: int,
    binned: BinnedColumns,
    numbers: FloatArray,
    weights: FloatArray,
    folds: Folds,
    seed: int,
    n_threads: int,
) -> list[dict[str, Any]]:
    """Compare the answers of few rules with those of boosted trees, on rows left out."""

    def boosted(fold: int, check: Callable[[], None]) -> _BoostedAnswers:
        found = _boost(binned, numbers, weights, folds.train_mask(fold), seed + fold, check)
        return found._replace(answers=found.answers[folds.held_out_mask(fold)])

    runs = folds.run(boosted, n_threads)
    many = folds.scatter([run.answers for run in runs])
    n_many = round(float(np.mean([run.n_rules for run in runs])))
    seen = folds.ever_held_out
    compared = (("CompactRules", n_rules, few), ("boosted trees", n_many, many))
    return [
        {"learner": name, "n_rules": n, **_figures(numbers[seen], answers[seen], weights[seen])}
        for name, n, answers in compared
    ]


def _boost(
    binned: BinnedColumns,
    numbers: FloatArray,
    weights: FloatArray,
    train: BoolArray,
    seed: int,
    check: Callable[[], None],
) -> _BoostedAnswers:
    rows = np.flatnonzero(train).astype(ROW)
    sampler = Subsampler(len(rows), SUBSAMPLE, np.random.RandomState(seed % 2**32))
    grower = TreeGrower(binned, weights, SearchLimits(min_weight=LEAST_WEIGHT))
    answers = np.full(len(numbers), np.average(numbers[train], weights=weights[train]))
    n_rules = 0
    for _ in range(N_TREES):
        check()
        S = rows[sampler.draw().rows]
        tree = grower.grow(S, (numbers[S] - answers[S])[:, np.newaxis], N_LEAVES)
        answers += LEARNING_RATE * tree.values[tree.reach(binned.codes), 0]
        n_rules += (tree.n_nodes + 1) // 2 if tree.n_nodes > 1 else 0
    return _BoostedAnswers(answers, n_rules)


def _figures(numbers: FloatArray, answers: FloatArray, weights: FloatArray) -> dict[str, float]:
    """Return R2 and the root of the mean squared error."""
    error = float(np.average((numbers - answers) ** 2, weights=weights))
    center = np.average(numbers, weights=weights)
    whole = float(np.average((numbers - center) ** 2, weights=weights))
    return {"r2": 1 - error / whole if whole > 0 else 0.0, "rmse": float(np.sqrt(error))}
