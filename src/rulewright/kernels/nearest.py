"""The door to rules that win by distance: the nearest rule of a row, and the search of RISE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.kernels import _core
from rulewright.kernels.structs import RiseState

if TYPE_CHECKING:
    from rulewright.kernels.structs import (
        Boxes,
        ByteArray,
        DistanceColumns,
        FloatArray,
        IntArray,
        StatArray,
    )


def nearest_rules(
    values: FloatArray, columns: DistanceColumns, boxes: Boxes, n_threads: int = 1
) -> tuple[IntArray, FloatArray]:
    """Find the rule with the least distance to each row, of equal ones the first.

    `values` has a line for each row: numbers, NaN if missing, and codes of nominal columns. Where
    there is no rule, the answer is 0 at an infinite distance.
    """
    return _core.nearest_rules(values, *columns, *boxes, n_threads)


class RiseSearch:
    """RISE (see `native/search/rise.hpp`): rules that start as the rows are generalised one by one.

    Parameters
    ----------
    values : float array of shape (rows, columns)
        Numbers, NaN if missing, and codes of nominal columns.
    columns : DistanceColumns
        How far apart values are.
    labels : int array
        Class of each row.
    weights : int array
        Weight of each row, in fixed-point steps.
    alone : byte array
        1 for a row without a copy: a rule that grew from it or was stretched to it classifies it
        as it would be without it.
    ranks : int array
        Rank of each class, 0 for the most frequent one.
    unit : float
        Weight of one row, in the steps of the weights.
    max_passes : int
        Most passes over all rules; -1 for no limit.
    """

    def __init__(
        self,
        values: FloatArray,
        columns: DistanceColumns,
        labels: IntArray,
        weights: StatArray,
        alone: ByteArray,
        ranks: IntArray,
        unit: float,
        max_passes: int,
    ) -> None:
        rows = labels, weights, alone, ranks
        self._native = _core.RiseSearch(values, *columns, *rows, unit, max_passes)
        self._n_columns = values.shape[1]

    def advance(self, n_steps: int, n_threads: int = 1) -> bool:
        """Take so many steps: each rule and each row, then each rule; tell if there are more."""
        return self._native.advance(n_steps, n_threads)

    @property
    def accuracy(self) -> int:
        """Weight of the rows that are classified right when they are left out."""
        return self._native.accuracy()

    @property
    def first_accuracy(self) -> int:
        """The same before any rule was generalised: that of the nearest neighbour."""
        return self._native.first_accuracy()

    @property
    def n_passes(self) -> int:
        """Passes over all rules that are finished."""
        return self._native.n_passes()

    def state(self) -> RiseState:
        """Return winners and rules."""
        found = RiseState(*self._native.state())
        shape = (len(found.places), self._n_columns)
        return found._replace(lows=found.lows.reshape(shape), highs=found.highs.reshape(shape))
