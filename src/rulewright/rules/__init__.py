"""The language of rules: conditions, formulas, outcomes, coverage; text and JSON forms."""

from rulewright.data.short import short_between
from rulewright.rules.condition import Labels, Plain, Presence, Range, Value
from rulewright.rules.conjunction import Conjunction, Contradiction
from rulewright.rules.coverage import Coverage, NumberCoverage
from rulewright.rules.formula import And, Formula, Not, Or, formula_from_json, normalise
from rulewright.rules.label_sets import AnyOf, Condition, condition_from_json, negate
from rulewright.rules.outcomes import Adds, Claims, Head, Outcome, Says, Votes
from rulewright.rules.rule import Rule
from rulewright.rules.text import parse_condition, parse_conjunction, parse_formula

__all__ = [
    "Adds",
    "And",
    "AnyOf",
    "Claims",
    "Condition",
    "Conjunction",
    "Contradiction",
    "Coverage",
    "Formula",
    "Head",
    "Labels",
    "Not",
    "NumberCoverage",
    "Or",
    "Outcome",
    "Plain",
    "Presence",
    "Range",
    "Rule",
    "Says",
    "Value",
    "Votes",
    "condition_from_json",
    "formula_from_json",
    "negate",
    "normalise",
    "parse_condition",
    "parse_conjunction",
    "parse_formula",
    "short_between",
]
