"""What the Python source of every form of model has in common; it needs nothing but Python.

Names and labels enter the source only through ``repr``, so none of them can become code.
"""

from __future__ import annotations

import builtins
from keyword import iskeyword
from typing import TYPE_CHECKING

from rulewright.rules import AnyOf, Labels, Presence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.model.rule_model import RuleModel
    from rulewright.rules import Condition, Rule

TITLE = '"""A rule model exported by rulewright; it needs nothing but Python."""\n\n'

READERS = '''

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


def _scores(row):
    """Give the score of each class."""
'''

PREDICT = '''

def {function}(row):
    """Give the probability of each class for a row, a dict from column names to values.

    A value that is absent, None or NaN is missing.
    """
    return dict(zip(_LABELS, _chances(_scores(row))))
'''

_TAKEN = {"exp", "bisect_left", "_number", "_label", "_scores", "_chances"}
_TAKEN |= {"_LABELS", "_COSTS", "_STEPS", "_PRIORS", "_RULE_SETS"}


def check_function(function: str) -> None:
    """Refuse what cannot be the name of the function."""
    taken = hasattr(builtins, function) or function in _TAKEN
    if taken or not (function.isascii() and function.isidentifier()) or iskeyword(function):
        raise ValueError(f"function must be a free Python name, not {function!r}")


def inputs(model: RuleModel) -> Iterator[str]:
    """Write how the values of a row are read into variables."""
    for name, variable in _variables(model).items():
        reader = "_number" if model.schema[name].kind == "numeric" else "_label"
        yield f"    {variable} = {reader}(row.get({name!r}))\n"


def rule_tests(model: RuleModel) -> Iterator[tuple[Rule, str]]:
    """Give each rule with the test of its conjunction."""
    names = _variables(model)
    for rule in model.rules:
        tests = [
            _test(condition, names[condition.column], model) for condition in rule.body.conditions
        ]
        yield rule, " and ".join(tests) or "True"


def _variables(model: RuleModel) -> dict[str, str]:
    return {name: f"x{i}" for i, name in enumerate(model.columns)}


def _test(condition: Condition, variable: str, model: RuleModel) -> str:
    """Write a condition such that it fails for missing values, except where it allows them."""
    if isinstance(condition, AnyOf):
        parts = [_test(part, variable, model) for part in condition.alternatives]
        return "(" + " or ".join(parts) + ")"
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
