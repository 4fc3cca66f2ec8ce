"""The settings of a boosted fit, checked and with nothing left to choose."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING

from rulewright.weighting import DEFAULT_RULES

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.capacity import Stopping
    from rulewright.encoding.binned import Threshold
    from rulewright.search import Constraints

THRESHOLDS = ("midpoint", "observed")


@dataclass(frozen=True)
class Formulation:
    """Where the paper, its authors' program and later corrections differ.

    Parameters
    ----------
    default_rule : {"exact", "newton", "newton_shrunk", "prior", "none"}
        Scores to start from.
    backtracking : bool
        Whether a response that would raise the loss is halved.
    threshold : {"midpoint", "observed"}
        Where between two values a cut lies.
    """

    default_rule: str = "exact"
    backtracking: bool = True
    threshold: Threshold = "midpoint"

    def __post_init__(self) -> None:
        for name, words in (("default_rule", tuple(DEFAULT_RULES)), ("threshold", THRESHOLDS)):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in words:
                raise ValueError(f"{name}={value!r} must be one of {', '.join(words)}")
        if not isinstance(self.backtracking, bool):
            raise ValueError(f"backtracking={self.backtracking!r} must be true or false")


FORMULATIONS: dict[str, Callable[..., Formulation]] = {
    "corrected": Formulation,
    "published": partial(
        Formulation, default_rule="newton", backtracking=False, threshold="observed"
    ),
}
"""The formulations by name: ours, and that of the paper."""


@dataclass(frozen=True)
class BoostingSettings:
    """How rules are grown, weighed and judged; see `MLRulesClassifier`.

    `min_evidence` is asked of a rule where rows outside its subsample test the rules,
    `untested_evidence` where there are none.
    """

    learning_rate: float
    subsample: float
    column_subsample: float
    criterion: str
    l2: float
    max_conditions: int | None
    min_weight: float
    min_evidence: float
    untested_evidence: float
    prune: bool
    prefixed: bool
    formulation: Formulation
    missing_conditions: bool
    max_bins: int | None
    stopping: Stopping
    ordinal: bool
    constraints: Constraints

    @property
    def counts_weights(self) -> bool:
        """Whether the rules depend on the size of the weights, not on their proportions only."""
        return self.l2 > 0 or self.min_evidence > 0 or self.untested_evidence > 0

    def fixed_by_start(self, before: BoostingSettings) -> list[str]:
        """Name the settings that differ although a fit reads them only when it starts."""
        free = {"learning_rate", "criterion", "l2", "min_evidence", "untested_evidence", "prefixed"}
        names = [field.name for field in fields(self) if field.name not in free]
        return [name for name in names if getattr(self, name) != getattr(before, name)]
