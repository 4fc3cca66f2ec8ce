"""What a rule may look like: the limits that every search obeys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rulewright.data import DataError, Schema
from rulewright.kernels import Limits, Op

if TYPE_CHECKING:
    from collections.abc import Mapping

OPERATORS = {
    "<=": Op.LESS_EQUAL,
    ">=": Op.GREATER_EQUAL,
    "=": Op.EQUAL,
    "!=": Op.NOT_EQUAL,
    "is missing": Op.MISSING,
    "is known": Op.KNOWN,
}
MOST = 2**31 - 1
VALUE_OPERATORS = ("<=", ">=", "=", "!=")


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
    operators : mapping of column name to operators
        Operators allowed on a column, when not all.
    forbidden, required : tuples of column names
        Columns that no rule may use, and columns that every rule must use.
    """

    max_conditions: int | None = None
    min_weight: float = 0.0
    tolerance: float = 1e-8
    missing_conditions: bool = False
    operators: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    forbidden: tuple[str, ...] = ()
    required: tuple[str, ...] = ()

    def compile(self, schema: Schema, unit: float) -> Limits:
        """Translate to columns by position and to fixed-point steps of `unit`."""
        self._check_names(schema)
        everywhere = OPERATORS if self.missing_conditions else VALUE_OPERATORS
        bits = [
            sum(1 << OPERATORS[op] for op in self.operators.get(name, tuple(everywhere)))
            if name not in self.forbidden
            else 0
            for name in schema.names
        ]
        return Limits(
            max_conditions=-1 if self.max_conditions is None else min(self.max_conditions, MOST),
            tolerance=self.tolerance,
            min_weight=round(min(self.min_weight / unit, 2.0**62)),
            operators=np.array(bits, dtype=np.uint8),
            required=np.array([name in self.required for name in schema.names], dtype=np.uint8),
        )

    def _check_names(self, schema: Schema) -> None:
        for option in ("operators", "forbidden", "required"):
            for name in getattr(self, option):
                if name not in schema.names:
                    raise DataError(f"{option}: there is no column {name!r} in the table")
        for name, operators in self.operators.items():
            for op in operators:
                if op not in OPERATORS:
                    raise DataError(
                        f"operators: {op!r} for column {name!r} is none of {', '.join(OPERATORS)}"
                    )
        both = set(self.forbidden) & set(self.required)
        if both:
            raise DataError(f"column {min(both)!r} is both forbidden and required")
