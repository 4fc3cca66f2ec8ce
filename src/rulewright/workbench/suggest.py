"""Alternatives of a rule: other thresholds and columns with nearly the same effect."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.data import DataError
from rulewright.encoding import bin_column
from rulewright.kernels import Op
from rulewright.rules import Conjunction, Formula, Labels, Range
from rulewright.workbench.names import EditError, RuleName, place_of
from rulewright.workbench.state import RuleChange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rulewright.kernels import BoolArray
    from rulewright.workbench.state import State

MOST_TRIED = 24
"""Number of candidates whose loss is computed: the most similar ones."""

MOST_CUTS = 40
"""Number of thresholds that a loss curve has."""

N_CUTS = 24
"""Number of thresholds per column."""


class Suggestion(NamedTuple):
    """Conditions that could replace the conditions of a rule.

    Attributes
    ----------
    text : str
        The conditions.
    overlap : float
        Weight that both cover, as a share of the weight that either covers.
    change : float
        Change of the held-out loss: log-loss, or RMSE.
    """

    text: str
    overlap: float
    change: float


def suggest_rules(
    state: State, name: RuleName, n: int, check: Callable[[], None]
) -> list[Suggestion]:
    """Return the alternatives with the lowest held-out loss among the most similar ones."""
    rows, place = state.data.rows, place_of(state.model, name)
    body = state.model.rules[place].body
    own, weights = rows.holds(body), rows.weights
    known = {rule.body.key for rule in state.model.rules}
    found: dict[Any, tuple[float, Formula]] = {}
    for other in _alternatives(state, body):
        if other.key in known or other.key in found:
            continue
        theirs = other.holds(rows.table)
        either = float(weights[own | theirs].sum())
        if theirs.any() and not theirs.all() and either:
            found[other.key] = float(weights[own & theirs].sum()) / either, other
    nearest = sorted(found.values(), key=lambda one: -one[0])[:MOST_TRIED]
    rated = []
    for overlap, other in nearest:
        check()
        rated.append(Suggestion(str(other), overlap, _loss_with(state, place, other)))
    return sorted(rated, key=lambda one: one.change)[:n]


def cut_losses(
    state: State, name: RuleName, column: str, n: int, check: Callable[[], None]
) -> list[tuple[float, float]]:
    """Return thresholds of a column in a rule, each with the change of the held-out loss."""
    place = place_of(state.model, name)
    body = state.model.rules[place].body
    condition = _range_of(body, column)
    found = []
    side = Op.GREATER_EQUAL if np.isfinite(condition.low) else Op.LESS_EQUAL
    for cut in _cuts(state, column, n, side):
        check()
        other = _with(body, _moved(condition, cut))
        if other is not None and np.count_nonzero(other.holds(state.data.rows.table)) > 0:
            found.append((cut, _loss_with(state, place, other)))
    return found


def _range_of(body: Formula, column: str) -> Range:
    if isinstance(body, Conjunction):
        for condition in body.conditions:
            if condition.column == column and isinstance(condition, Range):
                if np.isfinite(condition.low) and np.isfinite(condition.high):
                    break
                return condition
    raise EditError(f"'{body}' has no single threshold of {column!r}.")


def _moved(condition: Range, cut: float) -> Range:
    """Return the condition with another threshold."""
    if np.isfinite(condition.low):
        return replace(condition, low=cut)
    return replace(condition, high=cut)


def _loss_with(state: State, place: int, body: Formula) -> float:
    """Return the change of the held-out loss with other conditions; points are fitted alone."""
    changes = state.unchanged
    rule = replace(changes[place].rule, body=body)
    changes[place] = RuleChange(rule, place, state.frozen[place], not state.frozen[place])
    made = state.with_rules(changes)
    return made.loss - state.loss


def _alternatives(state: State, body: Formula) -> Iterator[Formula]:
    """Yield the rule with one condition moved, or with one on another column in its place."""
    if not isinstance(body, Conjunction):
        return
    for condition in body.conditions:
        rest = [c for c in body.conditions if c is not condition]
        among = Conjunction(tuple(rest)).holds(state.data.rows.table)
        for column in state.model.schema:
            if column.name in state.constraints.forbidden:
                continue
            if column.name != condition.column and column.name in body.columns:
                continue
            for other in _conditions(state, column, among):
                if other != condition:
                    yield Conjunction((*rest, other))


def _conditions(state: State, column: Any, among: BoolArray) -> Iterator[Any]:
    """Yield simple conditions on a column."""
    if column.type.ordered:
        for low in _cuts(state, column.name, N_CUTS):
            yield Range(column.name, low=low, kind=column.kind)
        for high in _cuts(state, column.name, N_CUTS, Op.LESS_EQUAL):
            yield Range(column.name, high=high, kind=column.kind)
        return
    values = state.data.rows.table[column.name].values[among]
    for code in np.unique(values[values >= 0]).tolist()[:N_CUTS]:
        label = column.labels[code]
        yield Labels(column.name, (label,))
        if len(column.labels) > 2:
            yield Labels(column.name, (label,), negated=True)


def _with(body: Formula, condition: Range) -> Formula | None:
    assert isinstance(body, Conjunction)
    return Conjunction(
        tuple(condition if c.column == condition.column else c for c in body.conditions)
    )


def _cuts(state: State, column: str, n: int, side: Op = Op.GREATER_EQUAL) -> list[float]:
    """Return thresholds between values of a column, with as few digits as they need."""
    if column not in state.model.schema:
        raise DataError(f"there is no column {column!r}.")
    bins = bin_column(state.data.rows.table[column], n + 1)
    return [bins.cut(i, i + 1, side, "short") for i in range(len(bins) - 1)]
