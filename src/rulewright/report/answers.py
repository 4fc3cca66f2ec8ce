"""What a model answers on rows whose target is known: all that measures and curves need."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rulewright.data import DataError, label_of
from rulewright.model import ClassModel
from rulewright.model.text import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import Table, Target
    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.model import RuleModel

    Places: TypeAlias = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class ClassAnswers:
    """Classes that a model, or the models of a cross-validation, answer.

    Parameters
    ----------
    origin : str
        Which rows these are, to be read after "on".
    names : tuple of str
        The classes.
    codes : int array
        The true class of each row, -1 for one that the model does not know.
    probabilities : float array of shape (rows, classes)
        What the model says.
    chosen : int array
        The predicted class of each row.
    weights : float array
        Weights of the rows.
    flags : dict of bool arrays
        What else the model says of rows, such as that it abstains.
    """

    origin: str
    names: tuple[str, ...]
    codes: IntArray
    probabilities: FloatArray
    chosen: Places
    weights: FloatArray
    flags: dict[str, BoolArray] = field(default_factory=dict)

    @property
    def wrong(self) -> BoolArray:
        """Which predicted classes are not the true ones."""
        return np.asarray(self.chosen != self.codes)

    def known(self) -> ClassAnswers:
        """Give the rows of positive weight whose class the model knows."""
        kept = (self.codes >= 0) & (self.weights > 0)
        return ClassAnswers(
            self.origin,
            self.names,
            self.codes[kept],
            self.probabilities[kept],
            self.chosen[kept],
            self.weights[kept],
            {name: flag[kept] for name, flag in self.flags.items()},
        )


@dataclass(frozen=True, eq=False)
class NumberAnswers:
    """Numbers that a model, or the models of a cross-validation, answer.

    Parameters
    ----------
    origin : str
        Which rows these are, to be read after "on".
    truth, predicted, weights : float array
        The number of each row, what the model predicts, and the weight of the row.
    """

    origin: str
    truth: FloatArray
    predicted: FloatArray
    weights: FloatArray


Answers: TypeAlias = ClassAnswers | NumberAnswers


def answers_of(model: RuleModel, table: Table, origin: str) -> Answers:
    """Ask a model about rows with a target."""
    weights = row_weights(table)
    if not isinstance(model, ClassModel):
        return NumberAnswers(origin, table.known_numbers.values, model.predict(table), weights)
    codes = class_codes(model, table.known_target)
    if (codes < 0).all():
        raise DataError(
            f"The targets have no class of the model, such as {model.class_names[0]!r}: give the "
            "column with the classes that the model predicts."
        )
    scores = model.scores(table)
    return ClassAnswers(
        origin,
        tuple(map(plain, model.class_names)),
        codes,
        model.probabilities(scores),
        model.decide(scores),
        weights,
        model.flags(scores),
    )


def row_weights(table: Table) -> FloatArray:
    """Return the weights of the rows, 1 each if the table has none."""
    return np.ones(table.n_rows) if table.weights is None else table.weights


def class_codes(model: ClassModel, target: Target) -> IntArray:
    """Give the class of each row as the model numbers it, -1 for one that it does not know."""
    known = {name: k for k, name in enumerate(model.class_names)}
    codes = [known.get(label_of(value), -1) for value in target.classes.tolist()]
    return np.array(codes, dtype=np.int32)[target.codes]
