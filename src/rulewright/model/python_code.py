"""Additive rules as the source of a Python module that needs nothing but Python.

Names and labels enter the source only through ``repr``, so none of them can become code.
"""

from __future__ import annotations

import builtins
from keyword import iskeyword
from typing import TYPE_CHECKING

from rulewright.conditions import Labels, Presence

if TYPE_CHECKING:
    from rulewright.conditions import Condition
    from rulewright.model.additive import AdditiveRules

_HEAD = '''"""A rule model exported by rulewright; it needs nothing but Python."""

from math import exp


def _number(value):
    """Read a value of a numeric column: missing is NaN, which fails every comparison."""
    return float("nan") if value is None else float(value)


def _label(value):
    """Read a value of a nominal column: missing is None, anything else becomes text."""
    if value is None or value != value:
        return None
    if isinstance(value, str):
        return str(value)
    if type(value).__name__ in ("bool", "bool_"):
        return "true" if value else "false"
    if hasattr(value, "__index__"):
        return str(int(value))
    number = float(value)
    return str(int(number)) if number.is_integer() else repr(number)


def {function}(row):
    """Give the probability of each class for a row, a dict from column names to values.

    A value that is absent, None or NaN is missing.
    """
'''

_TAIL = """    top = max(scores)
    odds = [exp(score - top) for score in scores]
    total = sum(odds)
    return {{label: value / total for label, value in zip({labels!r}, odds)}}
"""


def additive_python(model: AdditiveRules, function: str) -> str:
    """Write additive rules as Python source; see ``AdditiveRules.to_python``."""
    taken = hasattr(builtins, function) or function in ("exp", "_number", "_label")
    if taken or not (function.isascii() and function.isidentifier()) or iskeyword(function):
        raise ValueError(f"function must be a free Python name, not {function!r}")
    names = {name: f"x{i}" for i, name in enumerate(model.columns)}
    lines = [_HEAD.replace("{function}", function)]
    for name, variable in names.items():
        reader = "_number" if model.schema[name].kind == "numeric" else "_label"
        lines.append(f"    {variable} = {reader}(row.get({name!r}))\n")
    lines.append(f"    scores = {list(model.intercepts)!r}\n")
    for rule in model.rules:
        tests = [_test(condition, names[condition.column], model) for condition in rule.conjunction]
        test = f"if {' and '.join(tests)}:\n        " if tests else ""
        lines.append(f"    {test}scores[{rule.head}] += {rule.response!r}\n")
    lines.append(_TAIL.format(labels=model.classes.tolist()))
    return "".join(lines)


def _test(condition: Condition, variable: str, model: AdditiveRules) -> str:
    """Write a condition such that it fails for missing values, except ``is missing``."""
    if isinstance(condition, Presence):
        if model.schema[condition.column].kind == "nominal":
            return f"{variable} is {'' if condition.missing else 'not '}None"
        # Of all numbers only NaN differs from itself.
        return f"{variable} {'!=' if condition.missing else '=='} {variable}"
    if isinstance(condition, Labels):
        labels = "{" + ", ".join(map(repr, condition.labels)) + "}"
        if condition.negated:
            return f"{variable} is not None and {variable} not in {labels}"
        return f"{variable} in {labels}"
    low = f"{condition.low!r} {'<' if condition.low_open else '<='} "
    high = f" {'<' if condition.high_open else '<='} {condition.high!r}"
    text = low if condition.low > -float("inf") else ""
    return text + variable + (high if condition.high < float("inf") else "")
