"""C4.5rules: a decision list from the leaves of a C4.5 tree (Quinlan, 1993)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils import check_random_state

from rulewright.encoding import MOST_BINS, bin_table
from rulewright.estimators.contract.parameters import Choice, Flag, Integer, Parameter, Real
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.folds.precision import CheckedClassifier
from rulewright.estimators.lists.assembly import decision_list
from rulewright.estimators.lists.c45rules.selection import (
    EXCEPTIONS,
    SimplifiedRule,
    default_class,
    keep_reached_rules,
    order_classes,
    select_rules,
    simplify_leaves,
    without_harmful,
)
from rulewright.model import DecisionList
from rulewright.search import Brancher, TreeNode, grow_c45_tree, prune_tree, walk_leaves

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.data import TrainingSet


class BranchingClassifier(CheckedClassifier[DecisionList]):
    """Base class of learners whose rules are leaves of C4.5 trees."""

    min_branch_weight: float = Parameter(
        Real(0, above=True), "Minimum weight in two branches of a test.", default=2.0
    )
    missing_labels: bool = Parameter(
        Flag(),
        'Whether "missing" is a label of nominal columns, so that rules may use ``is missing``; by '
        "default such rows follow all branches.",
        default=False,
    )

    def _brancher(self, rows: TrainingSet) -> Brancher:
        """Return the branching of the training rows, with one bin per value."""
        binned = bin_table(rows.table, MOST_BINS, self._n_threads)
        threads, labels = self._n_threads, self.missing_labels
        return Brancher(binned, rows, self.min_branch_weight, threads, missing_labels=labels)


class C45RulesClassifier(BranchingClassifier):
    r"""A decision list with a few simplified paths of a C4.5 tree.

    Each leaf of the unpruned tree becomes a rule. Conditions are deleted from it while its
    pessimistic error does not grow. For each class, the subset of rules with the shortest
    description of rules and exceptions is selected. Classes are ordered by the errors of their
    rules; the default is the majority class of the uncovered rows.

    Attributes
    ----------
    model_ : DecisionList
        The rules: prints, predicts, explains, saves and exports.
    classes_ : ndarray
        Class labels.
    errors_ : list of float
        Pessimistic error of each rule, on all rows that it covers.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import C45RulesClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = C45RulesClassifier(random_state=0).fit(X, y)
    >>> bool(est.score(X, y) > 0.95)
    True
    """

    confidence: float = Parameter(
        Real(0, 1, above=True),
        "Confidence level of the pessimistic error: a smaller one deletes more conditions.",
        default=0.25,
        kw_only=False,
    )
    exceptions: str = Parameter(
        Choice(tuple(EXCEPTIONS)),
        'Coding of the exceptions to the rules of a class: as in release 8 of C4.5 ("release") or '
        'in the book of 1993 ("book").',
        default="release",
    )
    max_rules: int = Parameter(
        Integer(1),
        "Maximum number of leaves that become rules. A larger tree is pruned; if it is still too "
        "large, the heaviest leaves are used. Bounds the time, which grows with rules x rows.",
        default=2000,
    )

    PAPER: ClassVar[Mapping[str, Any]] = {
        "confidence": 0.25,
        "min_branch_weight": 2.0,
        "missing_labels": False,
        "precision_cv": None,
    }

    def _learn(self, training: TrainingSet) -> DecisionList:
        brancher = self._brancher(training)
        tree = self._tree(brancher)
        rules = simplify_leaves(brancher, tree, self.confidence, self.max_rules)
        listed = order_classes(brancher, self._subsets(brancher, rules))
        default = default_class(brancher, listed)
        kept = keep_reached_rules(without_harmful(brancher, listed, default), training.n_rows)
        self.errors_ = [rule.error for rule in kept]
        found = [(brancher.conjunction(rule.tests), rule.head) for rule in kept]
        summary = {
            **self._summary(training),
            "bins": brancher.binned.describe(),
            "n_candidates": len(rules),
            "errors": self.errors_,
        }
        return decision_list(training, found, default=default, summary=summary)

    def _subsets(
        self, brancher: Brancher, rules: list[SimplifiedRule]
    ) -> list[list[SimplifiedRule]]:
        """Select rules for each class."""
        random, chosen = check_random_state(self.random_state), []
        n_classes = brancher.n_classes
        with progress_bar("choosing rules", n_classes, bool(self.verbose)) as advance:
            for head in range(n_classes):
                own = [rule for rule in rules if rule.head == head]
                chosen.append(select_rules(brancher, own, head, self.exceptions, random))
                advance()
        return chosen

    def _tree(self, brancher: Brancher) -> TreeNode:
        tree = grow_c45_tree(brancher)
        if sum(1 for _ in walk_leaves(tree)) > self.max_rules:
            tree = prune_tree(brancher, tree, self.confidence)
        return tree
