"""RIPPER: pruned rules class by class (Cohen, ICML 1995)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.encoding import MOST_BINS
from rulewright.estimators.contract.parameters import Choice, Integer, Parameter, Real
from rulewright.estimators.contract.weights import count_effective_rows
from rulewright.estimators.lists.one_class import ClassSums, CoveringClassifier, OneClass
from rulewright.kernels import ROW, STAT, FloatArray, Op, RowArray, StatArray
from rulewright.search import LEAST_ROWS, FoundRule
from rulewright.stopping import condition_count_bits, ripper_data_bits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


MOST_EXTRA_BITS = 64
"""Rules are added until the description is this many bits longer than the shortest so far."""


class RipperClassifier(CoveringClassifier):
    r"""A short list of rules: the rarest class first, the most frequent one as default.

    Each class is separated from the classes that follow. A rule is grown on two thirds of the
    remaining rows, by the condition with the largest gain
    :math:`p' (\log_2 \frac{p'}{p' + n'} - \log_2 \frac{p}{p + n})`, and pruned on the rest: its
    last conditions are dropped if that raises :math:`p / (p + n)` there. Rules are added until the
    description of rules and errors is 64 bits longer than the shortest so far. Then every rule is
    compared with a revision and a replacement, remaining rows are covered, and rules that lengthen
    the description are deleted.

    Attributes
    ----------
    model_ : DecisionList
        The rules: print, predict, explain, save and export.
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import RipperClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = RipperClassifier(random_state=0).fit(X, y)
    >>> bool(est.score(X, y) > 0.95)
    True
    """

    n_optimizations: int = Parameter(
        Integer(0),
        "Number of optimisation rounds, which try a revision and a replacement of every rule; 0 is "
        "IREP*.",
        default=2,
        kw_only=False,
    )
    grow_share: float = Parameter(
        Real(0, 1, above=True),
        "Share of the weight that a rule is grown on; the rest prunes it. With fewer than 50 rows "
        "all are used for growing, without pruning and optimisation.",
        default=2 / 3,
    )

    prune_by: str = Parameter(
        Choice(("laplace", "precision")),
        "What pruning maximises on its rows: (p + 1) / (p + n + 2), or (p - n) / (p + n) as in the "
        "paper. They differ for rules that cover almost nothing there.",
        default="laplace",
    )

    PAPER: ClassVar[Mapping[str, Any]] = {
        "n_optimizations": 2,
        "grow_share": 2 / 3,
        "prune_by": "precision",
        "max_conditions": None,
        "cut_points": "observed",
        "max_bins": MOST_BINS,
        "precision_cv": None,
    }

    def _rules(self, problem: OneClass, random: np.random.RandomState) -> list[FoundRule]:
        few = count_effective_rows(problem.covering.weights) < LEAST_ROWS
        seeds = itertools.count(int.from_bytes(random.bytes(7), "little"))
        criterion = PRUNE_BY[self.prune_by]
        ripper = Ripper(problem, 1.0 if few else self.grow_share, seeds, criterion)
        return ripper.learn(self.n_optimizations)


@dataclass(frozen=True, eq=False)
class CoveringRule:
    """A rule and the rows of the problem that it covers."""

    problem: OneClass
    rule: FoundRule

    @cached_property
    def rows(self) -> RowArray:
        """The rows that it covers, regardless of earlier rules."""
        return self.problem.cover(self.rule)

    @cached_property
    def bits(self) -> float:
        """Its description length; only the tightest of several cuts on one side counts."""
        conditions = {
            (c.column, c.op, c.code if c.op == Op.NOT_EQUAL else -1) for c in self.rule.grown
        }
        n_possible = int(self.problem.covering.n_conditions.sum())
        return float(condition_count_bits(len(conditions), n_possible))


class ClassRules:
    """Rules of one class in order, and their coverage.

    `counts` is the number of rules that cover each row; `owners` is the sum of their numbers (for a
    single rule, its number). `own` has the fixed-point weights, for and against the class, of the
    rows that only one rule covers, by its number; `covered` has the sums over all covered rows.
    """

    def __init__(self, problem: OneClass) -> None:
        self.problem = problem
        self.rules: dict[int, CoveringRule] = {}
        self.counts = np.zeros(len(problem.stats), dtype=np.int32)
        self.owners = np.zeros(len(problem.stats), dtype=np.int64)
        self.own = np.zeros((8, 2), dtype=STAT)
        self.covered = np.zeros(2, dtype=STAT)

    def copy(self) -> ClassRules:
        """Return an independent copy."""
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
        """Return the bits of the errors for covered weights, one or many."""
        whole = self.problem.all
        sums = (covered * self.problem.covering.unit).astype(np.float64)
        positive, negative = sums[..., 0], sums[..., 1]
        missed, others = whole.positive - positive, whole.negative - negative
        share = whole.positive / whole.total
        bits = ripper_data_bits(positive + negative, missed + others, negative, missed, share)
        return np.asarray(bits)

    def length_with(self, rule: CoveringRule) -> float:
        """Return the length with a rule appended."""
        reached = self.problem.steps(rule.rows[self.counts[rule.rows] == 0])
        return self.rule_bits + rule.bits + float(self.data_bits(self.covered + reached))

    def put(self, number: int, rule: CoveringRule) -> None:
        """Add a rule under a free number."""
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
        """Remove and return the rule with a number."""
        rule = self.rules.pop(number)
        self.covered -= self.own[number]
        self.own[number] = 0
        self.counts[rule.rows] -= 1
        self.owners[rule.rows] -= number
        self._change_own(rule.rows[self.counts[rule.rows] == 1], 1)
        return rule

    def _change_own(self, rows: RowArray, sign: int) -> None:
        """Add rows with a single owner to its own rows, or remove them."""
        for lane in (0, 1):
            np.add.at(self.own[:, lane], self.owners[rows], sign * self.problem.stats[rows, lane])

    def shorten(self) -> None:
        """Delete rules, last to first, while the description gets shorter."""
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
        """Delete rules that are wrong on half of their own rows, or cover too little."""
        seen = np.zeros(len(self.counts), dtype=np.bool_)
        for number in sorted(self.rules):
            rows = self.rules[number].rows
            reached = self.problem.sums(rows[~seen[rows]])
            least = self.problem.covering.min_weight
            if 2 * reached.negative >= reached.total or reached.total < least:
                self.take(number)
            else:
                seen[rows] = True


def purity(covered: ClassSums) -> float:
    """Return the pruning criterion of a new rule: (p + 1) / (p + n + 2)."""
    return (covered.positive + 1) / (covered.total + 2)


def precision(covered: ClassSums) -> float:
    """Return the paper's pruning criterion, (p - n) / (p + n); the worst without rows."""
    if not covered.total:
        return -1.0
    return (covered.positive - covered.negative) / covered.total


