"""Internal cross-validation: how folds of rows are drawn, and how they run in parallel."""

from __future__ import annotations

import numbers
from concurrent.futures import FIRST_EXCEPTION, wait
from dataclasses import dataclass, replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rulewright.data import RegressionSet, TrainingSet, optional
from rulewright.estimators.folds.grouping import (
    mark_common,
    refuse_split_groups,
    stratified_group_folds,
)
from rulewright.kernels import BoolArray, FloatArray, IntArray, ThreadPool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rulewright.data import LearningRows
    from rulewright.model import AdditiveRules

Result = TypeVar("Result")


MOST_ROWS = 20_000
"""Number of rows to select a few rules on; responses are then fitted to all rows."""


class CancelledError(RuntimeError):
    """Raised in the remaining folds after one failed or the user pressed Ctrl-C."""


@dataclass(frozen=True, eq=False)
class Folds:
    """Rows in folds: each fold holds its own rows out and trains on all others.

    Attributes
    ----------
    of_rows : int32 array
        Fold that holds each row out, or -1 if none does: such a row trains in every fold.
    """

    of_rows: IntArray

    def __len__(self) -> int:
        """Return the number of folds."""
        return int(self.of_rows.max()) + 1

    def train_mask(self, fold: int) -> BoolArray:
        """Mark the rows that a fold trains on."""
        mask: BoolArray = self.of_rows != fold
        return mask

    def held_out_mask(self, fold: int) -> BoolArray:
        """Mark the rows that a fold holds out."""
        mask: BoolArray = self.of_rows == fold
        return mask

    def train_rows(self, fold: int) -> NDArray[np.intp]:
        """Return the rows that a fold trains on."""
        return np.flatnonzero(self.train_mask(fold))

    def held_out_rows(self, fold: int) -> NDArray[np.intp]:
        """Return the rows that a fold holds out."""
        return np.flatnonzero(self.held_out_mask(fold))

    @property
    def ever_held_out(self) -> BoolArray:
        """Mark the rows that some fold holds out: those with out-of-fold results."""
        return self.of_rows >= 0

    def draw_seeds(self, random: np.random.RandomState) -> list[int]:
        """Draw a seed for each fold."""
        seeds: list[int] = random.randint(2**31, size=len(self)).tolist()
        return seeds

    def run(
        self, task: Callable[[int, Callable[[], None]], Result], n_threads: int
    ) -> list[Result]:
        """Run a task for each fold and return the results; see `run_parallel`."""
        return run_parallel([partial(task, fold) for fold in range(len(self))], n_threads)

    def scatter(self, results: Sequence[FloatArray], axis: int = 0) -> FloatArray:
        """Collect results for the held-out rows of each fold into one array of all rows.

        `axis` counts the rows. Rows that no fold holds out get NaN.
        """
        shape = list(results[0].shape)
        shape[axis] = len(self.of_rows)
        collected = np.full(shape, np.nan)
        by_row = np.moveaxis(collected, axis, 0)  # a view
        for fold, result in enumerate(results):
            by_row[self.held_out_mask(fold)] = np.moveaxis(result, axis, 0)
        return collected


def affordable_folds(labels: IntArray, asked: int) -> int:
    """Return the number of folds, at most `asked`, that can all hold out every class."""
    counts = np.bincount(labels)
    return min(asked, int(counts[counts > 0].min()))


def stratified_folds(labels: IntArray, n_folds: int, random: np.random.RandomState) -> IntArray:
    """Assign a fold to each row; the rows of a class are spread evenly."""
    folds = np.empty(len(labels), dtype=np.int32)
    order = random.permutation(len(labels))
    _, first = np.unique(labels[order], return_index=True)
    # Class after class, so that fold sizes, in total and per class, differ by at most one.
    by_class = [order[labels[order] == labels[order[i]]] for i in sorted(first)]
    folds[np.concatenate(by_class)] = np.arange(len(labels)) % n_folds
    return folds


def choosing_rows(
    rows: TrainingSet, random: np.random.RandomState, most: int | None = None
) -> TrainingSet:
    """Return the rows to select rules on: all, or a weighted sample of large data.

    The sample keeps relatively more rows of rare classes, up to all of them (case-control
    sampling). Weights restore the class shares, so that probabilities learned from the sample
    apply to all rows. Rows of the class with the highest sampling rate keep their weight: the
    sample must not look like more evidence than it is.
    """
    most = MOST_ROWS if most is None else most
    if rows.n_rows <= most:
        return rows
    counts = np.bincount(rows.labels, minlength=len(rows.classes))
    quota = most // (2 * int(np.count_nonzero(counts)))
    drawn, factors = [], np.ones(len(counts))
    for label in np.flatnonzero(counts).tolist():
        own = np.flatnonzero(rows.labels == label)
        wanted = max(round(most * len(own) / rows.n_rows), min(len(own), quota), 1)
        chosen = own if wanted >= len(own) else own[random.permutation(len(own))[:wanted]]
        factors[label] = rows.weights[own].sum() / rows.weights[chosen].sum()
        drawn.append(chosen)
    sample = rows.take(np.sort(np.concatenate(drawn)))
    factors /= factors[counts > 0].min()
    return replace(sample, weights=sample.weights * factors[sample.labels])


