"""Conjunctions of conditions in canonical form: at most one condition per column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from rulewright.rules.condition import Labels, Plain, Presence, Range
from rulewright.rules.label_sets import (
    Condition,
    any_of,
    condition_from_json,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

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
        columns = self.columns
        if len(set(columns)) < len(columns):
            twice = next(column for column in columns if columns.count(column) > 1)
            raise ValueError(
                f"conjunction has two conditions on column {twice!r}; "
                "merge them with Conjunction.of"
            )

    @classmethod
    def of(cls, conditions: Iterable[Condition]) -> Conjunction:
        """Merge conditions to one per column, columns in order of first appearance.

        Raises
        ------
        Contradiction
            When the conditions on some column cannot hold together.
        """
        by_column: dict[str, list[Condition]] = {}
        for condition in conditions:
            by_column.setdefault(condition.column, []).append(condition)
        return cls(tuple(map(_merge, by_column.values())))

    @classmethod
    def from_json(cls, obj: object) -> Conjunction:
        """Make a conjunction from the plain data of its ``to_json``."""
        if not isinstance(obj, list):
            raise ValueError(f"a conjunction must be a JSON list, not {type(obj).__name__}")
        return cls(tuple(condition_from_json(item) for item in obj))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns it needs."""
        return tuple([condition.column for condition in self.conditions])

    @property
    def key(self) -> Hashable:
        """What equal formulas have in common: the order of conditions is not."""
        return frozenset(self.conditions)

    def holds(self, table: Table) -> NDArray[np.bool_]:
        """Return for each row of a table whether all conditions hold."""
        covered = np.ones(len(table), dtype=np.bool_)
        for condition in self.conditions:
            covered &= condition.holds(table[condition.column])
        return covered

    def fails(self, table: Table) -> NDArray[np.bool_]:
        """Return for each row of a table whether a condition is known not to hold."""
        failed = np.zeros(len(table), dtype=np.bool_)
        for condition in self.conditions:
            failed |= condition.fails(table[condition.column])
        return failed

    def to_json(self) -> list[dict[str, object]]:
        """Return the conjunction as plain data."""
        return [condition.to_json() for condition in self.conditions]

    @property
    def only_range(self) -> Range | None:
        """The range of values that is the only condition, if it is one."""
        first = self.conditions[0] if len(self.conditions) == 1 else None
        return first if isinstance(first, Range) else None

    def __len__(self) -> int:
        return len(self.conditions)

    def __bool__(self) -> bool:
        # A rule without conditions is still a rule, not "nothing".
        return True

    def __iter__(self) -> Iterator[Condition]:
        return iter(self.conditions)

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions)) or "true"


def _merge(conditions: Sequence[Condition]) -> Condition:
    """Return the one condition that holds exactly where all of these on one column hold."""
    if len(conditions) == 1:
        return conditions[0]
    several = [condition.alternatives for condition in conditions]
    found = _merge_known([[part for part in parts if not _is_missing(part)] for parts in several])
    if all(_is_missing(parts[-1]) for parts in several):
        found.append(several[0][-1])
    if not found:
        *texts, last = (f"'{condition}'" for condition in conditions)
        raise Contradiction(f"{', '.join(texts)} and {last} can never hold together")
    return any_of(found)


def _is_missing(part: Plain) -> bool:
    return isinstance(part, Presence) and part.missing


def _merge_known(several: Sequence[list[Plain]]) -> list[Plain]:
    """Return the alternatives for known values where one of each list holds, none for no value."""
    if not all(several):
        return []
    labels = [part for parts in several for part in parts if isinstance(part, Labels)]
    unions = [[part for part in parts if isinstance(part, Range)] for parts in several]
    ranges = [union for union in unions if union]
    if labels and ranges:
        raise ValueError(
            f"'{ranges[0][0]}' and '{labels[0]}' treat column {labels[0].column!r} as numeric and "
            "as nominal"
        )
    if labels:
        return _merge_labels(labels)
    return [*reduce(_merge_ranges, ranges)] if ranges else several[0]


def _merge_ranges(first: list[Range], second: list[Range]) -> list[Range]:
    # Ranges that are apart and in order stay so when merged one by one.
    met = (_intersection(one, other) for one in first for other in second)
    return [part for part in met if part is not None]


def _intersection(one: Range, other: Range) -> Range | None:
    if one.kind != other.kind:
        raise ValueError(f"'{one}' and '{other}' are about columns of different kinds")
    # Of two equal bounds the open one is the stricter.
    low, low_open = max((one.low, one.low_open), (other.low, other.low_open))
    high, high_closed = min((one.high, not one.high_open), (other.high, not other.high_open))
    if low > high or (low == high and (low_open or not high_closed)):
        return None
    return Range(one.column, low, high, low_open, not high_closed, one.kind)


def _merge_labels(conditions: Sequence[Labels]) -> list[Plain]:
    column = conditions[0].column
    excluded = {label for c in conditions if c.negated for label in c.labels}
    wanted = [frozenset(c.labels) for c in conditions if not c.negated]
    if not wanted:
        return [Labels(column, tuple(excluded), negated=True)]
    labels = frozenset.intersection(*wanted) - excluded
    return [Labels(column, tuple(labels))] if labels else []
