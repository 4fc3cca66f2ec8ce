"""Why rows got the class of an average: what each member says, the heaviest first."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.model.explanation import Explanation
from rulewright.model.reasons import ReasonLine, shown_of
from rulewright.model.text import counted, plain

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class AverageExplanation(Explanation):
    """What each member of an average says about each row.

    Parameters
    ----------
    weights : tuple of float
        How much each member counts.
    parts : tuple of Explanation
        The explanations of the members.
    """

    amount: ClassVar[str] = "value"

    weights: tuple[float, ...] = field(kw_only=True)
    parts: tuple[Explanation, ...] = field(kw_only=True)

    @cached_property
    def order(self) -> list[int]:
        """The members, the heaviest first."""
        return sorted(range(len(self.weights)), key=lambda k: -self.weights[k])

    @cached_property
    def first_rules(self) -> NDArray[np.intp]:
        """The place of the first rule of each member among those of all."""
        return np.cumsum([0, *(len(part.rules) for part in self.parts)])

    def rule_ids(self, row: int) -> list[int]:
        """Give the rules that members name for a row, those of the heaviest member first."""
        starts = self.first_rules
        return [int(starts[k]) + i for k in self.order for i in self.parts[k].rule_ids(row)]

    def to_dict(self) -> dict[str, Any]:
        """Give the explanation as plain data."""
        return {key: value for key, value in super().to_dict().items() if key != "intercepts"}

    def _row_dict(self, row: int) -> dict[str, Any]:
        said = [
            {
                "model": k,
                "weight": self.weights[k],
                "label": self.parts[k].label(row),
                "probabilities": self.parts[k].probabilities[row].tolist(),
            }
            for k in self.order
        ]
        return super()._row_dict(row) | {"members": said}

    def _table(self, row: int, max_reasons: int | None) -> list[ReasonLine]:
        shown = shown_of(self.order, max_reasons)
        lines = [
            ReasonLine(f"{self.weights[k]:.3g}", self._claim(k, row), self._why(k, row))
            for k in shown
        ]
        if hidden := self.order[len(shown) :]:
            rest = sum(self.weights[k] for k in hidden)
            lines.append(ReasonLine(f"{rest:.3g}", "", counted(len(hidden), "more model")))
        return [ReasonLine("weight", "says", "because"), *lines]

    def _claim(self, k: int, row: int) -> str:
        part = self.parts[k]
        chance = part.probabilities[row, int(part.chosen[row])]
        return f"{plain(part.label(row))} {chance:.3f}"

    def _why(self, k: int, row: int) -> str:
        """Name the strongest rule of a member, and count the others."""
        part = self.parts[k]
        ids = part.rule_ids(row)
        if not ids:
            return f"model {k}: no rule holds"
        first = f"model {k}: rule {int(self.first_rules[k]) + ids[0]}: IF {part.rules[ids[0]].body}"
        more = len(ids) - 1
        return f"{first}, and {counted(more, 'more rule')}" if more else first
