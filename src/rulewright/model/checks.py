"""Check that rules fit the columns, the classes and the form of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import Schema
    from rulewright.rules import Outcome


def check_rules(
    rules: Sequence[Rule], schema: Schema, n_classes: int, outcome: type[Outcome]
) -> None:
    """Refuse rules that do not fit the columns, the number of classes or the form of the model."""
    for i, rule in enumerate(rules):
        if not isinstance(rule, Rule):
            raise ValueError(f"rule {i} must be a Rule, not {type(rule).__name__}")
        try:
            _check_rule(rule, schema, n_classes, outcome)
        except ValueError as error:
            raise ValueError(f"rule {i}: {error}") from None


def _check_rule(rule: Rule, schema: Schema, n_classes: int, outcome: type[Outcome]) -> None:
    if not isinstance(rule.outcome, outcome):
        raise ValueError(
            f"the outcome must be {outcome.__name__}, not {type(rule.outcome).__name__}"
        )
    if rule.head.last >= n_classes:
        raise ValueError(f"there are {n_classes} classes, so none has the index {rule.head.last}")
    found = len(rule.coverage.class_weights)
    if found != n_classes:
        raise ValueError(f"{found} class weights for {n_classes} classes; give one per class")
    for condition in rule.body.conditions:
        if condition.column not in schema:
            raise ValueError(f"the schema lacks the column {condition.column!r}")
        condition.check(schema[condition.column])
