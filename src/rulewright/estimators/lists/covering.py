"""What learners share that cover the classes one after the other by rules of their own."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_random_state

from rulewright.encoding import Threshold, bin_table
from rulewright.estimators.contract.base import progress_bar
from rulewright.estimators.contract.constrained import ConstrainedClassifier
from rulewright.estimators.contract.parameters import Choice, Flag, Integer, Parameter, Real
from rulewright.estimators.contract.weights import refuse_huge, scale_weights
from rulewright.estimators.folds.precision import CheckedClassifier
from rulewright.estimators.lists.assembly import decision_list
from rulewright.estimators.lists.one_class import CoveringContext, OneClass
from rulewright.kernels import ROW
from rulewright.model import DecisionList
from rulewright.rules import Conjunction, Formula
from rulewright.search import Constraints, FoundRule, RuleGrower, SearchLimits

if TYPE_CHECKING:
    from rulewright.data import TrainingSet


class CoveringClassifier(CheckedClassifier[DecisionList], ConstrainedClassifier[DecisionList]):
    """Base of the learners that cover one class after the other; the last is the default."""

    max_conditions: int | None = Parameter(
        Integer(1, optional=True), "Most conditions in a rule.", default=None
    )
    min_weight: float = Parameter(
        Real(0),
        "Least weight that a rule must cover, of the rows that the rules before it leave over.",
        default=2.0,
    )
    allow_not_equal: bool = Parameter(Flag(), "Whether ``!=`` is a condition too.", default=False)
    missing_conditions: bool = Parameter(
        Flag(), 'Whether "is missing" and "is known" are conditions too.', default=False
    )
    cut_points: Threshold = Parameter(
        Choice(("short", "observed", "midpoint")),
        'Where between two values a cut lies: at the covered one ("observed"), which is written '
        'shorter if it has many digits ("short"), or halfway ("midpoint").',
        default="short",
    )
    max_bins: int | None = Parameter(
        Integer(2, optional=True),
        "Most bins of a numeric column; by default one per value up to 2,048 rows, 255 beyond.",
        default=None,
    )

    def _learn(self, rows: TrainingSet) -> DecisionList:
        constraints = self._checked_constraints(rows)
        if constraints.monotone:
            raise ValueError(
                f"constraints: monotone columns ({', '.join(constraints.monotone)}) need rules "
                "that add up, as of mlrules and slipper: the probabilities of a list go up and down"
            )
        refuse_huge(rows)
        rows = scale_weights(rows)
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
        """Return the classes in the order in which they are covered: the rarest first."""
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
