"""Why rows got their numbers: the rules that fired, the lines, and what each added."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rulewright.model.fired import FiredRules
from rulewright.model.linear import line_amounts
from rulewright.model.reasons import Reason, ReasonLine, others_text, shown_of
from rulewright.model.text import plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rulewright.model.linear import LinearTerm


@dataclass(frozen=True, eq=False, repr=False)
class NumberExplanation(FiredRules):
    """The rules and linear terms that make up the number of each row, strongest first.

    Parameters
    ----------
    numbers : float array
        What the model predicts.
    intercept : float
        The number every row starts with.
    linear : tuple of LinearTerm
        The linear terms.
    units : float array of shape (rows, terms)
        What the slopes of the linear terms multiply.
    """

    numbers: NDArray[np.float64]
    intercept: float
    linear: tuple[LinearTerm, ...]
    units: NDArray[np.float64]

    def to_dict(self) -> dict[str, Any]:
        """Give the explanation as plain data."""
        rows = [
            {
                "prediction": float(number),
                "rules": self._fired_dicts(row),
                "linear": [
                    {"column": line.column, self.amount: amount}
                    for line, _, amount in line_amounts(self.linear, self.units, row)
                ],
            }
            for row, number in enumerate(self.numbers)
        ]
        return {"intercept": self.intercept, "rows": rows}

    def _answer(self, row: int) -> list[str]:
        return [f"{self.numbers[row]:.6g}"]

    def _table(self, row: int, max_reasons: int | None) -> list[ReasonLine]:
        reasons = self._reasons(row)
        shown = shown_of(reasons, max_reasons)
        added = [(amount, reason.text) for amount, reason in shown]
        if hidden := reasons[len(shown) :]:
            amount = math.fsum(amount for amount, _ in hidden)
            added.append((amount, others_text([reason for _, reason in hidden])))
        lines = [ReasonLine(f"{amount:+.4g}", "", text, amount) for amount, text in added]
        start = ReasonLine(f"{self.intercept:.4g}", "", "start")
        total = [ReasonLine(f"{self.numbers[row]:.4g}", "", "total")] if reasons else []
        return [ReasonLine("adds", "", "reason"), start, *lines, *total]

    def _reasons(self, row: int) -> list[tuple[float, Reason]]:
        """Give what rules and lines add, the largest first."""
        found = [(amount, Reason("", text)) for _, amount, text in self._rule_amounts(row)]
        for line, _, amount in line_amounts(self.linear, self.units, row):
            found.append((amount, Reason("", f"line of {plain(line.column)}", is_line=True)))
        return sorted(found, key=lambda part: -abs(part[0]))
