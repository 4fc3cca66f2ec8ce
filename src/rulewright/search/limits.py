"""What a rule may look like: the limits that every search obeys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from rulewright.data import DataError
from rulewright.kernels import Limits
from rulewright.search.constraints import OPERATORS, Constraints

if TYPE_CHECKING:
    from rulewright.data import Schema

MOST = 2**31 - 1

MOST_LABELS = 32
"""Labels of a set: as many as LightGBM takes."""

LABEL_SMOOTHING = 10.0
"""Weight, in units of h, that draws the mean of a label towards 0; lighter labels are in no set."""


@dataclass(frozen=True)
class SearchLimits:
    """Limits on the rules that a search may return, in the user's words.

    Parameters
    ----------
    max_conditions : int, optional
        Most conditions in a rule.
    min_weight : float
        Least weight that a rule must cover among the rows searched.
    tolerance : float
        A condition is added only if it improves the criterion by more than this.
    missing_conditions : bool
        Whether "is missing" and "is known" are conditions too.
    not_equal : bool
        Whether "!=" is a condition too.
    label_sets : bool
        Whether "in" and "not in" are conditions too, wherever "=" and "!=" are. Only scores of one
        pair (g, h) have them.
    constraints : Constraints
        What an expert allows. Operators named there for a column are allowed whatever
        `missing_conditions` and `not_equal` say.
    """

    max_conditions: int | None = None
    min_weight: float = 0.0
    tolerance: float = 1e-8
    missing_conditions: bool = False
    not_equal: bool = True
    label_sets: bool = False
    constraints: Constraints = field(default_factory=Constraints)

    def compile(self, schema: Schema, unit: float) -> Limits:
        """Translate to columns by position and to fixed-point steps of `unit`."""
        self.constraints.check(schema)
        required = [name in self.constraints.required for name in schema.names]
        if self.max_conditions is not None and self.max_conditions < sum(required):
            raise DataError(
                f"required: a rule must use {sum(required)} columns, but max_conditions is "
                f"{self.max_conditions}. Raise it or require fewer."
            )
        up, down = (
            np.array([self._operators(name, vote) for name in schema.names], dtype=np.uint8)
            for vote in ("increasing", "decreasing")
        )
        return Limits(
            max_conditions=-1 if self.max_conditions is None else min(self.max_conditions, MOST),
            tolerance=self.tolerance,
            min_weight=round(min(self.min_weight / unit, 2.0**62)),
            up_operators=up,
            down_operators=down,
            required=np.array(required, dtype=np.uint8),
            groups=np.array(self.constraints.group_bits(schema), dtype=np.uint64),
            max_labels=MOST_LABELS if self.label_sets else 1,
            label_smoothing=round(max(1.0, min(LABEL_SMOOTHING / unit, 2.0**62))),
        )

    def _operators(self, column: str, vote: Literal["increasing", "decreasing"]) -> int:
        """Return the bits of the operators that a rule may use to raise or lower the class."""
        constraints = self.constraints
        allowed = set(constraints.operators.get(column, self._usual))
        if column in constraints.monotone:
            # A rule that raises the class as the column grows must hold for all larger values.
            allowed.discard("<=" if constraints.monotone[column] == vote else ">=")
        if column in constraints.forbidden:
            allowed.clear()
        return sum(1 << OPERATORS[operator] for operator in allowed)

    @property
    def _usual(self) -> list[str]:
        """Operators of a column for which none are named."""
        unusual = set() if self.missing_conditions else {"is missing", "is known"}
        unusual |= set() if self.not_equal else {"!="}
        return [operator for operator in OPERATORS if operator not in unusual]
