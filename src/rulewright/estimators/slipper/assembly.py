"""From the rounds of SLIPPER to an additive model: responses are twice the confidences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.estimators.slipper.fit import BoostedRounds
from rulewright.model import AdditiveRules
from rulewright.rules import Head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import TrainingSet
    from rulewright.encoding import BinnedColumns
    from rulewright.estimators.slipper.problem import SlipperProblem
    from rulewright.kernels import FloatArray
    from rulewright.model import Costs
    from rulewright.rules import Rule

TIE = 1e-12
"""Of two classes a score of 0 is a vote against the positive one, of several for the heaviest."""


def additive_model(
    rows: TrainingSet,
    boosted: Sequence[BoostedRounds],
    binned: BinnedColumns,
    costs: Costs | None,
    summary: dict[str, Any],
) -> AdditiveRules:
    """Turn rounds into a model: default rules into intercepts, equal rules into one."""
    intercepts = scores_from_f([BoostedRounds(result.problem) for result in boosted], costs)[0]
    rules: list[Rule] = []
    for result in boosted:
        for kept, coverage in zip(result.rounds, result.coverages, strict=True):
            head = result.problem.heads[kept.place]
            if kept.rule is None or coverage is None:
                intercepts[head] += 2 * kept.confidence
            else:
                rules.append(kept.rule.rule(Head(head, head), 2 * kept.confidence, coverage))
    _break_tie(intercepts, rows.class_weights)
    n_rounds = [len(result.rounds) for result in boosted]
    return AdditiveRules(
        rows.schema,
        rows.classes,
        tuple(intercepts.tolist()),
        tuple(rules),
        {**summary, "bins": binned.describe(), "n_rounds": n_rounds},
        costs=costs,
    ).merge_rules()


def scores_from_f(boosted: Sequence[BoostedRounds], costs: Costs | None) -> FloatArray:
    """Turn F of the out-of-fold rows (of one row, if there are none) into scores: twice F.

    Costs of two classes, which weighed the rows, are taken off again.
    """
    parts, problem = [result.left_out for result in boosted], boosted[0].problem
    n_rows, n_classes = 1 if parts[0] is None else len(parts[0]), problem.n_classes
    scores = np.zeros((n_rows, n_classes))
    for part, result in zip(parts, boosted, strict=True):
        if part is not None:
            scores[:, list(result.problem.heads)] = 2 * part
    if len(boosted) == 1 and len(problem.heads) == 1:
        scores[:, problem.heads[0]] -= TIE
        scores += cost_offsets(problem, costs, n_classes)
    return scores


def cost_offsets(problem: SlipperProblem, costs: Costs | None, n_classes: int) -> FloatArray:
    """Return the scores where F = 0: with costs of two classes, where both cost the same."""
    offsets = np.zeros(n_classes)
    if costs is not None and len(problem.heads) == 1:
        head = problem.heads[0]
        offsets[head] = -(math.log(costs[head][1 - head]) - math.log(costs[1 - head][head]))
    return offsets


def _break_tie(intercepts: FloatArray, class_weights: FloatArray) -> None:
    """Let the heaviest class win where no rule fires and several have the highest score."""
    top = np.flatnonzero(intercepts == intercepts.max())
    if len(top) > 1:
        intercepts[top[np.argmax(class_weights[top])]] += TIE
