"""Table and Column: checked data, frozen after reading."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rulewright.data.schema import ColumnSchema, Schema
from rulewright.data.target import Target

MISSING_CODE = -1
UNSEEN_CODE = -2


@dataclass(frozen=True, eq=False)
class Column:
    """
    One column and its values.

    Attributes
    ----------
    schema : ColumnSchema
        Name, kind and labels.
    values : 1-D array
        Numeric: float64, NaN is missing, possibly a strided view of the input. Nominal: int32
        codes into the labels, -1 is missing, -2 a label that the schema does not know.
    """

    schema: ColumnSchema
    values: NDArray[Any]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_missing(self) -> NDArray[np.bool_]:
        """Tell which rows have no value; an unseen label is not missing."""
        return self.schema.type.is_missing(self.values)


@dataclass(frozen=True, eq=False)
class Table:
    """
    Columns of equal length, with the target and the weights that came with them.

    Attributes
    ----------
    columns : tuple of Column
        The features.
    named : bool
        False when the input had no column names.
    n_rows : int
        Number of rows.
    target : Target or None
        Classes of the rows.
    weights : float64 array or None
        Weights of the rows.
    """

    columns: tuple[Column, ...]
    named: bool
    n_rows: int
    target: Target | None = None
    weights: NDArray[np.float64] | None = None

    @cached_property
    def schema(self) -> Schema:
        """What is known of the columns."""
        return Schema(tuple(column.schema for column in self.columns), self.named)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns in order."""
        return self.schema.names

    def take(self, rows: NDArray[np.integer]) -> Self:
        """Return the rows at the given positions, with their classes and weights."""
        columns = tuple(replace(column, values=column.values[rows]) for column in self.columns)
        target, weights = self.target, self.weights
        return replace(
            self,
            columns=columns,
            n_rows=len(rows),
            target=None if target is None else replace(target, codes=target.codes[rows]),
            weights=None if weights is None else weights[rows],
        )

    def __getitem__(self, name: str) -> Column:
        return self.columns[self.schema.index(name)]

    def __len__(self) -> int:
        return self.n_rows
