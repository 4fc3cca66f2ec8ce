"""TrainingSet: rows to learn from, with target and weights, nothing optional."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError
from rulewright.data.schema import Schema
from rulewright.data.table import Column, Table
from rulewright.data.target import Target


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """
    Rows to learn from.

    Attributes
    ----------
    table : Table
        The features; target and weights of the table are not used any more.
    target : Target
        Class of each row.
    weights : float64 array
        Weight of each row, above 0.
    places : int array
        Place of each row in the table that was given.
    """

    table: Table
    target: Target
    weights: NDArray[np.float64]
    places: NDArray[np.intp]

    @classmethod
    def of(cls, table: Table) -> Self:
        """Take over a table with a target: every row gets a weight, those of weight 0 are dropped.

        Parameters
        ----------
        table : Table
            Features with a target; rows without weights weigh 1.
        """
        if table.target is None:
            raise DataError("learning needs the classes of the rows: read the table with a target")
        places = np.arange(table.n_rows)
        if table.weights is None:
            return cls(table, table.target, np.ones(table.n_rows), places)
        with np.errstate(over="ignore"):
            total = table.weights.sum()
        if not np.isfinite(total):
            raise DataError("sample_weight: the sum of the weights is infinite; scale them down")
        rows = cls(table, table.target, table.weights, places)
        return rows if table.weights.all() else rows.take(np.flatnonzero(table.weights > 0))

    @property
    def schema(self) -> Schema:
        """What is known of the columns."""
        return self.table.schema

    @property
    def columns(self) -> tuple[Column, ...]:
        """The features."""
        return self.table.columns

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    @property
    def classes(self) -> NDArray[Any]:
        """Class labels."""
        return self.target.classes

    @property
    def labels(self) -> NDArray[np.int32]:
        """Class of each row, as its position in `classes`."""
        return self.target.codes

    @cached_property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())

    @cached_property
    def class_weights(self) -> NDArray[np.float64]:
        """Sum of the weights of each class."""
        return self.weights_by_class(slice(None))

    def weights_by_class(self, rows: Any) -> NDArray[np.float64]:
        """Sum the weights of some rows (a mask, places or a slice) by class."""
        sums = np.bincount(self.labels[rows], self.weights[rows], minlength=len(self.classes))
        return sums.astype(np.float64)

    def take(self, rows: NDArray[np.integer]) -> Self:
        """Return the rows at the given places."""
        table = self.table.take(rows)
        target = replace(self.target, codes=self.target.codes[rows])
        return type(self)(table, target, self.weights[rows], self.places[rows])

    def weighted(self, weights: NDArray[np.float64]) -> Self:
        """Return the same rows with other weights; those of weight 0 are dropped."""
        table = replace(self.table, target=self.target, weights=weights)
        found = type(self).of(table)
        return replace(found, places=self.places[found.places])

    def __len__(self) -> int:
        return self.n_rows
