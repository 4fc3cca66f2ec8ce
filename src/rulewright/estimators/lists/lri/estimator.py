"""LRI: many rules with equal weights (Weiss and Indurkhya, 2000)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from rulewright import kernels
from rulewright.encoding import MOST_BINS, BinnedColumns, bin_table
from rulewright.estimators.contract.parameters import Choice, Flag, Integer, Parameter, Splitting
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.finishing.after_fit import OutOfFold, with_probabilities
from rulewright.estimators.folds.folds import Folds, divide_rows, run_parallel
from rulewright.estimators.folds.precision import (
    CheckedClassifier,
    CoverComparison,
    correct_weighed,
)
from rulewright.estimators.lists.assembly import class_shares
from rulewright.kernels import ROW, STAT, Score
from rulewright.model import AdditiveRules
from rulewright.rules import Adds, Conjunction, Coverage, Head, Or, Rule
from rulewright.search import FoundRule, RuleGrower, SearchLimits, fixed_point_unit
from rulewright.weighting import CALIBRATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

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

MOST_ERRORS = 32
"""Maximum number of errors per row; beyond it, the errors of all rows are halved."""

Terms = tuple["FoundRule", ...]
"""A rule: it applies if one of its terms does."""

TIE = 1e-6
"""Tie-breaker, less than a vote: ties go to the heaviest class."""

UNANIMOUS = 4.0
"""Total score of the rules of a class if there is no calibration."""


class LRIClassifier(CheckedClassifier[AdditiveRules]):
    """Many short rules of equal weight per class; the class with most of them wins.

    A rule is a disjunction of few terms. Each term is grown greedily to cover rows of its class at
    minimum cost ``FP + FN``, as long as a condition lowers it; every condition leaves rows of the
    class covered. After every rule the rows are reweighted by ``1 + e^3``, where e is the number of
    errors that the rules of the class made on the row so far. There is no pruning. A temperature,
    fitted on out-of-fold votes, converts votes to probabilities.

    Attributes
    ----------
    model_ : AdditiveRules
        The rules; equal rules are merged, with the sum of their weights.
    classes_ : ndarray
        Class labels.
    n_rules_ : list of int
        Number of rules per class, before equal ones are merged.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import LRIClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = LRIClassifier(rules_per_class=10, random_state=0).fit(X, y)
    >>> bool(est.score(X, y) > 0.95)
    True
    """

    rules_per_class: int = Parameter(
        Integer(1), "Number of rules per class.", default=200, kw_only=False
    )
    max_conditions: int = Parameter(Integer(1), "Maximum number of conditions per term.", default=5)
    max_disjuncts: int = Parameter(Integer(1), "Maximum number of terms per rule.", default=2)
    freeze: int = Parameter(
        Integer(1),
        "Number of rules of a class after which no new columns are used.",
        default=50,
    )
    allow_not_equal: bool = Parameter(Flag(), "Whether rules may use ``!=``.", default=False)
    missing_conditions: bool = Parameter(
        Flag(), 'Whether rules may use "is missing" and "is known".', default=False
    )
    max_bins: int | None = Parameter(
        Integer(2, optional=True),
        "Maximum number of bins per numeric column. By default one per value up to 2,048 rows, "
        "255 beyond.",
        default=None,
    )
    calibration: str | None = Parameter(
        Choice(tuple(CALIBRATIONS), optional=True),
        "Calibration of the probabilities, fitted on out-of-fold votes; only "
        '"temperature" keeps the most probable class.',
        default="temperature",
    )
    cv: Any = Parameter(Splitting(), "Folds of the calibration.", default=3)

    PAPER: ClassVar[Mapping[str, Any]] = {
        "rules_per_class": 200,
        "max_conditions": 5,
        "max_disjuncts": 2,
        "freeze": 50,
        "max_bins": MOST_BINS,
        "calibration": None,
        "precision_cv": None,
    }

    def _learn(self, rows: TrainingSet) -> AdditiveRules:
        self.n_rules_: list[int] = []
        if len(rows.classes) == 1:
            return AdditiveRules(rows.schema, rows.classes, (0.0,), (), self._summary(rows))
        random = check_random_state(self.random_state)
        binned = bin_table(rows.table, self.max_bins, self._n_threads)
        folds = None
        if self.calibration is not None:
            folds = divide_rows(rows, self.cv, random)
        n_fits = 1 if folds is None else len(folds) + 1
        n_steps = n_fits * len(rows.classes) * self.rules_per_class
        with progress_bar("learning rules", n_steps, bool(self.verbose)) as advance:
            of_fold = self._rules(rows, binned, folds, advance)
        self.n_rules_ = [len(rules) for rules in of_fold[-1]]
        model = self._model(rows, binned, of_fold[-1])
        if folds is None or self.calibration is None or not model.rules:
            return with_probabilities(model, rows, None, None)
        votes, compared = [], []
        for fold, rules in enumerate(of_fold[:-1]):
            left_out = folds.held_out_mask(fold)
            found, of_rules = _judge_rules(rules, binned.codes, rows, left_out)
            votes.append(found[left_out])
            compared.append(of_rules)
        if self.precision_cv is not None:
            model = correct_weighed(model, compared, rows)
        out_of_fold = OutOfFold.of(self._scale * folds.scatter(votes), folds, rows)
        return with_probabilities(model, rows, CALIBRATIONS[self.calibration](), out_of_fold)

    def _rules(
        self,
        rows: TrainingSet,
        binned: BinnedColumns,
        folds: Folds | None,
        advance: Callable[[], None],
    ) -> list[list[list[Terms]]]:
        """Learn the rules of every class without each fold, and finally on all rows."""
        classes, tasks = range(len(rows.classes)), []
        parts = [] if folds is None else [folds.train_rows(fold) for fold in range(len(folds))]
        for part in [*parts, None]:
            learner = self._learner(rows, binned, part)
            for head in classes:  # a grower is not thread-safe
                own = replace(learner, grower=RuleGrower(binned, "short"))
                tasks.append(partial(_learn_rules, own, head, advance))
        found = run_parallel(tasks, self._n_threads)
        return [found[start : start + len(classes)] for start in range(0, len(found), len(classes))]

    def _learner(
        self, rows: TrainingSet, binned: BinnedColumns, part: NDArray[np.intp] | None
    ) -> LightRules:
        limits = SearchLimits(
            max_conditions=self.max_conditions,
            tolerance=0.0,
            missing_conditions=self.missing_conditions,
            not_equal=self.allow_not_equal,
        )
        taken = slice(None) if part is None else part
        return LightRules(
            binned.codes if part is None else binned.codes.take(part),
            rows.labels[taken],
            rows.weights[taken],
            RuleGrower(binned, "short"),
            limits.compile(rows.schema, 1.0),
            self.rules_per_class,
            self.max_disjuncts,
            self.freeze,
        )

    @property
    def _scale(self) -> float:
        return UNANIMOUS / self.rules_per_class

    def _model(
        self, rows: TrainingSet, binned: BinnedColumns, rules: Sequence[Sequence[Terms]]
    ) -> AdditiveRules:
        """Convert rules to votes; ties go to the heaviest class."""
        voting = []
        for head, of_class in enumerate(rules):
            for terms in of_class:
                weights = rows.weights_by_class(_cover_rows(terms, binned.codes))
                coverage = Coverage.of(tuple(weights.tolist()))
                voting.append(Rule(_body(terms), Adds(Head(head, head), self._scale), coverage))
        intercepts = (
            self._scale * TIE * class_shares(rows) if voting else np.log(class_shares(rows))
        )
        summary = {**self._summary(rows), "bins": binned.describe(), "n_rules": self.n_rules_}
        starts = tuple(intercepts.tolist())
        return AdditiveRules(
            rows.schema, rows.classes, starts, tuple(voting), summary
        ).merge_rules()


def case_weights(errors: FloatArray) -> FloatArray:
    """Return the weight of rows by the number of errors of the class's rules."""
    weights: FloatArray = 1 + errors**3
    return weights


