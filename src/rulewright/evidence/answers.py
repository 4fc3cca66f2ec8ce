"""Predictions of a model on rows with a known target: the input of measures and curves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.model import Costs

Places: TypeAlias = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class ClassAnswers:
    """Class predictions of a model, or of the models of a cross-validation.

    `origin` describes the rows, to be read after "on". The true class in `codes` is -1 if
    unknown to the model; `chosen` are the predicted classes. `flags` are further outputs per row,
    such as abstention; `costs` are the costs of predicting j when k is true. `estimates` has
    figures with better estimates than these rows provide, see `measures`.
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
        )


@dataclass(frozen=True, eq=False)
class NumberAnswers:
    """Predicted numbers of a model, or of the models of a cross-validation.

    `origin` describes the rows, to be read after "on". `estimates` has figures with better
    estimates than these rows provide, see `measures`.
    """

    origin: str
    truth: FloatArray
    predicted: FloatArray
    weights: FloatArray
    estimates: Mapping[str, float] = field(default_factory=dict)


Answers: TypeAlias = ClassAnswers | NumberAnswers
