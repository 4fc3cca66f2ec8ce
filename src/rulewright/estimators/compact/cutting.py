"""Which conditions of a proposed rule gain their charge, judged by the rule alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulewright.estimators.compact.losses import CompactLoss
    from rulewright.estimators.compact.members import RuleOnRows
    from rulewright.kernels import Limits
    from rulewright.search import FoundRule

Places = tuple[int, ...]
"""Some of the conditions of a rule, in the order of growth."""


class RuleCutter:
    """Cuts a rule back to the conditions that pay.

    Parameters
    ----------
    found : FoundRule
        The rule.
    rule : RuleOnRows
        Its tests and head, and the rows to learn from.
    loss : CompactLoss
        Tells what rules gain.
    limits : Limits
        What rules may look like.
    charge : float
        What a condition costs.
    """

    def __init__(
        self, found: FoundRule, rule: RuleOnRows, loss: CompactLoss, limits: Limits, charge: float
    ) -> None:
        self.found, self.rule, self.loss, self.limits = found, rule, loss, limits
        self.charge, self.prefix_gains = charge, loss.prefix_gains(rule).tolist()

    def whole(self) -> tuple[FoundRule, float]:
        """Return the rule as it is, and what it gains less its charge."""
        return self.found, self._charge(self.prefix_gains[-1], len(self.prefix_gains))

    def cut_back(self) -> tuple[FoundRule, float]:
        """Take out conditions that do not gain their charge, the least useful first.

        The rule starts as the best of its prefixes; of equals the first wins.
        """
        ends = [tuple(range(n)) for n in range(1, len(self.prefix_gains) + 1)]
        gains = {
            p: self._charge(self.prefix_gains[len(p) - 1], len(p)) for p in self._find_allowed(ends)
        }
        best = max(gains, key=gains.__getitem__)
        gain, part_gains = gains[best], self._part_gains(len(best))
        while shorter := self._shorter(best):
            gains = {p: self._part_gain(p, part_gains) for p in shorter}
            found = max(gains, key=gains.__getitem__)
            if gains[found] < gain:
                break
            best, gain = found, gains[found]
        return self.found.only(list(best)), gain

    def _part_gains(self, n_tests: int) -> list[float] | None:
        found = self.loss.part_gains(self.rule._replace(tests=self.rule.tests[:n_tests]))
        return None if found is None else found.tolist()

    def _part_gain(self, places: Places, part_gains: list[float] | None) -> float:
        if part_gains is None:
            gain = self.loss.gain(self.rule.find_covered(places), self.rule.head)
        else:
            gain = part_gains[sum(1 << place for place in places)]
        return self._charge(gain, len(places))

    def _charge(self, gain: float, n_conditions: int) -> float:
        return gain - self.charge * n_conditions if gain > 0 else -math.inf

    def _shorter(self, places: Places) -> list[Places]:
        """Return what lacks one of the conditions, but none that is required."""
        if len(places) == 1:
            return []
        return self._find_allowed([places[:i] + places[i + 1 :] for i in range(len(places))])

    def _find_allowed(self, parts: list[Places]) -> list[Places]:
        grown = self.found.grown
        return [part for part in parts if self.limits.allows(tuple(grown[i] for i in part))]
