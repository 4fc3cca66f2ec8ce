"""Additive rules as the source of a Python module that needs nothing but Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.model.python_code import (
    PREDICT,
    READERS,
    TITLE,
    check_function,
    inputs,
    rule_tests,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.model.forms.additive import AdditiveRules

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

_LABEL = '''

def {function}_label(row):
    """Give the class of the lowest expected cost; of equal ones that of the highest score."""
    scores = _scores(row)
    {costs}
    return _LABELS[min(range(len(scores)), key=lambda k: (costs[k], -scores[k]))]
'''


def additive_python(model: AdditiveRules, function: str) -> str:
    """Write additive rules as Python source; see ``AdditiveRules.to_python``."""
    check_function(function)
    parts = [*_constants(model), READERS, *inputs(model), *_sums(model)]
    parts.append(_SOFTMAX if model.steps is None else _CLIMB)
    parts.append(PREDICT.format(function=function))
    return "".join(parts) + _LABEL.format(function=function, costs=_costs(model))


def _constants(model: AdditiveRules) -> Iterator[str]:
    yield TITLE
    if model.steps is None:
        yield "from math import exp\n\n"
    else:
        yield "from bisect import bisect_left\n\n"
        yield f"_STEPS = {[(steps.thresholds, steps.values) for steps in model.steps]!r}\n"
    if model.costs is not None:
        yield f"_COSTS = {model.costs!r}\n"
    yield f"_LABELS = {model.classes.tolist()!r}\n"


def _sums(model: AdditiveRules) -> Iterator[str]:
    yield f"    scores = {list(model.intercepts)!r}\n"
    for rule, test in rule_tests(model):
        yield f"    if {test}:\n"
        for k in range(rule.head.first, rule.head.last + 1):
            yield f"        scores[{k}] += {rule.outcome.value!r}\n"


def _costs(model: AdditiveRules) -> str:
    """Write how to get the expected cost of each class, or what has the same order."""
    if model.costs is not None:
        sums = "[sum(p * c for p, c in zip(chances, column)) for column in zip(*_COSTS)]"
        return f"chances = _chances(scores)\n    costs = {sums}"
    if model.steps is not None:
        return "costs = [1.0 - p for p in _chances(scores)]"
    return "costs = [-score for score in scores]"
