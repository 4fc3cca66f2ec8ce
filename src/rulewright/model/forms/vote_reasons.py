"""Why rows got their votes: the rule sets that cover them and the terms that apply."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heapreplace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.model.explanation import Explanation, Reason, rule_text
from rulewright.model.text import escape_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rulewright.model.class_explanation import ClassExplanation
    from rulewright.model.forms.rule_sets import RuleSet
    from rulewright.model.forms.votes import RuleSetVotes


@dataclass(frozen=True, eq=False)
class VoteReasons:
    """The rule sets that cover rows, by class, and the terms that apply, strongest first."""

    # the vote; rule sets that do not cover a row vote for the opposite class, if there is one
    model: RuleSetVotes
    margins: NDArray[np.float64]  # how far the best score of each row is above the second best

    def rule_set_ids(self, found: Explanation, row: int, k: int) -> list[int]:
        """Return the rule sets that vote for a class on a row, by falling weight."""
        sets, covering = self._sets(k), bool(self.model.members[k])
        covers = [bool(found.fired[row, list(rule_set.terms)].any()) for rule_set in sets]
        ids = [j for j, covered in enumerate(covers) if covered == covering]
        return sorted(ids, key=lambda j: -sets[j].weight)

    def abstains(self, row: int) -> bool:
        """Return whether the model abstains on a row."""
        return bool(self.margins[row] < self.model.abstain)

    def _sets(self, k: int) -> tuple[RuleSet, ...]:
        return self.model.members[k] or self.model.members[1 - k]

    def fields(self, found: Explanation, row: int) -> dict[str, Any]:
        """Return the margin of a row, and the rule sets that vote for each class."""
        votes = []
        for k, name in enumerate(self.model.class_names):
            sets, ids = self._sets(k), self.rule_set_ids(found, row, k)
            weight = math.fsum(sets[j].weight for j in ids)
            votes.append({"class": name, "rule_sets": ids, "of": len(sets), "weight": weight})
        margin = float(self.margins[row])
        return {"margin": margin, "abstains": self.abstains(row), "votes": votes}

    def notes(self, found: Explanation, row: int) -> list[str]:
        """Write how many vote for each class, and whether the model abstains."""
        lines = []
        for k, name in enumerate(map(escape_line, self.model.class_names)):
            voting = f"{len(self.rule_set_ids(found, row, k))} of {len(self._sets(k))} rule sets"
            votes = _votes(found.scores[row, k])
            lines.append(f"{votes:.3g} of 100 votes for {name}, by {voting}")
        if self.abstains(row):
            lead, least = 50 * float(self.margins[row]), 50 * self.model.abstain
            lines.append(f"abstains: a lead of {lead:.3g} votes is below {least:.3g}")
        return lines

    def steps(self, found: ClassExplanation, row: int) -> list[Reason]:
        """Return the start and each rule that applies, with the scores after it."""
        rules, chosen = self.model.rules, int(found.chosen[row])
        votes = np.zeros(len(self.model.classes))
        scores = self._scores_of(votes)
        start = self.write(scores, chosen, level=True)
        steps = [Reason(start, "start: where no rule applies", scores)]
        for i, gain in self.gains(found.rule_ids(row)):
            votes[rules[i].head.first] += gain
            before, scores = scores, self._scores_of(votes)
            k = chosen if scores[chosen] != before[chosen] else rules[i].head.first
            steps.append(Reason(self.write(scores - before, k), rule_text(self.model, i), scores))
        return steps

    def gains(self, ids: list[int]) -> Iterator[tuple[int, float]]:
        """Return each rule that applies and the weight it makes vote after those before it.

        The rule that adds most comes next. What a rule adds only falls, so that one which still
        adds as much as any other did when last looked at is the next.
        """
        voting: set[tuple[int, int]] = set()

        def gain(i: int) -> float:
            return math.fsum(w for key, w in self._sets_of[i].items() if key not in voting)

        heap = [(-gain(i), place, i) for place, i in enumerate(ids)]
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
        found: list[dict[tuple[int, int], float]] = [{} for _ in self.model.rules]
        for k, sets in enumerate(self.model.members):
            for j, rule_set in enumerate(sets):
                for i in rule_set.terms:
                    found[i][k, j] = rule_set.weight
        return found

    def _scores_of(self, votes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores where rule sets of these weights vote, which sum to 1 in a class."""
        scores = 2.0 * votes - 1.0
        if (opposite := self.model.opposite) is not None:
            scores[opposite] = -scores[1 - opposite]
        return scores

    def write(self, scores: NDArray[np.float64], chosen: int, *, level: bool = False) -> str:
        """Write the votes of a class, or how many its score grew by."""
        votes = f"{_votes(scores[chosen]):.2f}" if level else f"{50.0 * scores[chosen] + 0.0:+.2f}"
        return f"{votes} {escape_line(self.model.class_names[chosen])}"


def _votes(score: float) -> float:
    """Return how many of 100 votes make a score, which is from -1 to 1."""
    return 50.0 * (score + 1.0)
