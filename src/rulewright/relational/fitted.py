"""Base classes of learners for relations and graphs: predictions and explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rulewright.estimators import Parameterised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.kernels import FloatArray


class FittedRules(
    Parameterised,
    BaseEstimator,  # type: ignore[misc]
):
    """Base class of learners: predictions and explanations come from `model_`."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each instance, or its number."""
        return self._fitted().predict(X, **self._reading())  # type: ignore[no-any-return]

    def explain(self, X: Any) -> Any:
        """Return which rules apply to each instance, and their contributions."""
        return self._fitted().explain(X, **self._reading())

    def _reading(self) -> dict[str, Any]:
        """Return the options of the model for reading rows."""
        return {}

    def _fitted(self) -> Any:
        check_is_fitted(self, "model_")
        return self.model_


class FittedClasses(
    ClassifierMixin,  # type: ignore[misc]
    FittedRules,
):
    """Base class of the classifiers."""

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, in the order of `classes_`."""
        return self._fitted().predict_proba(X, **self._reading())  # type: ignore[no-any-return]
