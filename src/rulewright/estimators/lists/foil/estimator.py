"""FOIL on one table (Quinlan, 1990)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rulewright.encoding import MOST_BINS
from rulewright.estimators.contract.base import positive_of_two
from rulewright.estimators.contract.parameters import CheckedByFit, Parameter, Real
from rulewright.estimators.lists.covering import CoveringClassifier
from rulewright.estimators.lists.foil.clauses import cover_by_clauses

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from rulewright.data import TrainingSet
    from rulewright.estimators.lists.one_class import OneClass
    from rulewright.search import FoundRule


class FOILClassifier(CoveringClassifier):
    r"""Clauses for each class in turn, each at least as short as naming what it covers.

    A clause is grown by the gain
    :math:`p' (\log_2 \frac{p'}{p' + n'} - \log_2 \frac{p}{p + n})` on the positives that no clause
    covers yet and on all negatives, until it covers no negative, nothing gains, or its bits exceed
    those that name its positives one by one. It is kept if it is right often enough; otherwise the
    class is done. There is no pruning.

    Attributes
    ----------
    model_ : DecisionList
        The rules: print, predict, explain, save and export.
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import FOILClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = FOILClassifier().fit(X, y)
    >>> bool(est.score(X, y) > 0.95)
    True
    """

    min_accuracy: float = Parameter(
        Real(0, 1),
        "Least share of the class in the weight that a clause covers.",
        default=0.8,
        kw_only=False,
    )
    positive_class: Any = Parameter(
        CheckedByFit("label, optional"),
        "Class that the clauses describe, of two; by default the one with the smaller weight.",
        default=None,
    )

    PAPER: ClassVar[Mapping[str, Any]] = {
        "min_accuracy": 0.8,
        "max_conditions": None,
        "cut_points": "observed",
        "max_bins": MOST_BINS,
        "precision_cv": None,
    }

    def _order(self, rows: TrainingSet) -> list[int]:
        if len(rows.classes) != 2:
            if self.positive_class is not None:
                raise ValueError("positive_class: only a problem of two classes has one")
            return super()._order(rows)
        positive = positive_of_two(self.positive_class, rows)
        return [positive, 1 - positive]

    def _rules(self, problem: OneClass, random: np.random.RandomState) -> list[FoundRule]:
        return cover_by_clauses(problem, self.min_accuracy)
