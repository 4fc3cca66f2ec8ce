"""FOIL on one table (Quinlan, 1990): clauses that are shorter than what they explain.

The information gain grows a clause, its length in bits limits it, and its accuracy accepts it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.encoding import MOST_BINS
from rulewright.estimators.contract.base import positive_of_two
from rulewright.estimators.contract.parameters import CheckedByFit, Parameter, Real
from rulewright.estimators.lists.one_class import CoveringClassifier, OneClass
from rulewright.kernels import ROW, RowArray
from rulewright.stopping import foil_budget, foil_clause_bits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.data import TrainingSet
    from rulewright.search import FoundRule


class FOILClassifier(CoveringClassifier):
    r"""Clauses for each class in turn, each at most as long as a list of the rows that it covers.

    A clause is grown by the gain
    :math:`p' (\log_2 \frac{p'}{p' + n'} - \log_2 \frac{p}{p + n})` on the uncovered positives and
    all negatives. It ends when it covers no negative, when nothing gains, or when it needs more
    bits than a list of its positives. A clause is kept if its accuracy is high enough; otherwise
    the class is done. There is no pruning.

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
        "Minimum accuracy of a clause.",
        default=0.8,
        kw_only=False,
    )
    positive_class: Any = Parameter(
        CheckedByFit("label, optional"),
        "Class that the clauses describe, of two classes; by default the one with less weight.",
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
                raise ValueError("positive_class: needs two classes; leave it out")
            return super()._order(rows)
        positive = positive_of_two(self.positive_class, rows)
        return [positive, 1 - positive]

    def _rules(self, problem: OneClass, random: np.random.RandomState) -> list[FoundRule]:
        return cover_by_clauses(problem, self.min_accuracy)


def cover_by_clauses(problem: OneClass, min_accuracy: float) -> list[FoundRule]:
    """Add clauses on the uncovered positives and all negatives, while one is accurate enough."""
    positive = problem.stats[:, 0] > 0
    local, reached = problem.inside.copy(), problem.inside.copy()
    clauses: list[FoundRule] = []
    while (local & positive).any():
        clause = short_clause(problem, np.flatnonzero(local).astype(ROW))
        if clause is None:
            break
        rows = problem.cover(clause)
        judged, new = problem.sums(rows[local[rows]]), problem.sums(rows[reached[rows]])
        least = problem.covering.min_weight
        if judged.positive < min_accuracy * judged.total or new.total < least:
            break
        clauses.append(clause)
        reached[rows] = False
        local[rows[positive[rows]]] = False
    return clauses


def short_clause(problem: OneClass, rows: RowArray) -> FoundRule | None:
    """Grow a clause; stop before it needs more bits than a list of its positives."""
    clause = problem.grow(rows)
    if clause is None:
        return None
    total = problem.sums(rows).total
    covered = problem.prefix_sums(clause, rows)
    lengths = clause_lengths(problem, clause)
    allowed = [
        lengths[k] <= foil_budget(total, covered[k + 1].positive) for k in range(len(clause.tests))
    ]
    n_literals = len(allowed) if all(allowed) else allowed.index(False)
    return clause.prefix(n_literals) if n_literals >= max(1, problem.n_required) else None


def clause_lengths(problem: OneClass, clause: FoundRule) -> list[float]:
    """Return the bits of the first 1, 2, ... literals: choice of a column and of a condition."""
    n_conditions = problem.covering.n_conditions
    naming = float(np.log2(np.count_nonzero(n_conditions)))
    bits = [naming + float(np.log2(n_conditions[literal.column])) for literal in clause.grown]
    sums = np.cumsum(bits)
    return [float(foil_clause_bits(total, k + 1)) for k, total in enumerate(sums.tolist())]
