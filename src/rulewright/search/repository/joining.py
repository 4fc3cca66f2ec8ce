"""Formulas joined by "or", "and" or "not", in the shortest words that mean the same."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from rulewright.rules import And, Conjunction, Contradiction, Not, Or, normalise, opposite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.rules import Condition, Formula


def any_body(bodies: Sequence[Formula]) -> Formula:
    """Give the formula that holds where one of several does; one condition per column if it can."""
    by_column: dict[str, list[Condition]] = {}
    others: list[Formula] = []
    for body in bodies:
        condition = _plain(body)
        if condition is None:
            others.append(body)
        else:
            by_column.setdefault(condition.column, []).append(condition)
    parts = [part for same in by_column.values() for part in _union(same)]
    return normalise(Or((*parts, *others)))


def all_body(bodies: Sequence[Formula]) -> Formula:
    """Give the formula that holds where all of several do; one condition per column if it can."""
    if all(map(_merges, bodies)):
        with suppress(Contradiction):
            return Conjunction.of(c for body in bodies for c in body.conditions)
    return normalise(And(tuple(bodies)))


def not_body(body: Formula) -> Formula:
    """Give the formula that holds where another fails, and is unknown where that is."""
    return normalise(Not(body))


def _plain(body: Formula) -> Condition | None:
    """Give the only condition of a body if it is unknown on missing values."""
    if not isinstance(body, Conjunction) or len(body) != 1:
        return None
    (condition,) = body.conditions
    return None if condition.decides_missing else condition


def _merges(body: Formula) -> bool:
    # Merged with others, a condition that decides missing values would be unknown there.
    return isinstance(body, Conjunction) and not any(c.decides_missing for c in body.conditions)


def _union(conditions: Sequence[Condition]) -> list[Formula]:
    """Join conditions on one column: none of the others hold where all their opposites do."""
    try:
        apart = Conjunction.of(map(opposite, conditions))
    except Contradiction:  # one of them always holds, but it is unknown on missing values
        return [Conjunction((condition,)) for condition in conditions]
    return [Conjunction((opposite(condition),)) for condition in apart.conditions]