PRUNE_BY: Mapping[str, Callable[[ClassSums], float]] = {"laplace": purity, "precision": precision}


def fewest_errors(covered: ClassSums) -> float:
    """Return the pruning criterion with other rules fixed: minus the total errors."""
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
        One seed for every split of the rows.
    criterion : function
        The pruning criterion of new rules.
    """

    def __init__(
        self,
        problem: OneClass,
        grow_share: float,
        seeds: Iterator[int],
        criterion: Callable[[ClassSums], float] = purity,
    ) -> None:
        self.problem, self.grow_share, self.seeds = problem, grow_share, seeds
        self.criterion = criterion

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
        """Run IREP*: add rules while the description is short enough."""
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
        """Return whether half of a rule's additional rows belong to other classes."""
        reached = self.problem.sums(rule.rows[rules.counts[rule.rows] == 0])
        return 2 * reached.negative >= reached.total

    def new_rule(self, rows: RowArray) -> CoveringRule | None:
        """Grow a rule on some rows and prune it on the others."""
        grow, prune = self.split(rows)
        return self.prune(self.problem.grow(grow), prune, self.criterion)

    def optimise(self, rules: ClassRules) -> ClassRules:
        """Replace each rule by the best of itself, its revision and its replacement."""
        left = self.problem.inside.copy()
        for number in sorted(rules.rules):
            others = rules.copy()
            old = others.take(number)
            sets = [rules]
            for variant in self.variants(old, np.flatnonzero(left).astype(ROW), others):
                sets.append(others.copy())
                sets[-1].put(number, variant)
            rules = min(sets, key=shortened_length)  # ties go to the first
            left[rules.rules[number].rows] = False
        return rules

    def variants(self, old: CoveringRule, left: RowArray, others: ClassRules) -> list[CoveringRule]:
        """Grow a revision and a replacement on the rows that earlier rules do not cover.

        They are pruned to minimise the errors of all rules, on rows that no other rule covers.
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
        """Keep the prefix with the best criterion on some rows; ties go to the shortest.

        Conditions on required columns come first; they are dropped only together with all others.
        """
        if rule is not None and len(rows):
            values = [value(covered) for covered in self.problem.prefix_sums(rule, rows)]
            values[1 : self.problem.n_required] = [-np.inf] * max(0, self.problem.n_required - 1)
            rule = rule.prefix(int(np.argmax(values)))
        return None if rule is None or not rule.tests else CoveringRule(self.problem, rule)


def shortened_length(rules: ClassRules) -> float:
    """Return the description length after deletions."""
    rules = rules.copy()
    rules.shorten()
    return rules.length
