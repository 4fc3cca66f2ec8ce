"""From weights to a model: rules that add their weight where they hold and take it where not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.model import AdditiveRules
from rulewright.rules import Adds, Coverage, Head, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulewright.data import TrainingSet
    from rulewright.estimators.rumble.loop import Prefix
    from rulewright.kernels import FloatArray, IntArray
    from rulewright.search import Repository

CONSTANT = 0
"""Line of the constant rule."""


@dataclass(frozen=True, eq=False)
class ClassScore:
    """The score of a class against all others: rules by their lines, and their weights."""

    head: int
    lines: IntArray
    weights: FloatArray

    @property
    def start(self) -> float:
        """Weight of the constant rule."""
        return float(self.weights[self.lines == CONSTANT].sum())

    def rules(self, n_classes: int) -> Iterator[tuple[int, int, float]]:
        """Give line, class and response of the rules with a weight, without the constant.

        Of two classes a negative weight speaks for the other; of several it takes from its own.
        """
        for line, weight in zip(self.lines.tolist(), self.weights.tolist(), strict=True):
            if line != CONSTANT and weight != 0:
                yield line, *_find_class(self.head, weight, n_classes)


def collect_class_scores(prefixes: Sequence[Prefix]) -> list[ClassScore]:
    """Return the scores of the best prefixes, one per class or one for two classes."""
    solutions = (prefix.solution for prefix in prefixes)
    return [ClassScore(head, best.lines, best.weights) for head, best in enumerate(solutions)]


def rule_model(
    scores: Sequence[ClassScore], repository: Repository, rows: TrainingSet, summary: dict[str, Any]
) -> AdditiveRules:
    """Make the model of scores; of two classes one score is for both."""
    n_classes, holds = len(rows.classes), repository.covers.holds
    intercepts, rules = np.zeros(n_classes), []
    for score in scores:
        head, start = _find_class(score.head, score.start, n_classes)
        intercepts[head] += start
        for line, head, response in score.rules(n_classes):
            counted = rows.weights_by_class(holds[line : line + 1].row_mask())
            coverage = Coverage.of(tuple(counted.tolist()))
            adds = Adds(Head(head, head), response, -response)
            rules.append(Rule(repository.body(line), adds, coverage))
    starts = tuple(intercepts.tolist())
    return AdditiveRules(rows.schema, rows.classes, starts, tuple(rules), summary)


def _find_class(head: int, weight: float, n_classes: int) -> tuple[int, float]:
    """Return the class that a weight speaks for, and how much."""
    return (1 - head, -weight) if n_classes == 2 and weight < 0 else (head, weight)
