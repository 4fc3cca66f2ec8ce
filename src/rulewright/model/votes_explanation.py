"""Why rows got their votes: the rule sets that cover them and the terms that hold."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heapify, heappop, heapreplace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.model.dnf_explanation import DnfExplanation
from rulewright.model.forms.rule_sets import opposite_class
from rulewright.model.reasons import Reason
from rulewright.model.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

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

    def _answer(self, row: int) -> list[str]:
        lines = super()._answer(row)
        for k, name in enumerate(map(plain, self.class_names)):
            voting = f"{len(self.rule_set_ids(row, k))} of {len(self._sets(k))} rule sets"
            lines.append(f"{_votes(self.scores[row, k]):.3g} of 100 votes for {name}, by {voting}")
        if self.abstains(row):
            lead, least = 50 * float(self.margins[row]), 50 * self.abstain
            lines.append(f"abstains: a lead of {lead:.3g} votes is below {least:.3g}")
        return lines

    def _reasons(self, row: int) -> list[Reason]:
        chosen = int(self.chosen[row])
        votes = np.zeros(len(self.class_names))
        scores = self._scores_of(votes)
        start = self._said(scores, chosen, level=True)
        steps = [Reason(start, "start: where no rule holds", scores)]
        for i, gain in self._gains(row):
            votes[self.rules[i].head.first] += gain
            before, scores = scores, self._scores_of(votes)
            k = chosen if scores[chosen] != before[chosen] else self.rules[i].head.first
            text = f"rule {i}: IF {self.rules[i].body}"
            steps.append(Reason(self._moved(scores - before, k), text, scores))
        return steps

    def _gains(self, row: int) -> Iterator[tuple[int, float]]:
        """Give each rule that holds and the weight it makes vote after those before it.

        The rule that adds most comes next. What a rule adds only falls, so that one which still
        adds as much as any other did when last looked at is the next.
        """
        voting: set[tuple[int, int]] = set()

        def gain(i: int) -> float:
            return math.fsum(w for key, w in self._sets_of[i].items() if key not in voting)

        heap = [(-gain(i), place, i) for place, i in enumerate(self.rule_ids(row))]
        heapify(heap)
        while heap:
            _, place, i = heap[0]
            now = gain(i)
            heapreplace(heap, (-now, place, i))
            if heap[0][2] == i:
                heappop(heap)
                voting |= self._sets_of[i].keys()
                yield i, now

    @cached_property
    def _sets_of(self) -> list[dict[tuple[int, int], float]]:
        """The rule sets of each rule, as class and place, with their weights."""
        found: list[dict[tuple[int, int], float]] = [{} for _ in self.rules]
        for k, sets in enumerate(self.members):
            for j, rule_set in enumerate(sets):
                for i in rule_set.terms:
                    found[i][k, j] = rule_set.weight
        return found

    def _scores_of(self, votes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the scores where rule sets of these weights vote, which sum to 1 in a class."""
        scores = 2.0 * votes - 1.0
        if (opposite := opposite_class(self.members)) is not None:
            scores[opposite] = -scores[1 - opposite]
        return scores

    def _title(self, name: str) -> str:
        return "of 100 votes"

    def _said(self, added: NDArray[np.float64], chosen: int, *, level: bool = False) -> str:
        if level:
            return f"{_votes(added[chosen]):.2f} {plain(self.class_names[chosen])}"
        return self._moved(added, chosen)

    def _moved(self, added: NDArray[np.float64], k: int) -> str:
        """Write how many votes the score of a class grew by."""
        return f"{50.0 * added[k] + 0.0:+.2f} {plain(self.class_names[k])}"


def _votes(score: float) -> float:
    """Give how many of 100 votes make a score, which is from -1 to 1."""
    return 50.0 * (score + 1.0)
