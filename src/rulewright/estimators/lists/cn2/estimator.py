"""CN2: rules found one by one by beam search (Clark and Niblett, 1989; Clark and Boswell, 1991)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import chdtri
from sklearn.utils import check_random_state

from rulewright.encoding import MOST_BINS, bin_table
from rulewright.estimators.contract.many_labels import EACH_LABEL, warn_of_many_labels
from rulewright.estimators.contract.parameters import Choice, Flag, Integer, Parameter, Real
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.folds.folds import run_parallel
from rulewright.estimators.folds.precision import CheckedClassifier
from rulewright.estimators.lists.assembly import decision_list, unordered_rules
from rulewright.kernels import ROW, STAT, Beam, Score
from rulewright.model import ClassModel, DecisionList, UnorderedRules
from rulewright.rules import Conjunction
from rulewright.search import FoundRule, RuleGrower, SearchLimits, fixed_point_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rulewright.data import TrainingSet
    from rulewright.kernels import BoolArray, FloatArray, Limits, RowArray, StatArray

HARMONIC = "1/(k+1)"
"""Weighting of rows that were covered k times, as in CN2-SD."""


class CN2Classifier(CheckedClassifier[ClassModel]):
    r"""Rules found one by one by beam search: an unordered set, or a decision list.

    A beam search extends the best few conjunctions and returns the best one found. Unordered rules
    (1991) are learned class by class. The criterion is the Laplace estimate
    :math:`(p + 1) / (p + n + K)`; only covered rows of the class are removed; learning stops when
    no rule beats the empty one. All rules that apply add their covered training rows. A decision
    list (1989) minimises the entropy of the covered classes and removes all covered rows. The
    criterion "wracc" gives few, general rules (2000); with `weighted_covering`, covered rows get
    smaller weights instead of being removed (CN2-SD).

    Attributes
    ----------
    model_ : UnorderedRules or DecisionList
        The rules: prints, predicts, explains, saves and exports.
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import CN2Classifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = CN2Classifier().fit(X, y)
    >>> bool(est.score(X, y) > 0.95)
    True
    """

    ordered: bool = Parameter(
        Flag(), "Whether rules form a decision list instead of an unordered set.", default=False
    )
    criterion: str = Parameter(
        Choice(("auto", "laplace", "wracc", "entropy")),
        'Quality of a rule. "auto" is "entropy" for ordered rules and "laplace" for unordered '
        'rules, which exclude "entropy".',
        default="auto",
    )
    beam_width: int = Parameter(Integer(1), "Number of conjunctions in the beam.", default=5)
    significance: float = Parameter(
        Real(0, 1),
        "Confidence level of the likelihood ratio test for each rule, such as 0.95; 0: no test.",
        default=0.0,
    )
    rules_per_class: int | None = Parameter(
        Integer(1, optional=True),
        "Maximum number of rules per class; in total for a decision list (`ordered`).",
        default=None,
    )
    max_conditions: int | None = Parameter(
        Integer(1, optional=True), "Maximum number of conditions per rule.", default=None
    )
    min_weight: float = Parameter(
        Real(0), "Minimum weight that a rule must cover among the remaining rows.", default=0.0
    )
    weighted_covering: float | str | None = Parameter(
        Real(0, 1, above=True, optional=True, words=(HARMONIC,)),
        "Weight of a row that k rules cover, for unordered rules: this number to the power of k, "
        f'or "{HARMONIC}"; by default covered rows are removed.',
        default=None,
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

    PAPER: ClassVar[Mapping[str, Any]] = {
        "ordered": False,
        "criterion": "auto",
        "beam_width": 5,
        "significance": 0.0,
        "max_conditions": None,
        "min_weight": 0.0,
        "weighted_covering": None,
        "max_bins": MOST_BINS,
        "precision_cv": None,
    }

    @property
    def _pools_labels(self) -> bool:
        """Bins take a pooled label for a missing one, which only `=` does not notice."""
        return not (self.allow_not_equal or self.missing_conditions)

    def _warn_of_rows(self, rows: TrainingSet) -> None:
        """Warn about columns with too many labels."""
        warn_of_many_labels(rows, type(self).__name__, EACH_LABEL)

    def _learn(self, rows: TrainingSet) -> ClassModel:
        self._check_criterion()
        check_random_state(self.random_state)  # validated, but not used
        return self._decision_list(rows) if self.ordered else self._learn_unordered(rows)

    def _decision_list(self, rows: TrainingSet) -> DecisionList:
        covering, found = self._covering(rows, self._n_threads), []
        with progress_bar("searching rules", rows.n_rows, bool(self.verbose)) as advance:
            for rule, head in islice(covering.cover_in_order(), self.rules_per_class):
                found.append((_body(rule), head))
                advance()
        return decision_list(rows, found, summary=self._summary(rows))

    def _learn_unordered(self, rows: TrainingSet) -> UnorderedRules:
        covering = self._covering(rows, 1)

        def learn(head: int, check: Callable[[], None]) -> list[FoundRule]:
            rules = list(islice(covering.of_class(head, check), self.rules_per_class))
            advance()
            return rules

        heads = range(len(rows.classes) if len(rows.classes) > 1 else 0)
        with progress_bar("searching rules", len(heads), bool(self.verbose)) as advance:
            rules = run_parallel([partial(learn, head) for head in heads], self._n_threads)
        bodies = (_body(rule) for of_class in rules for rule in of_class)
        return unordered_rules(rows, bodies, summary=self._summary(rows))

    def _covering(self, rows: TrainingSet, n_threads: int) -> CoveringSearch:
        limits = SearchLimits(
            max_conditions=self.max_conditions,
            min_weight=self.min_weight,
            tolerance=1e-12,
            missing_conditions=self.missing_conditions,
            not_equal=self.allow_not_equal,
        )
        binned = bin_table(rows.table, self.max_bins, self._n_threads)
        freedom = len(rows.classes) - 1 if self._criterion == "entropy" else 1
        least = float(chdtri(max(freedom, 1), 1 - self.significance))
        return CoveringSearch(
            rows,
            RuleGrower(binned, "midpoint", n_threads),
            limits,
            Beam(width=self.beam_width, significance=min(least, 1e300)),
            self._criterion,
            self.weighted_covering,
        )

    @property
    def _criterion(self) -> str:
        usual = "entropy" if self.ordered else "laplace"
        return usual if self.criterion == "auto" else self.criterion

    def _check_criterion(self) -> None:
        if self.criterion == "entropy" and not self.ordered:
            raise ValueError(
                "criterion='entropy' evaluates all classes at once: set ordered=True, or use "
                "'laplace' or 'wracc'"
            )
        if self.weighted_covering is not None and self.ordered:
            raise ValueError(
                f"weighted_covering={self.weighted_covering!r} needs unordered rules; a list "
                "removes covered rows: set ordered=False or leave it out"
            )


@dataclass(frozen=True, eq=False)
class CoveringSearch:
    """Rows to be covered, and the search for the best rule on some of them.

    Parameters
    ----------
    rows : TrainingSet
        The training rows.
    grower : RuleGrower
        Grows rules on their codes.
    limits : SearchLimits
        Constraints on the form of rules.
    beam : Beam
        Beam width and significance test.
    criterion : {"entropy", "laplace", "wracc"}
        Quality of a rule.
    gamma : float or str, optional
        Remaining weight of a row that a rule covers; by default it is removed.
    """

    rows: TrainingSet
    grower: RuleGrower
    limits: SearchLimits
    beam: Beam
    criterion: str
    gamma: float | str | None = None

    @cached_property
    def unit(self) -> float:
        """The weight of one step of the fixed-point weights."""
        return fixed_point_unit(self.rows.total_weight)

    @cached_property
    def steps(self) -> StatArray:
        """The weights in fixed-point steps."""
        steps: StatArray = np.maximum(np.rint(self.rows.weights / self.unit), 1).astype(STAT)
        return steps

    @cached_property
    def _compiled(self) -> Limits:
        return self.limits.compile(self.rows.schema, self.unit)

    @property
    def _everyone(self) -> RowArray:
        return np.arange(self.rows.n_rows, dtype=ROW)

    def cover_in_order(self) -> Iterator[tuple[FoundRule, int]]:
        """Repeatedly find the best rule and its class, and remove all rows that it covers."""
        left, problems = self._everyone, self._problems()
        totals = [lanes.sum(axis=0) for lanes in problems]
        while len(np.unique(self.rows.labels[left])) > 1:
            ranked = []
            for head, lanes in enumerate(problems):
                if (rule := self._best(left, lanes, totals[head])) is not None:
                    covered = left[self._cover_rows(rule)[left]]
                    rank = rule.grown[-1].criterion, -int(self.steps[covered].sum())
                    ranked.append((rank, head + rule.vote // 2, rule, covered))
            if not ranked:
                return
            _, head, rule, covered = min(ranked, key=lambda found: found[0])
            left = np.setdiff1d(left, covered, assume_unique=True)
            yield rule, head

    def of_class(self, head: int, check: Callable[[], None]) -> Iterator[FoundRule]:
        """Repeatedly find the best rule of a class, and remove its covered rows of the class."""
        own, lanes = self.rows.labels == head, self._lanes(head)
        left, times, known = self._everyone, np.zeros(self.rows.n_rows), set()
        totals, wanted = lanes.sum(axis=0), own if self.gamma is None else lanes[:, 0]
        while wanted[left].any():
            check()
            if self.criterion == "wracc":
                # Relative to the remaining rows: when a class is nearly covered, no general rule is
                # as accurate as the class is frequent. A list removes rows of all classes.
                totals = lanes[left].sum(axis=0)
            rule = self._best(left, lanes, totals)
            if rule is None or rule.tests in known:  # a repeated rule is not useful
                return
            yield rule
            known.add(rule.tests)
            covered = self._cover_rows(rule) & own
            if self.gamma is None:
                left = left[~covered[left]]
            else:
                times += covered
                lanes[own, 0] = np.rint(self.steps * self._fading(times))[own].astype(STAT)
                totals = lanes.sum(axis=0)

    def _problems(self) -> list[StatArray]:
        """Return the statistics of every search for the next rule: all classes at once, or each."""
        n_classes = len(self.rows.classes)
        if self.criterion != "entropy":
            return [self._lanes(head) for head in range(n_classes)]
        lanes = np.zeros((self.rows.n_rows, n_classes + 1), dtype=STAT)
        lanes[self._everyone, self.rows.labels] = lanes[:, -1] = self.steps
        return [lanes]

    def _lanes(self, head: int) -> StatArray:
        """Return the weights of a class, of the other classes, and in total."""
        own = self.rows.labels == head
        return np.stack([self.steps * own, self.steps * ~own, self.steps], axis=1)

    def _best(self, left: RowArray, lanes: StatArray, totals: StatArray) -> FoundRule | None:
        """Search the best rule; `totals` are the sums of the lanes over all rows."""
        n_classes = len(self.rows.classes)
        score = Score(self.criterion, unit=self.unit, n_lanes=lanes.shape[1] - 1, k=n_classes)
        codes = self.grower.binned.codes
        return self.grower.search(codes, left, lanes, score, self._compiled, self.beam, totals)

    def _cover_rows(self, rule: FoundRule) -> BoolArray:
        covered = np.zeros(self.rows.n_rows, dtype=np.bool_)
        covered[rule.cover(self.grower.binned.codes, self.grower.n_threads)] = True
        return covered

    def _fading(self, times: FloatArray) -> FloatArray:
        if isinstance(self.gamma, float | int):
            return np.power(float(self.gamma), times)
        faded: FloatArray = 1 / (times + 1)
        return faded


def _body(rule: FoundRule) -> Conjunction:
    return Conjunction.of(rule.conditions)
