"""Predictions of a model on rows with a known target: the input of measures and curves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.model import Costs

_SAME = 0.02
"""Shares of two classes that differ by less count as equal."""

Places: TypeAlias = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class ClassAnswers:
    """Class predictions of a model, or of the models of a cross-validation.

    `origin` describes the rows, to be read after "on". The true class in `codes` is -1 if
    unknown to the model; `chosen` are the predicted classes. `flags` are further outputs per row,
    such as abstention; `costs` are the costs of predicting j when k is true. `estimates` has
    figures with better estimates than these rows provide, see `measures`. `positive` is the place
    of the class of interest, of two; None leaves it to `interest`. `precisions` are those at which
    its recall is measured; by default some that are above its share. `groups` has the group of each
    row, such as its customer; None if rows are independent.
    """

    origin: str
    names: tuple[str, ...]
    codes: IntArray
    probabilities: FloatArray
    chosen: Places
    weights: FloatArray
    flags: dict[str, BoolArray] = field(default_factory=dict)
    costs: Costs | None = None
    estimates: Mapping[str, float] = field(default_factory=dict)
    positive: int | None = None
    precisions: tuple[float, ...] = ()
    groups: Places | None = None

    @property
    def interest(self) -> int | None:
        """Place of the class of interest, of two: the one named or else the rarer one."""
        if len(self.names) != 2:
            return None
        return find_rarer(*self._totals) if self.positive is None else self.positive

    @property
    def interest_share(self) -> float:
        """Share of the class of interest in the rows; NaN without one."""
        return math.nan if self.interest is None else float(self.class_shares[self.interest])

    @property
    def class_shares(self) -> FloatArray:
        """Share of each class in the rows whose class the model knows."""
        total = self._totals.sum()
        return self._totals / total if total else self._totals

    @property
    def _totals(self) -> FloatArray:
        counts = np.bincount(self.codes + 1, self.weights, len(self.names) + 1)
        return counts[1:].astype(np.float64)

    @property
    def wrong(self) -> BoolArray:
        """Whether each predicted class is wrong."""
        return np.asarray(self.chosen != self.codes)

    def select_known(self) -> ClassAnswers:
        """Return the rows with positive weight and a known class."""
        kept = (self.codes >= 0) & (self.weights > 0)
        return replace(
            self,
            codes=self.codes[kept],
            probabilities=self.probabilities[kept],
            chosen=self.chosen[kept],
            weights=self.weights[kept],
            flags={name: flag[kept] for name, flag in self.flags.items()},
            groups=None if self.groups is None else self.groups[kept],
        )


@dataclass(frozen=True, eq=False)
class NumberAnswers:
    """Predicted numbers of a model, or of the models of a cross-validation.

    `origin` describes the rows, to be read after "on". `estimates` has figures with better
    estimates than these rows provide, see `measures`. `groups` has the group of each row.
    `quantile` is the share of rows that should be below their prediction, if a quantile is
    predicted.
    """

    origin: str
    truth: FloatArray
    predicted: FloatArray
    weights: FloatArray
    estimates: Mapping[str, float] = field(default_factory=dict)
    groups: Places | None = None
    quantile: float | None = None


def find_rarer(first: float, second: float) -> int:
    """Return the place of the rarer of two classes; of about equally frequent ones the second.

    Shares that differ by less than 0.02 count as equal, so that folds and samples of the same rows
    mostly agree on the class.
    """
    return 0 if first - second < -_SAME * (first + second) else 1


Answers: TypeAlias = ClassAnswers | NumberAnswers
