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
    lines = [_title(model), model.preamble(), *_lines(model, shown)]
    if hidden := len(model) - len(shown):
        lines.append(f"... and {hidden} more; {hint}")
    return "\n".join(lines)


def strongest(model: RuleModel, max_rules: int | None) -> list[int]:
    """Return the places of the rules with the largest responses, the largest first."""
    order = sorted(range(len(model)), key=lambda i: -abs(model.rules[i].outcome.value))
    return order[:max_rules]


def all_rules(model: RuleModel) -> str:
    """Write all rules in the order they were learned."""
    lines = [_title(model), model.preamble(), *_lines(model, range(len(model)))]
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Escape unprintable characters, so that the text fits on one line of a terminal."""
    return text if text.isprintable() else repr(text)[1:-1]


def _title(model: RuleModel) -> str:
    names = ", ".join(plain(name) for name in model.class_names)
    classes = "1 class" if len(model.classes) == 1 else f"{len(model.classes)} classes"
    rules = "1 rule" if len(model) == 1 else f"{len(model) or 'no'} rules"
    return f"{type(model).__name__}: {rules}, {classes} ({names})"


def _lines(model: RuleModel, ids: Sequence[int]) -> list[str]:
    width = len(str(len(model) - 1))
    names = [plain(name) for name in model.class_names]
    heads = [f"{i:>{width}}  {_claim(model, model.rules[i], names)}" for i in ids]
    aligned = max((len(head) for head in heads if len(head) <= _MAX_ALIGNED), default=0)
    return [
        f"{head:<{aligned}}   {_record(model.rules[i])}" for i, head in zip(ids, heads, strict=True)
    ]


def _claim(model: RuleModel, rule: Rule, names: Sequence[str]) -> str:
    return f"IF {rule.body} THEN {rule.head.text(names)} ({rule.outcome})"


def _record(rule: Rule) -> str:
    covers = f"covers {rule.coverage.support:.6g}"
    if not any(rule.coverage.class_weights):
        return covers
    low, high = rule.precision_interval
    return f"{covers}, precision {rule.precision:.2f} [{low:.2f}, {high:.2f}]"
