"""Rate rules: expected counts per unit of exposure, as a base rate times factors of rules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.data import Fields
from rulewright.model.explanation import Explanation, Reason, ReasonLine, RowReasons
from rulewright.model.forms.regression import RegressionRules
from rulewright.model.forms.terms import amounts
from rulewright.programs import Program, recipes
from rulewright.rules import Rule, write_factor, write_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import Task


class RatioExplanation(Explanation):
    """Explanations whose answers are exponentials of the scores."""

    def _answer(self, row: int) -> list[str]:
        return [f"rate {write_number(math.exp(min(float(self.scores[row]), 700.0)), digits=6)}"]

    def _answer_dict(self, row: int) -> dict[str, Any]:
        return {"prediction": math.exp(min(float(self.scores[row]), 700.0))}


@dataclass(frozen=True, eq=False, repr=False)
class RatioRules(RegressionRules):
    """Base of models whose rules multiply a rate or a hazard: scores are logarithms."""

    quantity: ClassVar[str]
    """What rules multiply."""
    explanation: ClassVar[type[Explanation]] = RatioExplanation

    @property
    def effect_title(self) -> str:
        """The rules multiply the rate or hazard."""
        return self.quantity

    def effect(self, rule: Rule) -> str:
        """Write the factor of a rule."""
        factors = [write_factor(amount) for amount in amounts(rule) if amount]
        return ", otherwise ".join(factors) or write_factor(0.0)

    def effect_cells(self, rule: Rule, exact: bool) -> dict[str, str]:
        """Return the factor of a rule, and for exact texts what it adds to the logarithm."""
        if exact:
            return super().effect_cells(rule, exact)
        return {self.quantity: self.effect(rule)}

    def effect_columns(self) -> dict[str, list[Any]]:
        """Return what the rules add to the logarithm, and their factors."""
        factors = [math.exp(min(rule.outcome.value, 700.0)) for rule in self.rules]
        return {**super().effect_columns(), f"{self.quantity}_ratio": factors}

    def coverage_columns(self) -> dict[str, list[Any]]:
        """Return rate, events and exposure of the covered rows."""
        found = [rule.coverage for rule in self.rules]
        counted = {
            name: [math.nan if (v := getattr(one, name)) is None else v for one in found]
            for name in ("events", "exposure")
        }
        return {**super().coverage_columns(), **counted}

    def explain(self, X: object, *, n_threads: int | None = None) -> Explanation:
        """Return for each row which rules fired and by what they multiply."""
        found = super().explain(X, n_threads=n_threads)
        return self.explanation(
            self, found.table, found.fired, found.scores, evidence=found.evidence
        )

    def reasons_for(self, found: Explanation, row: int, max_reasons: int | None) -> RowReasons:
        """Return the factors of rules and lines."""
        given = super().reasons_for(found, row, max_reasons)
        factors = [_as_factor(reason) for reason in given.reasons]
        rest = [_as_factor(reason) for reason in given.rest]
        total = [ReasonLine(self.answer_text(float(found.scores[row])), "", "total")]
        start = [Reason(self.answer_text(self.intercept), "start")]
        titles = ReasonLine(self.quantity, "", "reason")
        return RowReasons(titles, factors, start, rest, total if factors else [])

    def answer_text(self, score: float) -> str:
        """Write what a score means."""
        return write_number(math.exp(min(score, 700.0)))

    def _describe_amounts(self, *, exact: bool) -> str:
        if exact:
            amount = f"the logarithm of the {self.quantity}"
            return f"Each rule that applies adds its number to {amount}."
        text = f"Each rule that applies multiplies the {self.quantity} by its factor."
        return f"{text} Lines add to its logarithm." if self.linear else text


@dataclass(frozen=True, eq=False, repr=False)
class RateRules(RatioRules):
    """The expected count of a row per unit of exposure: a base rate times the factors of rules.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    intercept : float
        The logarithm of the rate that every row starts with.
    rules : tuple of Rule
        The rules, with outcomes ``Adds(0, response)``: exp(response) is the rate ratio.
    summary : dict
        Notes of the learner, as JSON data.
    linear : tuple of LinearTerm
        What numeric columns add to the logarithm of the rate, apart from the rules.
    """

    form: ClassVar[str] = "rates"
    task: ClassVar[Task] = "counts"
    quantity: ClassVar[str] = "rate"
    at_risk: ClassVar[str] = "exposure"
    fields: ClassVar[Fields] = Fields(
        RegressionRules.fields.needed,
        RegressionRules.fields.optional,
        "The rate is the exponential of an intercept plus what fired rules and linear terms add.",
    )

    @property
    def scope(self) -> str:
        """The prediction, for the title of the model."""
        return "one rate"

    @cached_property
    def program(self) -> Program:
        """The logarithm of the rate, and the rate."""
        scores = self._sum()
        return Program(self.schema, scores, derived={"prediction": recipes.capped_exp(scores)})

    def predict(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return the rate of each row: its expected count per unit of exposure."""
        return np.asarray(np.exp(np.minimum(self.scores(X, n_threads=n_threads), 700.0)))

    def score_of(self, prediction: float) -> float:
        """Return the logarithm of a rate; of 0 or less it is minus infinity."""
        return math.log(prediction) if prediction > 0 else -math.inf

    def preamble(self) -> str:
        """Write the rate that every row starts with, and what factors mean."""
        return self._preamble(f"rate {self.answer_text(self.intercept)}", exact=False)


def _as_factor(reason: Reason) -> Reason:
    assert reason.moves is not None
    return reason._replace(amount=write_factor(reason.moves))
