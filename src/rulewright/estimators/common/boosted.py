"""What the learners of additive rules share: constraints, predictions by stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulewright.estimators.common.base import RuleClassifier
from rulewright.estimators.common.parameters import CheckedByFit, Parameter
from rulewright.model import AdditiveRules
from rulewright.search import Constraints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.data.training import LearningRows
    from rulewright.kernels import FloatArray


class BoostedClassifier(RuleClassifier[AdditiveRules]):
    """Base of the learners that add up rules."""

    constraints: Any = Parameter(
        CheckedByFit("Constraints, dict or None"),
        "Limits by column; see `Constraints`.",
        default=None,
    )

    def _checked_constraints(self, rows: TrainingSet, ordinal: bool = False) -> Constraints:
        """Return the expert's constraints; monotone columns need classes with an order."""
        constraints = Constraints.of(self.constraints)
        constraints.check(rows.schema)
        if constraints.monotone and not ordinal and len(rows.classes) > 2:
            raise ValueError(
                f"constraints: monotone columns ({', '.join(constraints.monotone)}) need two "
                "classes, or classes in an order: set ordinal=True where the learner has it"
            )
        return constraints

    def _summary(
        self, rows: LearningRows[Any], constraints: Constraints | None = None
    ) -> dict[str, Any]:
        """Note down how the model was learned, and under which constraints."""
        summary = super()._summary(rows)
        content = {} if constraints is None else constraints.to_json()
        return {**summary, "constraints": content} if content else summary

    def _staged(self) -> AdditiveRules:
        """Return the fitted model with its rules in the order in which they were learned."""
        return self._fitted()

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Yield the probabilities after 0, 1, 2, ... rules."""
        model = self._staged()
        return map(model.probabilities, model.staged_scores(X, n_threads=self._n_threads))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after 0, 1, 2, ... rules."""
        model = self._staged()
        for scores in model.staged_scores(X, n_threads=self._n_threads):
            yield self.classes_[model.decide(scores)]