@dataclass(frozen=True, eq=False)
class LightRules:
    """Learns the rules of one class against the others.

    Parameters
    ----------
    codes : CodeColumns
        The training rows.
    labels : int32 array
        Their classes.
    weights : float array
        Their weights.
    grower : RuleGrower
        Grows terms on them.
    limits : Limits
        Constraints on the form of terms.
    n_rules, max_disjuncts, freeze : int
        Rules per class, maximum number of terms per rule, and the number of rules after which no
        new column is used.
    """

    codes: CodeColumns
    labels: IntArray
    weights: FloatArray
    grower: RuleGrower
    limits: Limits
    n_rules: int
    max_disjuncts: int
    freeze: int

    @property
    def unit(self) -> float:
        """The weight of one step; leaves room for the largest case weights."""
        return fixed_point_unit(float(self.weights.sum())) * 2.0**16

    def of_class(self, head: int, check: Callable[[], None]) -> Iterator[Terms]:
        """Yield the rules of a class; each rule increases the weights of its errors.

        There are none if no condition covers a row of the class, and `n_rules` otherwise.
        """
        own, errors = self.labels == head, np.zeros(self.codes.n_rows)
        used, limits = np.zeros(len(self.codes.n_bins), dtype=np.bool_), self.limits
        for t in range(self.n_rules):
            check()
            if t == self.freeze:
                limits = limits.only(used)
            steps = np.rint(self.weights / self.unit * case_weights(errors))
            steps = np.maximum(steps, 1).astype(STAT)
            covered, terms = self._rule(own, np.stack([steps * own, steps * ~own], axis=1), limits)
            if not terms:
                return
            used[[grown.column for term in terms for grown in term.grown]] = True
            errors += covered != own
            if errors.max() > MOST_ERRORS:
                errors /= 2
            yield terms

    def _rule(self, own: BoolArray, stats: StatArray, limits: Limits) -> tuple[BoolArray, Terms]:
        """Grow terms, each on the rows that the terms before it do not cover."""
        covered = np.zeros(len(own), dtype=np.bool_)
        terms: list[FoundRule] = []
        while len(terms) < self.max_disjuncts and (own & ~covered).any():
            term = self._term(np.flatnonzero(~covered).astype(ROW), stats, limits)
            if term is None:
                break
            covered[term.cover(self.codes)] = True
            terms.append(term)
        return covered, tuple(terms)

    def _term(self, rows: RowArray, stats: StatArray, limits: Limits) -> FoundRule | None:
        """Add conditions with minimum FP + FN while errors decrease; the first in any case."""
        score = Score("errors", unit=self.unit, k=1.0)
        histogram = kernels.count_histogram(self.codes, rows, stats)
        found = kernels.scan_histogram(self.codes, histogram, score, limits)
        first = self.grower.make_rule(found)
        if first is None or limits.max_conditions == 1:
            return first
        inside = rows[np.isin(rows, first.cover(self.codes), assume_unique=True)]
        shorter = replace(limits, max_conditions=limits.max_conditions - 1)
        rest = self.grower.grow(self.codes, inside, stats, score, shorter)
        return first if rest is None else first.followed_by(rest)


