"""Training weight by class: counted on rows, checked where it is given."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rulewright.rules import Says, checked_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.data import Table


class Weigher:
    """Sums the training weight of rows by class."""

    def __init__(self, table: Table) -> None:
        target = table.known_target
        self.classes, self._codes = target.classes, target.codes
        self._weights = np.ones(len(table)) if table.weights is None else table.weights

    @property
    def totals(self) -> tuple[float, ...]:
        """The weight of each class on all rows."""
        return self(np.ones(len(self._codes), dtype=np.bool_))

    def __call__(self, rows: NDArray[np.bool_]) -> tuple[float, ...]:
        """Give the weight of each class on some of the rows."""
        sums = np.bincount(self._codes[rows], self._weights[rows], minlength=len(self.classes))
        return tuple(sums.tolist())


def checked_weights(weights: Sequence[object], n_classes: int) -> tuple[float, ...]:
    """Give one weight per class, finite even in sum, or raise a ValueError."""
    checked = tuple(checked_number(weight, "class weight") for weight in weights)
    if len(checked) != n_classes or min(checked) < 0.0 or not math.isfinite(sum(checked)):
        raise ValueError(f"{n_classes} classes need as many finite weights, none negative")
    return checked


def checked_shares(shares: Sequence[object], n_classes: int) -> tuple[float, ...]:
    """Give one probability per class, or raise a ValueError."""
    if len(shares) != n_classes:
        raise ValueError(f"{n_classes} classes need as many probabilities: {len(shares)}")
    return Says(tuple(shares)).distribution  # type: ignore[arg-type]
