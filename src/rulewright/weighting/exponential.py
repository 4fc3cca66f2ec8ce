"""The exponential loss of confidence-rated boosting: weights of pairs (row, label).

A rule with head k and confidence C adds C to F_k on the rows it covers. With W+ the weight of the
pairs that this helps, and W- of those that it hurts, the weights then sum to
``Z(C) = W0 + W+ exp(-C) + W- exp(C)``, which ``C = ln(W+ / W-) / 2`` minimises.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.kernels import STAT, Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.kernels import FloatArray, IntArray, RowArray, StatArray

UNIT = 2.0**-61
"""Fixed-point step of the weights, which sum to one."""


class ExponentialLoss:
    """Weights D of the pairs (row, label) under the scores F, moved by `add` only.

    A pair asks whether label l is right for row i, ``D(i, l) ~ start(i, l) exp(-Y F_l)`` with
    Y = +1 for the row's class and -1 else; two-class problems need the pairs of one label only.
    With `by_cost` a pair asks whether row i prefers its class to the wrong label l,
    ``D(i, l) ~ start(i, l) exp(F_l - F_y)``.

    Parameters
    ----------
    labels : int32 array
        Class of each row.
    start : float64 array of shape (rows, heads)
        Weights to start from, on any scale; with `by_cost` 0 for the row's own class.
    heads : sequence of int
        Classes that rules may speak for, one per column of `start`.
    by_cost : bool
        Whether pairs compare labels; then all classes are heads.
    n_rows : float, optional
        What counts as the number of rows in the smoothing of confidences.
    row_weights : float64 array, optional
        When given, a last lane of row weights (for a minimum covered weight), in steps of
        `weight_unit`.
    n_threads : int
        Threads to use; the result does not depend on it.
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
        self.weights: FloatArray = start / start.sum()
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
        places = range(len(self.heads))
        self._scores = [Score("slipper", unit=UNIT, first_lane=2 * place) for place in places]
        self.state = kernels.Exponential(own[labels], self.weights, self.stats, 1 / UNIT, by_cost)
        self.state.refresh(n_threads)

    def score(self, place: int) -> Score:
        """Describe the score for the search of rules with the head at this place."""
        return self._scores[place]

    def confidence(self, plus: FloatArray | float, minus: FloatArray | float) -> FloatArray:
        """Return the smoothed confidence ``ln((W+ + e) / (W- + e)) / 2``, e = 1 / (2 pairs)."""
        e = self.smoothing
        answer: FloatArray = 0.5 * np.log((np.asarray(plus) + e) / (np.asarray(minus) + e))
        return answer

    def add(self, rows: RowArray, place: int, confidence: float) -> float:
        """Add a confidence to the scores of one head on the rows; return Z."""
        self.scores[rows, place] += confidence
        return self.state.add(rows, place, confidence, self.n_threads)

    @property
    def row_steps(self) -> StatArray:
        """Weight of each row over all its pairs, in fixed point."""
        if len(self.heads) == 1:
            one_pair: StatArray = self.stats[:, 0] + self.stats[:, 1]
            return one_pair
        steps: StatArray = np.rint(self.weights.sum(axis=1) / UNIT).astype(STAT)
        return steps
