"""The exponential loss of confidence-rated boosting: weights of pairs (row, label).

A rule with head k and confidence C adds C to F_k on the rows it covers. Let W+ be the weight of the
pairs that this improves, and W- of those pairs that it worsens. The weights then sum to
``Z(C) = W0 + W+ exp(-C) + W- exp(C)``, which ``C = ln(W+ / W-) / 2`` minimises.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.kernels import ROW, STAT, FloatArray, IntArray, RowArray, Score, StatArray
from rulewright.weighting.likelihood import MOST_FINE_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence


FINE_BITS = 61
"""Number of bits of the sum of all weights; no sum overflows."""

LARGEST_BITS, MEAN_BITS = 19, 8
"""Bits of the largest weight in coarse steps, and minimum bits of the mean weight.

Two sums of such weights share a word in `native/search/count.cpp`. Each row counts as at least one
step, so rounding adds at most ``2**-MEAN_BITS`` to the total weight. If the largest weight exceeds
2,048 times the mean, the steps are fine.
"""

LEAST_TOTAL = 2.0**-64
"""Weights with a smaller sum are scaled up."""


class ExponentialLoss:
    """Weights D of the pairs (row, label) under the scores F, changed only by `add`.

    A pair asks whether label l is correct for row i, ``D(i, l) ~ start(i, l) exp(-Y F_l)`` with Y =
    +1 for the row's class and -1 otherwise; two-class problems need the pairs of one label only.
    With `by_cost` a pair asks whether row i prefers its class to the wrong label l,
    ``D(i, l) ~ start(i, l) exp(F_l - F_y)``.

    Only the covered rows of a rule change: weights are stored up to the factor `total`. The search
    reads statistics in steps of `unit`, which are coarse for many rows; `sums` is always precise.

    Parameters
    ----------
    labels : int32 array
        Class of each row.
    start : float64 array of shape (rows, heads)
        Start weights, at any scale; with `by_cost` 0 for the row's own class.
    heads : sequence of int
        Classes that rules may vote for, one per column of `start`.
    by_cost : bool
        Whether pairs compare labels; then all classes are heads.
    n_rows : float, optional
        Effective number of rows for the smoothing of confidences.
    row_weights : float64 array, optional
        If given, a last lane of row weights (for a minimum covered weight), in steps of
        `weight_unit`.
    n_threads : int
        Number of threads; does not change the result.
    """

    def __init__(
        self,
        labels: IntArray,
        start: FloatArray,
        heads: Sequence[int],
        *,
        by_cost: bool = False,
        n_rows: float | None = None,
        row_weights: FloatArray | None = None,
        n_threads: int = 1,
    ) -> None:
        self.heads, self.n_threads = tuple(heads), n_threads
        self.scores = np.zeros(start.shape)
        self.smoothing = 1 / (2 * (n_rows or len(labels)) * len(self.heads))
        self.stats = np.zeros((len(labels), 2 * len(heads) + (row_weights is not None)), STAT)
        self.weight_unit = 1.0
        if row_weights is not None:
            total = float(row_weights.sum())
            self.weight_unit = 2.0 ** max(math.ceil(math.log2(total)) - 61, -1022)
            self.stats[:, -1] = np.rint(row_weights / self.weight_unit).astype(STAT)
        own = np.full(int(labels.max(initial=0)) + 1, -1, dtype=np.int32)
        for place, head in enumerate(self.heads):
            own[head : head + 1] = place
        self._weights: FloatArray = start / start.sum()
        self._everyone = np.arange(len(labels), dtype=ROW)
        state = own[labels], self._weights, self.scores, self.stats, by_cost
        self.state = kernels.Exponential(*state)
        self.total, largest = self.state.range()
        self._exponent = self._choose_exponent(largest)
        self._write(self._everyone)

    @property
    def weights(self) -> FloatArray:
        """The weights D, which sum to one."""
        return self._weights / self.total

    @property
    def unit(self) -> float:
        """The weight of one step of the statistics, relative to a total of 1."""
        return 2.0**self._exponent / self.total

    @property
    def is_coarse(self) -> bool:
        """Whether the lanes are coarser than `sums`."""
        return self._exponent > self._fine_exponent + 1

    @property
    def row_steps(self) -> StatArray:
        """Weight of each row over all its pairs, in steps of the lanes."""
        return self.state.row_steps(self.n_threads)

    def score(self, place: int) -> Score:
        """Describe the score for the search of rules with the head at this place."""
        return Score("slipper", unit=self.unit, first_lane=2 * place)

    def sums(self, rows: RowArray, place: int) -> tuple[float, float]:
        """Return (W+, W-) of a rule for one head that covers the rows, at full precision."""
        step = 2.0**self._fine_exponent
        plus, minus = self.state.sum(rows, place, 1 / step, self.n_threads).tolist()
        return plus * step / self.total, minus * step / self.total

    def confidence(self, plus: FloatArray | float, minus: FloatArray | float) -> FloatArray:
        """Return the smoothed confidence ``ln((W+ + e) / (W- + e)) / 2``, e = 1 / (2 pairs)."""
        e = self.smoothing
        answer: FloatArray = 0.5 * np.log((np.asarray(plus) + e) / (np.asarray(minus) + e))
        return answer

    def add(self, rows: RowArray, place: int, confidence: float) -> float:
        """Add a confidence to the scores of one head on the rows; return Z."""
        before = self.total
        self.state.add(rows, place, confidence, self.n_threads)
        self.total, largest = self.state.range()
        z = self.total / before
        if self.total < LEAST_TOTAL:
            self.state.scale(2.0 ** -math.floor(math.log2(self.total)), self.n_threads)
            self.total, largest = self.state.range()
        wanted = self._choose_exponent(largest)
        if wanted in (self._exponent, self._exponent - 1):
            self._write(rows)
        else:
            self._exponent = wanted
            self._write(self._everyone)
        return z

    @property
    def _fine_exponent(self) -> int:
        """The power of two of the finest step, with slack for rounding of the total."""
        return math.ceil(math.log2(self.total) - 1e-6) - FINE_BITS

    def _choose_exponent(self, largest: float) -> int:
        """Choose the power of two of the steps."""
        if len(self.stats) > MOST_FINE_ROWS:
            coarse = math.ceil(math.log2(largest)) - LARGEST_BITS
            if self.total / self._weights.size >= 2.0 ** (coarse + MEAN_BITS):
                return coarse
        return self._fine_exponent

    def _write(self, rows: RowArray) -> None:
        self.state.write(rows, 2.0**-self._exponent, self.n_threads)
