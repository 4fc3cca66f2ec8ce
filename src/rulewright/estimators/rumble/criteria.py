"""The criteria of RUMBLE by name, each with what it charges for a prefix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rulewright.estimators.contract.parameters import Choice, Real, check_parameters
from rulewright.stopping import margin_penalty, mmv_penalty
from rulewright.weighting import MMV, EmpiricalMargin, OneNormSVM

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulewright.estimators.contract.parameters import Domain
    from rulewright.weighting import Criterion

PRACTICAL = {"mmv": 1.0, "margin": 0.1, "svm1": 0.1}
"""The criteria, with the constants of the thesis' experiments inside the root of the penalty."""


@dataclass(frozen=True)
class WeightNorm:
    """Which weights are allowed: those of a norm up to a radius.

    Parameters
    ----------
    p : float
        The norm, 1 or more; infinity is the largest size of a weight. 1 gives few rules.
    radius : float
        Largest norm of the weights: a larger one counts the variance more, and allows weights
        closer to Fisher's discriminant.
    shape : {"ball", "sphere"}
        Whether the norm is at most the radius, or equal to it ("sphere", for p = 2 only).
    """

    p: float = 1.0
    radius: float = 1.0
    shape: str = "ball"

    DOMAINS: ClassVar[Mapping[str, Domain]] = {
        "radius": Real(0, above=True),
        "shape": Choice(("ball", "sphere")),
    }

    def __post_init__(self) -> None:
        if not (Real(1).accepts(self.p) or self.p == math.inf):
            raise ValueError(f"WeightNorm: p={self.p!r} must be a number >= 1 or inf")
        check_parameters(type(self).__name__, vars(self), self.DOMAINS)


NORMS: dict[str, Callable[..., WeightNorm]] = {
    "l1": WeightNorm,
    "l2": partial(WeightNorm, p=2.0),
    "max": partial(WeightNorm, p=math.inf),
}
"""The norms by name."""


def criterion_of(
    name: str, norm: WeightNorm, budget: float, constant: float | None = None
) -> Criterion:
    """Return the criterion of a name with its settings.

    Where no rule is charged for, nothing but the norm limits the weights.
    """
    if name == "mmv":
        sphere = norm.shape == "sphere"
        return MMV(norm.p, in_one_norm=constant != 0, radius=norm.radius, sphere=sphere)
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
