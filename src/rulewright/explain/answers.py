"""The answers of a model on rows with a target, as the input of measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.evidence import ClassAnswers, NumberAnswers
from rulewright.model import ClassModel, LowestCost, class_of_interest, escape_line

if TYPE_CHECKING:
    from rulewright.evidence import Answers
    from rulewright.explain.evaluated_rows import EvaluatedRows


def answers_on(rows: EvaluatedRows, origin: str) -> Answers:
    """Return the answers on rows with a target."""
    model, table = rows.model, rows.table
    if not isinstance(model, ClassModel):
        return NumberAnswers(origin, table.known_numbers.values, model.predict(table), rows.weights)
    codes, scores = rows.codes, rows.scores
    return ClassAnswers(
        origin,
        tuple(map(escape_line, model.class_names)),
        codes,
        model.probabilities(scores),
        model.decide(scores),
        rows.weights,
        model.flags(scores),
        model.decision.costs if isinstance(model.decision, LowestCost) else None,
        positive=class_of_interest(model),
    )
