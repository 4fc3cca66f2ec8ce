"""Why rows got the class of the nearest rule: how near it is, and how near the next class is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from rulewright.model.explanation import Explanation
from rulewright.model.reasons import ReasonLine
from rulewright.model.text import plain
from rulewright.rules import Range

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rulewright.data import Table
    from rulewright.rules import Condition

    Found = tuple[NDArray[np.integer], NDArray[np.float64]]


@dataclass(frozen=True, eq=False, repr=False)
class NearestExplanation(Explanation):
    """The rule that decides each row, its distance, and the nearest rule of another class.

    Parameters
    ----------
    table : Table
        The rows that are explained.
    nearest, rivals : pair of int array and float array
        The nearest rule of each row, and that of another class, -1 if there is none, and their
        distances.
    """

    amount: ClassVar[str] = "probability"

    table: Table = field(kw_only=True)
    nearest: Found = field(kw_only=True)
    rivals: Found = field(kw_only=True)

    def rule_ids(self, row: int) -> list[int]:
        """Give the rule that decides a row, if there is any rule."""
        return [int(self.nearest[0][row])] if self.rules else []

    def to_dict(self) -> dict[str, Any]:
        """Give the explanation as plain data."""
        return {key: value for key, value in super().to_dict().items() if key != "intercepts"}

    def _row_dict(self, row: int) -> dict[str, Any]:
        answer = super()._row_dict(row)
        for name, (places, sums) in (("nearest", self.nearest), ("rival", self.rivals)):
            if places[row] >= 0:
                answer[name] = {"id": int(places[row]), "distance": float(sums[row])}
        return answer

    def _table(self, row: int, max_reasons: int | None) -> list[ReasonLine]:
        lines = ["reason", "always: there is no rule"]
        if self.rules:
            lines[1] = f"nearest is {self._told(self.nearest, row)}"
        if self.rivals[0][row] >= 0:
            lines.append(f"nearest of another class is {self._told(self.rivals, row)}")
        return [ReasonLine("", "", line) for line in lines]

    def _told(self, found: Found, row: int) -> str:
        """Write a rule, and what keeps it from covering a row."""
        i, total = int(found[0][row]), found[1][row]
        rule = self.rules[i]
        head = plain(rule.head.text(self.class_names))
        where = "covers the row"
        if not self.fired[row, i]:
            gaps = [self._gap(c, row) for c in rule.body.conditions if not self._holds(c, row)]
            where = f"distance {total:.3g}: {', '.join(gaps)}"
        return f"rule {i} for {head} ({where}): IF {rule.body}"

    def _holds(self, condition: Condition, row: int) -> bool:
        column = self.table[condition.column]
        return bool(condition.holds(column)[row])

    def _gap(self, condition: Condition, row: int) -> str:
        """Write how a value differs from what a condition wants."""
        name, column = plain(condition.column), self.table[condition.column]
        if column.is_missing[row]:
            return f"{name} is missing"
        if not isinstance(condition, Range):
            return f"{name} is {plain(column.schema.type.raw(column).values[row])}"
        value = float(column.values[row])
        if not column.schema.type.arithmetic:
            return f"{name} is {plain(column.schema.type.write(value))}"
        if value < condition.low:
            return f"{name} is {condition.low - value:.4g} below"
        return f"{name} is {value - condition.high:.4g} above"
