"""RIPPER: pruned rules of each class in turn (Cohen, ICML 1995)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, ClassVar

from rulewright.encoding import MOST_BINS
from rulewright.estimators.contract.parameters import Integer, Parameter, Real
from rulewright.estimators.contract.weights import count_effective_rows
from rulewright.estimators.lists.covering import CoveringClassifier
from rulewright.estimators.lists.ripper.learning import Ripper
from rulewright.search import LEAST_ROWS, FoundRule

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from rulewright.estimators.lists.one_class import OneClass


class RipperClassifier(CoveringClassifier):
    r"""A short list of rules: those of the rarest class first, the most frequent by default.

    Each class in turn is told from those that follow. A rule is grown on two thirds of the rows
    that are left, by the condition with the largest gain
    :math:`p' (\log_2 \frac{p'}{p' + n'} - \log_2 \frac{p}{p + n})`, and pruned at once on the
    rest: its last conditions go that lower :math:`p / (p + n)` there. Rules are added until the
    description of rules and errors is 64 bits longer than the shortest so far. Then every rule is
    compared with a revision and a replacement, rows that remain are covered, and rules are deleted
    that lengthen the description.

    Attributes
    ----------
    model_ : DecisionList
        The rules: print, predict, explain, save and export.
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import RipperClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = RipperClassifier(random_state=0).fit(X, y)
    >>> bool(est.score(X, y) > 0.95)
    True
    """

    n_optimizations: int = Parameter(
        Integer(0),
        "Rounds in which every rule is compared with a revision and a replacement; 0 is IREP*.",
        default=2,
        kw_only=False,
    )
    grow_share: float = Parameter(
        Real(0, 1, above=True),
        "Share of the weight that a rule is grown on; the rest prunes it. Fewer than 50 rows are "
        "always taken whole; then there is neither pruning nor optimisation.",
        default=2 / 3,
    )

    PAPER: ClassVar[Mapping[str, Any]] = {
        "n_optimizations": 2,
        "grow_share": 2 / 3,
        "max_conditions": None,
        "cut_points": "observed",
        "max_bins": MOST_BINS,
        "precision_cv": None,
    }

    def _rules(self, problem: OneClass, random: np.random.RandomState) -> list[FoundRule]:
        few = count_effective_rows(problem.covering.weights) < LEAST_ROWS
        seeds = itertools.count(int.from_bytes(random.bytes(7), "little"))
        ripper = Ripper(problem, 1.0 if few else self.grow_share, seeds)
        return ripper.learn(self.n_optimizations)
