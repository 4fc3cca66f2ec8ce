"""What a rule claims: its head, or larger numbers, where it holds; or the opposite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.model import escape_line
from rulewright.rules import Adds

if TYPE_CHECKING:
    from rulewright.model import RuleModel
    from rulewright.rules import Rule


def claims_less(rule: Rule) -> bool:
    """Tell whether a rule speaks against its head, or for smaller numbers."""
    outcome = rule.outcome
    return isinstance(outcome, Adds) and outcome.value < outcome.otherwise


def claim_text(model: RuleModel, rule: Rule) -> str:
    """Write what a rule of a model claims."""
    names = [escape_line(name) for name in model.head_names]
    if not names:
        return "smaller" if claims_less(rule) else "larger"
    head = rule.head.text(names)
    return f"less often {head}" if claims_less(rule) else head
