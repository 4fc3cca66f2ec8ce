"""Additive rules as the source of a Python module that needs nothing but Python.

Names and labels enter the source only through ``repr``, so none of them can become code.
"""

from __future__ import annotations

import builtins
from keyword import iskeyword
from typing import TYPE_CHECKING

from rulewright.conditions import Labels, Presence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.conditions import Condition
    from rulewright.model.additive import AdditiveRules

_READERS = '''

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

_SOFTMAX = '''    return scores


def _chances(scores):
    """Give the probability of each class: the softmax of the scores."""
    top = max(scores)
    odds = [exp(score - top) for score in scores]
    total = sum(odds)
    return [value / total for value in odds]
'''

_CLIMB = '''    return scores


def _chances(scores):
    """Give the probability of each class: its step at the margin, divided by their sum."""
    odds = []
    for k, (thresholds, values) in enumerate(_STEPS):
        others = scores[:k] + scores[k + 1 :] or scores
        odds.append(values[bisect_left(thresholds, scores[k] - max(others))])
    total = sum(odds)
    return [value / total for value in odds]
'''

_PREDICT = '''

def {function}(row):
    """Give the probability of each class for a row, a dict from column names to values.

    A value that is absent, None or NaN is missing.
    """
    return dict(zip(_LABELS, _chances(_scores(row))))


def {function}_label(row):
    """Give the class of the lowest expected cost; of equal ones that of the highest score."""
    scores = _scores(row)
    {costs}
    return _LABELS[min(range(len(scores)), key=lambda k: (costs[k], -scores[k]))]
'''

_TAKEN = {"exp", "bisect_left", "_number", "_label", "_scores", "_chances"}
_TAKEN |= {"_LABELS", "_COSTS", "_STEPS"}


def additive_python(model: AdditiveRules, function: str) -> str:
    """Write additive rules as Python source; see ``AdditiveRules.to_python``."""
    taken = hasattr(builtins, function) or function in _TAKEN
    if taken or not (function.isascii() and function.isidentifier()) or iskeyword(function):
        raise ValueError(f"function must be a free Python name, not {function!r}")
    parts = [*_constants(model), _READERS, *_sums(model)]
    parts.append(_SOFTMAX if model.steps is None else _CLIMB)
    return "".join(parts) + _PREDICT.format(function=function, costs=_costs(model))


def _constants(model: AdditiveRules) -> Iterator[str]:
    yield '"""A rule model exported by rulewright; it needs nothing but Python."""\n\n'
    if model.steps is None:
        yield "from math import exp\n\n"
    else:
        yield "from bisect import bisect_left\n\n"
        yield f"_STEPS = {[(steps.thresholds, steps.values) for steps in model.steps]!r}\n"
    if model.costs is not None:
        yield f"_COSTS = {model.costs!r}\n"
    yield f"_LABELS = {model.classes.tolist()!r}\n"


def _sums(model: AdditiveRules) -> Iterator[str]:
    names = {name: f"x{i}" for i, name in enumerate(model.columns)}
    for name, variable in names.items():
        reader = "_number" if model.schema[name].kind == "numeric" else "_label"
        yield f"    {variable} = {reader}(row.get({name!r}))\n"
    yield f"    scores = {list(model.intercepts)!r}\n"
    for rule in model.rules:
        tests = [_test(condition, names[condition.column], model) for condition in rule.conjunction]
        yield f"    if {' and '.join(tests) or True}:\n"
        for k in range(rule.head.first, rule.head.last + 1):
            yield f"        scores[{k}] += {rule.response!r}\n"


def _costs(model: AdditiveRules) -> str:
    """Write how to get the expected cost of each class, or what has the same order."""
    if model.costs is not None:
        sums = "[sum(p * c for p, c in zip(chances, column)) for column in zip(*_COSTS)]"
        return f"chances = _chances(scores)\n    costs = {sums}"
    if model.steps is not None:
        return "costs = [1.0 - p for p in _chances(scores)]"
    return "costs = [-score for score in scores]"


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
