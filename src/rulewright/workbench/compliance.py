"""Constraints on the rules of an edited model: required signs of points, and what rules break."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.rules import Adds, Conjunction, Labels, Range

if TYPE_CHECKING:
    from rulewright.rules import Rule
    from rulewright.search import Constraints


def required_sign(rule: Rule, model: Any, constraints: Constraints) -> int | None:
    """Return the sign that monotone columns require of a rule's points; None if none will do.

    0 is any sign. With classes, higher values of an increasing column must not lower the last
    class; only two classes, or heads of ordered ones, have a direction.
    """
    signs = set()
    for name, direction in constraints.monotone.items():
        if name not in rule.body.columns:
            continue
        side = _side(rule, name)
        if side == 0:
            return None
        signs.add(side if direction == "increasing" else -side)
    if not signs or not isinstance(rule.outcome, Adds):
        return 0
    if len(signs) > 1:
        return None
    raises_last = model.n_classes is None or rule.head.last == model.n_classes - 1
    return signs.pop() * (1 if raises_last else -1)


def _side(rule: Rule, column: str) -> int:
    """Return 1 if a rule applies to all larger values of a column, -1 to all smaller ones, or 0."""
    if not isinstance(rule.body, Conjunction):
        return 0
    own = next(c for c in rule.body.conditions if c.column == column)
    if not isinstance(own, Range):
        return 0
    return int(np.isinf(own.high)) - int(np.isinf(own.low))


def violations(rule: Rule, model: Any, constraints: Constraints) -> list[str]:
    """Write which constraints a rule breaks."""
    columns = set(rule.body.columns)
    found = [
        f"uses the forbidden column {name}" for name in constraints.forbidden if name in columns
    ]
    found += [
        f"lacks the required column {name}" for name in constraints.required if name not in columns
    ]
    sign = required_sign(rule, model, constraints)
    value = rule.outcome.value if isinstance(rule.outcome, Adds) else 0.0
    if sign is None or value * sign < 0:
        monotone = [name for name in constraints.monotone if name in columns]
        directions = ", ".join(f"{constraints.monotone[name]} in {name}" for name in monotone)
        found.append(f"is not {directions}")
    if constraints.groups and len(columns) > 1:
        bits = dict(zip(model.schema.names, constraints.group_bits(model.schema), strict=True))
        if not reduce(and_, (bits[name] for name in columns)):
            found.append(f"joins columns of different groups: {', '.join(rule.body.columns)}")
    digits = constraints.digits_by_column(model.schema)
    for condition in rule.body.conditions:
        allowed = constraints.operators.get(condition.column)
        used = [] if allowed is None else [op for op in _operators(condition) if op not in allowed]
        found += [f"uses the operator {op} on {condition.column}" for op in used]
        most = digits.get(condition.column, 17)
        if isinstance(condition, Range) and not _is_short(condition, most):
            found.append(f"has a threshold of more than {most} digits: {condition}")
    return found


def _operators(condition: Any) -> list[str]:
    """Return the operators of a condition, in the words of constraints."""
    if isinstance(condition, Range):
        if condition.low == condition.high:
            return ["="]
        return [
            word
            for word, end in ((">=", condition.low), ("<=", condition.high))
            if np.isfinite(end)
        ]
    if isinstance(condition, Labels):
        return ["!=" if condition.negated else "="]
    return ["is missing" if condition.missing else "is known"]


def _is_short(condition: Range, digits: int) -> bool:
    ends = [end for end in (condition.low, condition.high) if np.isfinite(end)]
    return all(float(f"{end:.{digits}g}") == end for end in ends)
