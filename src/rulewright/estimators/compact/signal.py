"""A test of whether anything can be learned: without it a table of noise would get rules.

Out-of-fold losses decide where they are clear. Where they are not, as on few rows, a permutation
test does: does any column split the targets better than columns split permuted targets?
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.data import draw_one_each
from rulewright.encoding import BinnedColumns
from rulewright.estimators.compact.sizes import standard_errors
from rulewright.estimators.folds.grouping import pick

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rulewright.kernels import FloatArray, IntArray

NO_SIGNAL = (
    "the model has no rules: on these rows no column predicts the target better than chance. Add "
    "rows or columns; size='max' adds rules all the same."
)

CLEAR_GAIN = 2.0
"""Standard errors of an out-of-fold gain that need no further test."""

N_PERMUTATIONS, LEVEL = 199, 0.02

LEAST_SIDE = 5
"""Rows on each side of a split: smaller sides vary too much."""


def has_signal(
    losses: FloatArray,
    n_rules: int,
    weights: FloatArray,
    binned: BinnedColumns,
    targets: FloatArray,
    random: np.random.RandomState,
    groups: NDArray[np.intp] | None = None,
) -> bool:
    """Return whether rules predict better than no rules.

    Parameters
    ----------
    losses : float64 array of shape (sizes, rows)
        Out-of-fold losses; NaN for rows that are never held out.
    n_rules : int
        The size in question.
    weights : float64 array
        Weight of each row.
    binned : BinnedColumns
        The columns.
    targets : float64 array of shape (rows, outputs)
        Class indicators, or the ranks of a numeric target.
    random : RandomState
        Source of the permutations.
    groups : int array, optional
        Group of each row; one row of each group is permuted.
    """
    seen = ~np.isnan(losses[0])
    gains = losses[0, seen] - losses[n_rules, seen]
    error = float(standard_errors(gains[np.newaxis], weights[seen], pick(groups, seen))[0])
    if float(np.average(gains, weights=weights[seen])) > CLEAR_GAIN * error:
        return True
    if groups is not None:
        places = draw_one_each(groups)
        binned = BinnedColumns(binned.schema, binned.bins, binned.codes.take(places))
        targets, weights = targets[places], weights[places]
    return permutation_p_value(binned, targets, weights, random) <= LEVEL


def permutation_p_value(
    binned: BinnedColumns, targets: FloatArray, weights: FloatArray, random: np.random.RandomState
) -> float:
    """Return the p-value of the best split of any column; permuted rows keep their weights."""
    centred = targets - np.average(targets, axis=0, weights=weights)
    spread = np.sqrt(np.average(centred**2, axis=0, weights=weights))
    scaled = centred / np.where(spread > 0, spread, 1.0)
    n = len(weights)
    orders = [np.arange(n), *(random.permutation(n) for _ in range(N_PERMUTATIONS))]
    best = np.zeros(len(orders))
    own = np.array([weights[order] for order in orders]).T
    pulls = [np.array([(weights * column)[order] for order in orders]).T for column in scaled.T]
    for codes, is_ordered in _columns(binned):
        np.maximum(best, _best_splits(codes, is_ordered, own, pulls), out=best)
    return float(np.mean(best >= best[0] * (1 - 1e-9)))


def _columns(binned: BinnedColumns) -> Iterator[tuple[IntArray, bool]]:
    """Return the codes of each column, and whether they are in an order."""
    codes = binned.codes.codes
    for place, bins in enumerate(binned.bins):
        group, lane = divmod(place, codes.shape[2])
        yield codes[group, :, lane].astype(np.int32), bins.schema.type.ordered


def _best_splits(
    codes: IntArray, is_ordered: bool, weights: FloatArray, pulls: list[FloatArray]
) -> FloatArray:
    """Return the largest statistic of a split for each permutation (columns of the arrays).

    An ordered column is split between codes, another into one code and the rest.
    """
    order = np.argsort(codes, kind="stable")
    ends = np.flatnonzero(np.diff(codes[order], append=codes.max() + 1))
    counts, own = ends + 1, weights[order].cumsum(axis=0)[ends]
    sums = [pull[order].cumsum(axis=0)[ends] for pull in pulls]
    if not is_ordered:
        counts, own = (np.diff(one, axis=0, prepend=0 * one[:1]) for one in (counts, own))
        sums = [np.diff(one, axis=0, prepend=0 * one[:1]) for one in sums]
    kept = (counts >= LEAST_SIDE) & (len(codes) - counts >= LEAST_SIDE)
    if not kept.any():
        return np.zeros(weights.shape[1])
    own, total = own[kept], weights.sum(axis=0)
    scale = np.maximum(own * (total - own) / total, 1e-300)
    found: FloatArray = sum(one[kept] ** 2 for one in sums) / scale
    return np.asarray(found.max(axis=0))
