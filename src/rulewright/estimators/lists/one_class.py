"""Shared parts of covering learners: one class against the remaining rows, class by class.

Weights are fixed-point numbers, so that sums over rows are exact.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from rulewright import kernels
from rulewright.data import Units
from rulewright.encoding import BinnedColumns, Threshold, bin_table
from rulewright.estimators.contract.constrained import ConstrainedClassifier
from rulewright.estimators.contract.parameters import Choice, Flag, Integer, Parameter, Real
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.folds.precision import CheckedClassifier
from rulewright.estimators.lists.assembly import decision_list
from rulewright.kernels import ROW, STAT, Op, Score
from rulewright.model import DecisionList
from rulewright.rules import Conjunction, Formula
from rulewright.search import (
    Constraints,
    FoundRule,
    RuleGrower,
    SearchLimits,
    split_by_weight,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.kernels import (
        BoolArray,
        CodeColumns,
        FloatArray,
        IntArray,
        Limits,
        RowArray,
        StatArray,
    )


class ClassSums(NamedTuple):
    """Weights of a class and of other classes on some rows."""

    positive: float
    negative: float

    @property
    def total(self) -> float:
        """Total weight."""
        return self.positive + self.negative


@dataclass(frozen=True)
class CoveringContext:
    """Context shared by the problems of all classes: columns, weights and growing."""

    binned: BinnedColumns
    grower: RuleGrower
    limits: Limits
    labels: IntArray
    weights: FloatArray
    unit: float
    groups: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, rows: TrainingSet, grower: RuleGrower, limits: SearchLimits) -> CoveringContext:
        """Choose the fixed point of the weights, and convert limits to codes."""
        unit = 2.0 ** max(math.ceil(math.log2(rows.total_weight)) - 61, -1022)
        compiled = limits.compile(rows.schema, unit)
        return cls(grower.binned, grower, compiled, rows.labels, rows.weights, unit, rows.groups)

    @cached_property
    def steps(self) -> StatArray:
        """The weights in fixed point."""
        return np.rint(self.weights / self.unit).astype(STAT)

    @property
    def min_weight(self) -> float:
        """Minimum weight that a rule must cover."""
        return self.limits.min_weight * self.unit

    @property
    def codes(self) -> CodeColumns:
        """The training rows."""
        return self.binned.codes

    @cached_property
    def n_conditions(self) -> IntArray:
        """Number of useful conditions per column that the limits allow."""
        codes, counts = self.codes, self._counts_by_code()
        numbers = []
        for j, operators in enumerate(self.limits.up_operators.tolist()):
            n_known, gaps = int(np.count_nonzero(counts[j][:-1])), int(counts[j][-1] > 0)
            several = n_known if n_known > 1 else 0
            by_label = n_known if n_known + gaps > 1 else 0
            presence = {Op.MISSING: gaps, Op.KNOWN: gaps * min(n_known, 1)}
            if codes.nominal[j]:
                by_op = {Op.EQUAL: by_label, Op.NOT_EQUAL: several, **presence}
            else:
                by_op = {Op.LESS_EQUAL: several, Op.GREATER_EQUAL: several, **presence}
            numbers.append(sum(n for op, n in by_op.items() if operators >> op & 1))
        return np.array(numbers, dtype=np.int32)

    def _counts_by_code(self) -> list[StatArray]:
        ones = np.ones((self.codes.n_rows, 1), dtype=STAT)
        everyone = np.arange(self.codes.n_rows, dtype=ROW)
        counts = kernels.count_histogram(self.codes, everyone, ones, self.grower.n_threads)
        return np.split(counts[:, 0], np.cumsum(self.codes.n_bins + 1)[:-1])

    def one_class(self, head: int, rows: RowArray) -> OneClass:
        """Create the problem of one class against the others on some rows."""
        return OneClass(self, head, rows)


class OneClass:
    """One class against the others on some of the rows.

    Parameters
    ----------
    covering : CoveringContext
        Columns and weights.
    head : int
        The class.
    rows : row array
        The rows.
    """

    def __init__(self, covering: CoveringContext, head: int, rows: RowArray) -> None:
        self.covering, self.head, self.rows = covering, head, rows
        n_rows = covering.codes.n_rows
        self.inside: BoolArray = np.zeros(n_rows, dtype=np.bool_)
        self.inside[rows] = True
        self.stats = np.zeros((n_rows, 3 if covering.limits.min_weight > 0 else 2), dtype=STAT)
        against = (covering.labels[rows] != head).astype(np.intp)
        self.stats[rows, against] = covering.steps[rows]
        if covering.limits.min_weight > 0:
            self.stats[rows, 2] = covering.steps[rows]
        self.score = Score("foil", unit=covering.unit)
        self.all = self.sums(rows)

    @property
    def n_required(self) -> int:
        """Number of columns that every rule must use; a rule starts with them."""
        return int(self.covering.limits.required.sum())

    def steps(self, rows: RowArray) -> StatArray:
        """Sum the fixed-point weights of the class and of the others."""
        sums: StatArray = self.stats[rows, :2].sum(axis=0)
        return sums

    def sums(self, rows: RowArray) -> ClassSums:
        """Sum the weights of the class and of the others."""
        positive, negative = self.steps(rows).tolist()
        return ClassSums(positive * self.covering.unit, negative * self.covering.unit)

    def split(self, rows: RowArray, share: float, seed: int) -> tuple[RowArray, RowArray]:
        """Split rows at random, with this share of the weight of either side in the first part."""
        strata = (self.covering.labels[rows] == self.head).astype(np.int32)
        groups = self.covering.groups
        units = None if groups is None else Units(len(rows), groups[rows])
        taken = split_by_weight(self.covering.steps[rows], strata, share, seed, units)
        return rows[taken], rows[~taken]

    def grow(self, rows: RowArray, start: FoundRule | None = None) -> FoundRule | None:
        """Add conditions by FOIL's gain on some rows, after the conditions of `start` if given."""
        grower, limits = self.covering.grower, self.covering.limits
        if start is not None:
            for condition in start.grown:
                limits = limits.after(condition)
            if limits.max_conditions >= 0:
                left = max(0, limits.max_conditions - len(start.grown))
                limits = replace(limits, max_conditions=left)
        found = grower.grow(self.covering.codes, rows, self.stats, self.score, limits)
        if start is None or found is None:
            return found or start
        return replace(found, grown=start.grown + found.grown, tests=start.tests + found.tests)

    def prefix_sums(self, rule: FoundRule, rows: RowArray) -> list[ClassSums]:
        """Sum over the rows that satisfy the first 0, 1, 2, ... conditions of a rule."""
        sums = [self.sums(rows)]
        for column, low, high, skip in rule.tests:
            group, place = divmod(column, kernels.GROUP)
            codes = self.covering.codes.codes[group, rows, place]
            rows = rows[(codes >= low) & (codes <= high) & (codes != skip)]
            sums.append(self.sums(rows))
        return sums

    def cover(self, rule: FoundRule) -> RowArray:
        """Find the rows that a rule covers."""
        rows = rule.cover(self.covering.codes, self.covering.grower.n_threads)
        found: RowArray = rows[self.inside[rows]]
        return found

    def find_uncovered(self, rules: Sequence[FoundRule]) -> RowArray:
        """Find the rows that no rule covers."""
        left = self.inside.copy()
        for rule in rules:
            left[self.cover(rule)] = False
        return np.flatnonzero(left).astype(ROW)