def _learn_rules(
    learner: LightRules, head: int, advance: Callable[[], None], check: Callable[[], None]
) -> list[Terms]:
    rules = []
    for terms in learner.of_class(head, check):
        rules.append(terms)
        advance()
    return rules


def _cover_rows(terms: Terms, codes: CodeColumns) -> BoolArray:
    covered = np.zeros(codes.n_rows, dtype=np.bool_)
    for term in terms:
        covered[term.cover(codes)] = True
    return covered


def _judge_rules(
    rules: Sequence[Sequence[Terms]], codes: CodeColumns, rows: TrainingSet, left_out: BoolArray
) -> tuple[FloatArray, CoverComparison]:
    """Count the rules of each class that apply to each row, and the rows of each rule by class."""
    votes = np.zeros((codes.n_rows, len(rules)))
    heads, seen, unseen = [], [], []
    for head, of_class in enumerate(rules):
        for terms in of_class:
            covered = _cover_rows(terms, codes)
            votes[:, head] += covered
            heads.append(Head(head, head))
            seen.append(rows.weights_by_class(covered & ~left_out))
            unseen.append(rows.weights_by_class(covered & left_out))
    return votes, CoverComparison(heads, np.array(seen), np.array(unseen))


def _body(terms: Terms) -> Conjunction | Or:
    parts = tuple(Conjunction.of(term.conditions) for term in terms)
    return parts[0] if len(parts) == 1 else Or(parts)
