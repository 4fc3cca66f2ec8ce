"""Regression trees on binned columns: nodes as conditions on values, rows to nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.data import DataError
from rulewright.encoding import pool_labels
from rulewright.kernels import STAT, Op, Routes, TreeShape
from rulewright.rules import Conjunction, Labels, Presence, Range, opposite

if TYPE_CHECKING:
    from rulewright.encoding import BinnedColumns
    from rulewright.kernels import (
        BoolArray,
        CodeColumns,
        FloatArray,
        GrownSplit,
        GrownTree,
        IntArray,
        RowArray,
        StatArray,
    )
    from rulewright.rules import Condition
    from rulewright.search.constraints import SearchLimits

TOLERANCE = 1e-9
"""Minimum relative decrease of the weighted squared residuals by a split."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A regression tree; node 0 is the root, split i creates the nodes 2 i + 1 and 2 i + 2.

    Attributes
    ----------
    grown : GrownTree
        Splits on codes.
    values : float64 array of shape (nodes, outputs)
        Weighted mean of the residuals of each node.
    binned : BinnedColumns
        The meaning of codes.
    """

    grown: GrownTree
    values: FloatArray
    binned: BinnedColumns

    @property
    def n_nodes(self) -> int:
        """Number of nodes, including the root."""
        return len(self.values)

    def path(self, node: int) -> list[tuple[GrownSplit, bool]]:
        """Return the splits from the root to a node, and whether it lies on their left side."""
        path = []
        while node > 0:
            place, right = divmod(node - 1, 2)
            path.append((self.grown.splits[place], not right))
            node = path[-1][0].node
        return path[::-1]

    def length(self, node: int) -> int:
        """Return the number of conditions of a node: one per column of its path."""
        return len({split.column for split, _ in self.path(node)})

    def conjunction(self, node: int) -> Conjunction:
        """Return the conditions on values that lead to a node, merged by column."""
        path = self.path(node)
        return Conjunction.of(self._condition(split, is_left) for split, is_left in path)

    def _condition(self, split: GrownSplit, is_left: bool) -> Condition:
        bins = self.binned.bins[split.column]
        name, first = bins.schema.name, split.codes[0]
        left: Condition
        if split.op == Op.LESS_EQUAL and bins.schema.ranked:
            ends = (0, first) if is_left else (first + 1, len(bins) - 1)
            return bins.labels_from(*ends)
        if split.op == Op.LESS_EQUAL:
            cut = bins.cut(first, first + 1, Op.LESS_EQUAL, "midpoint")
            left = Range(name, high=cut, kind=bins.schema.kind)
        elif split.op == Op.EQUAL:
            left = _condition_on_labels(name, bins.schema.labels, split.codes)
        else:
            left = Presence(name, missing=True)
        return left if is_left else opposite(left)

    def reach(self, codes: CodeColumns, n_threads: int = 1) -> IntArray:
        """Find the deepest node that each row reaches: a leaf, or a node whose value is missing."""
        return kernels.route_rows(codes, self._routes, n_threads)

    @cached_property
    def _routes(self) -> Routes:
        splits, n_bins = self.grown.splits, self.binned.codes.n_bins
        sides = [kernels.side_of_codes(split, int(n_bins[split.column])) for split in splits]
        children, columns, starts = np.zeros((3, self.n_nodes), dtype=np.int32)
        nodes = [split.node for split in splits]
        children[nodes] = np.arange(1, self.n_nodes, 2)
        columns[nodes] = [split.column for split in splits]
        starts[nodes] = np.cumsum([0, *map(len, sides)])[:-1]
        flat = np.concatenate(sides) if sides else np.empty(0, dtype=np.uint8)
        return Routes(children, columns, starts, flat)

    def covers(self, reached: IntArray) -> BoolArray:
        """Return for each node which rows it contains, given the deepest node of each row."""
        held: BoolArray = reached == np.arange(self.n_nodes, dtype=np.int32)[:, np.newaxis]
        for place, split in reversed([*enumerate(self.grown.splits)]):
            held[split.node] |= held[2 * place + 1] | held[2 * place + 2]
        return held

    def sums(self, reached: IntArray, weights: FloatArray) -> FloatArray:
        """Sum the weights of the rows of each node, given the deepest node of each row."""
        sums = np.bincount(reached, weights, minlength=self.n_nodes).astype(np.float64)
        for place, split in reversed([*enumerate(self.grown.splits)]):
            sums[split.node] += sums[2 * place + 1] + sums[2 * place + 2]
        return sums


def _condition_on_labels(name: str, labels: tuple[str, ...], codes: list[int]) -> Labels:
    """Return a condition with these labels, or with all others if these are fewer."""
    if 2 * len(codes) <= len(labels):
        return Labels(name, tuple(labels[code] for code in codes))
    others = set(range(len(labels))).difference(codes)
    return Labels(name, tuple(labels[code] for code in sorted(others)), negated=True)


class TreeGrower:
    """Grows trees on binned columns, one native call per tree.

    Infrequent labels of a column with too many labels are pooled into one.

    Parameters
    ----------
    binned : BinnedColumns
        The training rows.
    weights : float64 array
        Weight of each row, above 0.
    limits : SearchLimits
        Constraints on columns, operators, path length and node weight. A split needs the
        operators of both children.
    inter_supp : float
        Factor of the split scores of columns already used on the path.
    onehot : bool
        Whether nominal columns are split into one label and all others.
    n_threads : int
        Number of threads; does not change the result.
    """

    def __init__(
        self,
        binned: BinnedColumns,
        weights: FloatArray,
        limits: SearchLimits,
        *,
        inter_supp: float = 1.0,
        onehot: bool = False,
        n_threads: int = 1,
    ) -> None:
        if limits.constraints.required:
            raise DataError("required: tree nodes do not all use a column; do not require any.")
        self.binned, self.n_threads = binned, n_threads
        self._pooled = pool_labels(binned, weights)
        self.shape = TreeShape(max_leaves=1, reuse=inter_supp, onehot=onehot)
        unit = fixed_point_unit(float(weights.sum()))
        self._steps = np.maximum(np.rint(weights / unit), 1)
        self._stats = np.empty((0, 0), dtype=STAT)
        self._limits = limits.compile(binned.schema, unit)

    def grow(self, rows: RowArray, residuals: FloatArray, max_leaves: int) -> Tree:
        """Fit a tree of `max_leaves` leaves or fewer to residuals (rows, outputs) of some rows."""
        weighted = residuals * self._steps[rows, np.newaxis]
        unit = fixed_point_unit(float(np.abs(weighted).sum(axis=0).max(initial=0.0)))
        stats = self._buffer(residuals.shape[1])
        stats[rows, 1:] = np.rint(weighted / unit).astype(STAT)
        squares = stats[rows, 1:].astype(np.float64) ** 2 / stats[rows, :1]
        grown = kernels.grow_tree(
            self._pooled.codes,
            rows,
            stats,
            replace(self.shape, max_leaves=max_leaves),
            replace(self._limits, tolerance=TOLERANCE * float(squares.sum())),
            self.n_threads,
        )
        means = grown.sums[:, 1:] / np.maximum(grown.sums[:, :1], 1)
        splits = [self._pooled.unfold(split) for split in grown.splits]
        return Tree(grown._replace(splits=splits), means * unit, self.binned)

    def _buffer(self, n_outputs: int) -> StatArray:
        """Return a buffer for the statistics of all rows; a tree uses only its own rows."""
        if self._stats.shape[1] != n_outputs + 1:
            self._stats = np.zeros((len(self._steps), n_outputs + 1), dtype=STAT)
            self._stats[:, 0] = self._steps
        return self._stats


def fixed_point_unit(total: float) -> float:
    """Return the finest power of two such that the sum of absolute values fits into 61 bits."""
    if not math.isfinite(total):
        raise ValueError("the weighted residuals are too large to sum; scale the target down")
    return 2.0 ** max(math.ceil(math.log2(total)) - 61, -1022) if total > 0 else 1.0
