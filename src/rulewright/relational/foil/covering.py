"""Clauses for one class after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.relational.foil.growing import ClauseProblem, grow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.kernels import FloatArray
    from rulewright.relational.foil.candidates import LiteralLanguage
    from rulewright.relational.foil.facts import Facts, Places
    from rulewright.relational.foil.literals import Literal


def cover(
    facts: Facts,
    labels: Places,
    weights: FloatArray,
    heads: Sequence[int],
    language: LiteralLanguage,
    min_accuracy: float,
    min_weight: float,
    deadline: float | None = None,
) -> list[tuple[list[Literal], int]]:
    """Return clauses with their classes; each class is set against those that come after it.

    A clause is grown on the positives that no clause covers yet and on all negatives. It must be
    accurate there, and be the first to cover some weight.
    """
    left, found = np.ones(len(labels), dtype=np.bool_), []
    for head in heads:
        positive = np.where(left & (labels == head), weights, 0.0)
        negative = np.where(left & (labels != head), weights, 0.0)
        problem = ClauseProblem(facts, positive, negative, language, min_accuracy, deadline)
        reached = left.copy()
        while problem.positive.any() and not problem.late:
            clause = grow(problem)
            rows = problem.find_covered(clause) if clause else np.zeros(0, dtype=np.intp)
            new = float(weights[rows][reached[rows]].sum())
            if not len(rows) or problem.accuracy(clause) < min_accuracy or new < min_weight:
                break
            found.append((clause, head))
            reached[rows] = False
            rest = problem.positive.copy()
            rest[rows] = 0.0
            problem = replace(problem, positive=rest)
        left = reached
    return found
