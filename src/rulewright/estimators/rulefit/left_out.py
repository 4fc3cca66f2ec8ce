"""Held-out rows of a solution path: their problems, and the criteria that compare penalties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from rulewright.estimators.contract.parameters import Choice, Domain, Flag, check_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.weighting import Design, L1Problem

CLEARLY = 2.0
"""Rise of the held-out loss that counts as a rise, in standard errors."""

CriterionName = Literal["loss", "error", "auc"]


@dataclass(frozen=True)
class PenaltySearch:
    """How cross-validation chooses the penalty of a rule ensemble.

    Parameters
    ----------
    rule : {"1se", "min"}
        The largest penalty within one standard error of the minimum, or the minimum.
    criterion : {"loss", "error", "auc"}
        What is minimised on held-out rows: the loss, the share of wrong signs, or one minus the
        area under the ROC curve of all held-out scores. Numbers have the loss only.
    regrow : bool
        Whether each fold grows its own rules. With rules that are grown once, on all rows, the
        choice is cheap and optimistic; "1se" makes up for it.
    """

    rule: str = "1se"
    criterion: CriterionName = "loss"
    regrow: bool = False

    DOMAINS: ClassVar[Mapping[str, Domain]] = {
        "rule": Choice(("1se", "min")),
        "criterion": Choice(("loss", "error", "auc")),
        "regrow": Flag(),
    }

    def __post_init__(self) -> None:
        check_parameters(type(self).__name__, vars(self), self.DOMAINS)


@dataclass(frozen=True, eq=False)
class FoldProblem:
    """The problem of the training rows of a fold, and the columns of its held-out rows."""

    problem: L1Problem
    held_out: Design


def wrong_signs(y: FloatArray, scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Return 1 for each row whose score has the wrong sign, and 1/2 for a score of 0."""
    return np.where(scores == 0, 0.5, (scores > 0) != (y > 0)).astype(np.float64)


def wrong_orders(y: FloatArray, scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Return values of the rows whose weighted mean is 1 - AUC.

    They are its influence function (DeLong): their variance is that of the area, so differences
    between two lists of scores have the usual standard error.
    """
    place = np.unique(scores, return_inverse=True)[1]
    sides = [weights * (y > 0), weights * (y <= 0)]
    totals = [float(side.sum()) for side in sides]
    if min(totals) == 0:
        return np.zeros(len(y))
    of_score = [np.bincount(place, side) for side in sides]
    below = [(np.cumsum(sums) - 0.5 * sums)[place] for sums in of_score]
    missed = np.where(y > 0, 1 - below[1] / totals[1], below[0] / totals[0])
    mean = float(missed @ sides[0]) / totals[0]
    total = np.where(y > 0, *totals)
    return np.asarray(mean + (missed - mean) * weights.sum() / total)


CRITERIA: Mapping[str, Callable[[FloatArray, FloatArray, FloatArray], FloatArray]] = {
    "error": wrong_signs,
    "auc": wrong_orders,
}
"""Criteria of classes other than the loss: values of the rows, of which the mean is minimised."""


class LeftOutLoss:
    """Mean held-out loss along a path, and its standard error.

    Attributes
    ----------
    losses, errors : list of float
        One per penalty so far.
    """

    def __init__(self, problem: L1Problem, seen: BoolArray, criterion: str = "loss") -> None:
        self.weights, self.y = problem.design.weights[seen], problem.y[seen]
        self.datafit, self.seen, self.criterion = problem.datafit, seen, criterion
        self.losses: list[float] = []
        self.errors: list[float] = []
        self._best = self._last = np.empty(0)

    def add(self, scores: FloatArray) -> None:
        """Add the scores of all rows at the next penalty."""
        self._last = self._values(scores[self.seen])
        mean, error = self._mean(self._last)
        if not self.losses or mean < min(self.losses):
            self._best = self._last
        self.losses.append(mean)
        self.errors.append(error)

    @property
    def falls(self) -> bool:
        """True while the last loss is the minimum."""
        return self._last is self._best

    @property
    def has_risen(self) -> bool:
        """True if the last loss is clearly above the minimum.

        The comparison is paired by row: the losses of a row are correlated along a path, so
        a rise is measured more precisely than the losses themselves.
        """
        if self.falls:
            return False
        rise, error = self._mean(self._last - self._best)
        return rise > CLEARLY * error

    def _values(self, scores: FloatArray) -> FloatArray:
        if self.criterion == "loss":
            return self.datafit.value(self.y, scores)
        return CRITERIA[self.criterion](self.y, scores, self.weights)

    def _mean(self, values: FloatArray) -> tuple[float, float]:
        mean = float(np.average(values, weights=self.weights))
        square = float(np.average((values - mean) ** 2, weights=self.weights))
        return mean, float(np.sqrt(square / len(values)))
