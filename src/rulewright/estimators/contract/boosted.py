"""What the learners of additive rules share: constraints, predictions by stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulewright.estimators.contract.constrained import ConstrainedClassifier
from rulewright.model import AdditiveRules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rulewright.kernels import FloatArray


class BoostedClassifier(ConstrainedClassifier[AdditiveRules]):
    """Base of the learners that add up rules."""

    def _get_staged_model(self) -> AdditiveRules:
        """Return the fitted model with its rules in the order in which they were learned."""
        model = self._get_model()
        # Costs are decided after the fit, and are those of the model.
        return getattr(self, "stages_", model).with_costs(model.costs)

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Yield the probabilities after 0, 1, 2, ... rules."""
        model = self._get_staged_model()
        return map(model.probabilities, model.staged_scores(X, n_threads=self._n_threads))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after 0, 1, 2, ... rules."""
        model = self._get_staged_model()
        for scores in model.staged_scores(X, n_threads=self._n_threads):
            yield self.classes_[model.decide(scores)]
