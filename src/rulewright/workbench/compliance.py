"""Constraints on the rules of an edited model: required signs of points, and what rules break."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.rules import Adds, Labels, Range, normalise

if TYPE_CHECKING:
    from rulewright.rules import Formula, Rule
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
        side = _side(rule.body, name)
        if side == 0:
            return None
        signs.add(side if direction == "increasing" else -side)
    if not signs or not isinstance(rule.outcome, Adds):
        return 0
    if len(signs) > 1:
        return None
    raises_last = model.n_classes is None or rule.head.last == model.n_classes - 1
    return signs.pop() * (1 if raises_last else -1)


def _side(body: Formula, column: str) -> int:
    """Return 1 if a body holds for all larger values of a column, -1 for all smaller ones, or 0.

    `and` and `or` keep the side that all conditions on the column have.
    """
    own = [c for c in normalise(body).conditions if c.column == column]
    sides = {int(np.isinf(c.high)) - int(np.isinf(c.low)) for c in own if isinstance(c, Range)}
    is_one = len(sides) == 1 and all(isinstance(c, Range) for c in own)
    return sides.pop() if is_one else 0


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
