"""Rows as Boolean features, for learners of DNF rule sets."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.search.boolean_examples import BooleanExamples
from rulewright.search.formulas import DnfFormula, formula_cover

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.encoding import PackedCovers
    from rulewright.kernels import BoolArray, FloatArray, IntArray

MOST_COPIES = 2**20
"""Approximate maximum number of copies for folds and bags; beyond it, copies weigh more."""


@dataclass(frozen=True, eq=False)
class BooleanRows:
    """Boolean features of rows, with their classes and weights.

    Parameters
    ----------
    covers : PackedCovers
        The rows for which each feature is true.
    labels : int array
        Class of each row.
    weights : float array
        Weight of each row.
    """

    covers: PackedCovers
    labels: IntArray
    weights: FloatArray
    _cache: dict[int, BooleanExamples] = field(default_factory=dict, repr=False)

    def examples(self, head: int) -> BooleanExamples:
        """Return the rows of a class as positives and all others as negatives; cached."""
        if head not in self._cache:
            self._cache[head] = self.weighted_examples(head, self.weights)
        return self._cache[head]

    def weighted_examples(self, head: int, weights: FloatArray) -> BooleanExamples:
        """Return the examples of a class with other weights; rows of weight 0 are dropped."""
        return BooleanExamples.of(self.covers, self.labels == head, sample_weight=weights)

    def term_weights(self, formula: DnfFormula, n_classes: int) -> FloatArray:
        """Return the weight that each term covers, by class."""
        weights = np.zeros((len(formula), n_classes))
        for line, term in zip(weights, formula, strict=True):
            covered = formula_cover(self.covers, (term,))
            line += np.bincount(self.labels[covered], self.weights[covered], minlength=n_classes)
        return weights

    def accuracy(self, formula: DnfFormula, head: int) -> float:
        """Return the weighted accuracy of the formula of a class."""
        right = formula_cover(self.covers, formula) == (self.labels == head)
        return float(right @ self.weights / self.weights.sum())


@dataclass(frozen=True, eq=False)
class MergedRows:
    """Distinct rows, and the copies of them that folds and bags are drawn from.

    A row and its class that occur three times are one distinct row with three copies; each copy
    may be held out separately.

    Parameters
    ----------
    rows : TrainingSet
        The distinct rows, with summed weights.
    place : int array
        The distinct row of each copy.
    weights : float array
        Weight of each copy.
    group : int array
        The distinct row of each original row.
    groups : int array, optional
        Group of each copy, such as its customer; None if rows are independent.
    """

    rows: TrainingSet
    place: NDArray[np.intp]
    weights: FloatArray
    group: NDArray[np.intp]
    groups: NDArray[np.intp] | None = None

    @property
    def labels(self) -> IntArray:
        """Class of each copy."""
        return self.rows.labels[self.place]

    def as_given(self, weights: FloatArray) -> MergedRows:
        """Return the same with the original rows and weights as copies."""
        return replace(self, place=self.group, weights=weights)

    def part(self, chosen: BoolArray) -> FloatArray:
        """Return the weights of the distinct rows if only the chosen copies are used."""
        n_rows = len(self.rows)
        sums = np.bincount(self.place[chosen], self.weights[chosen], minlength=n_rows)
        return sums.astype(np.float64)

    def sort_rows(self) -> MergedRows:
        """Return the rows in a canonical order, independent of the given one."""
        columns = [self.rows.labels, *(column.values for column in self.rows.columns)]
        return self.take(np.lexsort(columns))

    def take(self, rows: NDArray[np.intp]) -> MergedRows:
        """Return the distinct rows at the given places, in this order, with their copies."""
        rank = np.full(len(self.rows), len(rows))
        rank[rows] = np.arange(len(rows))
        copies = np.argsort(rank[self.place], kind="stable")
        copies = copies[rank[self.place[copies]] < len(rows)]
        place, weights = rank[self.place[copies]], self.weights[copies]
        groups = None if self.groups is None else self.groups[copies]
        return MergedRows(self.rows.take(rows), place, weights, rank[self.group], groups)


def merge_equal_rows(rows: TrainingSet, *, repeat: bool = True) -> MergedRows:
    """Merge equal rows of a class into one with the sum of their weights.

    Parameters
    ----------
    rows : TrainingSet
        The rows.
    repeat : bool
        Whether integer weights are repetitions: a row of weight two then has two copies. With other
        weights or groups, or without `repeat`, each row is one copy.
    """
    values = np.column_stack([*(column.values for column in rows.columns), rows.labels])
    keys = np.where(np.isnan(values), np.nan, values + 0.0)  # one kind of NaN, one zero
    _, first, group = np.unique(keys.view(np.int64), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.argsort(order)[group.ravel()]  # number distinct rows by first occurrence
    weights = np.bincount(place, rows.weights).astype(np.float64)
    distinct = replace(rows.take(first[order]), weights=weights)
    if rows.groups is not None:  # equal rows may belong to several groups
        distinct = replace(distinct, table=replace(distinct.table, groups=None))
        return MergedRows(distinct, place, rows.weights, place, rows.groups)
    if repeat and np.array_equal(np.rint(rows.weights), rows.weights):
        counts = np.ceil(weights * min(1.0, MOST_COPIES / weights.sum())).astype(np.int64)
        copies = np.repeat(np.arange(len(counts)), counts)
        return MergedRows(distinct, copies, (weights / counts)[copies], place)
    copies = np.lexsort([rows.weights, place])
    return MergedRows(distinct, place[copies], rows.weights[copies], place)