def assign_folds(
    labels: IntArray,
    cv: Any,
    random: np.random.RandomState,
    least_classes: int = 2,
    groups: NDArray[np.intp] | None = None,
) -> Folds | None:
    """Assign rows to the folds that hold them out.

    A class with a single row is never held out, so that every training part has all classes;
    larger classes are spread over the folds. A group is in one fold.

    Parameters
    ----------
    labels : int32 array
        Class of each row.
    cv : int, splitter or pairs
        Number of folds, a scikit-learn splitter, or its pairs of training and test rows;
        each row may be in at most one test set.
    random : RandomState
        Random numbers for the folds; a splitter has its own.
    least_classes : int
        Minimum number of classes that must be held out.
    groups : int array, optional
        Group of each row; a splitter gets them.

    Returns
    -------
    Folds or None
        None if too few classes can be held out.
    """
    common = mark_common(labels, groups)
    if len(np.unique(labels[common])) < least_classes:
        return None
    folds = np.full(len(labels), -1, dtype=np.int32)
    if isinstance(cv, numbers.Integral):
        if groups is None:
            n_folds = min(int(cv), int(common.sum()))
            folds[common] = stratified_folds(labels[common], n_folds, random)
            return Folds(folds)
        n_folds = min(int(cv), len(np.unique(groups[common])))
        if n_folds < 2:
            return None
        dealt = stratified_group_folds(labels[common], groups[common], n_folds, random)
    else:
        dealt = _ask_splitter(labels, cv, groups)[common]
        if groups is not None:
            refuse_split_groups(dealt, groups[common])
    folds[common] = dealt
    left_out = folds >= 0
    folds[left_out] = np.unique(folds[left_out], return_inverse=True)[1]  # folds without rows
    return Folds(folds) if left_out.any() else None


def _ask_splitter(labels: IntArray, cv: Any, groups: NDArray[np.intp] | None) -> IntArray:
    """Return the test set of each row, -1 if none."""
    folds = np.full(len(labels), -1, dtype=np.int32)
    splits = optional("sklearn.model_selection").check_cv(cv)  # slow to import
    pairs = splits.split(np.zeros((len(labels), 1)), labels, groups)
    for fold, (_, test) in enumerate(pairs):
        if len(test) and np.max(test) >= len(labels):
            raise ValueError(
                f"cv holds out row {np.max(test)}, but only {len(labels)} rows have a weight: "
                "pass splits of these rows"
            )
        if (folds[test] >= 0).any():
            raise ValueError(
                f"cv={cv!r} holds out a row twice: use a splitter with each row in at most one "
                "test set, such as StratifiedKFold"
            )
        folds[test] = fold
    return folds


def divide_rows(rows: LearningRows[Any], cv: Any, random: np.random.RandomState) -> Folds | None:
    """Assign the rows of a fit to the folds that hold them out; groups stay whole.

    None if that is impossible: too few rows, groups or classes.
    """
    splits = keep_splits(cv, rows.places)
    if isinstance(rows, TrainingSet):
        return assign_folds(rows.labels, splits, random, groups=rows.groups)
    if isinstance(rows, RegressionSet) and rows.has_event is not None:
        return assign_folds(rows.has_event.astype(np.int32), splits, random, 1, rows.groups)
    return number_folds(rows.n_rows, cv, rows.places, random, rows.groups)


def number_folds(
    n_rows: int,
    cv: Any,
    places: NDArray[np.intp],
    random: np.random.RandomState,
    groups: NDArray[np.intp] | None = None,
) -> Folds | None:
    """Assign rows to the folds that hold them out; None for fewer than two rows.

    Like `assign_folds`, for rows without classes.
    """
    if n_rows < 2:
        return None
    if not isinstance(cv, numbers.Integral) or groups is not None:
        one_class = np.zeros(n_rows, dtype=np.int32)
        return assign_folds(one_class, keep_splits(cv, places), random, 1, groups)
    folds = np.empty(n_rows, dtype=np.int32)
    folds[random.permutation(n_rows)] = np.arange(n_rows) % min(int(cv), n_rows)
    return Folds(folds)


def keep_splits(cv: Any, places: NDArray[np.intp]) -> Any:
    """Return `cv` for the rows that were kept.

    Explicit pairs of training and test rows count all rows, including rows dropped for lack of
    weight; numbers and splitters are returned unchanged.
    """
    if hasattr(cv, "split") or isinstance(cv, numbers.Integral):
        return cv
    return [tuple(np.flatnonzero(np.isin(places, part)) for part in pair) for pair in cv]


def out_of_fold_scores(
    learn: Callable[[TrainingSet, int, Callable[[], None]], AdditiveRules],
    rows: TrainingSet,
    folds: Folds,
    random: np.random.RandomState,
    n_threads: int,
) -> FloatArray:
    """Return the out-of-fold scores of all rows.

    `learn` takes training rows, a seed, and a function to call between its steps. Rows that no
    fold holds out get NaN.
    """
    seeds = folds.draw_seeds(random)

    def run(fold: int, check: Callable[[], None]) -> FloatArray:
        model = learn(rows.take(folds.train_rows(fold)), seeds[fold], check)
        return model.scores(rows.table.take(folds.held_out_rows(fold)), n_threads=1)

    return folds.scatter(folds.run(run, n_threads))


def run_parallel(
    tasks: Sequence[Callable[[Callable[[], None]], Result]], n_threads: int
) -> list[Result]:
    """Run tasks on threads and return their results in order.

    Each task gets a function to call between its steps. It raises if another task failed or the
    user pressed Ctrl-C, so that nothing keeps running in the background.
    """
    ended = Event()

    def check() -> None:
        if ended.is_set():
            raise CancelledError

    if n_threads == 1 or len(tasks) == 1:
        return [task(check) for task in tasks]
    with ThreadPool(min(n_threads, len(tasks))) as pool:
        try:
            futures = [pool.submit(task, check) for task in tasks]
            running = set(futures)
            while running:  # an unlimited wait might not notice Ctrl-C
                done, running = wait(running, timeout=0.1, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()  # raises the error of a failed task
            return [future.result() for future in futures]
        except BaseException:
            ended.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
