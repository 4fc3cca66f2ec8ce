"""Twins of `native/model/nearest.cpp` and `native/search/rise.cpp`: rules that win by distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def squared_gaps(
    columns: DistanceColumns, j: int, low: float, high: float, values: FloatArray
) -> FloatArray:
    """Give the squared distance of each value of column j to a condition on it."""
    if columns.is_nominal(j):
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
        self.nominal = np.array([columns.is_nominal(j) for j in range(n_columns)], dtype=np.bool_)
        gap = np.isnan(values)
        self.lows = np.where(gap, -np.inf, values)  # a missing number makes no condition
        self.highs = np.where(gap, np.inf, values)
        self.winners, self.distances = np.full(n, -1, dtype=np.int32), np.full(n, np.inf)
        self.won, self.correct = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        self.alive = np.ones(n, dtype=np.bool_)
        self.next, self.passes, self.before, self._accuracy = -n, 0, 0, 0
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
            self.won.copy(),
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
            if self.next < 0:
                self._first_winner(self.next + n)
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

    def _first_winner(self, row: int) -> None:
        """Find the rule that classifies a row left out, of equally near ones of frequent class."""
        free = np.ones(len(self.values), dtype=np.bool_)
        if self.alone[row]:
            covered = self._covered(self.lows[row], self.highs[row])
            covered[row] = False
            free[row] = covered.any()
        rules = np.flatnonzero(free)
        if not len(rules):
            return
        x = self.values[[row]]
        found = [self._distances(self.lows[r], self.highs[r], x)[0] for r in rules.tolist()]
        best = np.lexsort((rules, self.ranks[self.labels[rules]], np.array(found)))[0]
        self._win(np.array([row]), int(rules[best]), np.array([found[best]]))

    def _distances(self, low: FloatArray, high: FloatArray, values: FloatArray) -> FloatArray:
        total = np.zeros(len(values))
        for j in range(len(low)):
            if self._has_condition(j, low[j], high[j]):
                total += squared_gaps(self.columns, j, low[j], high[j], values[:, j])
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
        low, high, label = self.lows[rule], self.highs[rule], self.labels[rule]
        wanted = (self.labels == label) & ~self._covered(low, high)
        if not wanted.any():
            return
        far = np.where(wanted, self._distances(low, high, self.values), np.inf)
        if not np.isfinite(far).any():
            return
        low, high = self._stretched(low, high, self.values[np.argmin(far)])
        distances = self._distances(low, high, self.values)
        taken = np.flatnonzero(
            (self.winners == rule)
            | (distances < self.distances)
            | ((distances == self.distances) & self._beats(rule))
        )
        right = self.labels[taken] == label
        was_right = self._is_right()[taken]
        change = self.weights[taken] @ (right.astype(np.int64) - was_right)
        if change >= 0:
            self.lows[rule], self.highs[rule] = low, high
            self._win(taken, rule, distances[taken])
            self._merge(rule)

    def _is_right(self) -> BoolArray:
        known = self.winners >= 0
        right: BoolArray = known & (self.labels[self.winners] == self.labels)
        return right

    def _beats(self, rule: int) -> BoolArray:
        """Tell on which rows a rule wins a tie with the winner; a lone row has none."""
        laplace = (self.correct + self.unit) / (self.won + len(self.ranks) * self.unit)
        ranks = self.ranks[self.labels]
        key = (-laplace[rule], ranks[rule], rule)
        found: list[bool] = [
            key < (-laplace[w], ranks[w], w) if w >= 0 else True for w in self.winners.tolist()
        ]
        return np.array(found, dtype=np.bool_)

    def _stretched(
        self, low: FloatArray, high: FloatArray, row: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Give the most specific generalisation that covers a row."""
        gap, differs = np.isnan(row), self.nominal & (row != low)
        new_low = np.where(gap, -np.inf, np.minimum(low, row))
        new_high = np.where(gap, np.inf, np.maximum(high, row))
        return (
            np.where(self.nominal, np.where(differs, -1.0, low), new_low),
            np.where(self.nominal, np.where(differs, -1.0, high), new_high),
        )

    def _win(self, rows: Any, rule: int, distances: FloatArray) -> None:
        """Hand rows over to a rule."""
        weights, right = self.weights[rows], self._is_right()[rows]
        known = self.winners[rows] >= 0
        losers = self.winners[rows][known]
        np.subtract.at(self.won, losers, weights[known])
        np.subtract.at(self.correct, losers, (weights * right)[known])
        is_own = self.labels[rows] == self.labels[rule]
        self.won[rule] += weights.sum()
        self.correct[rule] += (weights * is_own).sum()
        self._accuracy += int((weights * is_own).sum() - (weights * right).sum())
        self.winners[rows], self.distances[rows] = rule, distances

    def _merge(self, rule: int) -> None:
        """Delete the younger of two equal rules; the older one gets what it won."""
        same = self.alive & (self.labels == self.labels[rule])
        same &= (self.lows == self.lows[rule]).all(axis=1)
        same &= (self.highs == self.highs[rule]).all(axis=1)
        same[rule] = False
        if not same.any():
            return
        other = int(np.argmax(same))
        kept, gone = min(rule, other), max(rule, other)
        for counts in (self.won, self.correct):
            counts[kept] += counts[gone]
            counts[gone] = 0
        self.winners[self.winners == gone] = kept
        self.alive[gone] = False
