"""Table and Column: checked data, frozen after reading."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rulewright.data.choices import NO_CHOICES, Choices
from rulewright.data.column_schema import ColumnSchema
from rulewright.data.errors import DataError
from rulewright.data.findings import Finding
from rulewright.data.numbers import Numbers
from rulewright.data.recipe import Recipe
from rulewright.data.schema import Schema
from rulewright.data.target import Target

MISSING_CODE = -1
UNSEEN_CODE = -2


@dataclass(frozen=True, eq=False)
class Column:
    """One column and its values.

    Numeric values are float64, possibly a strided view of the input, with NaN for missing. Nominal
    ones are int32 codes of the labels, with -1 for missing and -2 for a label not in the schema.
    """

    schema: ColumnSchema
    values: NDArray[Any]
    decisions: tuple[Finding, ...] = ()  # what was decided to read the values

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_missing(self) -> NDArray[np.bool_]:
        """Whether each row has no value; an unseen label is not missing."""
        return self.schema.type.is_missing(self.values)


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, with the target and the weights of the rows if there are any."""

    columns: tuple[Column, ...]
    named: bool  # False when the input had no column names
    n_rows: int
    target: Target | Numbers | None = None
    weights: NDArray[np.float64] | None = None
    choices: Choices = NO_CHOICES  # of the person who read it
    decisions: tuple[Finding, ...] = ()  # about the rows, when it was read
    recipe: Recipe | None = None  # of the columns that are derived from related tables

    @cached_property
    def schema(self) -> Schema:
        """Names, kinds and labels of the columns."""
        columns = tuple(column.schema for column in self.columns)
        return Schema(columns, self.named, self.choices, self.recipe)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns in order."""
        return self.schema.names

    def take(self, rows: NDArray[np.integer]) -> Self:
        """Return the rows at the given positions, with their classes and weights."""
        return replace(
            self,
            columns=tuple(replace(column, values=column.values[rows]) for column in self.columns),
            n_rows=len(rows),
            target=None if self.target is None else self.target.take(rows),
            weights=None if self.weights is None else self.weights[rows],
        )

    @property
    def known_target(self) -> Target:
        """The classes of the rows, or an error if the table was read without them."""
        if not isinstance(self.target, Target):
            raise DataError(_lacking("classes", self.target))
        return self.target

    @property
    def known_numbers(self) -> Numbers:
        """The numbers of the rows, or an error if the table was read without them."""
        if not isinstance(self.target, Numbers):
            raise DataError(_lacking("numbers", self.target))
        return self.target

    def __getitem__(self, name: str) -> Column:
        return self.columns[self.schema.index(name)]

    def __len__(self) -> int:
        return self.n_rows


def _lacking(what: str, target: Target | Numbers | None) -> str:
    if target is None:
        return f"The {what} of the rows are needed: read the table with a target."
    task = "classification" if what == "classes" else "regression"
    return f"The target must hold {what}: read the table with task={task!r}."
