"""Base classes of classifiers with constraints, and of classifiers that add up rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulewright.estimators.contract.base import Classes, RuleClassifier
from rulewright.estimators.contract.parameters import CheckedByFit, Parameter
from rulewright.model import AdditiveRules
from rulewright.search import Constraints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rulewright.data import DescribedRows, LearningRows
    from rulewright.kernels import FloatArray


class ConstrainedClassifier(RuleClassifier[Classes]):
    """Base class of classifiers with constraints."""

    constraints: Any = Parameter(
        CheckedByFit("Constraints, dict or None"),
        "Constraints per column; see `Constraints`.",
        default=None,
    )

    def _checked_constraints(self, rows: DescribedRows, ordinal: bool = False) -> Constraints:
        """Return the expert constraints; monotone columns need ordered classes."""
        constraints = Constraints.of(self.constraints)
        constraints.check(rows.schema)
        if constraints.monotone and not ordinal and len(rows.classes) > 2:
            raise ValueError(
                f"constraints: monotone columns ({', '.join(constraints.monotone)}) need two "
                "classes, or ordered classes: list them from low to high in ordinal, if the "
                "learner has it"
            )
        return constraints

    def _summary(
        self, rows: LearningRows[Any], constraints: Constraints | None = None
    ) -> dict[str, Any]:
        """Record how the model was learned, and under which constraints."""
        summary = super()._summary(rows)
        content = {} if constraints is None else constraints.to_json()
        return {**summary, "constraints": content} if content else summary


class BoostedClassifier(ConstrainedClassifier[AdditiveRules]):
    """Base class of classifiers that add up rules."""

    def _get_staged_model(self) -> AdditiveRules:
        """Return the fitted model with its rules in the order of learning."""
        model = self._get_model()
        return getattr(self, "stages_", model).with_decision(model.decision)

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Yield the probabilities after 0, 1, 2, ... rules."""
        model = self._get_staged_model()
        return map(model.probabilities, model.staged_scores(X, n_threads=self._n_threads))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after 0, 1, 2, ... rules."""
        model = self._get_staged_model()
        for scores in model.staged_scores(X, n_threads=self._n_threads):
            yield self.classes_[model.decide(scores)]
