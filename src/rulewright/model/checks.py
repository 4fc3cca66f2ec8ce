"""Checks of the parts that models of all forms have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulewright.data import Schema
from rulewright.rules import AnyOf, Labels, Range
from rulewright.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.rules import Condition


def check_schema(schema: object) -> None:
    """Refuse what is no schema."""
    if not isinstance(schema, Schema):
        raise ValueError(f"schema must be a Schema, not {type(schema).__name__}")


def checked_summary(summary: object) -> dict[str, Any]:
    """Give a copy of the summary, or raise a ValueError."""
    if not isinstance(summary, dict):
        raise ValueError(f"summary must be a dict, not {type(summary).__name__}")
    return dict(summary)


def check_rules(rules: Sequence[Rule], schema: Schema, n_classes: int) -> None:
    """Refuse rules that do not fit the columns or the number of classes."""
    for i, rule in enumerate(rules):
        _check_rule(rule, i, schema, n_classes)


def _check_rule(rule: Rule, i: int, schema: Schema, n_classes: int) -> None:
    if not isinstance(rule, Rule):
        raise ValueError(f"rule {i} must be a Rule, not {type(rule).__name__}")
    if len(rule.class_weights) != n_classes:
        raise ValueError(
            f"rule {i} has {len(rule.class_weights)} class weights for {n_classes} classes"
        )
    for condition in rule.conjunction:
        _check_condition(condition, i, schema)


def _check_condition(condition: Condition, i: int, schema: Schema) -> None:
    if condition.column not in schema:
        raise ValueError(f"rule {i} uses column {condition.column!r}, which the schema lacks")
    if isinstance(condition, AnyOf):
        for part in condition.alternatives:
            _check_condition(part, i, schema)
        return
    column = schema[condition.column]
    needed = {Range: "numeric", Labels: "nominal"}.get(type(condition), column.kind)
    if column.kind != needed:
        raise ValueError(
            f"rule {i}: '{condition}' needs a {needed} column, not a {column.kind} one"
        )
    if isinstance(condition, Labels):
        for label in condition.labels:
            if label not in column.label_index:
                raise ValueError(f"rule {i}: column {column.name!r} has no label {label!r}")
