"""What learners of lists from C4.5 trees share: the tests of the trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.encoding import MOST_BINS, bin_table
from rulewright.estimators.contract.parameters import Flag, Parameter, Real
from rulewright.estimators.folds.precision import CheckedClassifier
from rulewright.model import DecisionList
from rulewright.search import Brancher

if TYPE_CHECKING:
    from rulewright.data import TrainingSet


class BranchingClassifier(CheckedClassifier[DecisionList]):
    """Base of learners whose rules are leaves of C4.5 trees."""

    min_branch_weight: float = Parameter(
        Real(0, above=True), "Least weight of two branches of a test.", default=2.0
    )
    missing_labels: bool = Parameter(
        Flag(),
        'Whether "missing" is a label of nominal columns, so that ``is missing`` is a condition; '
        "by default such rows go down all branches.",
        default=False,
    )

    def _brancher(self, rows: TrainingSet) -> Brancher:
        """Return what branches the training rows, one bin per value."""
        binned = bin_table(rows.table, MOST_BINS, self._n_threads)
        threads, labels = self._n_threads, self.missing_labels
        return Brancher(binned, rows, self.min_branch_weight, threads, missing_labels=labels)
