"""CN2: one rule at a time by a beam search (Clark and Niblett, 1989; Clark and Boswell, 1991)."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from scipy.special import chdtri
from sklearn.utils import check_random_state

from rulewright.encoding import MOST_BINS, bin_table
from rulewright.estimators.contract.parameters import Choice, Flag, Integer, Parameter, Real
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.folds.folds import run_parallel
from rulewright.estimators.folds.precision import CheckedClassifier
from rulewright.estimators.lists.assembly import decision_list, unordered_rules
from rulewright.estimators.lists.cn2.covering import HARMONIC, CoveringSearch
from rulewright.kernels import Beam
from rulewright.model import ClassModel
from rulewright.rules import Conjunction
from rulewright.search import RuleGrower, SearchLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulewright.data import TrainingSet
    from rulewright.model import DecisionList, UnorderedRules
    from rulewright.search import FoundRule


class CN2Classifier(CheckedClassifier[ClassModel]):
    r"""Rules found one at a time by a beam search, as an unordered set or as a decision list.

    A beam search follows the best few conjunctions and returns the best that it meets. Unordered
    rules (1991) are learned for each class in turn: the criterion is Laplace's estimate
    :math:`(p + 1) / (p + n + K)`, only the covered rows of the class are removed, and learning ends
    when no rule is better than the empty one; all rules that hold add up the training rows they
    cover. A decision list (1989) minimises the entropy of the covered classes and removes all
    covered rows. With the criterion "wracc" rules are few and general (2000), with
    `weighted_covering` covered rows count less instead of being removed (CN2-SD).

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
        'What makes a rule good: "auto" is "entropy" of ordered rules and "laplace" of unordered '
        'ones, which cannot be judged by "entropy".',
        default="auto",
    )
    beam_width: int = Parameter(Integer(1), "Conjunctions that a search follows.", default=5)
    significance: float = Parameter(
        Real(0, 1),
        "Level of the likelihood ratio test that a rule must pass, such as 0.95; 0 is no test.",
        default=0.0,
    )
    rules_per_class: int | None = Parameter(
        Integer(1, optional=True),
        "Most rules of each class; of all classes together where they are `ordered`.",
        default=None,
    )
    max_conditions: int | None = Parameter(
        Integer(1, optional=True), "Most conditions in a rule.", default=None
    )
    min_weight: float = Parameter(
        Real(0), "Least weight that a rule must cover among the rows left.", default=0.0
    )
    weighted_covering: float | str | None = Parameter(
        Real(0, 1, above=True, optional=True, words=(HARMONIC,)),
        "What a row covered k times weighs in the search for unordered rules: this number to the "
        f'power of k, or "{HARMONIC}"; by default it is removed.',
        default=None,
    )
    allow_not_equal: bool = Parameter(Flag(), "Whether ``!=`` is a condition too.", default=False)
    missing_conditions: bool = Parameter(
        Flag(), 'Whether "is missing" and "is known" are conditions too.', default=False
    )
    max_bins: int | None = Parameter(
        Integer(2, optional=True),
        "Most bins of a numeric column; by default one per value up to 2,048 rows, 255 beyond.",
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

    def _learn(self, rows: TrainingSet) -> ClassModel:
        self._check_criterion()
        check_random_state(self.random_state)  # nothing is drawn
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
                "criterion='entropy' rates all classes at once: set ordered=True, or take "
                "'laplace' or 'wracc'"
            )
        if self.weighted_covering is not None and self.ordered:
            raise ValueError(
                f"weighted_covering={self.weighted_covering!r} is of unordered rules: a list "
                "removes what it covers; set ordered=False or leave it out"
            )


def _body(rule: FoundRule) -> Conjunction:
    return Conjunction.of(rule.conditions)
