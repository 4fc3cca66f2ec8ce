"""Unordered rules: every rule that holds counts, each with a distribution over the classes.

The score of a class is what every row starts with plus, for each rule that holds, the weight of the
rule times the probability that it says. With the covered training rows as weights these are CN2's
count vectors; with equal weights the rules vote; with posterior probabilities they are averaged.
Probabilities are the scores divided by their sum. So the start decides where no rule holds, and
where some do it keeps probabilities away from 0. The highest score wins, of equal ones the class
with more of the start, then the first one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.data import CLASS_WEIGHTS, Fields, described
from rulewright.model.class_explanation import Added
from rulewright.model.class_model import ClassModel
from rulewright.model.counts import checked_weights
from rulewright.model.document import json_list
from rulewright.model.forms.decision_list import checked_distribution
from rulewright.model.reasons import rule_text
from rulewright.model.text import escape_line
from rulewright.programs import ClassProgram, Constant, Term, TermSums, recipes
from rulewright.rules import Head, Says

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.data import Schema
    from rulewright.model.class_explanation import ClassExplanation
    from rulewright.model.explanation import Explanation
    from rulewright.model.reasons import RowReasons
    from rulewright.rules import Outcome, Rule


@dataclass(frozen=True, eq=False, repr=False)
class UnorderedRules(ClassModel):
    """Rules whose weighted distributions are added up where they hold.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    classes : array-like
        Class labels: all strings, all integers, all floats or all booleans.
    rules : tuple of Rule
        The rules; each says a distribution with a weight.
    start : tuple of float
        What each class has before any rule holds, not all 0.
    summary : dict
        What the learner noted down, as JSON data.
    """

    form: ClassVar[str] = "unordered"
    outcome: ClassVar[type[Outcome]] = Says
    fields: ClassVar[Fields] = Fields(
        {"start": described("What each class has before any rule.", CLASS_WEIGHTS)},
        about="Weighted distributions of all rules that hold are added up.",
    )

    schema: Schema
    classes: NDArray[Any]
    rules: tuple[Rule, ...]
    start: tuple[float, ...]
    summary: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_common()
        start = checked_weights(self.start, len(self.classes))
        if not any(start):
            raise ValueError("start: at least one class must have more than 0")
        self._check_total(self.rules, start)
        vars(self).update(start=start)

    @cached_property
    def preference(self) -> tuple[int, ...]:
        """All classes by falling start: the order in which ties are broken."""
        return tuple(sorted(range(len(self.classes)), key=lambda k: -self.start[k]))

    @cached_property
    def program(self) -> ClassProgram:
        """The sums of weighted distributions, divided by their total."""
        terms = [
            Term(rule.body, Head(k, k), float(amount))
            for rule in self.rules
            for k, amount in enumerate(counts_of(rule))
            if amount
        ]
        scores = TermSums(Constant(self.start), tuple(terms))
        chosen = recipes.prefer_first(scores, self.preference)
        labels = tuple(self.classes.tolist())
        return ClassProgram(self.schema, scores, labels, recipes.shares(scores), chosen)

    def with_rules(self, rules: Sequence[Rule]) -> UnorderedRules:
        """Give the same model with other rules; only those that are new are checked."""
        made = super().with_rules(rules)
        self._check_total(made.rules, self.start)
        return made

    @property
    def effect_title(self) -> str:
        """The probability that a rule says, and its weight."""
        return "probability x weight"

    def effect(self, rule: Rule) -> str:
        """Write the probability that a rule says, and its weight."""
        assert isinstance(rule.outcome, Says)
        return f"{rule.outcome} x {rule.outcome.weight:.4g}"

    def preamble(self) -> str:
        """Say what rules add, and what holds where there is none."""
        k, total = self.preference[0], math.fsum(self.start)
        told = f"{escape_line(self.class_names[k])} with probability {self.start[k] / total:.3f}"
        if not self.rules:
            return f"always: {told}"
        return (
            f"where no rule holds: {told}; every rule that holds adds its weight, shared among "
            "the classes as it says, and the most weight wins"
        )

    def form_fields(self) -> dict[str, Any]:
        """Give what classes start with."""
        return {"start": list(self.start)}

    @classmethod
    def read_fields(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Read what classes start with."""
        return {"start": tuple(json_list(content["start"], "start"))}

    def deciding_rules(self, found: Explanation, row: int) -> list[int]:
        """Give the rules that hold on a row, the heaviest first."""
        ids: list[int] = np.flatnonzero(found.fired[row]).tolist()
        return sorted(ids, key=lambda i: -float(counts_of(self.rules[i]).max()))

    def reasons_for(self, found: ClassExplanation, row: int, max_reasons: int | None) -> RowReasons:
        """Give what rules add to the counts, each with the counts after it."""
        ids = found.rule_ids(row)
        added = [Added(counts_of(self.rules[i]), rule_text(self.rules, i)) for i in ids]
        unit = f"weight for {escape_line(found.label(row))}"
        return found.added_up(row, max_reasons, unit, self.start, added, _counts_text)

    def start_fields(self) -> dict[str, Any]:
        """Give what classes start with."""
        return {"intercepts": list(self.start)}

    def _check_rules(self, rules: Sequence[Rule]) -> None:
        super()._check_rules(rules)
        for i, rule in enumerate(rules):
            checked_distribution(rule, i, len(self.classes))

    @staticmethod
    def _check_total(rules: Sequence[Rule], start: tuple[float, ...]) -> None:
        weights = [rule.outcome.weight for rule in rules if isinstance(rule.outcome, Says)]
        if not math.isfinite(sum(weights) + sum(start)):
            raise ValueError("the weights of the rules are too large to be added up")


def counts_of(rule: Rule) -> NDArray[np.float64]:
    """Give what a rule adds to the classes: its weight times what it says."""
    assert isinstance(rule.outcome, Says)
    return rule.outcome.weight * np.array(rule.outcome.distribution)


def _counts_text(counts: NDArray[np.float64], chosen: int, *, level: bool = False) -> str:
    return f"{counts[chosen]:.4g} of {counts.sum():.4g}"
