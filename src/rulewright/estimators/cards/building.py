"""Cards as models: rules with points, the scale, the gap, and the table of totals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.model import RuleCard, class_names
from rulewright.rules import Adds, Coverage, Head, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.data import TrainingSet
    from rulewright.estimators.cards.settings import Scale
    from rulewright.kernels import FoundPoints
    from rulewright.rules import Formula


class PointedRules(NamedTuple):
    """Bodies of rules with their coverage, and their points."""

    bodies: Sequence[Formula]
    coverages: Sequence[Coverage]
    found: FoundPoints
    shrinkage: float = 1.0


def make_card(
    rows: TrainingSet,
    cards: Mapping[int, PointedRules],
    scale: Scale | None,
    summary: Mapping[str, Any],
) -> RuleCard:
    """Return the card of the rules of each class, with figures on the rows in its summary.

    Without a scale the lowest total is 0. A class without rows counts as having one.
    """
    starts, rules, start = [0.0] * len(rows.classes), [], 0.0
    if len(cards) > 1:
        starts = [-float(np.log(rows.total_weight + 1.0))] * len(rows.classes)
    units = [card.found.unit for card in cards.values() if card.found.unit > 0]
    unit = scale.unit if scale is not None else (units or [1.0])[0]
    for label, (bodies, coverages, found, _) in cards.items():
        starts[label], points = found.intercept, found.points.tolist()
        if len(cards) == 1 and scale is not None:
            start = scale.start_of(found.intercept)
            starts[label] = scale.log_odds(start)
        elif len(cards) == 1:
            start = -float(sum(min(value, 0) for value in points))
        head = Head.of(label)
        rules += [
            Rule(body, Adds(head, unit * value), coverage)
            for body, value, coverage in zip(bodies, points, coverages, strict=True)
            if value
        ]
    if len(rows.classes) == 2:
        summary = {**summary, "positive_class": class_names(rows.classes)[label]}
    notes = {**summary, "card": _figures([*cards.values()], rows)}
    given = tuple(starts), tuple(rules), notes
    model = RuleCard(rows.schema, rows.classes, *given, unit=unit, start=start)
    return _with_totals(model, rows) if len(rows.classes) == 2 else model


def _figures(cards: Sequence[PointedRules], rows: TrainingSet) -> dict[str, Any]:
    """Return loss, lower bound and gap per row, summed over the cards."""
    loss = sum(card.found.loss for card in cards) / rows.total_weight
    bound = sum(card.found.bound for card in cards) / rows.total_weight
    nodes = sum(card.found.n_nodes for card in cards)
    gap = max(0.0, loss - bound)
    shrinkage = min(card.shrinkage for card in cards)
    return {"loss": loss, "bound": bound, "gap": gap, "nodes": nodes, "shrinkage": shrinkage}


def _with_totals(model: RuleCard, rows: TrainingSet) -> RuleCard:
    """Note the rows with each range of totals, and the share of the class with its interval."""
    shown, totals = [one.total for one in model.shown_totals()], model.totals(rows.table)
    places = np.searchsorted(shown, totals, side="right") - 1
    lines = []
    for k, low in enumerate(shown):
        inside = places == k
        counts = Coverage.of(tuple(rows.weights_by_class(inside).tolist()))
        if not counts.support:
            continue
        head = Head.of(model.positive)
        high = shown[k + 1] - 1 if k + 1 < len(shown) else low
        lines.append(
            {
                "low": low,
                "high": max(low, high),
                "weight": counts.support,
                "share": counts.precision(head),
                "interval": list(counts.share_interval(head)),
            }
        )
    card = {**model.summary["card"], "totals": lines}
    return model.with_summary({**model.summary, "card": card})
