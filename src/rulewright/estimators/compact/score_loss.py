"""Compact rules for one score per row: any loss with derivatives, such as Poisson's or Cox's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.estimators.compact.expansion import Expansion
from rulewright.estimators.compact.losses import CountedGains, FittedResponses
from rulewright.kernels import STAT, BoolArray, FloatArray, RowArray, Score
from rulewright.rules import Head

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.estimators.compact.members import Candidate, ResponseProblem
    from rulewright.weighting import ScoreLoss

MOST_STEPS, MOST_HALVINGS = 100, 40
"""Newton steps of a fit, and halvings of a step that does not lower the loss."""

SUM_BITS = 61
"""Bits that hold sums of absolute statistics; see `ScoreLoss`."""


class ScoreLessons:
    """Losses of the training rows of a fold.

    Parameters
    ----------
    make : function
        Makes the loss of rows with other weights.
    weights : float64 array
        Weight of each row.
    l2 : float
        Ridge penalty of the responses.
    targets : float64 array
        Target of each row for a test of signal, where a few large numbers must not decide.
    """

    def __init__(
        self,
        make: Callable[[FloatArray], ScoreLoss],
        weights: FloatArray,
        l2: float,
        targets: FloatArray,
    ) -> None:
        self.make, self.weights, self.l2 = make, weights, l2
        self.targets = targets[:, np.newaxis]

    def loss(
        self, train: BoolArray, place: tuple[int, int] | None, n_threads: int
    ) -> CompactScoreLoss:
        """Return the loss of training rows."""
        own = self.make(np.where(train, self.weights, 0.0))
        return CompactScoreLoss(own, self.l2, n_threads)


class _Point(NamedTuple):
    """Coefficients, the last one the intercept, with the scores and the penalised loss."""

    values: FloatArray
    scores: FloatArray
    loss: float


class CompactScoreLoss(CountedGains):
    """A loss of one score per row, for the search.

    A rule of head 1 raises the score, one of head 0 lowers it. A loss without a scale is a
    negative log-likelihood of n rows whose mean loss is its unknown scale: n log of the mean.
    """

    heads: tuple[Head, ...] = (Head(0, 0), Head(1, 1))
    has_teacher = False

    def __init__(self, rows: ScoreLoss, l2: float, n_threads: int = 1) -> None:
        self.rows, self.l2, self.n_threads = rows, l2, n_threads
        self.weights, self.total = rows.weights, rows.total
        self.unit = 2.0 ** max(math.ceil(math.log2(rows.bound)) - SUM_BITS, -1022)
        self.stats = np.zeros((len(rows.weights), 3), dtype=STAT)
        self.stats[:, 2] = np.rint(rows.weights / self.unit).astype(STAT)
        self.scale = 1.0

    def fit(
        self, problem: ResponseProblem, tolerance: float, start: FloatArray | None = None
    ) -> FittedResponses:
        """Fit by Newton steps; a response keeps the direction of its head."""
        signs = _signs(problem.heads)
        columns = self._with_intercept(problem.columns * signs[:, np.newaxis])
        point = self._start(columns, len(signs), start)
        for _ in range(MOST_STEPS):
            moved, expected = self._step(columns, point, len(signs))
            if moved is None or moved.loss >= point.loss:
                break
            point = moved
            if expected <= tolerance:
                break
        values, intercept = point.values[: len(signs)], point.values[len(signs) :]
        found = problem, self.weights, np.arange(len(self.weights), dtype=np.int32)
        intercepts = intercept if len(intercept) else np.zeros(1)
        answers = point.scores[:, np.newaxis]
        return FittedResponses(self._nats(point.loss), signs * values, intercepts, answers, *found)

    def _with_intercept(self, columns: FloatArray) -> FloatArray:
        if not self.rows.has_intercept:
            return columns
        return np.concatenate([columns, np.ones((1, len(self.weights)))])

    def _start(self, columns: FloatArray, n_rules: int, start: FloatArray | None) -> _Point:
        """Return the point of a warm start, or of no rules if that is better."""
        values = np.zeros(len(columns))
        values[n_rules:] = self.rows.start
        plain = self._at(values, columns, n_rules)
        if start is None or n_rules == 0:
            return plain
        warm = values.copy()
        warm[:n_rules] = np.abs(start[:n_rules])
        point = self._at(warm, columns, n_rules)
        return point if point.loss < plain.loss else plain

    def _at(self, values: FloatArray, columns: FloatArray, n_rules: int) -> _Point:
        scores = np.einsum("k,kn->n", values, columns)
        loss = self.rows.value(scores) + 0.5 * self.l2 * float(np.sum(values[:n_rules] ** 2))
        return _Point(values, scores, loss if math.isfinite(loss) else math.inf)

    def _step(
        self, columns: FloatArray, point: _Point, n_rules: int
    ) -> tuple[_Point | None, float]:
        """Take a projected Newton step, and return how much it was expected to gain."""
        g, h = self.rows.derivatives(point.scores)
        slopes = np.einsum("kn,n->k", columns, g)
        slopes[:n_rules] += self.l2 * point.values[:n_rules]
        free = np.ones(len(columns), dtype=np.bool_)
        free[:n_rules] = (point.values[:n_rules] > 0) | (slopes[:n_rules] < 0)
        if not free.any():
            return None, 0.0
        own = columns[free]
        second = self.rows.curvature(point.scores, own, own, h)
        places = np.flatnonzero(free)
        ridge = np.where(places < n_rules, self.l2, 1e-12 * max(1.0, float(h.sum())))
        second[np.arange(len(own)), np.arange(len(own))] += ridge
        move = np.zeros(len(columns))
        move[free] = -np.linalg.lstsq(second, slopes[free], rcond=1e-14)[0]
        expected = -float(move @ slopes) / 2
        if not expected > 0:
            return None, 0.0
        return self._search_line(columns, point, move, n_rules), expected

    def _search_line(
        self, columns: FloatArray, point: _Point, move: FloatArray, n_rules: int
    ) -> _Point | None:
        """Halve a step until it lowers the loss."""
        for k in range(MOST_HALVINGS):
            values = point.values + 0.5**k * move
            values[:n_rules] = np.maximum(values[:n_rules], 0.0)
            found = self._at(values, columns, n_rules)
            if found.loss < point.loss:
                return found
        return None

    def _nats(self, loss: float) -> float:
        if not self.rows.has_scale:
            return loss
        return self.total * math.log(max(loss, 1e-12 * self.total) / self.total)

    def settle(self, problem: ResponseProblem, fits_labels: bool = False) -> FittedResponses:
        """Fit to many digits."""
        return self.fit(problem, 1e-20)

    def fit_labels(self, problem: ResponseProblem, start: FloatArray) -> FittedResponses:
        """Fit the targets: no teacher has changed them."""
        return self.fit(problem, 1e-7, start)

    def hits(self, rows: RowArray, head: Head, values: FloatArray | None) -> float:
        """Return 0: all of the derivative along a candidate depends on the fit."""
        return 0.0

    def expand(self, fitted: FittedResponses, candidates: Sequence[Candidate]) -> Expansion:
        """Compute the derivatives along members and candidates from all rows."""
        signs, scores = _signs(fitted.problem.heads), fitted.by_group[:, 0]
        members = self._with_intercept(fitted.problem.columns * signs[:, np.newaxis])
        own_signs = _signs([one.head for one in candidates])
        columns = np.zeros((len(candidates), len(scores)))
        for line, one, sign in zip(columns, candidates, own_signs, strict=True):
            line[one.rows] = sign if one.values is None else sign * one.values
        g, h = self.rows.derivatives(scores)
        second = self.rows.curvature(scores, members, members, h)
        places = np.arange(len(signs))
        second[places, places] += self.l2
        responses = signs * fitted.responses
        self._rescale(scores, responses)
        own = self.rows.own_curvature(scores, columns, h) + self.l2
        return Expansion.of(
            responses,
            second / self.scale,
            -np.einsum("kn,n->k", columns, g) / self.scale,
            own / self.scale,
            self.rows.curvature(scores, columns, members, h) / self.scale,
        )

    def _rescale(self, scores: FloatArray, responses: FloatArray) -> None:
        """Find what a unit of the loss is in nats: 1 without a scale, else the mean loss."""
        if self.rows.has_scale:
            loss = self.rows.value(scores) + 0.5 * self.l2 * float(responses @ responses)
            self.scale = max(loss / self.total, 1e-12)

    def look(self, fitted: FittedResponses) -> None:
        """Count the derivatives in units, halved until their sums fit."""
        self._rescale(fitted.by_group[:, 0], fitted.responses)
        g, h = (one / self.scale for one in self.rows.derivatives(fitted.by_group[:, 0]))
        largest = max(float(np.abs(g).sum()), float(h.sum()))
        excess = max(math.ceil(math.log2(max(largest, 1e-300) / self.unit)) - SUM_BITS - 1, 0)
        self.stats[:, :2] = np.rint(np.array([g, h]).T / (self.unit * 2.0**excess)).astype(STAT)

    def score(self, head: Head | None) -> Score:
        """Describe the gain of a Newton step."""
        up, down = (True, True) if head is None else (bool(head.first), not head.first)
        return Score("newton", unit=self.unit, n_lanes=2, l2=self.l2, up=up, down=down)

    def head_of(self, score: Score, vote: int) -> Head:
        """Return 1 for a rule that raises the score, 0 for one that lowers it."""
        return self.heads[1 - vote % 2]

    def gain(self, rows: RowArray, head: Head) -> float:
        """Return the gain of a step of this rule alone."""
        g, h = self.stats[rows, :2].sum(axis=0) * self.unit
        helps = g < 0 if head.first else g > 0
        return float(g * g / (2 * (h + self.l2))) if helps else 0.0

    def loss_of(self, fitted: FittedResponses, rows: BoolArray) -> FloatArray:
        """Return the losses of some rows."""
        with np.errstate(over="ignore"):
            return self.rows.losses(fitted.answers[:, 0])[rows]


def _signs(heads: Sequence[Head]) -> FloatArray:
    return np.array([1.0 if head.first else -1.0 for head in heads])
