"""What the learners of additive rules share: constraints, costs, predictions by stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.estimators.common.base import RuleClassifier
from rulewright.estimators.common.parameters import CheckedByFit, Parameter
from rulewright.model import AdditiveRules
from rulewright.model.classes import class_names
from rulewright.model.decisions import checked_costs
from rulewright.search import Constraints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rulewright.data import Table, TrainingSet
    from rulewright.kernels import FloatArray
    from rulewright.model.decisions import Costs


class BoostedClassifier(RuleClassifier[AdditiveRules]):
    """Base of the learners that add up rules."""

    constraints: Any = Parameter(
        CheckedByFit("Constraints, dict or None"),
        "Limits by column; see `Constraints`.",
        default=None,
    )

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
        matrix = getattr(self, "cost_matrix", None)
        if matrix is None or n_classes == 1:
            return None
        if isinstance(matrix, str):
            if matrix != "absolute":
                raise ValueError(f"cost_matrix={matrix!r} must be an array, 'absolute' or none")
            places = np.arange(n_classes)
            matrix = abs(places[:, None] - places)
        try:
            return checked_costs(np.asarray(matrix, dtype=float), class_names(self.classes_))
        except (TypeError, ValueError) as error:
            raise ValueError(f"cost_matrix: {error}") from None

    def _summary(self, rows: TrainingSet) -> dict[str, Any]:
        """Note down how the model was learned, and under which constraints."""
        constraints = Constraints.of(self.constraints).to_json()
        summary = super()._summary(rows)
        return {**summary, "constraints": constraints} if constraints else summary

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Yield the probabilities after 0, 1, 2, ... rules."""
        model = self._fitted()
        return map(model.probabilities, model.staged_scores(X, n_threads=self._n_threads))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after 0, 1, 2, ... rules."""
        model = self._fitted()
        for scores in model.staged_scores(X, n_threads=self._n_threads):
            yield self.classes_[model.decide(scores)]
