"""Votes of rule sets as one SQL SELECT with the same answers as the model.

At most ``SETS_PER_STEP`` rule sets of a class go into a step: databases limit how deep an
expression may nest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.model.forms.rule_sets import JUST_BELOW, LARGEST_MARGIN
from rulewright.model.sql_words import boolean, number
from rulewright.model.sql_writer import SqlWriter, named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.model.forms.rule_sets import RuleSet
    from rulewright.model.forms.votes import RuleSetVotes

SETS_PER_STEP = 200


def votes_sql(
    model: RuleSetVotes, table: str | Sequence[str], dialect: str, keep: Sequence[str]
) -> str:
    """Write a vote of rule sets as one SELECT; see ``RuleSetVotes.to_sql``."""
    return _VotesWriter(model, table, dialect, keep).statement()


class _VotesWriter(SqlWriter["RuleSetVotes"]):
    """Scores come from sums of weights, odds are 1 plus the score."""

    def add_scores(self) -> None:
        sums = [[self._number(0.0)] for _ in self.scores]
        for start in range(0, max(map(len, self.model.members)), SETS_PER_STEP):
            for terms, sets in zip(sums, self.model.members, strict=True):
                # A rule set without terms adds nothing.
                chosen = [s for s in sets[start : start + SETS_PER_STEP] if s.terms]
                terms += map(self._vote, chosen)
            columns = ["\n    + ".join(terms) for terms in sums]
            self.step([*self.kept, *self.inputs, *named(columns, self.scores)])
            sums = [[name] for name in self.scores]
        two, totals = self._number(2.0), map(self._number, self.model.totals)
        pairs = zip(self.scores, totals, strict=True)
        scores = [f"({two} * {score} - {total}) / {total}" for score, total in pairs]
        opposite = self.model.opposite
        if opposite is not None:
            scores[opposite] = f"{self._number(0.0)} - {scores[1 - opposite]}"
        self.step([*self.kept, *named(scores, self.scores)])

    def add_odds(self, carried: Sequence[str]) -> None:
        """Add the odds, in a second step those of classes that are not chosen a hair below."""
        nothing, one = f"CASE WHEN {self.top} = {self._number(-1.0)}", self._number(1.0)
        order, chosen, most = self.model.preference, f"{self.prefix}chosen", f"{self.prefix}most"
        pairs = [
            *zip(self.scores, self.model.priors, strict=True),
            (self.top, max(self.model.priors)),
        ]
        odds = [
            f"{nothing} THEN {self._number(prior)} ELSE {one} + {score} END"
            for score, prior in pairs
        ]
        whens = " ".join(f"WHEN {self.scores[k]} = {self.top} THEN {k}" for k in order)
        choice = f"CASE {whens} END AS {chosen}"
        self.step([*carried, choice, *named(odds, [*self.odds, most])])
        below = f"{most} * {self._number(JUST_BELOW)}"
        final = [
            f"CASE WHEN {chosen} = {k} THEN {q} ELSE {self.least([q, below])} END"
            for k, q in enumerate(self.odds)
        ]
        self.step([*carried, *named(final, self.odds)])

    def flags(self) -> dict[str, str]:
        """Abstain if two classes, the best and another one, are closer to the top than allowed."""
        if len(self.scores) == 1:
            return {"abstains": boolean(self.model.abstain > LARGEST_MARGIN, self.dialect)}
        theta = self._number(self.model.abstain)
        close = [
            f"CASE WHEN {self.top} - {score} < {theta} THEN 1 ELSE 0 END" for score in self.scores
        ]
        return {"abstains": f"({' + '.join(close)}) > 1"}

    def _vote(self, rule_set: RuleSet) -> str:
        test = self.any_test(self.model.rules[i].body for i in rule_set.terms)
        weight, zero = self._number(rule_set.weight), self._number(0.0)
        return f"CASE WHEN {test} THEN {weight} ELSE {zero} END"

    def _number(self, value: float) -> str:
        return number(value, self.dialect)
