"""From weights to a model: rules that add their weight where they hold and take it where not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.model import AdditiveRules
from rulewright.rules import Adds, Coverage, Head, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import TrainingSet
    from rulewright.kernels import FloatArray, IntArray
    from rulewright.search.repository import Repository

CONSTANT = 0
"""Line of the constant rule."""


@dataclass(frozen=True, eq=False)
class Score:
    """The score of a class against all others: rules by their lines, and their weights."""

    head: int
    lines: IntArray
    weights: FloatArray

    @property
    def start(self) -> float:
        """Weight of the constant rule."""
        return float(self.weights[self.lines == CONSTANT].sum())


def rule_model(
    scores: Sequence[Score], repository: Repository, rows: TrainingSet, summary: dict[str, Any]
) -> AdditiveRules:
    """Make the model of scores; of two classes one score is for both.

    A negative weight of two classes speaks for the other class; of several it takes from its own.
    """
    intercepts, rules = np.zeros(len(rows.classes)), []
    for score in scores:
        opposite = 1 - score.head if len(rows.classes) == 2 else None
        _add(intercepts, score.head, opposite, score.start)
        holds = repository.covers.holds
        for line, weight in zip(score.lines.tolist(), score.weights.tolist(), strict=True):
            if line == CONSTANT or weight == 0:
                continue
            head = score.head
            if weight < 0 and opposite is not None:
                head, weight = opposite, -weight
            counted = rows.weights_by_class(holds[line : line + 1].row_mask())
            coverage = Coverage.of(tuple(counted.tolist()))
            rules.append(
                Rule(repository.body(line), Adds(Head(head, head), weight, -weight), coverage)
            )
    starts = tuple(intercepts.tolist())
    return AdditiveRules(rows.schema, rows.classes, starts, tuple(rules), summary)


def _add(intercepts: FloatArray, head: int, opposite: int | None, start: float) -> None:
    """Start a class, or its opposite, with some points."""
    if start < 0 and opposite is not None:
        head, start = opposite, -start
    intercepts[head] += start
