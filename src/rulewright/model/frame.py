"""The table of rules, as plain columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulewright.data import to_frame

if TYPE_CHECKING:
    from rulewright.model.rule_model import RuleModel

__all__ = ["rules_table", "to_frame"]


def rules_table(model: RuleModel) -> dict[str, list[Any]]:
    """Give one list per column of the table of rules; ``model[id]`` is the rule of a line."""
    rules = model.rules
    return {
        "id": list(range(len(rules))),
        "if": [str(rule.body) for rule in rules],
        **model.head_columns(),
        model.outcome.measure: [rule.outcome.value for rule in rules],
        "support": [rule.coverage.support for rule in rules],
        **model.coverage_columns(),
        "n_conditions": [len(rule.body.conditions) for rule in rules],
    }
