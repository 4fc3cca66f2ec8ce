"""The budget of the 1-norm SVM, chosen by cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.estimators.contract.parameters import Real

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.data import TrainingSet
    from rulewright.estimators.folds.folds import Folds
    from rulewright.kernels import FloatArray
    from rulewright.model import AdditiveRules

BUDGETS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
"""The budgets that cross-validation chooses from."""

N_FOLDS = 5


class Budget:
    """A number above 0, or "cv"."""

    def accepts(self, value: object) -> bool:
        """Tell whether the value is allowed."""
        return value == "cv" if isinstance(value, str) else Real(0, above=True).accepts(value)

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        return text if text == "cv" else float(text)

    def __str__(self) -> str:
        return "cv or a number > 0"


def choose_budget(
    learn: Callable[[float, TrainingSet, Callable[[], None]], AdditiveRules],
    rows: TrainingSet,
    folds: Folds,
    n_threads: int,
) -> float:
    """Return the budget with the most weight predicted rightly, of equal ones the smallest.

    Parameters
    ----------
    learn : callable
        Learns a model for a budget from rows, and calls a function between its steps.
    rows : TrainingSet
        The rows.
    folds : Folds
        The rows in folds.
    n_threads : int
        Threads.
    """

    def right(fold: int, check: Callable[[], None]) -> FloatArray:
        inside, outside = rows.take(folds.held_out_rows(fold)), rows.take(folds.train_rows(fold))
        found = []
        for budget in BUDGETS:
            scores = learn(budget, outside, check).scores(inside.table, n_threads=1)
            found.append(inside.weights @ (scores.argmax(axis=1) == inside.labels))
        return np.array(found)

    return BUDGETS[int(np.sum(folds.run(right, n_threads), axis=0).argmax())]
