"""One rule: a body, an outcome, and counts on the rows where it applies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

from rulewright.data import ANY, Fields, Part
from rulewright.rules.coverage import Coverage, NumberCoverage, coverage_from_json
from rulewright.rules.formula import FORMULA, Formula, formula_from_json
from rulewright.rules.outcomes import Adds, Head, Outcome, Votes, outcome_from_json


@dataclass(frozen=True, slots=True)
class Rule:
    """A body and an outcome; the rule applies where the body is true.

    Parameters
    ----------
    body : Formula
        A conjunction of conditions, the common case, or another formula.
    outcome : Outcome
        What the rule does, by the form of its model.
    coverage : Coverage or NumberCoverage
        What was counted on the rows where the body holds.
    """

    body: Formula
    outcome: Outcome
    coverage: Coverage | NumberCoverage

    def __post_init__(self) -> None:
        for name, types in _TYPES:
            value = getattr(self, name)
            if not isinstance(value, types):
                wanted = " or ".join(t.__name__ for t in types)
                raise ValueError(f"{name} of a rule must be {wanted}, not {type(value).__name__}")

    @property
    def head(self) -> Head:
        """The classes that the outcome is about."""
        return self.outcome.head

    @property
    def precision(self) -> float:
        """Counted share of the head in the covered weight; NaN where no classes were counted."""
        if isinstance(self.coverage, NumberCoverage):
            return math.nan
        return self.coverage.precision(self.head)

    @property
    def share(self) -> float:
        """Share of the head to expect: the precision, corrected for optimism where known."""
        if isinstance(self.coverage, NumberCoverage):
            return math.nan
        return self.coverage.share(self.head)

    @property
    def share_interval(self) -> tuple[float, float]:
        """Wilson's 95 percent interval of the share, with weights read as counts of rows."""
        if isinstance(self.coverage, NumberCoverage):
            return math.nan, math.nan
        return self.coverage.share_interval(self.head)

    @property
    def class_weights(self) -> tuple[float, ...]:
        """Covered weight of each class; empty if the target holds numbers."""
        return self.coverage.class_weights if isinstance(self.coverage, Coverage) else ()

    @property
    def counts(self) -> tuple[float, ...] | None:
        """Counted weight of each class; None where nothing was counted, as in older files."""
        return self.coverage.counts if isinstance(self.coverage, Coverage) else None

    @property
    def expected_weights(self) -> tuple[float, ...]:
        """Weight of each class in as many rows as the support; empty for regression."""
        return self.coverage.expected_weights if isinstance(self.coverage, Coverage) else ()

    def with_outcome(self, outcome: Outcome) -> Rule:
        """Return the same rule with another outcome."""
        return Rule(self.body, outcome, self.coverage)

    def to_json(self) -> dict[str, object]:
        """Return the rule as plain data."""
        return {
            "if": self.body.to_json(),
            "then": self.outcome.to_json(),
            "coverage": self.coverage.to_json(),
        }

    @classmethod
    def from_json(cls, obj: object) -> Rule:
        """Make a rule from the plain data of its ``to_json``; anything else is a ValueError."""
        if not _FIELDS.fit(obj):
            found = sorted(map(str, obj)) if isinstance(obj, dict) else type(obj).__name__
            keys = sorted(_FIELDS.needed)
            raise ValueError(f"a rule must be an object with the keys {keys}: {found}")
        return cls(
            formula_from_json(obj["if"]),
            outcome_from_json(obj["then"]),
            coverage_from_json(obj["coverage"]),
        )

    def __str__(self) -> str:
        if isinstance(self.coverage, NumberCoverage) and isinstance(self.outcome, Adds):
            return f"{self.body}: {self.outcome.number_text}"
        names = [f"class {k}" for k in range(self.head.last + 2)]
        text = self.outcome.text(names)
        adds = isinstance(self.outcome, Adds | Votes)
        return f"{self.body}: {text}" if adds else f"IF {self.body} THEN {text}"


def rule_fields(outcome: Part, coverage: Part) -> Fields:
    """Return the fields of the plain data of a rule."""
    return Fields({"if": FORMULA, "then": outcome, "coverage": coverage})


_FIELDS = rule_fields(ANY, ANY)

_TYPES = (
    ("body", get_args(Formula)),
    ("outcome", get_args(Outcome)),
    ("coverage", (Coverage, NumberCoverage)),
)
