"""Rule ensembles for regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from rulewright.estimators.contract.base import RuleRegressor
from rulewright.estimators.contract.parameters import Choice, Parameter
from rulewright.estimators.contract.weights import count_effective_rows
from rulewright.estimators.folds.folds import divide_rows
from rulewright.estimators.rulefit.penalty import SolutionSearch, choose_solution
from rulewright.estimators.rulefit.settings import RuleFit
from rulewright.estimators.rulefit.terms import number_rules
from rulewright.model import RegressionRules
from rulewright.search import LEAST_ROWS, weighted_quantiles
from rulewright.weighting import Huber, HuberLoss, Squared, SquaredLoss

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.data import RegressionSet
    from rulewright.kernels import FloatArray

ROBUST_SHARE = 0.9
"""Share of the rows whose deviation from the median is squared by the Huber loss."""


class RuleFitRegressor(RuleFit[RegressionRules], RuleRegressor):
    r"""Regressor with rules of small trees and linear terms, weighted under an L1 penalty.

    The prediction is :math:`F(x) = a_0 + \sum_k a_k r_k(x) + \sum_j b_j l_j(x_j)`. The rules
    :math:`r_k` are the nodes of random trees, boosted on the loss; the lines :math:`l_j` run
    between two quantiles of a column (Friedman and Popescu, 2008). The weights minimise the mean
    loss plus an L1 penalty, which makes most of them 0.

    Attributes
    ----------
    model_ : RegressionRules
        The rules and lines: prints, predicts, explains, saves and exports.
    choice_ : Choice
        Path and chosen solution, with its certificate.
    n_candidates_ : int
        Number of candidate rules.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rulewright import RuleFitRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> est = RuleFitRegressor(max_candidates=200, random_state=0).fit(X, y)
    >>> est.score(X, y) > 0.5
    True
    """

    loss: str = Parameter(
        Choice(("squared", "huber")),
        'Loss that the weights minimise. "huber" is robust: it squares only small deviations.',
        default="squared",
    )

    PAPER: ClassVar[Mapping[str, Any]] = RuleFit.PAPER

    def _learn(self, rows: RegressionSet) -> RegressionRules:
        random = check_random_state(self.random_state)
        solver = self._made_solver(rows)
        if self.loss not in solver.losses:
            raise ValueError(
                f"{type(self).__name__}: solver={self.solver!r} has no loss={self.loss!r}. "
                f"Use one of {', '.join(solver.losses)}"
            )
        y, unit = scale_numbers(rows.numbers, rows.weights)
        folds, search = None, self._search
        if search is not None and search.criterion != "loss":
            raise ValueError(
                f"{type(self).__name__}: criterion={search.criterion!r} of the penalty is for "
                "classes; use 'loss'"
            )
        if search is not None and count_effective_rows(rows.weights) >= LEAST_ROWS:
            folds = divide_rows(rows, self.cv, random)
        delta = robust_deviation(y, rows.weights) if self.loss == "huber" else 0.0
        huber = self.loss == "huber" and delta > 0

        def tree_loss(places: Any) -> HuberLoss | SquaredLoss:
            own = y[places], rows.weights[places]
            return HuberLoss(*own, delta) if huber else SquaredLoss(*own)

        seed, datafit = int(random.randint(2**31)), Huber(delta) if huber else Squared()
        # The penalty is in units of the scaled target.
        penalty = self.penalty / unit if search is None else search
        with self._progress(1, folds) as advance:
            candidates = self._candidates(rows, tree_loss(slice(None)), seed, self._n_threads)
            advance()
            total, threads = rows.total_weight, self._n_threads
            how = SolutionSearch(solver, penalty, folds, total, self.max_rules, threads, advance)
            grown = self._grow_in_folds(rows, folds, tree_loss, seed)
            parts = (
                None
                if grown is None
                else [one.problem(y, datafit, self.rule_scale, threads) for one in grown]
            )
            self.choice_ = choose_solution(
                candidates.problem(y, rows.weights, datafit, self.rule_scale, threads), how, parts
            )
        self.n_candidates_ = len(candidates.rules)
        solution = self.choice_.solution
        rules = number_rules(candidates, rows, unit * candidates.responses(solution))
        slopes = unit * candidates.slopes(solution)[:, np.newaxis]
        summary = {
            **self._summary(rows),
            "penalty": solution.penalty * unit,
            "n_candidates": self.n_candidates_,
        }
        start = unit * solution.intercept
        return RegressionRules(rows.schema, start, rules, summary, linear=candidates.lines(slopes))


def scale_numbers(numbers: FloatArray, weights: FloatArray) -> tuple[FloatArray, float]:
    """Scale the target by a power of two near its deviation, so that weights stay exact."""
    center = np.average(numbers, weights=weights)
    deviation = float(np.sqrt(np.average((numbers - center) ** 2, weights=weights)))
    unit = 2.0 ** np.floor(np.log2(deviation)) if 1e-150 < deviation < 1e150 else 1.0
    return numbers / unit, float(unit)


def robust_deviation(y: FloatArray, weights: FloatArray) -> float:
    """Return a quantile of the deviations from the median, as the threshold of the Huber loss."""
    (middle,) = weighted_quantiles(y, weights, (0.5,))
    (most,) = weighted_quantiles(abs(y - middle), weights, (ROBUST_SHARE,))
    return most
