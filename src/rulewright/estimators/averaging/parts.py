"""Partition learning: one model for each of many small parts of the rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from rulewright.data import Table, TrainingSet, Units, read_table
from rulewright.estimators.contract.many_labels import pool_labels
from rulewright.estimators.contract.warn import nested_copy
from rulewright.estimators.folds.folds import run_parallel
from rulewright.estimators.folds.precision import counting_training_rows, decided_weights
from rulewright.rules import Coverage
from rulewright.search import count_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rulewright.estimators.contract.base import RuleClassifier
    from rulewright.model import ClassModel

PART_SIZE = 100
"""Rows per part, as in the paper."""

MOST_COUNTED = 2000
"""Maximum number of rows of other parts to count the rules of a part on."""


def learn_on_parts(
    estimator: RuleClassifier[Any],
    X: Any,
    y: Any = None,
    size: int = PART_SIZE,
    *,
    sample_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> tuple[list[ClassModel], list[NDArray[np.intp]]]:
    """Shuffle the rows, split them into parts, and learn one model on each.

    All models share the columns, labels and classes of all rows, so that they can be averaged.

    Parameters
    ----------
    estimator : RuleClassifier
        Learner, cloned and fitted to each part.
    X : array, dataframe, dict of columns, path of a file or Table
        The table.
    y : array-like or str, optional
        Classes, or the name of the column of X that holds them.
    size : int
        Approximate number of rows per part; there are max(1, round(n / size)) parts.
    sample_weight : array-like or str, optional
        Row weights; rows without weight are dropped.
    random_state : int, RandomState or None
        Seed of the parts and of the learners.
    n_jobs : int, optional
        Number of threads; does not change the models.

    Returns
    -------
    models : list of ClassModel
    parts : list of int arrays
        The rows of X that each model was learned from.
    """
    table = read_table(X, target=y, weights=sample_weight)
    rows, random = pool_labels(TrainingSet.of(table)), check_random_state(random_state)
    places = row_parts(rows.n_rows, size, random, rows.units)
    parts = [rows.take(one) for one in places]
    models = models_of(estimator, parts, random, count_threads(n_jobs))
    return models, [rows.places[one] for one in places]


def row_parts(
    n_rows: int, size: int, random: np.random.RandomState, units: Units | None = None
) -> list[NDArray[np.intp]]:
    """Split a random order of the rows into parts of about this size; units stay together."""
    if size < 2:
        raise ValueError(f"size={size}: must be at least 2 rows per part")
    units = Units(n_rows) if units is None else units
    n_parts = max(1, min(round(n_rows / size), units.n))
    return [units.rows(part) for part in np.array_split(random.permutation(units.n), n_parts)]


def models_of(
    estimator: RuleClassifier[Any],
    parts: Sequence[TrainingSet],
    random: np.random.RandomState,
    n_threads: int,
    advance: Callable[[], object] = int,
) -> list[ClassModel]:
    """Fit a clone of a learner to each part, with a seed for each."""
    if len(parts) > 1:  # rules are evaluated on the other parts
        estimator = counting_training_rows(estimator)
    known, seeds = estimator.get_params(deep=False), random.randint(2**31, size=len(parts))
    alone = n_threads if len(parts) == 1 else 1

    def learn(rows: TrainingSet, seed: int, check: Callable[[], None]) -> ClassModel:
        check()
        settings = {"random_state": seed, "n_jobs": alone, "verbose": 0}
        learner = nested_copy(estimator).set_params(
            **{k: v for k, v in settings.items() if k in known}
        )
        model: ClassModel = learner.fit(table_of(rows)).model_
        advance()
        return model

    tasks = [partial(learn, one, int(seed)) for one, seed in zip(parts, seeds, strict=True)]
    return run_parallel(tasks, n_threads)


def count_elsewhere(
    members: Sequence[ClassModel], rows: TrainingSet, places: Sequence[NDArray[np.intp]]
) -> list[ClassModel]:
    """Count the rules of each model on rows of other parts, sampled if there are many.

    As with rules grown on some of the rows, the rows of the own part count a fifth: parts have no
    equal rows, so rows of other parts differ from the own ones more than new rows do.
    """
    if len(members) == 1:
        return list(members)
    counted = []
    for model, part in zip(members, places, strict=True):
        others = np.setdiff1d(np.arange(rows.n_rows), part)
        if not len(others):  # learned on all rows, with other weights
            counts = decided_weights(model, rows).tolist()
            counted.append(model.with_coverages([Coverage.of(tuple(line)) for line in counts]))
            continue
        if len(others) > MOST_COUNTED:
            others = others[np.linspace(0, len(others) - 1, MOST_COUNTED).astype(np.intp)]
        outside = decided_weights(model, rows.take(others))
        pairs = zip(model.rules, outside, strict=True)
        coverages = [Coverage.outside(found + rule.class_weights, found) for rule, found in pairs]
        counted.append(model.with_coverages(coverages))
    return counted


def reweighted(rows: TrainingSet, random: np.random.RandomState) -> TrainingSet:
    """Return rows with random weights of mean 1 times their own (Bayesian bootstrap)."""
    draws = random.standard_exponential(rows.n_rows)
    return replace(rows, weights=rows.weights * draws / draws.mean())


def table_of(rows: TrainingSet) -> Table:
    """Return rows as a table with classes and weights."""
    return replace(rows.table, target=rows.target, weights=rows.weights)


def parts_by_value(
    rows: TrainingSet, size: int, random: np.random.RandomState
) -> list[NDArray[np.intp]]:
    """Split rows into parts of about `size` distinct rows; equal rows stay together.

    The parts depend neither on the order of the rows nor on repetitions. Groups stay together.
    """
    if rows.groups is not None:
        return row_parts(rows.n_rows, size, random, rows.units)
    keys = [column.values for column in rows.columns]
    order = np.lexsort([rows.labels, *keys[::-1]])
    differs = np.zeros(rows.n_rows, dtype=np.bool_)
    for key in (rows.labels, *keys):
        one, two = key[order[1:]], key[order[:-1]]
        differs[1:] |= (one != two) & ~((one != one) & (two != two))  # missing values are equal
    groups = np.cumsum(differs)
    part_of = np.empty(groups[-1] + 1, dtype=np.intp)
    chosen = row_parts(len(part_of), size, random)
    for k, part in enumerate(chosen):
        part_of[part] = k
    return [order[part_of[groups] == k] for k in range(len(chosen))]
