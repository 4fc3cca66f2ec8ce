"""Any additive model of two classes as a card: the same rules with whole points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.utils import check_random_state

from rulewright import kernels
from rulewright.encoding import PackedCovers
from rulewright.estimators.cards.building import PointedRules, make_card
from rulewright.estimators.cards.settings import Scale, ScaleDomain
from rulewright.estimators.contract.base import positive_of_two
from rulewright.estimators.contract.parameters import Domain, Integer, check_parameters
from rulewright.estimators.finishing.after_fit import (
    additive_of,
    note_figures,
    read_model_rows,
    without_validation,
)
from rulewright.estimators.finishing.compression import compress_rows
from rulewright.evidence import reliability
from rulewright.kernels import PointLimits

if TYPE_CHECKING:
    from rulewright.data import TrainingSet
    from rulewright.kernels import IntArray
    from rulewright.model import AdditiveRules, RuleCard
    from rulewright.rules import Adds, Coverage

FEW_POINTS, MANY_POINTS = 5, 1000
"""Largest points of an item, and with a scale."""

_PARAMETERS: dict[str, Domain] = {
    "max_points": Integer(1, optional=True),
    "max_rules": Integer(1),
    "scale": ScaleDomain(),
    "max_nodes": Integer(0),
}


def to_card(
    model: Any,
    X: Any,
    y: Any = None,
    max_points: int | None = None,
    *,
    scale: Any = None,
    max_rules: int = 10,
    positive_class: Any = None,
    max_nodes: int = 10_000,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> RuleCard:
    """Turn an additive model of two classes into a card with whole points.

    The rules stay, their points are found anew with the least log-loss on the given rows, and keep
    the direction of the responses. A model with more rules is compressed first.

    Parameters
    ----------
    model : AdditiveRules or fitted estimator
        The model, without lines. A stepwise calibration is dropped.
    X : array, dataframe, dict of columns, path of a file or Table
        Rows to fit the points to, ideally the training rows.
    y : array-like or str, optional
        Classes, or the name of the column of X that holds them; by default the target that
        a Table was read with.
    max_points : int, optional
        Largest points of a rule. By default 5; with a scale, 1,000.
    scale : Scale or dict, optional
        Scale of the points; see `Scale`.
    max_rules : int
        Maximum number of rules.
    positive_class : label, optional
        Class that points count for; by default the one with less weight.
    max_nodes : int
        Maximum number of nodes of branch and bound.
    sample_weight : array-like or str, optional
        Row weights, or the name of the column of X that holds them.
    random_state : int, RandomState or None
        Seed of the folds of a compression.

    Returns
    -------
    RuleCard
        The card. The ``card`` entry of its summary has its log-loss on the rows, the lower bound
        for whole points of these rules, and the log-loss of the model ``before``.
    """
    given = {"max_points": max_points, "max_rules": max_rules, "scale": scale}
    check_parameters("to_card", {**given, "max_nodes": max_nodes}, _PARAMETERS)
    model, chosen = additive_of(model, "to_card"), Scale.of(scale)
    _check_model(model)
    rows = read_model_rows(model, X, y, sample_weight, "to_card")
    before = reliability(rows.labels, model.predict_proba(rows.table), rows.weights)["log_loss"]
    small = model.merge_rules()
    if len(small) > max_rules:
        small = compress_rows(small, rows, max_rules, 5, check_random_state(random_state))
    positive = positive_of_two(positive_class, rows)
    most = max_points or (FEW_POINTS if chosen is None else MANY_POINTS)
    limits = _limits_of(small, positive, most, chosen, max_nodes)
    card = _fit_card(small, rows, positive, limits, chosen)
    notes = {**card.summary, "card": {**card.summary["card"], "before": before}}
    figures = reliability(rows.labels, card.predict_proba(rows.table), rows.weights)
    figured = note_figures(card.with_summary(notes), rows="given", **figures)
    return cast("RuleCard", figured)


def _check_model(model: AdditiveRules) -> None:
    """Refuse models that no card can be."""
    if len(model.classes) != 2:
        raise ValueError(f"to_card needs a model of two classes, not of {len(model.classes)}")
    if model.linear:
        raise ValueError("to_card: lines have no points. Learn the model with linear=False.")
    if any(cast("Adds", rule.outcome).otherwise for rule in model.rules):
        raise ValueError("to_card: a rule adds points where it does not apply; cards have none")


def _limits_of(
    model: AdditiveRules, positive: int, most: int, scale: Scale | None, max_nodes: int
) -> PointLimits:
    """Return limits by which points keep the direction of the responses."""
    rises: IntArray = np.array(
        [(rule.outcome.value > 0) == (rule.head.first == positive) for rule in model.rules],
        dtype=np.int32,
    )
    return PointLimits(
        lowest=(most * (rises - 1)).astype(np.int32),
        highest=(most * rises).astype(np.int32),
        max_items=len(rises),
        l2=1e-6,
        unit=0.0 if scale is None else scale.unit,
        max_nodes=max_nodes,
    )


def _fit_card(
    model: AdditiveRules,
    rows: TrainingSet,
    positive: int,
    limits: PointLimits,
    scale: Scale | None,
) -> RuleCard:
    """Fit points to groups of rows with the same rules."""
    is_positive = (rows.labels == positive).astype(np.float64)
    shares = np.column_stack([1 - is_positive, is_positive])
    covers = PackedCovers(model.cover_bits(rows.table), rows.n_rows)
    _, words, totals, sums = covers.group_rows(rows.weights, shares)
    held = PackedCovers(words, len(totals)).unpack().T.astype(np.uint8)
    negatives, positives = (np.ascontiguousarray(side) for side in sums.T)
    found = kernels.solve_points(np.ascontiguousarray(held), positives, negatives, limits)
    bodies = [rule.body for rule in model.rules]
    coverages = [cast("Coverage", rule.coverage) for rule in model.rules]
    summary = without_validation(model.summary)
    summary.pop("price", None)  # it is about the model before
    return make_card(rows, {positive: PointedRules(bodies, coverages, found)}, scale, summary)