class CoveringClassifier(CheckedClassifier[DecisionList], ConstrainedClassifier[DecisionList]):
    """Base class of learners that cover class after class; the last class is the default."""

    max_conditions: int | None = Parameter(
        Integer(1, optional=True), "Maximum number of conditions per rule.", default=None
    )
    min_weight: float = Parameter(
        Real(0),
        "Minimum weight that a rule must cover among the rows that earlier rules do not cover.",
        default=2.0,
    )
    allow_not_equal: bool = Parameter(Flag(), "Whether rules may use ``!=``.", default=False)
    missing_conditions: bool = Parameter(
        Flag(), 'Whether rules may use "is missing" and "is known".', default=False
    )
    cut_points: Threshold = Parameter(
        Choice(("short", "observed", "midpoint")),
        'Where a threshold lies between two values: at the covered value ("observed"), at a '
        'shorter number if it has many digits ("short"), or halfway ("midpoint").',
        default="short",
    )
    max_bins: int | None = Parameter(
        Integer(2, optional=True),
        "Maximum number of bins per numeric column. By default one per value up to 2,048 rows, "
        "255 beyond.",
        default=None,
    )

    def _learn(self, rows: TrainingSet) -> DecisionList:
        constraints = self._checked_constraints(rows)
        if constraints.monotone:
            raise ValueError(
                f"constraints: monotone columns ({', '.join(constraints.monotone)}) need additive "
                "rules, as in compact, mlrules and slipper: lists have no monotone probabilities"
            )
        covering = self._covering(rows, constraints)
        random = check_random_state(self.random_state)
        *heads, default = self._order(rows)
        left = np.arange(rows.n_rows, dtype=ROW)
        found: list[tuple[Formula, int]] = []
        with progress_bar("covering classes", len(heads), bool(self.verbose)) as advance:
            for head in heads:
                problem = covering.one_class(head, left)
                rules = self._rules(problem, random) if problem.all.positive else []
                found += [(Conjunction.of(rule.conditions), head) for rule in rules]
                left = problem.find_uncovered(rules)
                advance()
        summary = {**self._summary(rows, constraints), "bins": covering.binned.describe()}
        return decision_list(rows, found, default=default, summary=summary)

    @abstractmethod
    def _rules(self, problem: OneClass, random: np.random.RandomState) -> list[FoundRule]:
        """Find the rules of one class."""

    def _order(self, rows: TrainingSet) -> list[int]:
        """Return the order in which classes are covered: the rarest first."""
        order: list[int] = np.argsort(rows.class_weights, kind="stable").tolist()
        return order

    def _covering(self, rows: TrainingSet, constraints: Constraints) -> CoveringContext:
        limits = SearchLimits(
            max_conditions=self.max_conditions,
            min_weight=self.min_weight,
            tolerance=1e-9,
            missing_conditions=self.missing_conditions,
            not_equal=self.allow_not_equal,
            constraints=constraints,
        )
        digits = constraints.digits_by_column(rows.schema)
        binned = bin_table(rows.table, self.max_bins, self._n_threads, digits)
        return CoveringContext.of(
            rows, RuleGrower(binned, self.cut_points, self._n_threads), limits
        )
