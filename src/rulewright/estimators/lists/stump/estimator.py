"""Decision stumps: one test with three branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import xlogy
from sklearn.utils import check_random_state

from rulewright import kernels
from rulewright.encoding import MOST_BINS, BinnedColumns, bin_table
from rulewright.estimators.contract.parameters import Parameter, Real
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.folds.precision import CheckedClassifier
from rulewright.estimators.lists.assembly import decision_list
from rulewright.kernels import ROW, STAT, FloatArray, Op
from rulewright.model import DecisionList
from rulewright.rules import Condition, Conjunction, Labels, Presence, Range, opposite
from rulewright.search import fixed_point_unit

if TYPE_CHECKING:
    from rulewright.data import TrainingSet

TIE = 1e-9
"""Minimum gain of a test, and minimum difference between gains, as shares of the entropy."""


class StumpTest(NamedTuple):
    """A test on one column (a label, or a cut between two codes), and the remaining entropy."""

    column: int
    code: int
    beyond: int
    left: float


class StumpClassifier(CheckedClassifier[DecisionList]):
    r"""A single test: one label against the others, or a cut; missing values form a third branch.

    The test minimises the class entropy, summed over the three branches. If no training value is
    missing, missing values get the distribution of all rows.

    Attributes
    ----------
    model_ : DecisionList
        At most three rules: prints, predicts, explains, saves and exports.
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import StumpClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = StumpClassifier().fit(X, y)
    >>> len(est.model_.rules), bool(est.score(X, y) > 0.9)
    (2, True)
    """

    min_branch_weight: float = Parameter(
        Real(0),
        "Minimum weight of both branches of known values.",
        default=0.0,
        kw_only=False,
    )

    def _learn(self, training: TrainingSet) -> DecisionList:
        check_random_state(self.random_state)  # validated, but not used
        binned = bin_table(training.table, MOST_BINS, self._n_threads)
        with progress_bar("judging tests", 1, bool(self.verbose)) as advance:
            sums = _class_sums(training, binned, self._n_threads)
            test = best_test(sums, binned, self.min_branch_weight / training.total_weight)
            advance()
        found = []
        if test is not None:
            first, second = _conditions(test, binned)
            missing = Presence(first.column, missing=True)
            found = [Conjunction((part,)) for part in (first, second, missing)]
        prior = training.class_weights / training.total_weight
        rules = []
        for body in found:
            weights = training.weights_by_class(body.holds(training.table))
            rules.append((body, int(np.argmax(weights + TIE * weights.sum() * prior))))
        return decision_list(training, rules, summary=self._summary(training))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # a single test
        return tags


def best_test(sums: list[FloatArray], binned: BinnedColumns, min_share: float) -> StumpTest | None:
    """Return the test with minimum entropy; ties go to the first. None without a gain."""
    total = float(_entropy(sums[0].sum(axis=0)))
    best: StumpTest | None = None
    for column, by_code in enumerate(sums):
        present = np.flatnonzero(by_code[:-1].any(axis=1))
        known, missing = by_code[present], by_code[-1]
        inside, beyond = known, present  # a label, or the only value
        if not binned.codes.nominal[column] and len(present) > 1:
            inside, beyond = known.cumsum(axis=0)[:-1], present[1:]
        outside = known.sum(axis=0) - inside
        left = _entropy(inside) + _entropy(outside) + _entropy(missing)
        lighter = np.minimum(inside.sum(axis=1), outside.sum(axis=1))
        left[lighter < min_share * (1 - TIE)] = np.inf
        if not np.isfinite(left).any():
            continue
        place = int(np.flatnonzero(left <= left.min() + TIE * total)[0])
        found = StumpTest(column, int(present[place]), int(beyond[place]), float(left[place]))
        if found.left < (total if best is None else best.left) - TIE * total:
            best = found
    return best


def _class_sums(training: TrainingSet, binned: BinnedColumns, n_threads: int) -> list[FloatArray]:
    """Sum the shares of the classes per code of each column, missing last."""
    unit = fixed_point_unit(training.total_weight)
    stats = np.zeros((training.n_rows, len(training.classes)), dtype=STAT)
    rows = np.arange(training.n_rows, dtype=ROW)
    stats[rows, training.labels] = np.maximum(np.rint(training.weights / unit), 1)
    sums = kernels.count_histogram(binned.codes, rows, stats, n_threads) / float(stats.sum())
    return np.split(sums, np.cumsum(binned.codes.n_bins + 1)[:-1])


def _entropy(weights: FloatArray) -> FloatArray:
    """Return the entropy of class weights times their sum, along the last axis."""
    sums = weights.sum(axis=-1)
    return np.asarray(xlogy(sums, sums) - xlogy(weights, weights).sum(axis=-1))


def _conditions(test: StumpTest, binned: BinnedColumns) -> tuple[Condition, Condition]:
    """Return the conditions of the two sides of a test; ordered labels are divided in two."""
    bins = binned.bins[test.column]
    if bins.schema.ranked and test.code != test.beyond:
        last = bins.last_below(test.code, test.beyond, Op.LESS_EQUAL, "midpoint")
        return bins.labels_from(0, last), bins.labels_from(last + 1, len(bins) - 1)
    first = _condition(test, binned)
    return first, opposite(first)


def _condition(test: StumpTest, binned: BinnedColumns) -> Condition:
    bins = binned.bins[test.column]
    name, kind = bins.schema.name, bins.schema.kind
    if test.code == test.beyond:
        if bins.schema.type.ordered:
            return Presence(name, missing=False)
        return Labels(name, (bins.schema.labels[test.code],))
    cut = bins.cut(test.code, test.beyond, Op.LESS_EQUAL, "midpoint")
    return Range(name, high=cut, kind=kind)
