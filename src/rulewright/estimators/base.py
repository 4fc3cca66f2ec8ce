"""What all rule classifiers share: reading data, and everything after `fit` through the model."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from rulewright.data import DataError, Table, read_table
from rulewright.estimators.parameters import Domain, check_parameters, plain
from rulewright.kernels import usable_cpus
from rulewright.model.classes import class_names
from rulewright.model.decisions import checked_costs
from rulewright.search import Constraints

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from rulewright.kernels import FloatArray, IntArray
    from rulewright.model import AdditiveRules, Explanation
    from rulewright.model.decisions import Costs

MOST_THREADS = 1024
"""More than a system may start, which would end the process."""


class RuleClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the rule classifiers: scikit-learn's contract around a rule model.

    A learner defines `PARAMETERS` and `_learn(table)`, which returns the model.
    """

    PARAMETERS: ClassVar[Mapping[str, Domain]] = {}

    class_weight: Any
    constraints: Any
    cost_matrix: Any
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
        threads(self.n_jobs)  # a wrong number is told before any work
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
        self.model_ = self._learn(self._weighted(with_weights(table)))
        return self

    def _learn(self, table: Table) -> AdditiveRules:
        raise NotImplementedError

    def _weighted(self, table: Table) -> Table:
        """Multiply the weights by those of the classes."""
        if self.class_weight is None:
            return table
        assert table.target is not None
        assert table.weights is not None
        try:
            factors = self._class_factors(table.target.codes, table.weights)
        except (TypeError, ValueError) as error:
            raise ValueError(f"class_weight={self.class_weight!r}: {error}") from None
        return with_weights(replace(table, weights=table.weights * factors[table.target.codes]))

    def _class_factors(self, codes: IntArray, weights: FloatArray) -> FloatArray:
        """Return what the weights of each class are multiplied by."""
        classes, present = self.classes_, np.unique(codes)
        factors = np.ones(len(classes))
        factors[present] = compute_class_weight(
            self.class_weight,
            classes=classes[present],
            y=classes[codes],
            sample_weight=weights if self.class_weight == "balanced" else None,
        )
        if not (np.isfinite(factors).all() and (factors >= 0).all()):
            raise ValueError("weights must be finite and >= 0")
        if not factors[present].any():
            raise ValueError("no row has any weight left")
        return factors

    def _checked_constraints(self, table: Table, ordered: bool) -> Constraints:
        """Return the expert's constraints; monotone columns need classes with an order."""
        constraints = Constraints.of(self.constraints)
        constraints.check(table.schema)
        if constraints.monotone and not ordered:
            raise ValueError(
                f"constraints: monotone columns ({', '.join(constraints.monotone)}) need two "
                "classes, or classes in an order: set ordinal=True where the learner has it"
            )
        return constraints

    def _checked_costs(self) -> Costs | None:
        """Return the costs of errors as the model keeps them."""
        n_classes = len(self.classes_)
        if self.cost_matrix is None or n_classes == 1:
            return None
        matrix = self.cost_matrix
        if isinstance(matrix, str):
            if matrix != "absolute":
                raise ValueError(f"cost_matrix={matrix!r} must be an array, 'absolute' or none")
            places = np.arange(n_classes)
            matrix = abs(places[:, None] - places)
        try:
            return checked_costs(np.asarray(matrix, dtype=float), class_names(self.classes_))
        except (TypeError, ValueError) as error:
            raise ValueError(f"cost_matrix: {error}") from None

    def _summary(self, table: Table) -> dict[str, Any]:
        """Note down how the model was learned."""
        assert table.weights is not None
        settings = self.get_params(deep=False)
        named = [n for n in ("class_weight", "positive_class") if settings.get(n) is not None]
        summary = {
            "learner": type(self).__name__,
            "settings": {name: plain(settings[name]) for name in self.PARAMETERS}
            | {name: str(settings[name]) for name in named},
            "n_rows": table.n_rows,
            "total_weight": float(table.weights.sum()),
        }
        constraints = Constraints.of(self.constraints).to_json()
        return {**summary, "constraints": constraints} if constraints else summary

    @property
    def _n_threads(self) -> int:
        """Threads that `n_jobs` asks for, by scikit-learn's convention."""
        return threads(self.n_jobs)

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
        model = self._fitted()
        for scores in model.staged_scores(X, n_threads=self._n_threads):
            yield self.classes_[model.decide(scores)]

    def _fitted(self) -> AdditiveRules:
        check_is_fitted(self, "model_")
        return self.model_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def with_weights(table: Table) -> Table:
    """Give every row a weight and drop the rows that weigh nothing."""
    if table.weights is None:
        return replace(table, weights=np.ones(table.n_rows))
    with np.errstate(over="ignore"):
        total = table.weights.sum()
    if not np.isfinite(total):
        raise DataError("sample_weight: the sum of the weights is infinite; scale them down")
    kept = np.flatnonzero(table.weights > 0)
    return table if len(kept) == table.n_rows else table.take(kept)


def threads(n_jobs: object) -> int:
    """Return how many threads `n_jobs` asks for, by scikit-learn's convention."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} must be a whole number other than 0, or none")
    jobs = int(n_jobs)
    if jobs > MOST_THREADS:
        raise ValueError(f"n_jobs={jobs} must be at most {MOST_THREADS}; -1 takes all processors")
    return jobs if jobs > 0 else max(1, usable_cpus() + 1 + jobs)
