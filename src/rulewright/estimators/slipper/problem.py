"""How SLIPPER sees classes: pairs of row and label to weigh, and what counts as an error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.search import LEAST_ROWS
from rulewright.weighting import ExponentialLoss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.kernels import FloatArray, IntArray, RowArray


@dataclass(frozen=True)
class SlipperProblem:
    """Rows, their pairs and their errors.

    With one head a row is predicted to be of that class if its score is above 0; with several, to
    be of the class with the largest score, the heaviest of several. `costs` (true class by
    predicted class) are those of pairs that compare labels. Of `few` rows none can be spared for
    pruning.
    """

    labels: IntArray
    weights: FloatArray
    start: FloatArray
    heads: tuple[int, ...]
    class_weights: FloatArray
    costs: FloatArray | None = None
    few: bool = False

    def take(self, rows: NDArray[np.intp]) -> SlipperProblem:
        """Return the given rows only."""
        return replace(
            self, labels=self.labels[rows], weights=self.weights[rows], start=self.start[rows]
        )

    def weigh(self, rows: RowArray) -> FloatArray:
        """Return the weight of each class in some of the rows."""
        sums = np.bincount(self.labels[rows], self.weights[rows], minlength=self.n_classes)
        return sums.astype(np.float64)

    def loss(self, weigh_rows: bool, n_threads: int) -> ExponentialLoss:
        """Return the weights that boosting starts from."""
        return ExponentialLoss(
            self.labels,
            self.start,
            self.heads,
            by_cost=self.costs is not None,
            n_rows=self._n_rows,
            row_weights=self.weights if weigh_rows else None,
            n_threads=n_threads,
        )

    @property
    def _n_rows(self) -> float:
        """Number of rows; few rows of whole weights count as often as they weigh.

        So in small tables a weight of two means a row twice; in others the scale of the weights
        makes no difference.
        """
        counted = self.few and bool((self.weights == np.rint(self.weights)).all())
        return float(self.weights.sum()) if counted else len(self.labels)

    def error(self, scores: FloatArray) -> float:
        """Return the share of weight that the scores (rows, heads) get wrong, or its mean cost."""
        return ErrorSum(self, scores).error

    def costs_of(self, scores: FloatArray, rows: RowArray | slice) -> FloatArray:
        """Return what the scores (rows, heads) of these rows cost each: 1 if wrong, or its cost."""
        labels, paid = self.labels[rows], np.zeros(len(scores))
        if len(self.heads) == 1:
            paid[(scores[:, 0] > 0) != (labels == self.heads[0])] = 1.0
            return paid
        heaviest = np.argsort(-self.class_weights, kind="stable")
        predicted = heaviest[scores[:, heaviest].argmax(axis=1)]
        if self.costs is None:
            paid[predicted != labels] = 1.0
        else:
            paid[:] = self.costs[labels, predicted]
        return paid

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_weights)

    @property
    def bound_factor(self) -> float:
        """The training error is at most this times the product of all Z."""
        if len(self.heads) == 1:
            return 1.0
        if self.costs is None:
            return len(self.heads) / 2
        return float(np.average(self.costs.sum(axis=1)[self.labels], weights=self.weights))


class ErrorSum:
    """The error of scores (rows, heads) that change for some rows at a time."""

    def __init__(self, problem: SlipperProblem, scores: FloatArray) -> None:
        self.problem, self.scores = problem, scores
        self._weights = problem.start[:, 0] if len(problem.heads) == 1 else problem.weights
        self._total = float(self._weights.sum())
        self._charges = np.empty(len(scores))
        self.update(slice(None))

    def update(self, rows: RowArray | slice) -> None:
        """Take note that the scores of these rows have changed."""
        self._charges[rows] = self.problem.costs_of(self.scores[rows], rows) * self._weights[rows]

    @property
    def error(self) -> float:
        """The share of weight that the scores get wrong, or its mean cost."""
        return float(self._charges.sum()) / self._total


def make_class_problem(
    rows: TrainingSet, head: int, costs: FloatArray | None = None
) -> SlipperProblem:
    """Tell one class from the others; with two classes their costs weigh the rows."""
    start = rows.weights
    if costs is not None:
        start = _price_weights(rows.weights, costs[rows.labels, 1 - rows.labels])
    return _problem(rows, start[:, None], (head,))


def every_class(rows: TrainingSet) -> SlipperProblem:
    """Ask of every label whether it is right, all at once (AdaBoost.MH)."""
    n_classes = len(rows.classes)
    start = np.repeat(rows.weights[:, None], n_classes, axis=1)
    return _problem(rows, start, tuple(range(n_classes)))


def every_cost(rows: TrainingSet, costs: FloatArray) -> SlipperProblem:
    """Weigh every wrong label by what it costs."""
    start = _price_weights(rows.weights[:, None], costs[rows.labels])
    return _problem(rows, start, tuple(range(len(rows.classes))), costs)


def _problem(
    rows: TrainingSet, start: FloatArray, heads: tuple[int, ...], costs: FloatArray | None = None
) -> SlipperProblem:
    few = rows.n_rows < LEAST_ROWS
    return SlipperProblem(rows.labels, rows.weights, start, heads, rows.class_weights, costs, few)


def _price_weights(weights: FloatArray, costs: FloatArray) -> FloatArray:
    """Multiply weights by costs, which may be of any size as long as their sum is a number."""
    with np.errstate(over="ignore"):
        start = weights * costs
        total = start.sum()
    if total == 0:
        raise ValueError("cost_matrix: errors cost nothing, so there is nothing to learn")
    if not np.isfinite(total):
        raise ValueError("cost_matrix: the sum of weights times costs is infinite; scale it down")
    return start
