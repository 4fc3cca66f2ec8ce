"""Additive rules: intercepts plus the responses of the rules that fire, one score per class."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rulewright.model.decisions import checked_costs, checked_steps, read_costs
from rulewright.model.document import json_list
from rulewright.model.explanation import Explanation
from rulewright.model.rule_model import RuleModel
from rulewright.model.steps import IsotonicSteps
from rulewright.model.text import plain
from rulewright.programs import nodes, recipes
from rulewright.programs.program import Program
from rulewright.rules import Adds, Not
from rulewright.rules.checks import checked_number

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Schema
    from rulewright.model.decisions import Costs
    from rulewright.rules import Head, Outcome, Rule


_MAX_SIZE = sys.float_info.max / 2


@dataclass(frozen=True, eq=False, repr=False)
class AdditiveRules(RuleModel):
    """Scores are intercepts plus responses of fired rules; probabilities follow from them.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    classes : array-like
        Class labels: all strings, all integers, all floats or all booleans.
    intercepts : tuple of float
        One score per class that every row starts with.
    rules : tuple of Rule
        The rules; their responses are added in this order.
    summary : dict
        What the learner noted down, as JSON data.
    costs : K x K numbers, optional
        ``costs[k][j]`` is what it costs to predict class j where class k is true, 0 for j = k:
        the label is then the class of the lowest expected cost.
    steps : tuple of IsotonicSteps, optional
        Calibration, one for each class: probabilities are the steps at the margin of the scores,
        divided by their sum, and not the softmax.
    """

    form: ClassVar[str] = "additive"
    outcome: ClassVar[type[Outcome]] = Adds
    explanation: ClassVar[type[Explanation]] = Explanation
    needed_fields: ClassVar[frozenset[str]] = frozenset({"intercepts"})
    optional_fields: ClassVar[frozenset[str]] = frozenset({"costs", "steps"})

    schema: Schema
    classes: NDArray[Any]
    intercepts: tuple[float, ...]
    rules: tuple[Rule, ...]
    summary: dict[str, Any] = field(default_factory=dict)
    costs: Costs | None = field(default=None, kw_only=True)
    steps: tuple[IsotonicSteps, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self._check_common()
        intercepts = tuple(checked_number(value, "intercept") for value in self.intercepts)
        if len(intercepts) != len(self.classes):
            raise ValueError(
                f"{len(self.classes)} classes need as many intercepts: {len(intercepts)}"
            )
        _check_sums(intercepts, self.rules)
        costs = None if self.costs is None else checked_costs(self.costs, self.class_names)
        steps = None if self.steps is None else checked_steps(self.steps, len(self.classes))
        vars(self).update(intercepts=intercepts, costs=costs, steps=steps)

    @cached_property
    def program(self) -> Program:
        """The sums, their softmax or steps, and the class of the highest score or lowest cost."""
        n, costs = len(self.classes), None
        terms = [term for rule in self.rules for term in _terms(rule)]
        scores = nodes.Sums(nodes.Constant(self.intercepts), tuple(terms))
        chances = recipes.softmax(scores)
        if self.steps is not None:
            tables = tuple((steps.thresholds, steps.values) for steps in self.steps)
            chances = recipes.shares(nodes.Steps(recipes.margins(scores, n), tables))
        chosen = recipes.preferred(scores, tuple(range(n)))
        if self.costs is not None or self.steps is not None:
            costs = 1.0 - chances if self.costs is None else nodes.Mix(chances, self.costs)
            chosen = recipes.cheapest(costs, scores, n)
        labels = tuple(self.classes.tolist())
        return Program(self.schema, labels, scores, chances, chosen, costs=costs)

    def staged_scores(
        self, X: object, *, n_threads: int | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Give the scores after no rule, the first rule, the first two, and so on to all."""
        holds = self._rows(X, n_threads).covers(self.program.scores)
        columns = iter(holds.T)
        scores = np.tile(np.array(self.intercepts), (len(holds), 1))
        yield scores.copy()
        for rule in self.rules:
            for term in _terms(rule):
                scores[next(columns), term.head.classes] += term.amount
            yield scores.copy()

    def _explained(self, scores: NDArray[np.float64]) -> dict[str, Any]:
        costs = None if self.costs is None else self.expected_costs(scores)
        return {"intercepts": self.intercepts, "expected_costs": costs}

    def with_rules(self, rules: Sequence[Rule]) -> Self:
        """Give the same model with other rules; only those that are new are checked."""
        _check_sums(self.intercepts, rules)
        return super().with_rules(rules)

    def merged(self) -> Self:
        """Join rules with the same conditions and head; the scores stay the same.

        The first of them stays, with the sum of the responses; a sum of zero leaves no rule.
        """
        same: dict[tuple[Hashable, Head], list[Rule]] = {}
        for rule in self.rules:
            same.setdefault((rule.body.key, rule.head), []).append(rule)
        joined = [_with_sums(rules) for rules in same.values()]
        return self._changed(rules=tuple(rule for rule in joined if _amounts(rule) != (0.0, 0.0)))

    def scaled(self, slope: float, offsets: Sequence[float]) -> Self:
        """Multiply all scores and add to them: how a temperature or a logistic curve calibrates.

        Parameters
        ----------
        slope : float
            Factor of all scores, not negative.
        offsets : sequence of float
            What is then added to the score of each class.
        """
        if self.steps is not None:
            raise ValueError("the steps of this model fit its scores as they are: scale it first")
        if not 0.0 <= slope < math.inf:
            raise ValueError(f"slope must be finite and not negative, not {slope}")
        if len(offsets) != len(self.classes):
            raise ValueError(f"{len(self.classes)} classes need as many offsets: {len(offsets)}")
        pairs = zip(self.intercepts, offsets, strict=True)
        intercepts = tuple(slope * start + offset for start, offset in pairs)
        rules = tuple(_scaled(rule, slope) for rule in self.rules)
        _check_sums(intercepts, rules)
        return self._changed(intercepts=intercepts, rules=rules)

    def with_steps(self, steps: Sequence[IsotonicSteps] | None) -> Self:
        """Give the same model with another calibration, or none."""
        checked = None if steps is None else checked_steps(steps, len(self.classes))
        return self._changed(steps=checked)

    def with_costs(self, costs: Any) -> Self:
        """Give the model that predicts the class of the lowest expected cost.

        Parameters
        ----------
        costs : array of shape (classes, classes), "absolute" or None
            What predicting column j costs where row k is true, 0 on the diagonal. "absolute" costs
            the distance of the classes in their order, so that the median is predicted; None is no
            costs.
        """
        return self._changed(costs=read_costs(costs, self.class_names, "costs"))

    def preamble(self) -> str:
        """Say which scores every row starts with, and how they become labels if not as usual."""
        starts = zip(self.class_names, self.intercepts, strict=True)
        text = "intercept: " + ", ".join(f"{plain(name)} {value:+.3g}" for name, value in starts)
        if any(rule.head.is_union for rule in self.rules):
            text += "; order: " + " < ".join(map(plain, self.class_names))
        if self.steps is not None:
            text += "; probabilities by calibrated steps"
        return text if self.costs is None else text + "; label by lowest expected cost"

    def form_fields(self) -> dict[str, Any]:
        """Give the intercepts, and costs and steps if there are any."""
        fields: dict[str, Any] = {"intercepts": list(self.intercepts)}
        if self.costs is not None:
            fields["costs"] = [list(row) for row in self.costs]
        if self.steps is not None:
            fields["steps"] = [steps.to_json() for steps in self.steps]
        return fields

    @classmethod
    def read_fields(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Read the intercepts, and costs and steps if there are any."""
        fields = {name: tuple(json_list(value, name)) for name, value in content.items()}
        if "steps" in fields:
            fields["steps"] = tuple(map(IsotonicSteps.from_json, fields["steps"]))
        return fields


def _check_sums(intercepts: Sequence[float], rules: Sequence[Rule]) -> None:
    """Refuse amounts so large that a score or a difference of two scores could overflow."""
    sizes = [abs(value) for value in intercepts]
    for rule in rules:
        for k in range(rule.head.first, rule.head.last + 1):
            sizes[k] += max(map(abs, _amounts(rule)))
    if not max(sizes) <= _MAX_SIZE:
        raise ValueError("intercepts and responses must be finite and so must be their sums")


def _amounts(rule: Rule) -> tuple[float, float]:
    """Give what a rule adds where it holds and where it is known not to hold."""
    assert isinstance(rule.outcome, Adds)
    return rule.outcome.value, rule.outcome.otherwise


def _terms(rule: Rule) -> Iterator[nodes.Term]:
    response, otherwise = _amounts(rule)
    yield nodes.Term(rule.body, rule.head, response)
    if otherwise:
        yield nodes.Term(Not(rule.body), rule.head, otherwise)


def _scaled(rule: Rule, slope: float) -> Rule:
    response, otherwise = _amounts(rule)
    return rule.with_outcome(Adds(rule.head, slope * response, slope * otherwise))


def _with_sums(rules: Sequence[Rule]) -> Rule:
    """Give the first of some rules with the sums of what all of them add."""
    sums = map(math.fsum, zip(*map(_amounts, rules), strict=True))
    return rules[0].with_outcome(Adds(rules[0].head, *sums))
