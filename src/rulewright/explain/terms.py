"""The terms of an additive model: rules and linear terms, and their contributions to a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rulewright.model import AdditiveRules, LinearTerm, RegressionRules
from rulewright.rules import Adds, Head, Rule

if TYPE_CHECKING:
    from rulewright.data import Table
    from rulewright.kernels import FloatArray

Additive: TypeAlias = AdditiveRules | RegressionRules


@dataclass(frozen=True)
class RuleTerm:
    """A rule that adds its points where it applies, named by its printed number."""

    place: int
    rule: Rule
    number: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the body tests."""
        return tuple(dict.fromkeys(self.rule.body.columns))

    @property
    def head(self) -> Head:
        """The classes whose scores increase."""
        return self.rule.head

    @property
    def amounts(self) -> tuple[float, float]:
        """What is added where the body is true, and where it is known to be false."""
        assert isinstance(self.rule.outcome, Adds)
        return self.rule.outcome.value, self.rule.outcome.otherwise

    def marks(self, column: str) -> list[Any]:
        """Return the thresholds or labels that the body tests on a column."""
        own = [part for part in self.rule.body.conditions if part.column == column]
        return [mark for part in own for mark in part.marks]

    def contributions(self, table: Table) -> FloatArray:
        """Return what the rule adds to each row of a table."""
        response, otherwise = self.amounts
        added = np.where(self.rule.body.holds(table), response, 0.0)
        return added + np.where(self.rule.body.fails(table), otherwise, 0.0) if otherwise else added

    def sizes(self, n_outputs: int) -> FloatArray:
        """Return the share of the amount that each score gets."""
        sizes = np.zeros(n_outputs)
        sizes[self.head.classes] = 1.0
        return sizes

    def __str__(self) -> str:
        return f"rule {self.number}: {self.rule.body}"


@dataclass(frozen=True)
class LineTerm:
    """A linear term, which adds to the scores of all classes."""

    place: int
    line: LinearTerm

    @property
    def columns(self) -> tuple[str, ...]:
        """The column."""
        return (self.line.column,)

    def contributions(self, table: Table) -> FloatArray:
        """Return what a slope of 1 adds to each row of a table."""
        return self.line.units(table)

    def sizes(self, n_outputs: int) -> FloatArray:
        """Return the slope of each score."""
        return np.array(self.line.slopes)

    def __str__(self) -> str:
        return f"line of {self.line.column}"


Term: TypeAlias = RuleTerm | LineTerm


def additive_terms(model: Any, step: str) -> tuple[Additive, list[Term]]:
    """Return the model of a fitted estimator, or the model itself, and its terms."""
    model = getattr(model, "model_", model)
    if not isinstance(model, AdditiveRules | RegressionRules):
        raise ValueError(
            f"{step} needs an additive model, or an estimator with such a model, not "
            f"{type(model).__name__}"
        )
    rules: list[Term] = [
        RuleTerm(place, rule, model.numbers[place]) for place, rule in enumerate(model.rules)
    ]
    return model, [*rules, *(LineTerm(place, line) for place, line in enumerate(model.linear))]


def thresholds(model: Additive, column: str) -> list[float]:
    """Return the thresholds of all rules on an ordered column, in ascending order."""
    _, terms = additive_terms(model, "thresholds")
    return sorted({m for term in terms if isinstance(term, RuleTerm) for m in term.marks(column)})


def n_outputs(model: Additive) -> int:
    """Return the number of scores of a row."""
    return model.n_classes or 1


def intercepts(model: Additive) -> FloatArray:
    """Return the scores that every row starts with."""
    return np.array(model.intercepts if isinstance(model, AdditiveRules) else [model.intercept])
