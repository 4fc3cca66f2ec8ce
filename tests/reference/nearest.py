"""Twins of `native/model/nearest.cpp` and `native/search/rise.cpp`: rules that win by distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels.structs import RiseState

if TYPE_CHECKING:
    from rulewright.kernels.structs import (
        BoolArray,
        Boxes,
        ByteArray,
        DistanceColumns,
        FloatArray,
        IntArray,
        StatArray,
    )


def is_nominal(columns: DistanceColumns, j: int) -> bool:
    """Tell whether column j has codes."""
    return bool(columns.group_starts[j] < columns.group_starts[j + 1])


def squared_gaps(
    columns: DistanceColumns, j: int, low: float, high: float, values: FloatArray
) -> FloatArray:
    """Give the squared distance of each value of column j to a condition on it."""
    if is_nominal(columns, j):
        groups = columns.groups[columns.group_starts[j] : columns.group_starts[j + 1]]
        table = columns.tables[columns.table_starts[j] : columns.table_starts[j + 1]]
        n = round(len(table) ** 0.5)
        line: FloatArray = table.reshape(n, n)[groups[int(low)]]
        return line[groups[values.astype(np.intp)]]
    outside = np.where(values < low, low - values, np.where(values > high, values - high, 0.0))
    width = columns.widths[j]
    gaps = outside / width if width else np.zeros_like(values)
    return np.where(np.isnan(values), 1.0, gaps * gaps)


def nearest_rules(
    values: FloatArray, columns: DistanceColumns, boxes: Boxes, n_threads: int = 1
) -> tuple[IntArray, FloatArray]:
    """Find the rule with the least distance to each row, of equal ones the first."""
    best = np.full(len(values), np.inf)
    places = np.zeros(len(values), dtype=np.int32)
    for rule in range(len(boxes.starts) - 1):
        total = np.zeros(len(values))
        for i in range(boxes.starts[rule], boxes.starts[rule + 1]):
            j = int(boxes.columns[i])
            total += squared_gaps(columns, j, boxes.lows[i], boxes.highs[i], values[:, j])
        nearer = total < best
        best[nearer], places[nearer] = total[nearer], rule
    return places, best


Bounds = tuple["FloatArray", "FloatArray"]
Makers = dict[int, Bounds | None]
"""Rows that made a rule, and its bounds without each of them; none before it was stretched."""


class RiseSearch:
    """RISE: rules that start as the rows are generalised one by one; see `kernels.RiseSearch`."""

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
        self.values, self.columns, self.labels, self.weights = values, columns, labels, weights
        self.alone, self.ranks, self.unit, self.max_passes = alone, ranks, unit, max_passes
        n, n_columns = values.shape
        self.nominal = np.array([is_nominal(columns, j) for j in range(n_columns)], dtype=np.bool_)
        gap = np.isnan(values)
        self.lows = np.where(gap, -np.inf, values)  # a missing number makes no condition
        self.highs = np.where(gap, np.inf, values)
        self.makers: list[Makers] = [{row: None} if alone[row] else {} for row in range(n)]
        self.covered, self.correct = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        self.gaps = np.full((n, n), np.inf)  # of rules to rows that are left out
        self.winners, self.distances = np.full(n, -1, dtype=np.int32), np.full(n, np.inf)
        self.alive = np.ones(n, dtype=np.bool_)
        self.next, self.passes, self.before, self._accuracy = -2 * n, 0, 0, 0
        self.first_accuracy = 0
        self.done = n == 0

    @property
    def accuracy(self) -> int:
        """Weight of the rows that are classified right when they are left out."""
        return self._accuracy

    @property
    def n_passes(self) -> int:
        """Passes over all rules that are finished."""
        return self.passes

    def state(self) -> RiseState:
        """Return winners and rules."""
        places = np.flatnonzero(self.alive).astype(np.int32)
        return RiseState(
            self.winners.copy(),
            self.distances.copy(),
            self.covered.copy(),
            self.correct.copy(),
            places,
            self.lows[places],
            self.highs[places],
        )

    def advance(self, n_steps: int, n_threads: int = 1) -> bool:
        """Take so many steps, each of one row or one rule; tell whether there are more."""
        n = len(self.values)
        for _ in range(n_steps):
            if self.done:
                break
            if self.next < -n:
                self._measure(self.next % n)
            elif self.next < 0:
                self._choose(np.array([self.next % n]))
            else:
                self._generalise(self.next)
            self.next += 1
            if self.next == 0:
                self.first_accuracy = self.before = self._accuracy
                self.done = self.max_passes == 0
            elif self.next == n:
                self._end_pass()
        return not self.done

    def _end_pass(self) -> None:
        self.passes += 1
        self.done = self._accuracy <= self.before or self.passes == self.max_passes
        self.before, self.next = self._accuracy, 0

    def _measure(self, rule: int) -> None:
        """Find how far a rule is from the rows, and count what it covers."""
        distances = self._distances(self.lows[rule], self.highs[rule])
        weights = np.where(distances == 0, self.weights, 0)
        self.covered[rule] = weights.sum()
        self.correct[rule] = weights[self.labels == self.labels[rule]].sum()
        for row, bounds in self.makers[rule].items():
            distances[row] = np.inf if bounds is None else self._distances(*bounds)[row]
        self.gaps[rule] = distances

    def _choose(self, rows: IntArray | slice = slice(None)) -> None:
        """Find the rules that classify rows left out."""
        laplace = (self.correct + self.unit) / (self.covered + len(self.ranks) * self.unit)
        rules = np.arange(len(self.values), dtype=np.int32)
        order = np.lexsort((rules, self.ranks[self.labels], -laplace))
        rules = rules[order][self.alive[order]]
        gaps = self.gaps[rules][:, rows]
        self.distances[rows] = gaps.min(axis=0)
        found = rules[gaps.argmin(axis=0)]
        self.winners[rows] = np.where(np.isfinite(self.distances[rows]), found, -1)
        right = (self.winners >= 0) & (self.labels[self.winners] == self.labels)
        self._accuracy = int(self.weights[right].sum())

    def _distances(self, low: FloatArray, high: FloatArray) -> FloatArray:
        total = np.zeros(len(self.values))
        for j in range(len(low)):
            if self._has_condition(j, low[j], high[j]):
                total += squared_gaps(self.columns, j, low[j], high[j], self.values[:, j])
        return total

    def _covered(self, low: FloatArray, high: FloatArray) -> BoolArray:
        covered = np.ones(len(self.values), dtype=np.bool_)
        for j in range(len(low)):
            if self._has_condition(j, low[j], high[j]):
                covered &= (self.values[:, j] >= low[j]) & (self.values[:, j] <= high[j])
        return covered

    def _has_condition(self, j: int, low: float, high: float) -> bool:
        return bool(low >= 0 if self.nominal[j] else high < np.inf)

    def _generalise(self, rule: int) -> None:
        """Stretch a rule to the nearest row of its class, if that does not cost accuracy."""
        if not self.alive[rule]:
            return
        low, high, makers = self.lows[rule].copy(), self.highs[rule].copy(), self.makers[rule]
        wanted = (self.labels == self.labels[rule]) & ~self._covered(low, high)
        far = np.where(wanted, self._distances(low, high), np.inf)
        if not np.isfinite(far).any():
            return
        row, accuracy = int(np.argmin(far)), self._accuracy
        grown: Makers = {maker: self._stretched(others, row) for maker, others in makers.items()}
        if self.alone[row]:
            grown[row] = low, high
        self._replace(rule, self._stretched((low, high), row), grown)
        if self._accuracy < accuracy:
            self._replace(rule, (low, high), makers)
        else:
            self._merge(rule)

    def _replace(self, rule: int, bounds: Bounds, makers: Makers) -> None:
        (self.lows[rule], self.highs[rule]), self.makers[rule] = bounds, makers
        self._measure(rule)
        self._choose()

    def _stretched(self, bounds: Bounds | None, row: int) -> Bounds:
        """Give the most specific generalisation that covers a row."""
        x = self.values[row]
        low, high = (x, x) if bounds is None else bounds
        gap, differs = np.isnan(x), self.nominal & (x != low)
        new_low = np.where(gap, -np.inf, np.minimum(low, x))
        new_high = np.where(gap, np.inf, np.maximum(high, x))
        return (
            np.where(self.nominal, np.where(differs, -1.0, low), new_low),
            np.where(self.nominal, np.where(differs, -1.0, high), new_high),
        )

    def _merge(self, rule: int) -> None:
        """Delete the younger of two equal rules; to a maker the older is as near as the nearer."""
        same = self.alive & (self.labels == self.labels[rule])
        same &= (self.lows == self.lows[rule]).all(axis=1)
        same &= (self.highs == self.highs[rule]).all(axis=1)
        same[rule] = False
        if same.any():
            kept, gone = sorted((rule, int(np.argmax(same))))
            self.alive[gone] = False
            makers = {
                row: self.makers[gone if self.gaps[gone, row] < self.gaps[kept, row] else kept][row]
                for row in self.makers[kept].keys() & self.makers[gone].keys()
            }
            self._replace(kept, (self.lows[kept], self.highs[kept]), makers)
