"""PART: a decision list from partial C4.5 trees (Frank and Witten, ICML 1998)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils import check_random_state

from rulewright.estimators.contract.many_labels import EACH_LABEL, warn_of_many_labels
from rulewright.estimators.contract.parameters import Parameter, Real
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.lists.assembly import decision_list
from rulewright.estimators.lists.c45rules.estimator import BranchingClassifier
from rulewright.search import Brancher, Cases, find_part, heaviest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulewright.data import TrainingSet
    from rulewright.model import DecisionList
    from rulewright.rules import Conjunction

PERCENT = 100
"""Steps of the progress bar."""


class PARTClassifier(BranchingClassifier):
    r"""A decision list: the largest leaf of one partial C4.5 tree after another.

    The remaining rows are split by the best test of C4.5. The subset with minimum entropy is split
    further, until all branches of a node are leaves. The largest leaf becomes a rule,
    its rows are removed, and the tree is discarded. The last rule is the default. There is no
    global optimisation, and no randomness.

    While a tree grows, a row with a missing value follows all branches with a part of its weight. A
    rule applies if all its conditions are true, which they are not for missing values; so only
    whole rows are covered and removed.

    Attributes
    ----------
    model_ : DecisionList
        The rules: prints, predicts, explains, saves and exports.
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import PARTClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = PARTClassifier().fit(X, y)
    >>> bool(est.score(X, y) > 0.95)
    True
    """

    confidence: float = Parameter(
        Real(0, 1, above=True),
        "Confidence level of the pessimistic error of leaves: a smaller one prunes more.",
        default=0.25,
        kw_only=False,
    )

    PAPER: ClassVar[Mapping[str, Any]] = {
        "confidence": 0.25,
        "min_branch_weight": 2.0,
        "missing_labels": False,
        "precision_cv": None,
    }

    def _warn_of_rows(self, rows: TrainingSet) -> None:
        """Warn about columns with too many labels."""
        warn_of_many_labels(rows, type(self).__name__, EACH_LABEL)

    def _learn(self, training: TrainingSet) -> DecisionList:
        check_random_state(self.random_state)  # validated, but not used
        brancher = self._brancher(training)
        with progress_bar("covering rows", PERCENT, bool(self.verbose)) as advance:
            found, default = self._parts(brancher, advance)
        summary = {**self._summary(training), "bins": brancher.binned.describe()}
        return decision_list(training, found, default=default, summary=summary)

    def _parts(
        self, brancher: Brancher, advance: Callable[[], None]
    ) -> tuple[list[tuple[Conjunction, int]], int | None]:
        """Find rules until no rows remain, or the remaining rows form a leaf."""
        found: list[tuple[Conjunction, int]] = []
        left, done = brancher.all_cases, 0
        while len(left.rows):
            part = find_part(brancher, left, self.confidence)
            if part is None:
                prior = brancher.class_weights
                return found, heaviest(brancher.weights_of(left), prior)
            found.append((brancher.conjunction(part.tests), part.head))
            outside = ~brancher.holds(part.tests, left.rows).all(axis=0)
            left = Cases(left.rows[outside], left.steps[outside])
            before, done = done, PERCENT - PERCENT * len(left.rows) // len(brancher.steps)
            for _ in range(before, done):
                advance()
        return found, None
