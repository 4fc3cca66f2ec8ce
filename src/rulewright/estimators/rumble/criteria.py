"""The criteria of RUMBLE by name, each with what it charges for a prefix."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rulewright.capacity.prefixes import margin_penalty, mmv_penalty
from rulewright.weighting.margins import MMV

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulewright.weighting.margins import Criterion

CRITERIA: Mapping[str, Callable[..., Criterion]] = {"mmv": MMV}
"""The criteria by name."""

PRACTICAL = {"mmv": 1.0, "margin": 0.1, "svm1": 0.1}
"""The constants of the thesis' experiments, inside the root of the penalty."""


def penalty_of(name: str, n: float, delta: float, constant: float | None) -> Callable[[int], float]:
    """Return what a criterion charges for i rules generated on n rows."""
    c = PRACTICAL[name] if constant is None else constant
    settings: dict[str, Any] = {"n": n, "delta": delta, "constant": c}
    if name == "mmv":
        return partial(mmv_penalty, **settings)
    return partial(margin_penalty, **settings, p=2.0 if name == "margin" else 1.0)
