"""From ordered rules with their classes to a model: coverage and class distributions.

Distributions are m-estimates: the rows that a rule covers, plus `SMOOTHING` rows with the class
shares of the training rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.model import BELOW, DecisionList, UnorderedRules
from rulewright.rules import Coverage, Formula, Rule, Says

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulewright.data import TrainingSet
    from rulewright.kernels import FloatArray

SMOOTHING = 5.0
"""Number of rows added to the covered rows of a rule."""


def decision_list(
    rows: TrainingSet,
    found: Iterable[tuple[Formula, int]],
    *,
    default: int | None = None,
    summary: dict[str, Any],
) -> DecisionList:
    """Create a list of bodies with their classes, counted on the rows that reach each of them.

    Parameters
    ----------
    rows : TrainingSet
        The training rows.
    found : iterable of (Formula, int)
        The rules in order: body and class. Rules that no row reaches are dropped.
    default : int, optional
        Class where no rule applies; by default the heaviest class of the uncovered rows, or of
        all rows if all are covered.
    summary : dict
        Notes of the learner.
    """
    left = np.ones(rows.n_rows, dtype=np.bool_)
    rules = []
    for body, head in found:
        covered = left & body.holds(rows.table)
        left &= ~covered
        weights = rows.weights_by_class(covered)
        if weights.any():
            says = Says(smooth_shares(weights, rows, head))
            rules.append(Rule(body, says, Coverage.of(tuple(weights.tolist()))))
    rest = rows.weights_by_class(left)
    if default is None:
        # The table counts as one row: a few uncovered rows decide nothing.
        default = int(np.argmax(rest + rows.class_weights / rows.total_weight))
    return DecisionList(
        rows.schema,
        rows.classes,
        tuple(rules),
        smooth_shares(rest, rows, default),
        tuple(rest.tolist()),
        summary,
    )


def unordered_rules(
    rows: TrainingSet,
    bodies: Iterable[Formula],
    *,
    smoothing: float = SMOOTHING,
    summary: dict[str, Any],
) -> UnorderedRules:
    """Create rules that sum their covered training rows by class; drop rules without rows.

    Where no rule applies, the classes have their shares of the training rows.
    """
    rules = []
    for body in bodies:
        weights = rows.weights_by_class(body.holds(rows.table))
        if weights.any():
            says = Says(_normalise(weights), float(weights.sum()))
            rules.append(Rule(body, says, Coverage.of(tuple(weights.tolist()))))
    start = smoothing * class_shares(rows)
    return UnorderedRules(rows.schema, rows.classes, tuple(rules), tuple(start.tolist()), summary)


def smooth_shares(weights: FloatArray, rows: TrainingSet, head: int) -> tuple[float, ...]:
    """Return m-estimates of the class shares, with the class of the rule on top."""
    return with_head_on_top(weights + SMOOTHING * class_shares(rows), head)


def with_head_on_top(shares: FloatArray, head: int) -> tuple[float, ...]:
    """Normalise shares; other classes are capped just below the class of the rule."""
    top = shares[head]
    if (np.delete(shares, head) >= top).any():
        top = shares[head] = max(top, shares.sum() / len(shares))
        shares = np.minimum(shares, top * BELOW)
        shares[head] = top
    return _normalise(shares)


def class_shares(rows: TrainingSet) -> FloatArray:
    """Return the class shares; a class without rows counts as half a row, so it stays possible."""
    half_row = 0.5 * rows.total_weight / rows.n_rows
    weights = np.where(rows.class_weights > 0, rows.class_weights, half_row)
    shares: FloatArray = weights / weights.sum()
    return shares


def _normalise(shares: FloatArray) -> tuple[float, ...]:
    total: tuple[float, ...] = tuple((shares / shares.sum()).tolist())
    return total
