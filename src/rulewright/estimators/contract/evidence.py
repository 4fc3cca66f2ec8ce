"""How many independent observations the rules of a model cover: groups and weights of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rulewright.encoding import PackedCovers
from rulewright.evidence import Observations
from rulewright.rules import Coverage, NumberCoverage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.data import LearningRows
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import RuleModel
    from rulewright.rules import Rule

Model = TypeVar("Model", bound="RuleModel")


def weigh_evidence(model: RuleModel, rows: LearningRows[Any]) -> FloatArray:
    """Return the effective number of observations per unit of covered weight, for each rule.

    It is 1 if every row counts as its weight. The correlation within groups is estimated from the
    target of the rows that rules cover.
    """
    observed = Observations.of(rows)
    if observed.are_rows or not len(model):
        return np.ones(len(model))
    correlation = observed.correlate(_list_parts(model, rows))
    worth = np.full(len(model), observed.count(correlation) / rows.total_weight)
    for place, (covered, _) in enumerate(_list_parts(model, rows)):
        weight = float(rows.weights[covered].sum())
        if weight:
            worth[place] = observed.take(covered).count(correlation) / weight
    return worth


def _list_parts(
    model: RuleModel, rows: LearningRows[Any]
) -> Iterator[tuple[BoolArray, FloatArray]]:
    """Yield the rows that each rule contributes to, and what it predicts of all rows."""
    covers = PackedCovers(model.decided_bits(rows.table, n_threads=1), rows.n_rows)
    for place, rule in enumerate(model.rules):
        yield covers[place : place + 1].row_mask(), _read_values(rule, rows)


def _read_values(rule: Rule, rows: LearningRows[Any]) -> FloatArray:
    if isinstance(rule.coverage, NumberCoverage):
        return np.asarray(rows.target.values, dtype=np.float64)
    codes = np.arange(len(rule.class_weights))[rule.head.classes]
    return np.isin(rows.target.codes, codes).astype(np.float64)


def count_evidence(model: Model, rows: LearningRows[Any]) -> Model:
    """Return the model; intervals of rules that were counted by weight count observations."""
    if Observations.of(rows).are_rows or not len(model):
        return model
    worth = weigh_evidence(model, rows).tolist()
    pairs = zip(model.rules, worth, strict=True)
    return model.with_coverages([_scale_evidence(rule.coverage, one) for rule, one in pairs])


def _scale_evidence(coverage: Coverage | NumberCoverage, worth: float) -> Coverage | NumberCoverage:
    if isinstance(coverage, NumberCoverage):
        return replace(coverage, effective=coverage.support * worth)
    if coverage.rows == "corrected":  # by observations already
        return coverage
    return replace(coverage, corrected=tuple(w * worth for w in coverage.share_weights))
