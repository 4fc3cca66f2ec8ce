"""A DNF model as the source of a Python module that needs nothing but Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.model.decisions import BELOW
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

    from rulewright.model.forms.dnf import DnfModel

_CHANCES = '''    return scores


def _chances(scores):
    """Give the probability of each class: those without a score share what the best leaves."""
    top = max(scores)
    rest = sum(prior for prior, score in zip(_PRIORS, scores) if not score)
    odds = [
        score or min((1.0 - top) * prior / rest, top * {below})
        for prior, score in zip(_PRIORS, scores)
    ]
    total = sum(odds)
    return [value / total for value in odds]
'''

_LABEL = '''

def {function}_label(row):
    """Give the class of the highest score; of equal ones the most frequent, then the first."""
    scores = _scores(row)
    return _LABELS[max(range(len(scores)), key=lambda k: (scores[k], _PRIORS[k]))]
'''


def dnf_python(model: DnfModel, function: str) -> str:
    """Write a DNF model as Python source; see ``DnfModel.to_python``."""
    check_function(function)
    constants = f"_PRIORS = {list(model.priors)!r}\n_LABELS = {model.classes.tolist()!r}\n"
    parts = [TITLE, constants, READERS, *inputs(model), *_best(model)]
    parts.append(_CHANCES.format(below=BELOW))
    return "".join([*parts, PREDICT.format(function=function), _LABEL.format(function=function)])


def _best(model: DnfModel) -> Iterator[str]:
    yield f"    scores = {[0.0] * len(model.classes)!r}\n"
    for rule, test in rule_tests(model):
        score = f"scores[{rule.head.first}]"
        yield f"    if {test}:\n        {score} = max({score}, {rule.outcome.value!r})\n"
    yield f"    if not any(scores):\n        scores = {list(model.default_scores)!r}\n"
