"""Maximum likelihood as boosting needs it: row statistics in, steps out.

The loss is ``sum_i w_i (log sum_k exp f_ik - f_i,y_i)``. For a vote on class k over the rows that a
rule covers its derivatives are ``g = sum w (p_k - [y = k])`` and ``h = sum w p_k (1 - p_k)``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.kernels import ROW, STAT, Score

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray, IntArray, RowArray, StatArray

LARGEST_STEP = 4.0
"""Largest response before shrinkage."""

SAFE_STEP = 1.79
"""Newton steps up to here lower the loss for certain.

Along a vote the loss satisfies |l'''| <= l'', hence l(a) - l(0) <= g a + h (exp(a) - 1 - a). With
g = -a (h + l2) the right side is negative as long as exp(a) - 1 - a < a^2.
"""


class LogLikelihood:
    """Scores, statistics and loss of a set of rows, moved by `add` only.

    Parameters
    ----------
    labels : int32 array
        Class of each row.
    weights : float64 array
        Weight of each row.
    scores : float64 array
        Scores f_0 that every row starts from, one per class.
    weigh_rows : bool
        Whether the statistics end with a lane of row weights (for a minimum covered weight).
    n_threads : int
        Threads to use; the result does not depend on it.
    """

    def __init__(
        self,
        labels: IntArray,
        weights: FloatArray,
        scores: FloatArray,
        *,
        weigh_rows: bool = False,
        n_threads: int = 1,
    ) -> None:
        n, self.n_classes, self.n_threads = len(labels), len(scores), n_threads
        self.n_pairs = 1 if self.n_classes == 2 else self.n_classes
        # As fine as 62 bits (and floats) allow: no sum of |g| <= w or h <= w can overflow.
        self.unit = 2.0 ** max(math.ceil(math.log2(float(weights.sum()))) - 61, -1022)
        self.stats = np.zeros((n, 2 * self.n_pairs + weigh_rows), dtype=STAT)
        if weigh_rows:
            self.stats[:, -1] = np.rint(weights / self.unit).astype(STAT)
        exp_scores = np.tile(np.exp(scores - scores.max()), (n, 1))
        self.state = kernels.Likelihood(labels, weights, exp_scores, self.stats, 1 / self.unit)
        self._everyone = np.arange(n, dtype=ROW)
        self._totals: StatArray | None = None  # kept up to date once somebody asked for them
        self.state.refresh_stats(self._everyone, n_threads)
        log_p = scores - np.logaddexp.reduce(scores)
        self.loss = -float(self.state.class_weights(self._everyone, n_threads) @ log_p)

    def score(self, kind: str, l2: float, vote: int | None = None) -> Score:
        """Describe the score for the search: over all votes, or for one `vote` only."""
        if self.n_classes == 2:
            up, down = vote in (None, 1), vote in (None, 0)
            return Score(kind, l2, self.unit, 1, first_class=1, up=up, down=down)
        if vote is None:
            return Score(kind, l2, self.unit, self.n_classes)
        return Score(kind, l2, self.unit, 1, first_lane=2 * vote, first_class=vote)

    def derivatives(self, rows: RowArray, vote: int) -> tuple[float, float]:
        """Return (g, h) of a vote over the rows."""
        sums = self.state.sum_stats(rows, self.n_threads)
        return self._derivatives(sums, vote)

    def best_vote(self, kind: str, l2: float) -> int:
        """Return the class whose criterion over all rows is lowest."""
        if self._totals is None:
            self._totals = self.state.sum_stats(self._everyone, self.n_threads)
        pairs = [self._derivatives(self._totals, vote) for vote in range(self.n_classes)]
        if kind == "newton":
            return int(np.argmin([g / math.sqrt(max(h + l2, 1e-12)) for g, h in pairs]))
        return int(np.argmin([g for g, _ in pairs]))

    def newton_step(
        self,
        rows: RowArray,
        vote: int,
        l2: float,
        backtrack: bool = True,
        min_evidence: float = 0.0,
    ) -> float:
        """Return the response of a vote over the rows; not positive when it would not help.

        The evidence for a vote is ``-g / sqrt(h + l2)``, about its distance from zero in standard
        errors; with less than `min_evidence` the response is 0. With `backtrack` the step is
        halved until it lowers the loss.
        """
        g, h = self.derivatives(rows, vote)
        curvature = max(h + l2, 1e-12)
        if -g < min_evidence * math.sqrt(curvature):
            return 0.0
        step = min(-g / curvature, LARGEST_STEP)
        if backtrack and step > SAFE_STEP:
            while self.state.loss_change(rows, vote, step, self.n_threads) >= 0 and step > 0:
                step /= 2
        return step

    def add(self, rows: RowArray, vote: int, step: float) -> None:
        """Add a step to the scores of the rows and bring everything up to date."""
        if self._totals is not None:
            self._totals -= self.state.sum_stats(rows, self.n_threads)
        self.loss += self.state.add_step(rows, vote, step, self.n_threads)
        if self._totals is not None:
            self._totals += self.state.sum_stats(rows, self.n_threads)

    def class_weights(self, rows: RowArray) -> FloatArray:
        """Return the weight of each class among the rows."""
        return self.state.class_weights(rows, self.n_threads)

    def _derivatives(self, sums: StatArray, vote: int) -> tuple[float, float]:
        pair, sign = (0, 1 if vote else -1) if self.n_classes == 2 else (2 * vote, 1)
        return sign * float(sums[pair]) * self.unit, float(sums[pair + 1]) * self.unit
