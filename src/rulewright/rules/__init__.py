"""The condition language: conditions on columns, their conjunctions, text and JSON forms."""

from rulewright.rules.any_of import AnyOf, Condition, condition_from_json, negated
from rulewright.rules.condition import Labels, Plain, Presence, Range, Value
from rulewright.rules.conjunction import Conjunction, Contradiction
from rulewright.rules.rule import Head, Rule
from rulewright.rules.short import short_between
from rulewright.rules.text import parse_condition, parse_conjunction

__all__ = [
    "AnyOf",
    "Condition",
    "Conjunction",
    "Contradiction",
    "Head",
    "Labels",
    "Plain",
    "Presence",
    "Range",
    "Rule",
    "Value",
    "condition_from_json",
    "negated",
    "parse_condition",
    "parse_conjunction",
    "short_between",
]
