"""Votes of rule sets as the source of a Python module that needs nothing but Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.model.forms.rule_sets import JUST_BELOW, LARGEST_MARGIN
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

    from rulewright.model.forms.votes import RuleSetVotes

_VOTE = '''    scores = []
    for total, members in _RULE_SETS:
        votes = 0.0
        for terms, weight in members:
            if any(holds[i] for i in terms):
                votes += weight
        scores.append((2.0 * votes - total) / total)
{opposite}    return scores


def _chances(scores):
    """Give the probability of each class: 1 plus the score, or where all are 0 the priors.

    Classes level with the one that is predicted stay below it by a hair.
    """
    odds = [1.0 + score for score in scores]
    if not any(odds):
        odds = _PRIORS
    best = max(range(len(scores)), key=lambda k: (scores[k], _PRIORS[k]))
    below = odds[best] * {below!r}
    odds = [value if k == best else min(value, below) for k, value in enumerate(odds)]
    total = sum(odds)
    return [value / total for value in odds]
'''

_LABEL = '''

def {function}_label(row):
    """Give the class of the highest score; of equal ones the most frequent, then the first."""
    scores = _scores(row)
    return _LABELS[max(range(len(scores)), key=lambda k: (scores[k], _PRIORS[k]))]


def {function}_abstains(row):
    """Tell whether the best score is less than {abstain!r} above the second best."""
    top, *others = sorted(_scores(row), reverse=True)
    return (top - others[0] if others else {largest!r}) < {abstain!r}
'''


def votes_python(model: RuleSetVotes, function: str) -> str:
    """Write a vote of rule sets as Python source; see ``RuleSetVotes.to_python``."""
    check_function(function)
    parts = [TITLE, *_constants(model), READERS, *inputs(model), *_holds(model)]
    parts.append(_VOTE.format(opposite=_opposite(model), below=JUST_BELOW))
    parts.append(PREDICT.format(function=function))
    parts.append(_LABEL.format(function=function, abstain=model.abstain, largest=LARGEST_MARGIN))
    return "".join(parts)


def _constants(model: RuleSetVotes) -> Iterator[str]:
    """Write the classes and the rule sets: for each class the sum of weights and the members."""
    yield f"_LABELS = {model.classes.tolist()!r}\n_PRIORS = {list(model.priors)!r}\n"
    yield "_RULE_SETS = [\n"
    for total, sets in zip(model.totals, model.members, strict=True):
        yield f"    ({total!r}, [\n"
        for terms, weight in sets:
            yield f"        ({terms!r}, {weight!r}),\n"
        yield "    ]),\n"
    yield "]\n"


def _opposite(model: RuleSetVotes) -> str:
    """Write the score of the class without rule sets, if there is one."""
    k = model.opposite
    return "" if k is None else f"    scores[{k}] = 0.0 - scores[{1 - k}]\n"


def _holds(model: RuleSetVotes) -> Iterator[str]:
    yield "    holds = [\n"
    for _, test in rule_tests(model):
        yield f"        {test},\n"
    yield "    ]\n"
