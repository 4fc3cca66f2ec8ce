"""The answers of a model on rows with a target, as the input of measures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.evidence import ClassAnswers, answer_rows
from rulewright.model import ClassModel, LowestCost, class_of_interest, escape_line

if TYPE_CHECKING:
    from rulewright.evidence import Answers
    from rulewright.explain.evaluated_rows import EvaluatedRows


def answers_on(rows: EvaluatedRows, origin: str) -> Answers:
    """Return the answers on rows with a target."""
    model, table = rows.model, rows.table
    if not isinstance(model, ClassModel):
        return replace(answer_rows(model, table, rows.scores, origin), groups=table.groups)
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
        groups=table.groups,
    )


def is_learned_from(rows: EvaluatedRows) -> bool:
    """Return whether a model was learned from these rows: whether all counts are equal."""
    counted = [rule.coverage for rule in rows.model.rules]
    if not counted or {one.rows for one in counted} & {"left out", "given"}:
        return False
    if rows.model.summary.get("n_rows") != len(rows):
        return False
    found = [rows.weights[rows.inside(i)].sum() for i in range(len(counted))]
    return bool(np.allclose(found, [one.support for one in counted], rtol=1e-6))
