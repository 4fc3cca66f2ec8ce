"""What learners share whose rules obey an expert's constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulewright.estimators.contract.base import Classes, RuleClassifier
from rulewright.estimators.contract.parameters import CheckedByFit, Parameter
from rulewright.search import Constraints

if TYPE_CHECKING:
    from rulewright.data import DescribedRows, LearningRows


class ConstrainedClassifier(RuleClassifier[Classes]):
    """Base of the learners with constraints."""

    constraints: Any = Parameter(
        CheckedByFit("Constraints, dict or None"),
        "Limits by column; see `Constraints`.",
        default=None,
    )

    def _checked_constraints(self, rows: DescribedRows, ordinal: bool = False) -> Constraints:
        """Return the expert's constraints; monotone columns need classes with an order."""
        constraints = Constraints.of(self.constraints)
        constraints.check(rows.schema)
        if constraints.monotone and not ordinal and len(rows.classes) > 2:
            raise ValueError(
                f"constraints: monotone columns ({', '.join(constraints.monotone)}) need two "
                "classes, or classes in an order: list them from low to high in ordinal, where the "
                "learner has it"
            )
        return constraints

    def _summary(
        self, rows: LearningRows[Any], constraints: Constraints | None = None
    ) -> dict[str, Any]:
        """Note down how the model was learned, and under which constraints."""
        summary = super()._summary(rows)
        content = {} if constraints is None else constraints.to_json()
        return {**summary, "constraints": content} if content else summary
