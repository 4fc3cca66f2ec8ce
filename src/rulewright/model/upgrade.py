"""Model files of earlier versions, brought to the present one before they are checked."""

from __future__ import annotations

from typing import Any

_OUTCOMES = {"additive": "adds", "dnf": "claims", "votes": "votes"}
_OLD_RULE = {"if", "head", "response", "support", "class_weights"}


def upgrade_content(content: dict[str, Any]) -> dict[str, Any]:
    """Give the content of a file of version 1, 2 or 3 as version 4 has it.

    Rules had a response, whose meaning depended on the form, instead of an outcome, and counts of
    training rows without saying so. What does not look like an old rule is left as it is, to be
    refused later.
    """
    rules, key = content.get("rules"), _OUTCOMES.get(str(content.get("form")))
    if not isinstance(rules, list) or key is None:
        return content
    return {**content, "rules": [_rule(rule, key) for rule in rules]}


def _rule(rule: Any, key: str) -> Any:
    if not isinstance(rule, dict) or rule.keys() != _OLD_RULE:
        return {"old": rule}  # refused in the words of the present version
    counts = {name: rule[name] for name in ("support", "class_weights")}
    return {
        "if": rule["if"],
        "then": {"head": rule["head"], key: rule["response"]},
        "coverage": {"rows": "training", **counts},
    }
