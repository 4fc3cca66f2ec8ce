"""Boolean examples of two classes: validation, integer weights, and packed bits for kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError
from rulewright.encoding import PackedCovers, count_words
from rulewright.search.formulas import DnfFormula, formula_cover

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from rulewright.kernels import BoolArray, FloatArray, IntArray, StatArray, WordArray

LARGEST_WEIGHT = 2**12 - 1
LARGEST_UNIT = 2**24
SMALLEST_SCALE = 5e-324  # of subnormal weights the scale would round to 0


def packed_columns(X: Any, n_rows: int) -> PackedCovers:
    """Read Boolean variables as the rows where each is true.

    Parameters
    ----------
    X : array of shape (rows, variables), or packed columns
        Values are 0 or 1. `PackedCovers` are used unchanged; an array of type uint64 is read as
        packed columns of shape (variables, words): row i is bit i % 64 of word i // 64.
    n_rows : int
        Number of rows.
    """
    if isinstance(X, PackedCovers):
        return X
    X = np.asarray(X)
    if X.ndim != 2:
        raise DataError(f"X has {X.ndim} dimensions; it needs rows and variables")
    if X.dtype == np.uint64:
        if X.shape[1] != count_words(n_rows):
            raise DataError(f"packed columns of {n_rows} rows have {count_words(n_rows)} words")
        # A caller may leave bits beyond the last row set.
        return PackedCovers(X & PackedCovers.all_rows(1, n_rows).words, n_rows)
    if len(X) != n_rows:
        raise DataError(f"X has {len(X)} rows and y has {n_rows}")
    return PackedCovers.pack(checked_booleans(X, "X").T)


def checked_booleans(values: ArrayLike, name: str) -> BoolArray:
    """Convert zeros and ones to Booleans; the error names the place of any other value."""
    values = np.asarray(values)
    if values.dtype == np.bool_:
        return values
    wrong = np.argwhere(~((values == 0) | (values == 1)))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        raise DataError(f"{name}{list(place)} is {values[place]!r}; Booleans are 0 or 1")
    return values.astype(np.bool_)


def group_vectors(variables: PackedCovers) -> tuple[IntArray, IntArray]:
    """Return the first row of each distinct vector, and for each row the number of its vector."""
    if not len(variables):
        n = variables.n_rows
        return np.zeros(min(n, 1), dtype=np.int32), np.zeros(n, dtype=np.int32)
    _, first, group = np.unique(variables.row_keys(), return_index=True, return_inverse=True)
    return first.astype(np.int32), group.astype(np.int32)


@dataclass(frozen=True, eq=False)
class BooleanExamples:
    """Rows of two classes with the integer weights of the search.

    Rows without weight are dropped. Integer row weights are kept exactly unless they are large;
    others are rounded to 12 bits of the maximum in their class, and at least to 1.

    Attributes
    ----------
    variables : PackedCovers
        The rows where each variable is true.
    labels : Boolean array
    weights : int32 array
        Integer weight of each row.
    units : (int, int)
        Factors of the integer weights of negatives and positives.
    costs : float array
        Cost of an error on each row: its weight times its class weight.
    counts : float array
        Row weights without class weights; ones if there were no weights.
    """

    variables: PackedCovers
    labels: BoolArray
    weights: IntArray
    units: tuple[int, int]
    costs: FloatArray
    counts: FloatArray

    @classmethod
    def of(
        cls,
        X: Any,
        y: ArrayLike,
        class_weight: Mapping[int, float] | str | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> BooleanExamples:
        """Check a Boolean matrix (or packed columns), labels and weights."""
        labels = checked_booleans(y, "y")
        if labels.ndim != 1:
            raise DataError(f"y has {labels.ndim} dimensions; it needs one label per row")
        variables = packed_columns(X, len(labels))
        counts = _checked_weights(sample_weight, len(labels))
        pair, factor = _class_weights(class_weight, labels, counts)
        costs = counts * np.where(labels, pair[1], pair[0]) * factor
        kept = costs > 0
        if not kept.all():
            variables, labels = variables.take(kept), labels[kept]
            counts, costs = counts[kept], costs[kept]
        if not len(labels):
            raise DataError("no row has a weight above 0")
        weights, scales = _whole_weights(counts, labels)
        units = _units(pair[0] * scales[0], pair[1] * scales[1])
        return cls(variables, labels, weights, units, costs, counts)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @property
    def n_positives(self) -> int:
        """Number of positives."""
        return int(self.labels.sum())

    @property
    def one_class(self) -> bool:
        """Whether all rows are positive, or all are negative."""
        return self.n_positives in (0, len(self.labels))

    @cached_property
    def varies(self) -> bool:
        """Whether any variable has two values."""
        counts = self.variables.count()
        return bool(((counts > 0) & (counts < len(self.labels))).any())

    @cached_property
    def unit_costs(self) -> StatArray:
        """Cost of an error on each row, as an integer."""
        return self.weights.astype(np.int64) * np.where(self.labels, self.units[1], self.units[0])

    @property
    def unit_value(self) -> float:
        """The value of an integer cost of 1."""
        return float(self.costs.sum() / self.unit_costs.sum())

    def whole_cost(self, formula: DnfFormula) -> int:
        """Return the cost of a formula as an integer."""
        return int(self.unit_costs[formula_cover(self.variables, formula) != self.labels].sum())

    def count(self, rows: BoolArray) -> float:
        """Return the weight of the rows, without the weight of their class."""
        return float(self.counts[rows].sum())

    @cached_property
    def lower_bound(self) -> int:
        """Integer cost that no formula avoids: rows of both classes with the same vector."""
        first, group = group_vectors(self.variables)
        by_class = np.zeros((2, len(first)), dtype=np.int64)
        np.add.at(by_class, (self.labels.astype(np.intp), group), self.unit_costs)
        return int(by_class.min(axis=0).sum())

    @cached_property
    def bits(self) -> WordArray:
        """Packed columns, positives first, negatives from a full word on."""
        columns = self.variables.unpack()
        parts = (columns[:, self.labels], columns[:, ~self.labels])
        return np.ascontiguousarray(np.hstack([PackedCovers.pack(part).words for part in parts]))

    @cached_property
    def bit_weights(self) -> IntArray:
        """Integer weights in the order of `bits`."""
        return np.concatenate([self.weights[self.labels], self.weights[~self.labels]])


def _checked_weights(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray:
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise DataError(f"sample_weight has the shape {weights.shape}, not one weight per row")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise DataError(
            f"sample_weight[{wrong[0]}] is {weights[wrong[0]]}; weights are finite and at least 0"
        )
    return weights


def _class_weights(
    class_weight: Mapping[int, float] | str | None, labels: BoolArray, counts: FloatArray
) -> tuple[tuple[float, float], float]:
    """Return weights of the negative and the positive class, and their common factor."""
    if class_weight is None:
        return (1.0, 1.0), 1.0
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight={class_weight!r} is unknown; use 'balanced' or a dict")
        positive, total = float(counts[labels].sum()), float(counts.sum())
        negative = total - positive
        if min(positive, negative) <= 0:
            return (1.0, 1.0), 1.0
        return (positive, negative), total / (2 * positive * negative)  # whole where counts are
    unknown = set(class_weight) - {0, 1}
    if unknown:
        raise ValueError(f"class_weight names {sorted(unknown)}; the classes are 0 and 1")
    pair = (float(class_weight.get(0, 1.0)), float(class_weight.get(1, 1.0)))
    if not all(math.isfinite(weight) and weight >= 0 for weight in pair):
        raise ValueError(f"class_weight={class_weight!r}: weights are finite and at least 0")
    return pair, 1.0


def _whole_weights(counts: FloatArray, labels: BoolArray) -> tuple[IntArray, tuple[float, float]]:
    """Return integer weights, and the value of a weight of 1 in each class."""
    whole = np.rint(counts).astype(np.int64) if counts.max() < 2**53 else np.zeros(1, np.int64)
    if np.array_equal(whole, counts):
        common = int(np.gcd.reduce(whole))
        if whole.max() // common <= LARGEST_WEIGHT:
            return (whole // common).astype(np.int32), (1.0, 1.0)
    weights, scales = np.ones(len(counts), dtype=np.int32), [1.0, 1.0]
    for label in (0, 1):
        rows = labels == bool(label)
        if rows.any():
            scales[label] = max(float(counts[rows].max()) / LARGEST_WEIGHT, SMALLEST_SCALE)
            weights[rows] = np.maximum(np.rint(counts[rows] / scales[label]), 1)
    return weights, (scales[0], scales[1])


def _units(negative: float, positive: float) -> tuple[int, int]:
    """Convert the costs of both classes to integers with (nearly) the same ratio."""
    largest = max(negative, positive)
    if not (negative.is_integer() and positive.is_integer() and largest <= LARGEST_UNIT):
        negative, positive = (round(cost / largest * LARGEST_UNIT) for cost in (negative, positive))
    whole = max(int(negative), 1), max(int(positive), 1)
    common = math.gcd(*whole)
    return whole[0] // common, whole[1] // common
