"""Why rows got the class of a list: the rule that decides, and why those before it do not hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.model.explanation import Explanation
from rulewright.model.reasons import ReasonLine, shown_of
from rulewright.model.text import COVERED, counted, plain
from rulewright.rules import Conjunction

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Table
    from rulewright.rules import Condition


@dataclass(frozen=True, eq=False, repr=False)
class ListExplanation(Explanation):
    """The rule that decides each row, and which conditions of the rules before it fail.

    Parameters
    ----------
    table : Table
        The rows that are explained.
    default_weights : tuple of float
        Training weight of each class where no rule holds.
    """

    amount: ClassVar[str] = "probability"

    table: Table = field(kw_only=True)
    default_weights: tuple[float, ...] = field(kw_only=True)

    @cached_property
    def decided(self) -> NDArray[np.intp]:
        """The rule that decides each row; the number of rules where none holds."""
        return first_of(self.fired)

    def rule_ids(self, row: int) -> list[int]:
        """Give the rule that decides a row, if any does."""
        return [int(self.decided[row])] if self.fired[row].any() else []

    def to_dict(self) -> dict[str, Any]:
        """Give the explanation as plain data."""
        return {key: value for key, value in super().to_dict().items() if key != "intercepts"}

    def _decision(self, row: int) -> str:
        if not self.fired[row].any():
            rows = f"{sum(self.default_weights):.6g} training rows"
            return f"decided by the default, as no rule holds ({rows})"
        rule = self.rules[int(self.decided[row])]
        rows = f"{rule.coverage.support:.6g} {COVERED[rule.coverage.rows]}"
        return f"decided by rule {self.decided[row]}: IF {rule.body} ({rows})"

    def _table(self, row: int, max_reasons: int | None) -> list[ReasonLine]:
        before = [*range(int(self.decided[row]))][::-1]  # the nearest ones say most
        shown = shown_of(before, max_reasons)
        lines = ["reason", self._decision(row)]
        lines += [self._passed(i, row) for i in shown]
        if hidden := len(before) - len(shown):
            lines.append(f"{counted(hidden, 'more rule')} before it: none holds")
        return [ReasonLine("", "", line) for line in lines]

    def _reason_lines(self, row: int) -> Iterable[Sequence[str]]:
        yield (self._decision(row),)
        for i in range(int(self.decided[row]))[::-1]:
            yield (self._passed(i, row),)

    def _passed(self, i: int, row: int) -> str:
        return f"rule {i} does not hold: {self._failure(i, row)}"

    def _failure(self, i: int, row: int) -> str:
        """Write the conditions of a rule that fail on a row, with the values that they meet."""
        body = self.rules[i].body
        if not isinstance(body, Conjunction):
            return f"not ({body})"
        failed = [c for c in body.conditions if not self._holds(c)[row]]
        return " and ".join(f"{c} fails ({self._met(c.column, row)})" for c in failed)

    def _holds(self, condition: Condition) -> NDArray[np.bool_]:
        return condition.holds(self.table[condition.column])

    def _met(self, name: str, row: int) -> str:
        """Write the value of a column in a row."""
        column = self.table[name]
        if column.is_missing[row]:
            return f"{plain(name)} is missing"
        kind = column.schema.type
        if kind.ordered:
            return f"{plain(name)} is {plain(kind.write(column.values[row].item()))}"
        return f"{plain(name)} is {plain(kind.raw(column).values[row])}"


def first_of(covers: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Give the first rule (column) that holds on each row; the number of rules where none does."""
    none = np.ones((len(covers), 1), dtype=np.bool_)
    first: NDArray[np.intp] = np.hstack([covers, none]).argmax(axis=1)
    return first
