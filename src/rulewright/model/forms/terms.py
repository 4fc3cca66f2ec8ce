"""What models that add up responses share: the amounts of their rules."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np

from rulewright.model.linear import linear_sizes
from rulewright.programs import nodes
from rulewright.rules import Adds, Coverage, Not, Rule

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Table
    from rulewright.model.linear import LinearTerm
    from rulewright.rules import Head

_MAX_SIZE = sys.float_info.max / 2


def check_sums(
    intercepts: Sequence[float], rules: Sequence[Rule], linear: Sequence[LinearTerm] = ()
) -> None:
    """Refuse amounts so large that a score or a difference of two scores could overflow."""
    sizes = [abs(value) for value in intercepts]
    for rule in rules:
        for k in range(rule.head.first, rule.head.last + 1):
            sizes[k] += max(map(abs, amounts(rule)))
    lines = linear_sizes(linear, len(sizes))
    if not max(a + b for a, b in zip(sizes, lines, strict=True)) <= _MAX_SIZE:
        raise ValueError("intercepts and responses must be finite and so must be their sums")


def amounts(rule: Rule) -> tuple[float, float]:
    """Give what a rule adds where it holds and where it is known not to hold."""
    assert isinstance(rule.outcome, Adds)
    return rule.outcome.value, rule.outcome.otherwise


def terms_of(rule: Rule) -> Iterator[nodes.Term]:
    """Give the terms that add the amounts of a rule."""
    response, otherwise = amounts(rule)
    yield nodes.Term(rule.body, rule.head, response)
    if otherwise:
        yield nodes.Term(Not(rule.body), rule.head, otherwise)


def failing(rules: Sequence[Rule], table: Table) -> NDArray[np.bool_] | None:
    """Tell on which rows rules are known not to hold; None if none of them adds anything there."""
    if not any(amounts(rule)[1] for rule in rules):
        return None
    return np.column_stack([rule.body.fails(table) for rule in rules])


def scaled_rule(rule: Rule, slope: float) -> Rule:
    """Multiply the amounts of a rule."""
    response, otherwise = amounts(rule)
    return rule.with_outcome(Adds(rule.head, slope * response, slope * otherwise))


def merged_rules(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Join rules of the same body and head; a sum of zero leaves no rule."""
    same: dict[tuple[Hashable, Head], list[Rule]] = {}
    for rule in rules:
        same.setdefault((rule.body.key, rule.head), []).append(rule)
    joined = [_with_sums(equal) for equal in same.values()]
    return tuple(rule for rule in joined if amounts(rule) != (0.0, 0.0))


def _with_sums(rules: Sequence[Rule]) -> Rule:
    """Give the first of some rules with the sums of what all of them add."""
    if len(rules) == 1:
        return rules[0]
    sums = map(math.fsum, zip(*map(amounts, rules), strict=True))
    rule = rules[0].with_outcome(Adds(rules[0].head, *sums))
    parts = [one.coverage for one in rules if isinstance(one.coverage, Coverage)]
    if {part.rows for part in parts} != {"outside"}:
        return rule
    # Each was grown on other rows; together they count as certain as one of them.
    weights = np.add.reduce([part.class_weights for part in parts]) / len(parts)
    mean = Coverage(parts[0].support, tuple(weights.tolist()), "outside")
    return Rule(rule.body, rule.outcome, mean)
