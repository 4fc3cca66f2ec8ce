"""The criteria of RUMBLE by name, each with what it charges for a prefix."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from rulewright.estimators.contract.parameters import Real
from rulewright.stopping.prefixes import margin_penalty, mmv_penalty
from rulewright.weighting.margins import MMV, EmpiricalMargin, OneNormSVM

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.weighting.margins import Criterion

PRACTICAL = {"mmv": 1.0, "margin": 0.1, "svm1": 0.1}
"""The criteria, with the constants of the thesis' experiments inside the root of the penalty."""


class Norm:
    """A number of 1 or more, or infinity."""

    def accepts(self, value: object) -> bool:
        """Tell whether the value is allowed."""
        return Real(1).accepts(value) or value == math.inf

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        return float(text)

    def __str__(self) -> str:
        return "a number >= 1 or inf"


def criterion_of(
    name: str,
    p: float,
    budget: float,
    constant: float | None = None,
    radius: float = 1.0,
    constraint: str = "ball",
) -> Criterion:
    """Return the criterion of a name with its settings.

    Where no rule is charged for, nothing but the norm p limits the weights.
    """
    if name == "mmv":
        sphere = constraint == "sphere"
        return MMV(p, in_one_norm=constant != 0, radius=radius, sphere=sphere)
    return EmpiricalMargin() if name == "margin" else OneNormSVM(budget)


def penalty_of(name: str, n: float, delta: float, constant: float | None) -> Callable[[int], float]:
    """Return what a criterion charges for i rules generated on n rows."""
    c = PRACTICAL[name] if constant is None else constant
    if name == "mmv":
        return partial(mmv_penalty, n=n, delta=delta, constant=c)
    p = 2.0 if name == "margin" else 1.0
    return partial(margin_penalty, n=n, delta=delta, constant=c, p=p)


def balanced_rows(share: float, n: float) -> float:
    """Return as how many rows n count if each class gets half of the weight: 1 / sum of squares."""
    return 4 * n * share * (1 - share) if 0 < share < 1 else n
