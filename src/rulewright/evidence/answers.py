"""Answers of a model on rows with a known target: all that measures and curves need."""

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
    """Classes that a model, or the models of a cross-validation, answer.

    `origin` says which rows these are, to be read after "on". The true class in `codes` is -1 where
    the model does not know it; `chosen` are the predicted ones. `flags` are what else the model
    says of rows, such as that it abstains; `costs` what predicting j costs where k is true.
    `estimates` has figures that are known better than by these rows, see `measures`.
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
        """Which predicted classes are not the true ones."""
        return np.asarray(self.chosen != self.codes)

    def select_known(self) -> ClassAnswers:
        """Return the rows of positive weight whose class the model knows."""
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
    """Numbers that a model, or the models of a cross-validation, answer.

    `origin` says which rows these are, to be read after "on". `estimates` has figures that are
    known better than by these rows, see `measures`.
    """

    origin: str
    truth: FloatArray
    predicted: FloatArray
    weights: FloatArray
    estimates: Mapping[str, float] = field(default_factory=dict)


Answers: TypeAlias = ClassAnswers | NumberAnswers
