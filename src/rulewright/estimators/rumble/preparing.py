"""Preparation of a RUMBLE fit: bias, rows to create rules from, and the budget of the SVM."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.estimators.contract.parameters import Real
from rulewright.search import Bias, BiasError, load_bias

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.data import TrainingSet
    from rulewright.estimators.folds.folds import Folds
    from rulewright.kernels import FloatArray
    from rulewright.model import AdditiveRules

BUDGETS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
"""The candidate budgets of cross-validation."""

N_FOLDS = 5


class Budget:
    """A number above 0, or "cv"."""

    def accepts(self, value: object) -> bool:
        """Return whether the value is allowed."""
        return value == "cv" if isinstance(value, str) else Real(0, above=True).accepts(value)

    def parse(self, text: str) -> object:
        """Parse a value from the command line."""
        return text if text == "cv" else float(text)

    def __str__(self) -> str:
        return "cv or a number > 0"


def choose_budget(
    learn: Callable[[float, TrainingSet, Callable[[], None]], AdditiveRules],
    rows: TrainingSet,
    folds: Folds,
    n_threads: int,
) -> float:
    """Return the budget with the highest held-out accuracy; ties go to the smallest.

    Parameters
    ----------
    learn : callable
        Learns a model for a budget from rows; calls a function between its steps.
    rows : TrainingSet
        The rows.
    folds : Folds
        The rows in folds.
    n_threads : int
        Number of threads.
    """

    def right(fold: int, check: Callable[[], None]) -> FloatArray:
        inside, outside = rows.take(folds.held_out_rows(fold)), rows.take(folds.train_rows(fold))
        found = []
        for budget in BUDGETS:
            scores = learn(budget, outside, check).scores(inside.table, n_threads=1)
            found.append(inside.weights @ (scores.argmax(axis=1) == inside.labels))
        return np.array(found)

    return BUDGETS[int(np.sum(folds.run(right, n_threads), axis=0).argmax())]


def read_bias(given: Any, rows: TrainingSet) -> Bias:
    """Return a bias from an object, a list of generators or a file; its target must fit."""
    bias = _bias_of(given)
    positive = None if bias.target is None else bias.target.positive
    names = [str(label) for label in rows.classes.tolist()]
    if positive is not None and positive not in names:
        raise BiasError("target", f"positive {positive!r} is not one of {', '.join(names)}")
    return bias


def _bias_of(given: Any) -> Bias:
    if isinstance(given, Bias):
        return given
    if isinstance(given, str | os.PathLike):
        return load_bias(os.fspath(given))
    if not hasattr(given, "__iter__"):
        raise BiasError("", f"{given!r} must be a Bias, a list of generators or a path")
    return Bias(tuple(given))


def set_aside(
    rows: TrainingSet, share: float, random: np.random.RandomState
) -> tuple[TrainingSet | None, TrainingSet]:
    """Split off the rows to create rules from; without a share, all rows do both.

    Rows are drawn by their places only: a stratified split would reveal class shares of the others.
    """
    if share == 0:
        return None, rows
    drawn = random.permutation(rows.units.n)
    n_aside = min(max(1, round(share * rows.units.n)), rows.units.n - 2)
    if n_aside < 1:
        raise ValueError(f"bias_share={share!r}: {rows.n_rows} rows are too few to split; use 0")
    parts = (np.sort(rows.units.rows(part)) for part in (drawn[:n_aside], drawn[n_aside:]))
    return rows.take(next(parts)), rows.take(next(parts))
