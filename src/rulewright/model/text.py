"""Models as text: a line per rule, with its support and precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.model.rule_model import RuleModel
    from rulewright.rules import Rule

# Longer rules shift only their own numbers to the right.
_MAX_ALIGNED = 90


def strongest_rules(
    model: RuleModel, max_rules: int | None, hint: str = "print(max_rules=None) shows all"
) -> str:
    """Write the rules with the largest responses first, numbered by their place in the model.

    `hint` says how to see the rules that are not shown.
    """
    shown = strongest(model, max_rules)
    lines = [title_of(model), model.preamble(), *_lines(model, shown)]
    if hidden := len(model) - len(shown):
        lines.append(f"... and {hidden} more; {hint}")
    return "\n".join(lines)


def strongest(model: RuleModel, max_rules: int | None) -> list[int]:
    """Return the places of the rules with the largest responses, the largest first."""
    order = sorted(range(len(model)), key=lambda i: -abs(model.rules[i].outcome.value))
    return order[:max_rules]


def all_rules(model: RuleModel) -> str:
    """Write all rules in the order they were learned."""
    lines = [title_of(model), model.preamble(), *_lines(model, range(len(model)))]
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Escape unprintable characters, so that the text fits on one line of a terminal."""
    return text if text.isprintable() else repr(text)[1:-1]


def title_of(model: RuleModel) -> str:
    """Say in one line what kind of model this is, how large, and what it predicts."""
    rules = "1 rule" if len(model) == 1 else f"{len(model) or 'no'} rules"
    return f"{type(model).__name__}: {rules}, {model.scope}"


def _lines(model: RuleModel, ids: Sequence[int]) -> list[str]:
    width = len(str(len(model) - 1))
    names = [plain(name) for name in model.head_names]
    heads = [f"{i:>{width}}  {_claim(model.rules[i], names)}" for i in ids]
    aligned = max((len(head) for head in heads if len(head) <= _MAX_ALIGNED), default=0)
    return [
        f"{head:<{aligned}}   {model.rules[i].coverage.text(model.rules[i].head)}"
        for i, head in zip(ids, heads, strict=True)
    ]


def _claim(rule: Rule, names: Sequence[str]) -> str:
    said = f"{rule.head.text(names)} ({rule.outcome})" if names else str(rule.outcome)
    return f"IF {rule.body} THEN {said}"
