"""Additive rules as one SQL SELECT with the same answers as the model.

At most ``RULES_PER_STEP`` rules go into a step: databases limit how deep an expression may nest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.model.sql_words import number
from rulewright.model.sql_writer import LOWEST, SqlWriter, named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.model.forms.additive import AdditiveRules
    from rulewright.model.steps import Steps
    from rulewright.rules import Formula

RULES_PER_STEP = 200

# exp of less is nothing beside 1, and PostgreSQL calls an underflow an error.
_LEAST_EXPONENT = 700.0


def additive_sql(
    model: AdditiveRules, table: str | Sequence[str], dialect: str, keep: Sequence[str]
) -> str:
    """Write additive rules as one SELECT; see ``AdditiveRules.to_sql``."""
    return _AdditiveWriter(model, table, dialect, keep).statement()


class _AdditiveWriter(SqlWriter["AdditiveRules"]):
    """Scores are sums, odds the exponentials or steps."""

    def add_scores(self) -> None:
        sums = [[number(value, self.dialect)] for value in self.model.intercepts]
        for start in range(0, max(1, len(self.model)), RULES_PER_STEP):
            for rule in self.model.rules[start : start + RULES_PER_STEP]:
                term = self._term(rule.body, rule.outcome.value)
                for terms in sums[rule.head.classes]:
                    terms.append(term)
            columns = [
                "\n    + ".join(terms) + f" AS {name}"
                for terms, name in zip(sums, self.scores, strict=True)
            ]
            self.step([*self.kept, *self.inputs, *columns])
            sums = [[name] for name in self.scores]

    def _term(self, body: Formula, response: float) -> str:
        added = number(response, self.dialect)
        if not body.conditions:
            return added
        zero = number(0.0, self.dialect)
        return f"CASE WHEN {self.test(body)} THEN {added} ELSE {zero} END"

    def add_odds(self, carried: Sequence[str]) -> None:
        steps = self.model.steps
        if steps is None or len(steps) == 1:  # of one class, any odds are certain
            odds = [self._softmax_odds(score) for score in self.scores]
        else:
            margins = self._add_margins(carried)
            odds = [self._climb(*pair) for pair in zip(margins, steps, strict=True)]
        self.step([*carried, *named(odds, self.odds)])

    def _softmax_odds(self, score: str) -> str:
        least = f"{self.top} - {number(_LEAST_EXPONENT, self.dialect)}"
        zero = number(0.0, self.dialect)
        return f"CASE WHEN {score} > {least} THEN EXP({score} - {self.top}) ELSE {zero} END"

    def _add_margins(self, carried: Sequence[str]) -> list[str]:
        """Add what each score has over the highest of the others, and give the names."""
        second, margins = f"{self.prefix}second", self.names("margin")
        is_top = [f"CASE WHEN {score} = {self.top}" for score in self.scores]
        ties = " + ".join(f"{test} THEN 1 ELSE 0 END" for test in is_top)
        lowest = number(LOWEST, self.dialect)
        others = [
            f"{test} THEN {lowest} ELSE {score} END"
            for test, score in zip(is_top, self.scores, strict=True)
        ]
        next_best = f"CASE WHEN {ties} > 1 THEN {self.top} ELSE {self.greatest(others)} END"
        self.step([*carried, f"{next_best} AS {second}"])
        sums = [
            f"{score} - {test} THEN {second} ELSE {self.top} END"
            for test, score in zip(is_top, self.scores, strict=True)
        ]
        self.step([*carried, *named(sums, margins)])
        return margins

    def _climb(self, margin: str, steps: Steps) -> str:
        thresholds = [number(value, self.dialect) for value in steps.thresholds]
        *values, last = [number(value, self.dialect) for value in steps.values]
        pairs = zip(thresholds, values, strict=True)
        whens = " ".join(f"WHEN {margin} <= {bound} THEN {value}" for bound, value in pairs)
        return f"CASE {whens} ELSE {last} END" if whens else last
