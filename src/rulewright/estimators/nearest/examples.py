"""The training rows of RISE: distinct rows, their copies, and distances per column."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rulewright.programs import Distance, LabelDistance, NumberDistance
from rulewright.search import merge_equal_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import Column, TrainingSet
    from rulewright.kernels import (
        ByteArray,
        FloatArray,
        IntArray,
        RiseState,
        StatArray,
    )

_LARGEST_TOTAL = 50
"""Number of bits of the sum of all weights, in fixed-point steps."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Distinct rows, in an order independent of the given one.

    Parameters
    ----------
    rows : TrainingSet
        The distinct rows, with summed weights.
    copies : float array
        Number of copies of each row: its weight if weights are numbers of rows, or its groups.
    weights : int array
        Weights in fixed-point steps, so that sums are exact.
    unit : float
        Average weight of one row in these steps.
    ranks : int array
        Frequency rank of each class, 0 for the most frequent one.
    """

    rows: TrainingSet
    copies: FloatArray
    weights: StatArray
    unit: float
    ranks: IntArray

    @classmethod
    def of(cls, rows: TrainingSet, *, repeat: bool) -> Examples:
        """Merge and sort equal rows; with `repeat` whole weights are numbers of copies."""
        merged = merge_equal_rows(rows, repeat=False)
        copies = np.bincount(merged.group).astype(np.float64)
        if rows.groups is not None:  # copies within a group are no other row
            pairs = np.unique(np.stack([merged.group, rows.groups]), axis=1)
            copies = np.bincount(pairs[0]).astype(np.float64)
        elif repeat and np.array_equal(np.rint(rows.weights), rows.weights):
            copies = merged.rows.weights
        weights = _fixed_point(merged.rows.weights)
        sums = np.bincount(merged.rows.labels, weights, minlength=len(rows.classes))
        ranks = np.argsort(np.argsort(-sums, kind="stable"))
        columns = [column.values for column in merged.rows.columns]
        order = np.lexsort([ranks[merged.rows.labels], *columns])
        unit = int(weights.sum()) / float(copies.sum())
        return cls(
            merged.rows.take(order), copies[order], weights[order], unit, ranks.astype(np.int32)
        )

    @property
    def alone(self) -> ByteArray:
        """1 for rows without a copy."""
        return (self.copies <= 1).astype(np.uint8)

    @cached_property
    def class_factors(self) -> FloatArray:
        """Average weight of a row of each class; 1 if weights are numbers of rows."""
        n_classes = len(self.ranks)
        copies = np.bincount(self.rows.labels, self.copies, minlength=n_classes)
        return np.where(copies > 0, self.rows.class_weights / np.maximum(copies, 1e-300), 1.0)

    def smoothed_share(self, weight: int) -> float:
        """Return a smoothed share of all rows: one more row inside and one outside."""
        return (weight / self.unit + 1.0) / (int(self.weights.sum()) / self.unit + 2.0)

    def take(self, places: NDArray[np.intp]) -> Examples:
        """Return some of the rows, with the unit and the ranks of all."""
        return replace(
            self,
            rows=self.rows.take(places),
            copies=self.copies[places],
            weights=self.weights[places],
        )

    def by_preference(self, state: RiseState) -> NDArray[np.intp]:
        """Sort rules by Laplace accuracy on covered rows, then by class frequency, then by age."""
        covered, correct = state.covered[state.places], state.correct[state.places]
        laplace = (correct + self.unit) / (covered + len(self.ranks) * self.unit)
        return np.lexsort((state.places, self.ranks[self.rows.labels[state.places]], -laplace))

    def distances(self, q: float) -> tuple[Distance, ...]:
        """Return the distances of the columns that vary; a copy of a column counts, too."""
        return tuple(self._distance(each, q) for each in self.rows.columns if _varies(each))

    def _distance(self, column: Column, q: float) -> Distance:
        name, values = column.schema.name, column.values
        if column.schema.type.ordered:
            return NumberDistance(name, float(np.nanmin(values)), float(np.nanmax(values)))
        profiles = self._profiles(column)
        distinct, groups = np.unique(profiles, axis=0, return_inverse=True)
        *of_labels, unseen, missing = groups.ravel().tolist()
        return LabelDistance(name, tuple(of_labels), unseen, missing, _svdm(distinct, q))

    def _profiles(self, column: Column) -> FloatArray:
        """Return the class shares for each label, unseen labels and missing values.

        Without rows they are the shares of all rows.
        """
        n_values, n_classes = len(column.schema.labels) + 2, len(self.ranks)
        counts = np.zeros((n_values, n_classes), dtype=np.int64)
        # Negative codes index from the end: -2 for unseen labels, -1 for missing values.
        np.add.at(counts, (column.values, self.rows.labels), self.weights)
        totals = counts.sum(axis=1, keepdims=True)
        shares = np.where(totals > 0, counts, counts.sum(axis=0))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def values(self, distances: tuple[Distance, ...]) -> FloatArray:
        """Return the rows as input of the search: numbers, and label codes."""
        found = np.empty((len(self.rows), len(distances)))
        for j, distance in enumerate(distances):
            values = self.rows.table[distance.column].values
            if isinstance(distance, LabelDistance):
                found[:, j] = np.where(values < 0, values + len(distance.groups) + 2, values)
            else:
                found[:, j] = distance.values(values) + 0.0  # turns -0.0 into 0.0
        return found


def _fixed_point(weights: FloatArray) -> StatArray:
    """Convert weights to fixed-point steps."""
    total, unit = float(weights.sum()), 1.0
    if total >= 2.0**_LARGEST_TOTAL or not np.array_equal(np.rint(weights), weights):
        unit = 2.0 ** (_LARGEST_TOTAL - math.ceil(math.log2(total)))
    return np.rint(weights * unit).astype(np.int64)


def _varies(column: Column) -> bool:
    """Return whether a column has two distinct values, including missing."""
    missing = column.is_missing
    if missing.all():
        return False
    known = column.values[~missing]
    return bool(missing.any() or (known != known[0]).any())


def _svdm(profiles: FloatArray, q: float) -> tuple[tuple[float, ...], ...]:
    """Return the distances between profiles: sums over the classes of |difference| ** q.

    Differences are summed in sorted order, so that the order of the classes does not matter.
    """
    table = []
    for profile in profiles:
        gaps = np.sort(np.abs(profiles - profile) ** q, axis=1)
        table.append(tuple(np.add.reduce(gaps.T).tolist()))
    return tuple(table)
