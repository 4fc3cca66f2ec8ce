"""Why rows got their votes: the rule sets that cover them and the terms that hold."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from rulewright.model.explanation import DnfExplanation

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rulewright.model.forms.rule_sets import Members, RuleSet


@dataclass(frozen=True, eq=False, repr=False)
class VotesExplanation(DnfExplanation):
    """The rule sets that cover each row, by class, and the terms that hold, strongest first.

    Parameters
    ----------
    members : tuple of tuples of RuleSet
        The rule sets of each class; a class without any has those of the other that do not cover.
    margins : float array
        How far the best score of each row is above the second best.
    abstain : float
        The margin below which the model abstains.
    """

    amount: ClassVar[str] = "share"

    members: Members = field(kw_only=True)
    margins: NDArray[np.float64] = field(kw_only=True)
    abstain: float = field(kw_only=True)

    def rule_set_ids(self, row: int, k: int) -> list[int]:
        """Give the rule sets that vote for a class on a row, those of the largest weight first."""
        sets, covering = self._sets(k), bool(self.members[k])
        covers = [bool(self.fired[row, list(rule_set.terms)].any()) for rule_set in sets]
        ids = [j for j, covered in enumerate(covers) if covered == covering]
        return sorted(ids, key=lambda j: -sets[j].weight)

    def abstains(self, row: int) -> bool:
        """Tell whether the model abstains on a row."""
        return bool(self.margins[row] < self.abstain)

    def _sets(self, k: int) -> tuple[RuleSet, ...]:
        return self.members[k] or self.members[1 - k]

    def _row_dict(self, row: int) -> dict[str, Any]:
        votes = []
        for k, name in enumerate(self.class_names):
            sets, ids = self._sets(k), self.rule_set_ids(row, k)
            weight = math.fsum(sets[j].weight for j in ids)
            votes.append({"class": name, "rule_sets": ids, "of": len(sets), "weight": weight})
        margin = float(self.margins[row])
        answer = {"margin": margin, "abstains": self.abstains(row), "votes": votes}
        return super()._row_dict(row) | answer

    def _added(self, row: int, names: Sequence[str]) -> list[tuple[str, str]]:
        added = []
        for k, name in enumerate(names):
            votes = (
                f"{len(self.rule_set_ids(row, k))} of {len(self._sets(k))} rule sets vote for it"
            )
            added.append((f"{self.scores[row, k]:+.3g} {name}", votes))
        for i in self.rule_ids(row):
            rule = self.rules[i]
            text = f"rule {i}: IF {rule.body}"
            added.append((f"{rule.outcome.value:.3g} {rule.head.text(names)}", text))
        if self.abstains(row):
            margin = f"margin {self.margins[row]:.3g}"
            added.append((margin, f"below {self.abstain:.3g}: the model abstains"))
        return added
