"""Check that rules fit the columns, the classes and the form of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.rules import Coverage, NumberCoverage, Outcome, Rule, Says

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import Schema


def check_rules(
    rules: Sequence[Rule], schema: Schema, outcome: type[Outcome], n_classes: int | None
) -> None:
    """Reject rules that do not fit the columns, the form of the model or its number of classes.

    Without classes the rules are for numbers.
    """
    for i, rule in enumerate(rules):
        if not isinstance(rule, Rule):
            raise ValueError(f"rule {i} must be a Rule, not {type(rule).__name__}")
        try:
            _check_rule(rule, schema, outcome, n_classes)
        except ValueError as error:
            raise ValueError(f"rule {i}: {error}") from None


def _check_rule(rule: Rule, schema: Schema, outcome: type[Outcome], n_classes: int | None) -> None:
    if not isinstance(rule.outcome, outcome):
        raise ValueError(
            f"the outcome must be {outcome.__name__}, not {type(rule.outcome).__name__}"
        )
    if n_classes is None:
        _check_numbers(rule)
    else:
        _check_classes(rule, n_classes)
    for condition in rule.body.conditions:
        if condition.column not in schema:
            raise ValueError(f"the schema lacks the column {condition.column!r}")
        condition.check(schema[condition.column])
    if isinstance(rule.outcome, Says) and len(rule.outcome.distribution) != n_classes:
        found = len(rule.outcome.distribution)
        raise ValueError(f"{found} probabilities for {n_classes} classes; give one each")


def _check_classes(rule: Rule, n_classes: int) -> None:
    if rule.head.last >= n_classes:
        raise ValueError(f"there are {n_classes} classes, so none has the index {rule.head.last}")
    if not isinstance(rule.coverage, Coverage):
        raise ValueError("the coverage must have the weights of the classes")
    found = len(rule.coverage.class_weights)
    if found != n_classes:
        raise ValueError(f"{found} class weights for {n_classes} classes; give one per class")


def _check_numbers(rule: Rule) -> None:
    if rule.head.last > 0:
        raise ValueError(f"a rule for a number has the head 0, not {rule.head.last}")
    if not isinstance(rule.coverage, NumberCoverage):
        raise ValueError("the coverage must have mean and deviation of the numbers")
