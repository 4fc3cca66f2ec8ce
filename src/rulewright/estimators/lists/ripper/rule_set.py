"""The rules of one class and their description length."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels import STAT, Op
from rulewright.stopping import condition_count_bits, ripper_data_bits

if TYPE_CHECKING:
    from rulewright.estimators.lists.one_class import OneClass
    from rulewright.kernels import FloatArray, RowArray, StatArray
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


class ClassRules:
    """Rules of one class in their order, and what they cover.

    `counts` tells how many rules cover each row, `owners` is the sum of their numbers (so that of
    the only one, where it is one), and `own` the fixed-point weights for and against the class of
    the rows that only one rule covers, by its number. `covered` is that of all covered rows.
    """

    def __init__(self, problem: OneClass) -> None:
        self.problem = problem
        self.rules: dict[int, CoveringRule] = {}
        self.counts = np.zeros(len(problem.stats), dtype=np.int32)
        self.owners = np.zeros(len(problem.stats), dtype=np.int64)
        self.own = np.zeros((8, 2), dtype=STAT)
        self.covered = np.zeros(2, dtype=STAT)

    def copy(self) -> ClassRules:
        """Return rules that can be changed apart from these."""
        twin = ClassRules(self.problem)
        twin.rules, twin.covered = dict(self.rules), self.covered.copy()
        twin.counts, twin.owners, twin.own = self.counts.copy(), self.owners.copy(), self.own.copy()
        return twin

    @property
    def uncovered(self) -> RowArray:
        """The rows that no rule covers."""
        rows: RowArray = self.problem.rows[self.counts[self.problem.rows] == 0]
        return rows

    @property
    def length(self) -> float:
        """Bits of the rules and of their errors."""
        return self.rule_bits + float(self.data_bits(self.covered))

    @property
    def rule_bits(self) -> float:
        """Bits of the rules."""
        return sum(rule.bits for rule in self.rules.values())

    def data_bits(self, covered: StatArray) -> FloatArray:
        """Return the bits of the errors if so much is covered, for one or many sums."""
        whole = self.problem.all
        sums = (covered * self.problem.covering.unit).astype(np.float64)
        positive, negative = sums[..., 0], sums[..., 1]
        missed, others = whole.positive - positive, whole.negative - negative
        share = whole.positive / whole.total
        bits = ripper_data_bits(positive + negative, missed + others, negative, missed, share)
        return np.asarray(bits)

    def length_with(self, rule: CoveringRule) -> float:
        """Return the length if a rule is appended."""
        reached = self.problem.steps(rule.rows[self.counts[rule.rows] == 0])
        return self.rule_bits + rule.bits + float(self.data_bits(self.covered + reached))

    def put(self, number: int, rule: CoveringRule) -> None:
        """Add a rule under a number that is free."""
        self.rules[number] = rule
        if number >= len(self.own):
            self.own = np.concatenate([self.own, np.zeros_like(self.own)])
        counts = self.counts[rule.rows]
        self._change_own(rule.rows[counts == 1], -1)
        self.own[number] = self.problem.steps(rule.rows[counts == 0])
        self.covered += self.own[number]
        self.counts[rule.rows] += 1
        self.owners[rule.rows] += number

    def take(self, number: int) -> CoveringRule:
        """Take the rule of a number out."""
        rule = self.rules.pop(number)
        self.covered -= self.own[number]
        self.own[number] = 0
        self.counts[rule.rows] -= 1
        self.owners[rule.rows] -= number
        self._change_own(rule.rows[self.counts[rule.rows] == 1], 1)
        return rule

    def _change_own(self, rows: RowArray, sign: int) -> None:
        """Add rows of a single owner to its own, or take them away."""
        for lane in (0, 1):
            np.add.at(self.own[:, lane], self.owners[rows], sign * self.problem.stats[rows, lane])

    def shorten(self) -> None:
        """Delete, from last to first, rules without which the description is shorter."""
        last = max(self.rules, default=-1) + 1
        while numbers := [number for number in sorted(self.rules) if number < last]:
            bits = np.array([self.rules[number].bits for number in numbers])
            without = self.data_bits(self.covered - self.own[numbers]) - bits
            worse = np.flatnonzero(without < self.data_bits(self.covered))
            if not len(worse):
                break
            last = numbers[worse[-1]]
            self.take(last)

    def drop_weak(self) -> None:
        """Delete rules that err on half of what is left to them, or cover too little."""
        seen = np.zeros(len(self.counts), dtype=np.bool_)
        for number in sorted(self.rules):
            rows = self.rules[number].rows
            reached = self.problem.sums(rows[~seen[rows]])
            least = self.problem.covering.min_weight
            if 2 * reached.negative >= reached.total or reached.total < least:
                self.take(number)
            else:
                seen[rows] = True
