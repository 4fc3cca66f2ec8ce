"""A DNF model as one SQL SELECT with the same answers as the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.model.decisions import BELOW
from rulewright.model.sql_words import number
from rulewright.model.sql_writer import SqlWriter, named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.model.forms.dnf import DnfModel


def dnf_sql(model: DnfModel, table: str | Sequence[str], dialect: str, keep: Sequence[str]) -> str:
    """Write a DNF model as one SELECT; see ``DnfModel.to_sql``."""
    return _DnfWriter(model, table, dialect, keep).statement()


class _DnfWriter(SqlWriter["DnfModel"]):
    """The score of a class is the response of its first rule that holds, the best ones first."""

    def add_scores(self) -> None:
        best = [self._best(k) for k in range(len(self.scores))]
        self.step([*self.kept, *named(best, self.scores)])
        self.step([*self.kept, *self.scores, f"{self.greatest(self.scores)} AS {self.top}"])
        starts = [number(value, self.dialect) for value in self.model.default_scores]
        scores = [
            f"CASE WHEN {self.top} = {self._zero} THEN {start} ELSE {score} END"
            for start, score in zip(starts, self.scores, strict=True)
        ]
        self.step([*self.kept, *named(scores, self.scores)])

    def add_odds(self, carried: Sequence[str]) -> None:
        rest, most = f"{self.prefix}rest", f"{self.prefix}most"
        unclaimed = [f"CASE WHEN {s} = {self._zero}" for s in self.scores]
        priors = [number(prior, self.dialect) for prior in self.model.priors]
        cases = list(zip(unclaimed, priors, strict=True))
        total = " + ".join(f"{case} THEN {prior} ELSE {self._zero} END" for case, prior in cases)
        below = f"{self.top} * {number(BELOW, self.dialect)}"
        self.step([*carried, f"{total} AS {rest}", f"{below} AS {most}"])
        left = f"({number(1.0, self.dialect)} - {self.top})"
        shares = [self.least([f"{left} * {prior} / {rest}", most]) for prior in priors]
        odds = [
            f"{case} THEN {share} ELSE {score} END"
            for case, share, score in zip(unclaimed, shares, self.scores, strict=True)
        ]
        self.step([*carried, *named(odds, self.odds)])

    @property
    def _zero(self) -> str:
        return number(0.0, self.dialect)

    def _best(self, k: int) -> str:
        """Write the highest response of the rules of a class that hold."""
        rules = [rule for rule in self.model.rules if rule.head.first == k]
        rules.sort(key=lambda rule: -rule.outcome.value)
        whens = [
            f"WHEN {self.test(rule.body)} THEN {number(rule.outcome.value, self.dialect)}"
            for rule in rules
        ]
        return f"CASE {' '.join(whens)} ELSE {self._zero} END" if whens else self._zero
