"""Rows as Booleans for the learners of DNF rule sets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.search.dnf import as_examples, dnf_covers

if TYPE_CHECKING:
    from rulewright.data import Table
    from rulewright.encoding.booleans import BooleanEncoding
    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.search.boolean_examples import BooleanExamples
    from rulewright.search.dnf import Formula


@dataclass(frozen=True)
class BooleanRows:
    """Answers of rows to the questions of an encoding, with their classes and weights."""

    answers: BoolArray
    labels: IntArray
    weights: FloatArray

    @classmethod
    def of(cls, encoding: BooleanEncoding, table: Table) -> BooleanRows:
        """Encode the rows of a table."""
        assert table.target is not None
        assert table.weights is not None
        bits = encoding.bits(table).astype("<u8").view(np.uint8)
        answers = np.unpackbits(bits, axis=1, count=len(table), bitorder="little").T
        return cls(answers.astype(np.bool_), table.target.codes, table.weights)

    def examples(self, head: int) -> BooleanExamples:
        """Return the rows of a class as positives and all others as negatives."""
        return as_examples(self.answers, self.labels == head, sample_weight=self.weights)

    def accuracy(self, formula: Formula, head: int) -> float:
        """Return the share of weight on the right side of the formula of a class."""
        right = dnf_covers(self.answers, formula) == (self.labels == head)
        return float(right @ self.weights / self.weights.sum())


def merge_equal_rows(table: Table) -> Table:
    """Make one row of all that are alike, target included, with the sum of their weights.

    A weight of two then means a row twice, whatever is drawn at random later.
    """
    assert table.target is not None
    assert table.weights is not None
    values = np.column_stack([*(column.values for column in table.columns), table.target.codes])
    keys = np.where(np.isnan(values), np.nan, values + 0.0)  # one kind of NaN, one zero
    _, first, place = np.unique(keys.view(np.int64), axis=0, return_index=True, return_inverse=True)
    weights = np.bincount(place.ravel(), table.weights).astype(np.float64)
    order = np.argsort(first)
    return replace(table.take(first[order]), weights=weights[order])
