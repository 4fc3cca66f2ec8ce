"""The condition language: conditions on columns, their conjunctions, text and JSON forms."""

from rulewright.conditions.any_of import AnyOf, Condition, condition_from_json, negated
from rulewright.conditions.condition import Labels, Plain, Presence, Range, Value
from rulewright.conditions.conjunction import Conjunction, Contradiction
from rulewright.conditions.short import short_between
from rulewright.conditions.text import parse_condition, parse_conjunction

__all__ = [
    "AnyOf",
    "Condition",
    "Conjunction",
    "Contradiction",
    "Labels",
    "Plain",
    "Presence",
    "Range",
    "Value",
    "condition_from_json",
    "negated",
    "parse_condition",
    "parse_conjunction",
    "short_between",
]
