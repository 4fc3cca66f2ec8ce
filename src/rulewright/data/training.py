"""TrainingSet and RegressionSet: rows with target and weights, both required."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Protocol, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError
from rulewright.data.events import CountTarget, SurvivalTarget
from rulewright.data.groups import Units
from rulewright.data.schema import Schema
from rulewright.data.table import Column, Table
from rulewright.data.target import Numbers, Target

TargetType = TypeVar("TargetType", Target, Numbers)


class DescribedRows(Protocol):
    """Facts about rows with classes that settings may depend on, wherever the rows are."""

    @property
    def schema(self) -> Schema:
        """Names, kinds and labels of the columns."""

    @property
    def classes(self) -> NDArray[Any]:
        """Class labels."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""


@dataclass(frozen=True, eq=False)
class LearningRows(ABC, Generic[TargetType]):
    """Rows to learn from, with any type of target."""

    table: Table  # the features; its target and weights are no longer used
    target: TargetType
    weights: NDArray[np.float64]  # above 0
    places: NDArray[np.intp]  # positions of the rows in the given table

    @staticmethod
    @abstractmethod
    def target_of(table: Table) -> TargetType:
        """Return the target of a table; raise an error if it has none of this type."""

    @classmethod
    def of(cls, table: Table) -> Self:
        """Select the rows of a table with a target: weight 1 by default; weight 0 drops a row."""
        target, places = cls.target_of(table), np.arange(table.n_rows)
        if table.weights is None:
            return cls(table, target, np.ones(table.n_rows), places)
        with np.errstate(over="ignore"):
            total = table.weights.sum()
        if not np.isfinite(total):
            raise DataError("sample_weight: the sum of the weights is infinite; scale them down")
        rows = cls(table, target, table.weights, places)
        return rows if table.weights.all() else rows.take(np.flatnonzero(table.weights > 0))

    @property
    def schema(self) -> Schema:
        """Names, kinds and labels of the columns."""
        return self.table.schema

    @property
    def columns(self) -> tuple[Column, ...]:
        """The features."""
        return self.table.columns

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    @cached_property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())

    @property
    def groups(self) -> NDArray[np.intp] | None:
        """Group of each row; None if rows are independent."""
        return self.table.groups

    @cached_property
    def units(self) -> Units:
        """What random draws take as a whole: groups, or rows."""
        return Units(self.n_rows, self.groups)

    @property
    def repeats(self) -> NDArray[np.float64] | None:
        """Number of observations behind each row; None: one."""
        return self.table.repeats

    def take(self, rows: NDArray[np.integer]) -> Self:
        """Return the rows at the given places."""
        table, target = self.table.take(rows), self.target.take(rows)
        return type(self)(table, target, self.weights[rows], self.places[rows])

    def with_weights(self, weights: NDArray[np.float64]) -> Self:
        """Return the same rows with other weights; rows of weight 0 are dropped."""
        found = self.of(replace(self.table, target=self.target, weights=weights))
        return replace(found, places=self.places[found.places])

    def __len__(self) -> int:
        return self.n_rows


@dataclass(frozen=True, eq=False)
class TrainingSet(LearningRows[Target]):
    """Rows with classes."""

    @staticmethod
    def target_of(table: Table) -> Target:
        """Return the classes of a table."""
        return table.known_target

    @property
    def classes(self) -> NDArray[Any]:
        """Class labels."""
        return self.target.classes

    @property
    def labels(self) -> NDArray[np.int32]:
        """Class of each row, as its position in `classes`."""
        return self.target.codes

    @cached_property
    def class_weights(self) -> NDArray[np.float64]:
        """Sum of the weights of each class."""
        return self.weights_by_class(slice(None))

    def weights_by_class(self, rows: Any) -> NDArray[np.float64]:
        """Sum the weights of some rows (a mask, places or a slice) by class."""
        sums = np.bincount(self.labels[rows], self.weights[rows], minlength=len(self.classes))
        return sums.astype(np.float64)


@dataclass(frozen=True, eq=False)
class RegressionSet(LearningRows[Numbers]):
    """Rows with numbers."""

    @staticmethod
    def target_of(table: Table) -> Numbers:
        """Return the numbers of a table."""
        return table.known_numbers

    @property
    def numbers(self) -> NDArray[np.float64]:
        """Number of each row."""
        return self.target.values

    @property
    def has_event(self) -> NDArray[np.bool_] | None:
        """Which rows have an event, which folds divide evenly; None of plain numbers."""
        return None


@dataclass(frozen=True, eq=False)
class CountSet(RegressionSet):
    """Rows with counts; numbers without exposure count as counts of an exposure of 1."""

    @staticmethod
    def target_of(table: Table) -> CountTarget:
        """Return the counts of a table."""
        found = table.known_numbers
        if isinstance(found, CountTarget):
            return found
        if isinstance(found, SurvivalTarget):
            raise DataError("The target holds times: read the table with task='counts'.")
        return CountTarget(found.values, found.decisions)

    @property
    def has_event(self) -> NDArray[np.bool_]:
        """Which rows have an event."""
        return np.asarray(self.numbers > 0)

    @property
    def counts(self) -> CountTarget:
        """Count and exposure of each row."""
        return cast("CountTarget", self.target)


@dataclass(frozen=True, eq=False)
class SurvivalSet(RegressionSet):
    """Rows with times until an event."""

    @staticmethod
    def target_of(table: Table) -> SurvivalTarget:
        """Return the times and events of a table."""
        found = table.known_numbers
        if not isinstance(found, SurvivalTarget):
            raise DataError("The target must hold times and events: read with task='survival'.")
        return found

    @property
    def has_event(self) -> NDArray[np.bool_]:
        """Which rows have an event."""
        return np.asarray(self.survival.events)

    @property
    def survival(self) -> SurvivalTarget:
        """Time and event of each row."""
        return cast("SurvivalTarget", self.target)
