"""Maximum likelihood with many classes, for rules whose class is chosen before they are grown.

Statistics are those of one class at a time, so that a rule costs the same however many classes
there are.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.kernels import MOST_BITS, ROW, STAT, Score
from rulewright.rules import Head
from rulewright.weighting.likelihood import (
    LARGEST_STEP,
    MOST_FINE_ROWS,
    coarse_unit,
    fine_unit,
    start_exponentials,
    start_loss,
    step_of,
)

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray, IntArray, RowArray, StatArray

LEAST_PROBABILITY = 0.0003
"""Rows of other classes are not counted for a rule if they have its class with less."""


class ClassLogLikelihood:
    """Scores, loss and the statistics of one class, with the face of `LogLikelihood`.

    A class is chosen in proportion to what its rows lack, the sum of ``w (1 - p)`` of their own
    class: over many rules each class gets the share of rules that it has of this sum.

    Parameters
    ----------
    labels : int32 array
        Class of each row.
    weights : float64 array
        Weight of each row.
    scores : float64 array
        Scores f_0 that every row starts from, one per class, or a row of them for each row.
    weigh_rows : bool
        Whether the statistics end with a lane of row weights (for a minimum covered weight).
    coarse : bool
        Whether the statistics of many rows are only as fine as a search needs.
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
        coarse: bool = False,
        n_threads: int = 1,
    ) -> None:
        n, n_classes, self.n_threads = len(labels), scores.shape[-1], n_threads
        self.fine_unit = fine_unit(float(weights.sum()))
        coarse = coarse and n > MOST_FINE_ROWS
        self.unit = coarse_unit(float(weights.mean()), n) if coarse else self.fine_unit
        self._stats = np.zeros((n, 2 + weigh_rows), dtype=STAT)
        if weigh_rows:
            self._stats[:, -1] = np.rint(weights / self.unit).astype(STAT)
        self._exp_scores = np.ascontiguousarray(start_exponentials(scores, n).T)
        self.state = kernels.ClassLikelihood(
            labels, weights, self._exp_scores, self._stats, 1 / self.unit
        )
        everyone = np.arange(n, dtype=ROW)
        by_class, _ = self.class_weights(everyone, np.zeros(n, np.bool_))
        self.loss = start_loss(scores, labels, weights, by_class)
        self._lacking = self.state.residuals(everyone, n_threads)
        self._due = np.zeros(n_classes)  # rules that each class should have had by now and has not
        self._class = 0  # that of the score last asked for
        self._written: int | None = None  # the class whose statistics are up to date
        self._scores: dict[tuple[str, float], Score] = {}  # with their bound structs

    @property
    def bits(self) -> int:
        """The bits that no statistic of a row exceeds, without the sign."""
        return MOST_BITS

    def best_vote(self, kind: str, l2: float) -> Head:
        """Return the class whose turn it is."""
        total = self._lacking.sum()
        self._due += self._lacking / total if total > 0 else 1 / len(self._due)
        k = int(self._due.argmax())
        self._due[k] -= 1
        return Head(k, k)

    def score(self, kind: str, l2: float, head: Head | None = None) -> Score:
        """Describe the score for the search; statistics are from now on those of the class."""
        if head is None:
            raise ValueError("the class of a rule must be chosen before it is grown")
        self._class = head.first
        if (kind, l2) not in self._scores:
            self._scores[kind, l2] = Score(kind, unit=self.unit, l2=l2)
        return self._scores[kind, l2]

    @property
    def stats(self) -> StatArray:
        """The statistics of all rows, always in the same place."""
        if self._written != self._class:
            self.state.write_stats(self._class, self.n_threads)
            self._written = self._class
        return self._stats

    def telling_rows(self, rows: RowArray) -> RowArray:
        """Return those of the rows that tell about a vote, with their statistics up to date.

        Where row weights are counted, all rows are.
        """
        least = 0.0 if self._stats.shape[1] > 2 else LEAST_PROBABILITY
        self._written = None
        return self.state.write_telling_rows(rows, self._class, least)

    def head_of(self, score: Score, vote: int) -> Head:
        """Return the class that the rules of this search vote for."""
        return Head(self._class, self._class)

    def newton_step(
        self,
        rows: RowArray,
        head: Head,
        l2: float,
        backtrack: bool = True,
        min_evidence: float = 0.0,
        largest: float = LARGEST_STEP,
    ) -> float:
        """Return the response of a vote over the rows, as `LogLikelihood` does."""
        sums = self.state.sum_stats(rows, head.first, 1 / self.fine_unit, self.n_threads)
        g, h = (sums * self.fine_unit).tolist()
        change = partial(self._loss_change, rows, head) if backtrack else None
        return step_of(g, max(h + l2, 1e-12), min_evidence, largest, change)

    def _loss_change(self, rows: RowArray, head: Head, step: float) -> float:
        return self.state.loss_change(rows, head.first, step, self.n_threads)

    def add(self, rows: RowArray, head: Head, step: float) -> None:
        """Add a step to the scores of the rows and bring the loss up to date."""
        self._lacking -= self.state.residuals(rows, self.n_threads)
        self.loss += self.state.add_step(rows, head.first, step, self.n_threads)
        self._lacking += self.state.residuals(rows, self.n_threads)
        self._written = None

    @property
    def probabilities(self) -> FloatArray:
        """Probabilities of the classes, as an array of shape (rows, classes)."""
        answer: FloatArray = (self._exp_scores / self._exp_scores.sum(axis=0)).T
        return np.ascontiguousarray(answer)

    def class_weights(self, rows: RowArray, drawn: BoolArray) -> FloatArray:
        """Return the weight of each class among the rows that are not drawn, and that are."""
        found = self.state.class_weights(rows, drawn.view(np.uint8), self.n_threads)
        return found.reshape(2, -1)
