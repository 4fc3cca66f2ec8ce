"""How SLIPPER sees classes: pairs of row and label to weigh, and what counts as an error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.search import LEAST_ROWS
from rulewright.weighting import ExponentialLoss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import Table
    from rulewright.kernels import FloatArray, IntArray


@dataclass(frozen=True)
class Problem:
    """Rows, their pairs and their errors.

    With one head a row is predicted to be of that class if its score is above 0; with several, to
    be of the class with the largest score. `costs` (true class by predicted class) are those of
    pairs that compare labels. Of `few` rows none can be spared for pruning.
    """

    labels: IntArray
    weights: FloatArray
    start: FloatArray
    heads: tuple[int, ...]
    costs: FloatArray | None = None
    few: bool = False

    def take(self, rows: NDArray[np.intp]) -> Problem:
        """Return the given rows only."""
        return replace(
            self, labels=self.labels[rows], weights=self.weights[rows], start=self.start[rows]
        )

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
        if len(self.heads) == 1:
            wrong = (scores[:, 0] > 0) != (self.labels == self.heads[0])
            return float(wrong @ self.start[:, 0] / self.start.sum())
        predicted = np.array(self.heads)[scores.argmax(axis=1)]
        if self.costs is None:
            wrong = predicted != self.labels
            return float(wrong @ self.weights / self.weights.sum())
        paid = self.costs[self.labels, predicted]
        return float(paid @ self.weights / self.weights.sum())

    @property
    def bound_factor(self) -> float:
        """The training error is at most this times the product of all Z."""
        if len(self.heads) == 1:
            return 1.0
        if self.costs is None:
            return len(self.heads) / 2
        return float(np.average(self.costs.sum(axis=1)[self.labels], weights=self.weights))


def one_class(table: Table, head: int, costs: FloatArray | None = None) -> Problem:
    """Tell one class from the others; with two classes their costs weigh the rows."""
    labels, weights, _ = _rows(table)
    start = weights
    if costs is not None:
        start = _priced(weights, costs[labels, 1 - labels])
    return Problem(labels, weights, start[:, None], (head,), few=len(labels) < LEAST_ROWS)


def every_class(table: Table) -> Problem:
    """Ask of every label whether it is right, all at once (AdaBoost.MH)."""
    labels, weights, n_classes = _rows(table)
    start = np.repeat(weights[:, None], n_classes, axis=1)
    heads = tuple(range(n_classes))
    return Problem(labels, weights, start, heads, few=len(labels) < LEAST_ROWS)


def every_cost(table: Table, costs: FloatArray) -> Problem:
    """Weigh every wrong label by what it costs."""
    labels, weights, n_classes = _rows(table)
    start = _priced(weights[:, None], costs[labels])
    heads = tuple(range(n_classes))
    return Problem(labels, weights, start, heads, costs, few=len(labels) < LEAST_ROWS)


def _priced(weights: FloatArray, costs: FloatArray) -> FloatArray:
    """Multiply weights by costs, which may be of any size as long as their sum is a number."""
    with np.errstate(over="ignore"):
        start = weights * costs
        total = start.sum()
    if total == 0:
        raise ValueError("cost_matrix: errors cost nothing, so there is nothing to learn")
    if not np.isfinite(total):
        raise ValueError("cost_matrix: the sum of weights times costs is infinite; scale it down")
    return start


def _rows(table: Table) -> tuple[IntArray, FloatArray, int]:
    assert table.target is not None
    assert table.weights is not None
    return table.target.codes, table.weights, len(table.target.classes)
