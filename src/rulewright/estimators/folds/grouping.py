"""Parts of rows that keep groups whole: folds, halves and other parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import Groups
    from rulewright.kernels import BoolArray, FloatArray, IntArray


def stratified_group_folds(
    labels: IntArray, groups: NDArray[np.intp], n_folds: int, random: np.random.RandomState
) -> IntArray:
    """Assign a fold to each row; groups stay whole, and classes are spread as well as possible.

    Groups are dealt out from the largest to the smallest, in random order among equal ones; each
    goes to the fold that has the fewest rows like its own.
    """
    _, groups = np.unique(groups, return_inverse=True)
    n_groups, n_classes = int(groups.max()) + 1, int(labels.max()) + 1
    counts = np.bincount(groups * n_classes + labels, minlength=n_groups * n_classes)
    shares = counts.reshape(n_groups, n_classes) / np.maximum(np.bincount(labels), 1)
    order = random.permutation(n_groups)
    order = order[np.argsort(-shares[order].sum(axis=1), kind="stable")]
    sums, folds = np.zeros((n_folds, n_classes)), np.empty(n_groups, dtype=np.int32)
    for group in order.tolist():
        # Least sum of squares over folds and classes; ties go to the smallest fold.
        own = shares[group]
        fold = int(np.argmin(sums @ own + 1e-6 * sums.sum(axis=1)))
        folds[group] = fold
        sums[fold] += own
    return folds[groups]


def mark_common(labels: IntArray, groups: NDArray[np.intp] | None) -> BoolArray:
    """Mark the rows that may be held out: every class has rows elsewhere.

    The only row of a class stays in training, and so does a group with all rows of a class.
    """
    if groups is None:
        marked: BoolArray = np.bincount(labels)[labels] > 1
        return marked
    pairs = np.unique(np.stack([labels, groups]), axis=1)
    alone = np.flatnonzero(np.bincount(pairs[0]) == 1)
    return ~np.isin(groups, pairs[1][np.isin(pairs[0], alone)])


def refuse_split_groups(folds: IntArray, groups: NDArray[np.intp]) -> None:
    """Raise an error if a fold holds out a part of a group only."""
    _, codes = np.unique(groups, return_inverse=True)
    lowest = np.full(codes.max() + 1, np.iinfo(np.int32).max, dtype=np.int32)
    np.minimum.at(lowest, codes, folds)
    split = lowest[codes] != folds
    if split.any():
        raise ValueError(
            f"cv separates row {int(np.argmax(split))} from others of its group. Use a number of "
            "folds, or a splitter such as StratifiedGroupKFold, which keeps groups whole"
        )


def pick(groups: Groups | None, rows: BoolArray) -> Groups | None:
    """Return the groups of some rows, if there are any."""
    return None if groups is None else groups[rows]


def pool_groups(
    losses: FloatArray, weights: FloatArray, groups: Groups | None
) -> tuple[FloatArray, FloatArray]:
    """Return the mean losses (sizes, groups) of groups and their weights; rows are groups alone."""
    if groups is None:
        return losses, weights
    _, places = np.unique(groups, return_inverse=True)
    sums = np.bincount(places, weights).astype(np.float64)
    pooled = [np.bincount(places, weights * line) / np.maximum(sums, 1e-300) for line in losses]
    return np.array(pooled), sums
