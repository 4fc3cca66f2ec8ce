"""Copies of an estimator fitted to other rows or targets of the same table."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from rulewright.data import read_table
from rulewright.estimators.contract.base import RuleEstimator
from rulewright.estimators.folds.precision import counting_training_rows

if TYPE_CHECKING:
    from rulewright.data import Table


def read_as(estimator: RuleEstimator[Any], X: Any, y: Any, sample_weight: Any, step: str) -> Table:
    """Read the data once, as the estimator reads them."""
    if not isinstance(estimator, RuleEstimator):
        raise ValueError(f"estimator must be a learner of rules, not {type(estimator).__name__}")
    nominal, task = estimator.categorical_features, estimator.TASK
    table = read_table(X, target=y, nominal=nominal, weights=sample_weight, task=task)
    if table.target is None:
        raise ValueError(f"{step} requires y to be passed, but the target y is None")
    return table


def fit_copy(estimator: RuleEstimator[Any], table: Table, seed: int) -> RuleEstimator[Any]:
    """Fit a copy; it keeps its seed if that is a number."""
    own = estimator.random_state
    seed = int(own) if isinstance(own, Integral) else seed
    return refit(estimator, table, seed, estimator.n_jobs)


def refit(
    estimator: RuleEstimator[Any], table: Table, seed: int, n_jobs: int | None = 1
) -> RuleEstimator[Any]:
    """Fit a copy with another seed."""
    settings = {"random_state": seed, "n_jobs": n_jobs, "verbose": 0, "categorical_features": None}
    learner = counting_training_rows(estimator)  # nobody reads the precision of its rules
    copy: RuleEstimator[Any] = clone(learner).set_params(**settings)
    return copy.fit(table)
