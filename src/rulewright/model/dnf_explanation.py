"""Why rows got the class of a rule: the rules that hold, the most precise first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.model.explanation import Explanation
from rulewright.model.reasons import Reason
from rulewright.model.text import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class DnfExplanation(Explanation):
    """The rules that hold for each row, the most precise first; nothing is added up.

    Parameters
    ----------
    default_scores : tuple of float
        The scores where no rule holds; without them no change of probability is told.
    """

    amount: ClassVar[str] = "laplace"

    default_scores: tuple[float, ...] | None = field(default=None, kw_only=True)

    def to_dict(self) -> dict[str, Any]:
        """Give the explanation as plain data."""
        return {key: value for key, value in super().to_dict().items() if key != "intercepts"}

    def _reasons(self, row: int) -> list[Reason]:
        names = [plain(name) for name in self.class_names]
        scores: NDArray[np.float64] | None = None
        if self.default_scores is not None:
            scores = np.zeros(len(names))
        steps = [Reason("", "start: where no rule holds", _array(self.default_scores))]
        for i in self.rule_ids(row):
            rule = self.rules[i]
            said = f"{rule.outcome} {rule.head.text(names)}"
            if scores is not None:
                scores = scores.copy()
                scores[rule.head.first] = max(scores[rule.head.first], rule.outcome.value)
            steps.append(Reason(said, f"rule {i}: IF {rule.body}", scores))
        return steps

    def _title(self, name: str) -> str:
        return "probability"

    def _said(self, added: NDArray[np.float64], chosen: int, *, level: bool = False) -> str:
        return ""


def _array(numbers: tuple[float, ...] | None) -> NDArray[np.float64] | None:
    return None if numbers is None else np.array(numbers)
