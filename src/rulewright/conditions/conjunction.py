"""Conjunctions of conditions in canonical form: at most one condition per column."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.conditions.any_of import (
    Condition,
    alternatives_of,
    any_of,
    condition_from_json,
)
from rulewright.conditions.condition import Labels, Presence, Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from rulewright.conditions.condition import Plain
    from rulewright.data import Table


class Contradiction(ValueError):  # noqa: N818 - it names what was found
    """Conditions that no value can satisfy together."""


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Conditions that must all hold, each on a column of its own.

    Parameters
    ----------
    conditions : tuple of Condition
        At most one per column; ``Conjunction.of`` merges any conditions to that form.
    """

    conditions: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for column in self.columns:
            if column in seen:
                raise ValueError(
                    f"conjunction has two conditions on column {column!r}; "
                    "merge them with Conjunction.of"
                )
            seen.add(column)

    @classmethod
    def of(cls, conditions: Iterable[Condition]) -> Conjunction:
        """Merge conditions to one per column, columns in order of first appearance.

        Raises
        ------
        Contradiction
            When the conditions on some column cannot hold together.
        """
        merged: dict[str, Condition] = {}
        for condition in conditions:
            known = merged.get(condition.column)
            merged[condition.column] = condition if known is None else merge(known, condition)
        return cls(tuple(merged.values()))

    @classmethod
    def from_json(cls, obj: object) -> Conjunction:
        """Make a conjunction from the plain data of its ``to_json``."""
        if not isinstance(obj, list):
            raise ValueError(f"a conjunction must be a JSON list, not {type(obj).__name__}")
        return cls(tuple(condition_from_json(item) for item in obj))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns it needs."""
        return tuple(condition.column for condition in self.conditions)

    def holds(self, table: Table) -> NDArray[np.bool_]:
        """Tell for each row of a table whether all conditions hold."""
        covered = np.ones(len(table), dtype=np.bool_)
        for condition in self.conditions:
            covered &= condition.holds(table[condition.column])
        return covered

    def to_json(self) -> list[dict[str, object]]:
        """Give the conjunction as plain data."""
        return [condition.to_json() for condition in self.conditions]

    def __len__(self) -> int:
        return len(self.conditions)

    def __bool__(self) -> bool:
        # A rule without conditions is still a rule, not "nothing".
        return True

    def __iter__(self) -> Iterator[Condition]:
        return iter(self.conditions)

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions)) or "true"


def merge(first: Condition, second: Condition) -> Condition:
    """Give the one condition that holds exactly where two on the same column both hold."""
    # Alternatives that are apart and in order stay so when merged one by one.
    found = []
    for one in alternatives_of(first):
        for other in alternatives_of(second):
            with suppress(Contradiction):
                found.append(_merge_plain(one, other))
    if not found:
        raise Contradiction(f"'{first}' and '{second}' can never hold together")
    return any_of(found)


def _merge_plain(first: Plain, second: Plain) -> Plain:
    if isinstance(first, Presence):
        return _merge_presence(first, second)
    if isinstance(second, Presence):
        return _merge_presence(second, first)
    if isinstance(first, Range) and isinstance(second, Range):
        return _merge_ranges(first, second)
    if isinstance(first, Labels) and isinstance(second, Labels):
        return _merge_labels(first, second)
    raise ValueError(
        f"'{first}' and '{second}' treat column {first.column!r} as numeric and as nominal"
    )


def _merge_presence(presence: Presence, other: Plain) -> Plain:
    wants_missing = isinstance(other, Presence) and other.missing
    if presence.missing != wants_missing:
        raise Contradiction
    return other


def _merge_ranges(first: Range, second: Range) -> Range:
    # Of two equal bounds the open one is the stricter.
    low, low_open = max((first.low, first.low_open), (second.low, second.low_open))
    high, high_closed = min((first.high, not first.high_open), (second.high, not second.high_open))
    if low > high or (low == high and (low_open or not high_closed)):
        raise Contradiction
    return Range(first.column, low, high, low_open, not high_closed)


def _merge_labels(first: Labels, second: Labels) -> Labels:
    if first.negated and second.negated:
        return Labels(first.column, (*first.labels, *second.labels), negated=True)
    if first.negated:
        first, second = second, first
    others = frozenset(second.labels)
    labels = tuple(label for label in first.labels if (label in others) != second.negated)
    if not labels:
        raise Contradiction
    return Labels(first.column, labels)
