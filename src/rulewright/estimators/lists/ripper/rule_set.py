"""The rules of one class and their description length."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rulewright.capacity.description_length import condition_count_bits, ripper_data_bits
from rulewright.kernels import Op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.estimators.lists.one_class import OneClass, Sums
    from rulewright.kernels import RowArray
    from rulewright.search import FoundRule


@dataclass(frozen=True, eq=False)
class CoveringRule:
    """A rule and the rows of the problem that it covers."""

    problem: OneClass
    rule: FoundRule

    @cached_property
    def rows(self) -> RowArray:
        """The rows that it covers, whatever rules come before it."""
        return self.problem.cover(self.rule)

    @cached_property
    def bits(self) -> float:
        """Its description length; of cuts of one column on one side only the tightest counts."""
        conditions = {
            (c.column, c.op, c.code if c.op == Op.NOT_EQUAL else -1) for c in self.rule.grown
        }
        n_possible = int(self.problem.covering.n_conditions.sum())
        return float(condition_count_bits(len(conditions), n_possible))


class RuleSet:
    """Rules of one class in their order, how often they cover each row, and their length."""

    def __init__(self, problem: OneClass, rules: Sequence[CoveringRule] = ()) -> None:
        self.problem, self.rules = problem, list(rules)
        self.counts = np.zeros(len(problem.stats), dtype=np.int32)
        for rule in rules:
            self.counts[rule.rows] += 1
        self.covered = problem.sums(problem.rows[self.counts[problem.rows] > 0])

    @property
    def uncovered(self) -> RowArray:
        """The rows that no rule covers."""
        rows: RowArray = self.problem.rows[self.counts[self.problem.rows] == 0]
        return rows

    @property
    def length(self) -> float:
        """Bits of the rules and of their errors."""
        return sum(rule.bits for rule in self.rules) + self.data_bits(self.covered)

    def data_bits(self, covered: Sums) -> float:
        """Return the bits of the errors if so much is covered."""
        whole = self.problem.all
        left = whole.minus(covered)
        share = whole.positive / whole.total
        return float(
            ripper_data_bits(covered.total, left.total, covered.negative, left.positive, share)
        )

    def length_with(self, rule: CoveringRule, reached: Sums) -> float:
        """Return the length if a rule that covers so much of what is uncovered is appended."""
        theory = sum(rule.bits for rule in self.rules) + rule.bits
        return theory + self.data_bits(self.covered.plus(reached))

    def add(self, rule: CoveringRule, reached: Sums) -> None:
        """Append a rule that covers so much of what is uncovered."""
        self.rules.append(rule)
        self.counts[rule.rows] += 1
        self.covered = self.covered.plus(reached)

    def reduce(self) -> None:
        """Delete, from last to first, rules that are weak or lengthen the description."""
        length, weak = self.length, self._weak()
        for place in range(len(self.rules) - 1, -1, -1):
            rule = self.rules[place]
            alone = self.problem.sums(rule.rows[self.counts[rule.rows] == 1])
            rest = self.covered.minus(alone)
            without = length - rule.bits + self.data_bits(rest) - self.data_bits(self.covered)
            if without < length or weak[place]:
                del self.rules[place]
                self.counts[rule.rows] -= 1
                self.covered, length = rest, without

    def _weak(self) -> list[bool]:
        """Tell which rules err on half of what the rules before leave over, or cover too little."""
        seen, weak = np.zeros(len(self.counts), dtype=np.bool_), []
        least = self.problem.covering.min_weight
        for rule in self.rules:
            reached = self.problem.sums(rule.rows[~seen[rule.rows]])
            weak.append(2 * reached.negative >= reached.total or reached.total < least)
            seen[rule.rows] = True
        return weak
