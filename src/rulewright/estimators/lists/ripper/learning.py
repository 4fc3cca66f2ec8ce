"""RIPPER for one class: IREP*, then rounds of optimisation (Cohen, ICML 1995)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.estimators.lists.ripper.rule_set import ClassRules, CoveringRule
from rulewright.kernels import ROW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rulewright.estimators.lists.one_class import ClassSums, OneClass
    from rulewright.kernels import RowArray
    from rulewright.search import FoundRule

MOST_EXTRA_BITS = 64
"""Rules are added until the description is so much longer than the shortest so far."""


def purity(covered: ClassSums) -> float:
    """Return what pruning of a new rule maximises: (p + 1) / (p + n + 2)."""
    return (covered.positive + 1) / (covered.total + 2)


def fewest_errors(covered: ClassSums) -> float:
    """Return what pruning maximises where the other rules stay: fewer errors of all together."""
    return covered.positive - covered.negative


class Ripper:
    """Learns the rules of one class.

    Parameters
    ----------
    problem : OneClass
        The class against the rest.
    grow_share : float
        Share of the weight that a rule is grown on; the rest prunes it.
    seeds : iterator of int
        One for every split of the rows.
    """

    def __init__(self, problem: OneClass, grow_share: float, seeds: Iterator[int]) -> None:
        self.problem, self.grow_share, self.seeds = problem, grow_share, seeds

    def learn(self, n_optimizations: int) -> list[FoundRule]:
        """Cover the class by rules, then optimise them in rounds."""
        rules = ClassRules(self.problem)
        self.cover(rules)
        for _ in range(n_optimizations if self.grow_share < 1 else 0):
            rules.shorten()
            rules = self.optimise(rules)
            self.cover(rules)
            rules.drop_weak()
        if n_optimizations:
            rules.shorten()
        return [rules.rules[number].rule for number in sorted(rules.rules)]

    def cover(self, rules: ClassRules) -> None:
        """IREP*: add rules as long as the description is short enough."""
        shortest = rules.length
        while self.problem.sums(left := rules.uncovered).positive > 0:
            rule = self.new_rule(left)
            if rule is None:
                break
            length = rules.length_with(rule)
            if self.errs(rule, rules) or length > shortest + MOST_EXTRA_BITS:
                break
            rules.put(max(rules.rules, default=-1) + 1, rule)
            shortest = min(shortest, length)

    def errs(self, rule: CoveringRule, rules: ClassRules) -> bool:
        """Tell whether half of what a rule covers beyond other rules is of other classes."""
        reached = self.problem.sums(rule.rows[rules.counts[rule.rows] == 0])
        return 2 * reached.negative >= reached.total

    def new_rule(self, rows: RowArray) -> CoveringRule | None:
        """Grow a rule on some rows and prune it on the others."""
        grow, prune = self.split(rows)
        return self.prune(self.problem.grow(grow), prune, purity)

    def optimise(self, rules: ClassRules) -> ClassRules:
        """Put the best of a rule, its revision and its replacement in the place of each."""
        left = self.problem.inside.copy()
        for number in sorted(rules.rules):
            others = rules.copy()
            old = others.take(number)
            sets = [rules]
            for variant in self.variants(old, np.flatnonzero(left).astype(ROW), others):
                sets.append(others.copy())
                sets[-1].put(number, variant)
            rules = min(sets, key=shortened_length)  # the first of equals
            left[rules.rules[number].rows] = False
        return rules

    def variants(self, old: CoveringRule, left: RowArray, others: ClassRules) -> list[CoveringRule]:
        """Grow a revision and a replacement on the rows that the rules before leave over.

        They are pruned for the fewest errors of all rules, so on rows that no other rule covers.
        """
        grow, prune = self.split(left)
        prune = prune[others.counts[prune] == 0]
        inside = np.zeros(len(others.counts), dtype=np.bool_)
        inside[old.rows] = True
        revised = grow[inside[grow]]
        if not len(revised):
            return []
        found = self.problem.grow(revised, old.rule), self.problem.grow(grow)
        pruned = [self.prune(rule, prune, fewest_errors) for rule in found]
        return [rule for rule in pruned if rule is not None]

    def split(self, rows: RowArray) -> tuple[RowArray, RowArray]:
        """Draw the rows to grow a rule on; the others prune it."""
        if self.grow_share == 1:
            return rows, rows[:0]
        return self.problem.split(rows, self.grow_share, next(self.seeds))

    def prune(
        self, rule: FoundRule | None, rows: RowArray, value: Callable[[ClassSums], float]
    ) -> CoveringRule | None:
        """Keep the first conditions that are worth most on some rows; the fewest of equals.

        Those on required columns come first, and go only together with all others.
        """
        if rule is not None and len(rows):
            values = [value(covered) for covered in self.problem.prefix_sums(rule, rows)]
            values[1 : self.problem.n_required] = [-np.inf] * max(0, self.problem.n_required - 1)
            rule = rule.prefix(int(np.argmax(values)))
        return None if rule is None or not rule.tests else CoveringRule(self.problem, rule)


def shortened_length(rules: ClassRules) -> float:
    """Return the description length after deletion."""
    rules = rules.copy()
    rules.shorten()
    return rules.length
