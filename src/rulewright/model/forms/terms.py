"""What models that add up responses share: the amounts of their rules."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from rulewright.model.class_explanation import Added
from rulewright.model.linear import linear_sizes, units_of
from rulewright.model.reasons import rule_text
from rulewright.model.text import escape_line
from rulewright.programs import nodes
from rulewright.rules import Adds, Coverage, Not, Rule

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Table
    from rulewright.model.forms.additive import AdditiveRules
    from rulewright.model.forms.regression import RegressionRules
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


class AddedParts(NamedTuple):
    """What the rules and lines of a model add to rows, for explanations.

    Parameters
    ----------
    rules : tuple of Rule
        The rules.
    linear : tuple of LinearTerm
        The lines.
    n_scores : int
        Number of classes; 1 for numbers.
    units : float array of shape (rows, lines)
        What the slopes of the lines multiply.
    failed : bool array of shape (rows, rules) or None
        Which rule is known not to hold on which row; None if none of them adds anything there.
    """

    rules: tuple[Rule, ...]
    linear: tuple[LinearTerm, ...]
    n_scores: int
    units: NDArray[np.float64]
    failed: NDArray[np.bool_] | None

    @classmethod
    def of(cls, model: AdditiveRules | RegressionRules, table: Table) -> Self:
        """Look at the rows of a table."""
        failed = None
        if any(amounts(rule)[1] for rule in model.rules):
            failed = np.column_stack([rule.body.fails(table) for rule in model.rules])
        units = units_of(model.linear, table)
        return cls(model.rules, model.linear, model.n_classes or 1, units, failed)

    def added(self, row: int, ids: Sequence[int]) -> list[Added]:
        """Give what rules that fired, rules that failed and lines add, the largest first."""
        found = [self._of_rule(i, amounts(self.rules[i])[0], rule_text(self.rules, i)) for i in ids]
        for i in [] if self.failed is None else np.flatnonzero(self.failed[row]).tolist():
            if otherwise := amounts(self.rules[i])[1]:
                text = f"rule {i}: IF not ({self.rules[i].body})"
                found.append(self._of_rule(i, otherwise, text))
        for line, unit in zip(self.linear, self.units[row], strict=True):
            added = np.array(line.slopes) * unit
            if added.any():
                found.append(Added(added, f"line of {escape_line(line.column)}", True))
        return sorted(found, key=lambda part: -float(np.abs(part.amounts).max()))

    def _of_rule(self, i: int, amount: float, text: str) -> Added:
        added = np.zeros(self.n_scores)
        added[self.rules[i].head.classes] = amount
        return Added(added, text)

    def lines(self, row: int) -> list[tuple[LinearTerm, int, float]]:
        """Give what each line adds to the score of each class on a row, the largest first."""
        found = [
            (line, k, slope * float(self.units[row, place]))
            for place, line in enumerate(self.linear)
            for k, slope in enumerate(line.slopes)
        ]
        return sorted((item for item in found if item[2]), key=lambda item: -abs(item[2]))


def scale_rule(rule: Rule, slope: float) -> Rule:
    """Multiply the amounts of a rule."""
    response, otherwise = amounts(rule)
    return rule.with_outcome(Adds(rule.head, slope * response, slope * otherwise))


def merge_rules(rules: Sequence[Rule]) -> tuple[Rule, ...]:
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
