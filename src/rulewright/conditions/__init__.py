"""The condition language: conditions on columns, their conjunctions, text and JSON forms."""

from rulewright.conditions.condition import (
    Condition,
    Labels,
    Presence,
    Range,
    Value,
    condition_from_json,
)
from rulewright.conditions.conjunction import Conjunction, Contradiction
from rulewright.conditions.short import short_between
from rulewright.conditions.text import parse_condition, parse_conjunction

__all__ = [
    "Condition",
    "Conjunction",
    "Contradiction",
    "Labels",
    "Presence",
    "Range",
    "Value",
    "condition_from_json",
    "parse_condition",
    "parse_conjunction",
    "short_between",
]
