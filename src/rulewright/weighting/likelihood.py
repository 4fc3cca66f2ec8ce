"""Maximum likelihood for boosting: row statistics for the search, and step sizes.

The loss is ``sum_i w_i (log sum_k exp f_ik - f_i,y_i)``. A rule votes for a union U of classes: one
class or, with ordered classes, all classes from one on or up to one. On the covered rows the
derivatives of the loss are ``g = sum w (P - [y in U])`` and ``h = sum w P (1 - P)``, where P is the
probability of U. With many classes the class of a rule is chosen before it is grown; statistics
then belong to one class at a time, so the cost of a rule does not depend on the number of classes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.kernels import (
    MOST_BITS,
    ROW,
    STAT,
    BoolArray,
    FloatArray,
    IntArray,
    RowArray,
    Score,
    StatArray,
)
from rulewright.rules import Head
from rulewright.weighting.votes import VoteLanes

if TYPE_CHECKING:
    from collections.abc import Callable


LARGEST_STEP = 4.0
"""Default maximum response before the learning rate is applied."""

SAFE_STEP = 1.79
"""Newton steps up to this length always lower the loss.

Along a vote the loss satisfies |l'''| <= l'', hence l(a) - l(0) <= g a + h (exp(a) - 1 - a). With
g = -a (h + l2) the right side is negative while exp(a) - 1 - a < a^2.
"""

MOST_FINE_ROWS = 4096
"""Beyond this number of rows the search may use coarse statistics, which are counted faster."""

COARSE_BITS, SUM_BITS = 17, 34
"""Bits of the coarse g of a row of average weight, and of its sum over all rows.

Two such sums over a twentieth of the rows share a word (`native/search/roots.hpp`).
"""


def fine_unit(total_weight: float) -> float:
    """Return the finest unit of statistics: no sum of |g| <= w or h <= w overflows 62 bits."""
    return 2.0 ** max(math.ceil(math.log2(total_weight)) - 61, -1022)


def coarse_unit(mean_weight: float, n_rows: int) -> float:
    """Return the unit of coarse statistics for a number of rows."""
    bits = min(COARSE_BITS, SUM_BITS - math.ceil(math.log2(n_rows)))
    return 2.0 ** max(math.ceil(math.log2(mean_weight)) - bits, -1022)


def start_exponentials(scores: FloatArray, n_rows: int) -> FloatArray:
    """Return the exponentials of the start scores, at most 1, one line per row."""
    found = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.tile(found, (n_rows, 1)) if scores.ndim == 1 else found


def start_loss(
    scores: FloatArray, labels: IntArray, weights: FloatArray, class_weights: FloatArray
) -> float:
    """Return the loss of rows with common or individual scores."""
    logs = scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    if scores.ndim == 1:
        return -float(class_weights @ logs)
    return -float(weights @ logs[np.arange(len(labels)), labels])


def step_of(
    g: float,
    curvature: float,
    min_evidence: float,
    largest: float,
    loss_change: Callable[[float], float] | None,
) -> float:
    """Return the Newton step; if the change of the loss is given, halve it until the loss falls."""
    if -g < min_evidence * math.sqrt(curvature):
        return 0.0
    step = min(-g / curvature, largest)
    if loss_change is not None and step > SAFE_STEP:
        while loss_change(step) >= 0 and step > 0:
            step /= 2
    return step


class _LikelihoodSteps(ABC):
    """Base class of likelihoods: Newton steps, and class weights."""

    state: kernels.Likelihood | kernels.ClassLikelihood
    n_threads: int

    @abstractmethod
    def derivatives(self, rows: RowArray, head: Head) -> tuple[float, float]:
        """Return (g, h) of a vote over the rows, at full precision."""

    @abstractmethod
    def _loss_change(self, rows: RowArray, head: Head, step: float) -> float: ...

    def newton_step(
        self,
        rows: RowArray,
        head: Head,
        l2: float,
        backtrack: bool = True,
        min_evidence: float = 0.0,
        largest: float = LARGEST_STEP,
    ) -> float:
        """Return the response of a vote over the rows; positive if it helps.

        The evidence for a vote is ``-g / sqrt(h + l2)``, about its distance from zero in standard
        errors; below `min_evidence` the response is 0. It is at most `largest`. With `backtrack`
        the step is halved until it lowers the loss.
        """
        g, h = self.derivatives(rows, head)
        change = partial(self._loss_change, rows, head) if backtrack else None
        return step_of(g, max(h + l2, 1e-12), min_evidence, largest, change)

    def signed_step(
        self, rows: RowArray, head: Head, l2: float, backtrack: bool, least: float, largest: float
    ) -> float:
        """Return the response of a vote for a head, or, negative, against it; 0 without evidence.

        `least` is the minimum evidence in either direction; otherwise like `newton_step`.
        """
        g, h = self.derivatives(rows, head)
        sign = -1 if g > 0 else 1

        def change(step: float) -> float:
            return self._loss_change(rows, head, sign * step)

        bound = max(h + l2, 1e-12)
        return sign * step_of(-abs(g), bound, least, largest, change if backtrack else None)

    def class_weights(self, rows: RowArray, drawn: BoolArray) -> FloatArray:
        """Return the weight of each class among the rows that are not drawn, and that are."""
        found = self.state.class_weights(rows, drawn.view(np.uint8), self.n_threads)
        return found.reshape(2, -1)


class LogLikelihood(_LikelihoodSteps, VoteLanes):
    """Scores, statistics and loss of a set of rows, changed only by `add`.

    Parameters
    ----------
    labels : int32 array
        Class of each row.
    weights : float64 array
        Weight of each row.
    scores : float64 array
        Start scores f_0, one per class, or one line per row.
    ordinal : bool
        Whether the classes are ordered and rules vote for "at least" or "at most" a class.
    weigh_rows : bool
        Whether the statistics end with a lane of row weights (for a minimum covered weight).
    coarse : bool
        Whether statistics of many rows have reduced precision for the search; derivatives are then
        computed from the scores.
    n_threads : int
        Number of threads; does not change the result.
    """

    def __init__(
        self,
        labels: IntArray,
        weights: FloatArray,
        scores: FloatArray,
        *,
        ordinal: bool = False,
        weigh_rows: bool = False,
        coarse: bool = False,
        n_threads: int = 1,
    ) -> None:
        n, self.n_threads, self._weights = len(labels), n_threads, weights
        self.fine_unit = fine_unit(float(weights.sum()))
        self.coarse = coarse and n > MOST_FINE_ROWS
        unit = coarse_unit(float(weights.mean()), n) if self.coarse else self.fine_unit
        super().__init__(scores.shape[-1], ordinal, unit)
        self.stats = np.zeros((n, 2 * self.n_pairs + weigh_rows), dtype=STAT)
        if weigh_rows:
            self.stats[:, -1] = np.rint(weights / self.unit).astype(STAT)
        self._exp_scores = start_exponentials(scores, n)
        self.state: kernels.Likelihood = kernels.Likelihood(
            labels, weights, self._exp_scores, self.stats, 1 / self.unit, self.cumulative
        )
        self._totals: StatArray | None = None  # updated after the first request
        self.state.refresh_stats(self._everyone, n_threads)
        by_class, _ = self.class_weights(self._everyone, np.zeros(n, np.bool_))
        self.loss = start_loss(scores, labels, weights, by_class)

    @property
    def _everyone(self) -> RowArray:
        """All rows; rarely needed, so not cached."""
        return np.arange(len(self.stats), dtype=ROW)

    @property
    def bits(self) -> int:
        """Number of bits that bounds every statistic of a row, without the sign."""
        return math.ceil(float(self._weights.max()) / self.unit).bit_length()

    def restart(self, probabilities: FloatArray) -> None:
        """Continue from other probabilities of the rows; the loss is no longer tracked."""
        self._exp_scores[:] = probabilities
        self._totals = None
        self.state.refresh_stats(self._everyone, self.n_threads)

    def derivatives(self, rows: RowArray, head: Head) -> tuple[float, float]:
        """Return (g, h) of a vote over the rows, at full precision."""
        pair, down = self.pair_of(head)
        if self.coarse:
            sums = self.state.sum_pair(rows, pair, 1 / self.fine_unit, self.n_threads)
        else:
            sums = self.state.sum_stats(rows, self.n_threads)[2 * pair : 2 * pair + 2]
        g, h = (float(total) * self.fine_unit for total in sums)
        return -g if down else g, h

    def best_vote(self, kind: str, l2: float) -> Head:
        """Return the head with the lowest criterion over all rows."""
        if self._totals is None:
            self._totals = self.state.sum_stats(self._everyone, self.n_threads)
        return self.best_head(self._totals, kind, l2)

    def _loss_change(self, rows: RowArray, head: Head, step: float) -> float:
        return self.state.loss_change(rows, *head, step, self.n_threads)

    def add(self, rows: RowArray, head: Head, step: float) -> None:
        """Add a step to the scores of the rows and update everything."""
        if self._totals is not None:
            self._totals -= self.state.sum_stats(rows, self.n_threads)
        self.loss += self.state.add_step(rows, *head, step, self.n_threads)
        if self._totals is not None:
            self._totals += self.state.sum_stats(rows, self.n_threads)

    @property
    def probabilities(self) -> FloatArray:
        """Probabilities of the classes, as an array of shape (rows, classes)."""
        answer: FloatArray = self._exp_scores / self._exp_scores.sum(axis=1, keepdims=True)
        return answer


LEAST_PROBABILITY = 0.0003
"""Rows of other classes with less probability of a rule's class are not counted for the rule."""


class ClassLogLikelihood(_LikelihoodSteps):
    """Scores, loss and the statistics of one class, with the interface of `LogLikelihood`.

    A class is chosen in proportion to the remaining loss of its rows, the sum of ``w (1 - p)`` for
    their own class: over many rules, its share of the rules equals its share of this sum.

    Parameters
    ----------
    labels : int32 array
        Class of each row.
    weights : float64 array
        Weight of each row.
    scores : float64 array
        Start scores f_0, one per class, or one line per row.
    weigh_rows : bool
        Whether the statistics end with a lane of row weights (for a minimum covered weight).
    coarse : bool
        Whether statistics of many rows have reduced precision for the search.
    n_threads : int
        Number of threads; does not change the result.
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
        self.state: kernels.ClassLikelihood = kernels.ClassLikelihood(
            labels, weights, self._exp_scores, self._stats, 1 / self.unit
        )
        everyone = np.arange(n, dtype=ROW)
        by_class, _ = self.class_weights(everyone, np.zeros(n, np.bool_))
        self.loss = start_loss(scores, labels, weights, by_class)
        self._lacking = self.state.residuals(everyone, n_threads)
        self._due = np.zeros(n_classes)  # rules owed to each class so far
        self._class = 0  # class of the last requested score
        self._written: int | None = None  # the class with current statistics
        self._scores: dict[tuple[str, float], Score] = {}  # with their bound structs

    @property
    def bits(self) -> int:
        """Number of bits that bounds every statistic of a row, without the sign."""
        return MOST_BITS

    def best_vote(self, kind: str, l2: float) -> Head:
        """Return the next class."""
        total = self._lacking.sum()
        self._due += self._lacking / total if total > 0 else 1 / len(self._due)
        k = int(self._due.argmax())
        self._due[k] -= 1
        return Head(k, k)

    def score(self, kind: str, l2: float, head: Head | None = None) -> Score:
        """Describe the score for the search; statistics then belong to its class."""
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
        """Return the rows that are informative for a vote, with current statistics.

        If row weights are counted, these are all rows.
        """
        least = 0.0 if self._stats.shape[1] > 2 else LEAST_PROBABILITY
        self._written = None
        return self.state.write_telling_rows(rows, self._class, least)

    def head_of(self, score: Score, vote: int) -> Head:
        """Return the class that the rules of this search vote for."""
        return Head(self._class, self._class)

    def derivatives(self, rows: RowArray, head: Head) -> tuple[float, float]:
        """Return (g, h) of a vote over the rows, at full precision."""
        sums = self.state.sum_stats(rows, head.first, 1 / self.fine_unit, self.n_threads)
        g, h = (sums * self.fine_unit).tolist()
        return g, h

    def _loss_change(self, rows: RowArray, head: Head, step: float) -> float:
        return self.state.loss_change(rows, head.first, step, self.n_threads)

    def add(self, rows: RowArray, head: Head, step: float) -> None:
        """Add a step to the scores of the rows and update the loss."""
        self._lacking -= self.state.residuals(rows, self.n_threads)
        self.loss += self.state.add_step(rows, head.first, step, self.n_threads)
        self._lacking += self.state.residuals(rows, self.n_threads)
        self._written = None

    @property
    def probabilities(self) -> FloatArray:
        """Probabilities of the classes, as an array of shape (rows, classes)."""
        answer: FloatArray = (self._exp_scores / self._exp_scores.sum(axis=0)).T
        return np.ascontiguousarray(answer)
