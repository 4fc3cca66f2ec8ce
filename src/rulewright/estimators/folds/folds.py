"""Internal cross-validation: folds of rows, how they are drawn, and how they run in parallel."""

from __future__ import annotations

import numbers
from concurrent.futures import FIRST_EXCEPTION, wait
from dataclasses import dataclass, replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rulewright.data import TrainingSet, optional
from rulewright.kernels import BoolArray, FloatArray, IntArray, ThreadPool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rulewright.model import AdditiveRules

Result = TypeVar("Result")


MOST_ROWS = 20_000
"""A few rules are chosen on about so many rows; their responses are then fitted to all."""


class CancelledError(RuntimeError):
    """Raised in the folds still running after one failed or the user pressed Ctrl-C."""


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
    """Return how many folds, at most `asked`, can all hold every class that is present."""
    counts = np.bincount(labels)
    return min(asked, int(counts[counts > 0].min()))


def stratified_folds(labels: IntArray, n_folds: int, random: np.random.RandomState) -> IntArray:
    """Give every row a fold; the rows of a class are spread evenly, whatever its label."""
    folds = np.empty(len(labels), dtype=np.int32)
    order = random.permutation(len(labels))
    _, first = np.unique(labels[order], return_index=True)
    # Class after class in turn, so that both the folds and those of a class differ by one row.
    by_class = [order[labels[order] == labels[order[i]]] for i in sorted(first)]
    folds[np.concatenate(by_class)] = np.arange(len(labels)) % n_folds
    return folds


def choosing_rows(
    rows: TrainingSet, random: np.random.RandomState, most: int | None = None
) -> TrainingSet:
    """Return the rows to choose rules by: all, or of very many a sample with weights.

    Rare classes keep more than their share of the sample, up to all of their rows (case-control
    sampling). The weights restore the shares of the classes, so probabilities learned from the
    sample are those of all rows. Rows of the class that lost the fewest keep their weight: the
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
    labels: IntArray, cv: Any, random: np.random.RandomState, least_classes: int = 2
) -> Folds | None:
    """Divide rows into folds that hold them out.

    A class of a single row is never left out, so that every training part has all classes; with
    more rows than one this follows from spreading them over the folds.

    Parameters
    ----------
    labels : int32 array
        Class of each row.
    cv : int, splitter or splits
        Number of folds, or an object of scikit-learn that splits rows, or its pairs of training
        and test rows; each row may be in at most one test set.
    random : RandomState
        Source of the folds; a splitter has its own.
    least_classes : int
        Classes that must be left out at least.

    Returns
    -------
    Folds or None
        None if too few classes can be left out.
    """
    common = np.bincount(labels)[labels] > 1
    if len(np.unique(labels[common])) < least_classes:
        return None
    folds = np.full(len(labels), -1, dtype=np.int32)
    if isinstance(cv, numbers.Integral):
        n_folds = min(int(cv), int(common.sum()))
        folds[common] = stratified_folds(labels[common], n_folds, random)
        return Folds(folds)
    splits = optional("sklearn.model_selection").check_cv(cv)  # slow to import
    for fold, (_, test) in enumerate(splits.split(np.zeros((len(labels), 1)), labels)):
        if len(test) and np.max(test) >= len(labels):
            raise ValueError(
                f"cv leaves out row {np.max(test)}, but only {len(labels)} rows have any weight: "
                "give splits of those"
            )
        if (folds[test] >= 0).any():
            raise ValueError(
                f"cv={cv!r} leaves out a row twice: take a splitter of which each row is in at "
                "most one test set, such as StratifiedKFold"
            )
        folds[test] = fold
    left_out = common & (folds >= 0)
    places = np.unique(folds[left_out], return_inverse=True)[1]  # a fold without rows is none
    folds[:] = -1
    folds[left_out] = places
    return Folds(folds) if left_out.any() else None


def number_folds(
    n_rows: int, cv: Any, places: NDArray[np.intp], random: np.random.RandomState
) -> Folds | None:
    """Divide rows into folds that hold them out; None for fewer than two rows.

    As `assign_folds`, for rows without classes.
    """
    if n_rows < 2:
        return None
    if not isinstance(cv, numbers.Integral):
        return assign_folds(np.zeros(n_rows, dtype=np.int32), keep_splits(cv, places), random, 1)
    folds = np.empty(n_rows, dtype=np.int32)
    folds[random.permutation(n_rows)] = np.arange(n_rows) % min(int(cv), n_rows)
    return Folds(folds)


def keep_splits(cv: Any, places: NDArray[np.intp]) -> Any:
    """Return `cv` for the rows that were kept.

    Given pairs of training and test rows number all rows, also those that were dropped because they
    have no weight; numbers and splitters are returned as they are.
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
    """Return the scores of every row by the model that was learned without its fold.

    `learn` takes training rows, a seed, and a function to call between its steps. Rows that no
    fold leaves out get no scores: NaN.
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

    Each task is handed a function to call between its steps: it raises when the tasks are to end
    because one failed or the user pressed Ctrl-C, so nothing keeps running in the background.
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
            while running:  # a wait without end may not hear Ctrl-C
                done, running = wait(running, timeout=0.1, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()  # raises the error of a task that failed
            return [future.result() for future in futures]
        except BaseException:
            ended.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
