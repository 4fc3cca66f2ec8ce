"""What all rule classifiers share: reading data, and everything after `fit` through the model."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rulewright.data import DataError, Table, read_table
from rulewright.estimators.parameters import Domain, check_parameters
from rulewright.kernels import usable_cpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from rulewright.kernels import FloatArray
    from rulewright.model import AdditiveRules, Explanation

MOST_THREADS = 1024
"""More than a system may start, which would end the process."""


class RuleClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the rule classifiers: scikit-learn's contract around a rule model.

    A learner defines `PARAMETERS` and `_learn(table)`, which returns the model.
    """

    PARAMETERS: ClassVar[Mapping[str, Domain]] = {}

    nominal: Any
    n_jobs: int | None
    model_: AdditiveRules

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn a rule model.

        Parameters
        ----------
        X : array, dataframe, dict of columns, path of a file or Table
            The table; missing values and nominal columns are taken as they are.
        y : array-like or str, optional
            Class labels, or the name of the column of X that holds them; by default the target
            that a Table was read with.
        sample_weight : array-like or str, optional
            Row weights, or the name of the column of X that holds them; by default the weights
            that a Table was read with.

        Returns
        -------
        self
        """
        check_parameters(type(self).__name__, self.get_params(deep=False), self.PARAMETERS)
        _threads(self.n_jobs)  # a wrong number is told before any work
        table = read_table(X, target=y, nominal=self.nominal, weights=sample_weight)
        if table.target is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        self.classes_ = table.target.classes
        self.n_features_in_ = len(table.columns)
        if table.named:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.model_ = self._learn(_with_weights(table))
        return self

    def _learn(self, table: Table) -> AdditiveRules:
        raise NotImplementedError

    @property
    def _n_threads(self) -> int:
        """Threads that `n_jobs` asks for, by scikit-learn's convention."""
        return _threads(self.n_jobs)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores: second minus first class for two classes, one per class otherwise."""
        return self._fitted().decision_function(X, n_threads=self._n_threads)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, in the order of `classes_`."""
        return self._fitted().predict_proba(X, n_threads=self._n_threads)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        return self._fitted().predict(X, n_threads=self._n_threads)

    def explain(self, X: Any) -> Explanation:
        """Tell which rules fired on each row and what each added."""
        return self._fitted().explain(X)

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Yield the probabilities after 0, 1, 2, ... rules."""
        model = self._fitted()
        return map(model.probabilities, model.staged_scores(X, n_threads=self._n_threads))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after 0, 1, 2, ... rules."""
        for probabilities in self.staged_predict_proba(X):
            yield self.classes_[probabilities.argmax(axis=1)]

    def _fitted(self) -> AdditiveRules:
        check_is_fitted(self, "model_")
        return self.model_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _with_weights(table: Table) -> Table:
    """Give every row a weight and drop the rows that weigh nothing."""
    if table.weights is None:
        return replace(table, weights=np.ones(table.n_rows))
    with np.errstate(over="ignore"):
        total = table.weights.sum()
    if not np.isfinite(total):
        raise DataError("sample_weight: the sum of the weights is infinite; scale them down")
    kept = np.flatnonzero(table.weights > 0)
    return table if len(kept) == table.n_rows else table.take(kept)


def _threads(n_jobs: object) -> int:
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} must be a whole number other than 0, or none")
    jobs = int(n_jobs)
    if jobs > MOST_THREADS:
        raise ValueError(f"n_jobs={jobs} must be at most {MOST_THREADS}; -1 takes all processors")
    return jobs if jobs > 0 else max(1, usable_cpus() + 1 + jobs)
