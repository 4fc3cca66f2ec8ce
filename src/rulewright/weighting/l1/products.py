"""Cross-products of the columns of a quadratic, computed as columns enter.

For rows of equal weight they are counts of 64 rows per instruction. Weights of an approximating
quadratic need not be exact: rows are sorted by weight, the rows of a block get their mean weight,
and are counted, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.encoding import WORD, count_words

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray, IntArray, RowArray, WordArray
    from rulewright.weighting.l1.design import Design

AT_A_TIME = 64
"""Number of columns per batch of products, whose sums take twice the memory of counts."""

N_LEVELS = 32
"""Minimum number of blocks with a common weight."""

LEVEL_ROWS = N_LEVELS * WORD
"""Below this number of rows every row keeps its own weight."""


@dataclass(frozen=True, eq=False)
class Levels:
    """Rows sorted by weight, in blocks with a common weight.

    Attributes
    ----------
    order : uint32 array
        The rows.
    weights : float64 array
        Weight of the rows of each block.
    block : int
        Number of words (64 rows) per block; the last block may be shorter.
    """

    order: RowArray
    weights: FloatArray
    block: int

    @classmethod
    def of(cls, weights: FloatArray) -> Levels:
        """Set each block to its weighted mean."""
        order = np.argsort(weights, kind="stable").astype(kernels.ROW)
        block = max(count_words(len(weights)) // N_LEVELS, 1)
        starts = np.arange(0, len(weights), block * WORD)
        counts = np.diff(starts, append=len(weights))
        return cls(order, np.add.reduceat(weights[order], starts) / counts, block)

    def by_row(self) -> FloatArray:
        """Return the weight of every row."""
        weights = np.empty(len(self.order))
        weights[self.order] = np.repeat(self.weights, self.block * WORD)[: len(self.order)]
        return weights


class CrossProducts:
    """Raw cross-products of all columns chosen so far, in that order, under some weights.

    Pairs of rules over rows of equal weight are counts, which take half the memory.
    """

    def __init__(self, design: Design, max_sweeps: int, levels: Levels | None = None) -> None:
        self.design, self.max_sweeps, self.levels = design, max_sweeps, levels
        counted = design.unit and len(design.covers) == design.n_columns
        self.products = np.empty((0, 0), dtype=np.int32 if counted else np.float64)
        self.entered: IntArray = np.empty(0, dtype=np.int32)
        self.rank = np.full(design.n_columns, -1, dtype=np.int32)
        n_words = count_words(design.n_rows) if levels else 0
        self.words: WordArray = np.empty((0, n_words), dtype=np.uint64)

    @classmethod
    def like(cls, design: Design, weights: FloatArray, max_sweeps: int) -> CrossProducts:
        """Create cross-products of columns under approximately these weights."""
        if design.n_rows < LEVEL_ROWS:
            return cls(design.reweight(weights), max_sweeps)
        levels = Levels.of(weights)
        return cls(design.reweight(levels.by_row()), max_sweeps, levels)

    def descend(
        self,
        a: FloatArray,
        residuals: FloatArray,
        chosen: BoolArray,
        penalties: tuple[float, float],
        change: float,
    ) -> FloatArray:
        """Sweep over the chosen columns, from a point whose weighted residuals sum to 0."""
        design = self.design
        self._enter(np.flatnonzero(chosen & (self.rank < 0)).astype(np.int32))
        entered = self.entered
        coefs = a[entered]
        kernels.descend_products(
            self.products,
            kernels.Quadratic(
                design.total, design.means[entered], design.scales[entered], design.norms[entered]
            ),
            self.rank[chosen],
            *penalties,
            change,
            self.max_sweeps,
            coefs,
            design.matrix.sums(entered, residuals, design.n_threads),
        )
        found = np.zeros(design.n_columns)
        found[entered] = coefs
        return found

    def _enter(self, columns: IntArray) -> None:
        """Compute the products of new columns with each other and with earlier ones."""
        n, m = len(self.entered), len(columns)
        self._make_room(n + m)
        self.entered = np.concatenate([self.entered, columns])
        self.rank[columns] = np.arange(n, n + m)
        self._sort_rows(columns)
        for first in range(0, m, AT_A_TIME):
            rows = slice(n + first, min(n + first + AT_A_TIME, n + m))
            cross = self._count_shared(rows) if self.levels else self._exact(rows)
            self.products[rows, : rows.stop] = cross
            self.products[: rows.stop, rows] = cross.T

    def _exact(self, rows: slice) -> FloatArray:
        others = self.entered[: rows.stop]
        return self.design.cross(self.entered[rows], others).reshape(-1, len(others))

    def _sort_rows(self, columns: IntArray) -> None:
        """Store the covers of new columns with sorted rows; linear terms have empty covers."""
        if self.levels is None or not len(columns):
            return
        n, design = len(self.entered), self.design
        is_rule = columns < len(design.covers)
        covers = np.ascontiguousarray(design.covers.words[columns[is_rule]])
        taken = kernels.take_rows(covers, self.levels.order, design.n_threads)
        self.words[n - len(columns) : n] = 0
        self.words[n - len(columns) : n][is_rule] = taken.reshape(covers.shape)

    def _count_shared(self, rows: slice) -> FloatArray:
        """Count the rows that rules share; products with linear terms are sums."""
        assert self.levels is not None
        levels, design = self.levels, self.design
        others = self.entered[: rows.stop]
        some = self.entered[rows]
        cross = kernels.count_shared(
            self.words[rows],
            self.words[: rows.stop],
            levels.weights,
            levels.block,
            design.n_threads,
        ).reshape(len(some), len(others))
        lines = np.flatnonzero(others >= len(design.covers))
        if len(lines):
            cross[:, lines] = design.cross(others[lines], some).reshape(len(lines), -1).T
        for place in np.flatnonzero(some >= len(design.covers)).tolist():
            cross[place] = design.cross(some[place : place + 1], others)
        return cross

    def _make_room(self, size: int) -> None:
        n = len(self.entered)
        if size > len(self.products):
            size = min(2 * size, self.design.n_columns)
            larger = np.empty((size, size), dtype=self.products.dtype)
            larger[:n, :n] = self.products[:n, :n]
            self.products = larger
            words = np.empty((size, self.words.shape[1]), dtype=np.uint64)
            words[:n] = self.words[:n]
            self.words = words
