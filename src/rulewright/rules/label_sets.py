"""Conditions with alternatives, so that every condition has an exact opposite.

A plain condition fails on missing values, so the opposite of ``color = red`` holds where the color
is another one *or missing*. The opposite of ``1 < x <= 2`` holds below, above or if x is missing:
``color != red (or missing)``, ``x <= 1 (or x > 2 or missing)``. ``AnyOf`` holds such alternatives
of one column. Conditions with alternatives merge like plain ones, so a conjunction keeps one
condition per column.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rulewright.data import Column, ColumnSchema, Fields, define, list_of
from rulewright.rules.condition import PLAIN_FIELDS, Labels, Plain, Presence, Range, plain_from_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.rules.condition import Value


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of several plain conditions on a column holds.

    Parameters
    ----------
    alternatives : tuple of Range, or one Labels, and then perhaps ``is missing``
        At least two: ranges ascending with a gap between neighbours, ``is missing`` last.
    """

    alternatives: tuple[Plain, ...]

    def __post_init__(self) -> None:
        parts = tuple(self.alternatives)
        if len(parts) < 2 or not all(isinstance(part, Range | Labels | Presence) for part in parts):
            raise ValueError("alternatives must be at least two plain conditions")
        column = parts[0].column
        if any(part.column != column for part in parts):
            raise ValueError(f"alternatives must all be about one column, such as {column!r}")
        last = parts[-1]
        known = parts[:-1] if isinstance(last, Presence) and last.missing else parts
        ranges = all(isinstance(part, Range) for part in known)
        if not (ranges or (len(known) == 1 and isinstance(known[0], Labels))):
            raise ValueError(
                f"alternatives of column {column!r} must be ranges or one condition on labels, and "
                "then perhaps 'missing'"
            )
        if ranges and not all(_apart(low, high) for low, high in pairwise(known)):
            raise ValueError(f"ranges of column {column!r} must ascend with gaps between them")
        object.__setattr__(self, "alternatives", parts)

    @property
    def column(self) -> str:
        """Name of the column."""
        return self.alternatives[0].column

    @property
    def decides_missing(self) -> bool:
        """Whether missing values are among the alternatives; else they make it unknown."""
        return self.alternatives[-1].decides_missing

    @property
    def marks(self) -> tuple[Any, ...]:
        """The thresholds or labels of all alternatives."""
        return tuple(mark for part in self.alternatives for mark in part.marks)

    def check(self, schema: ColumnSchema) -> None:
        """Raise a ValueError if an alternative does not fit a column."""
        for part in self.alternatives:
            part.check(schema)

    def holds(self, column: Column) -> NDArray[np.bool_]:
        """Return for each row of a column whether an alternative holds."""
        covered = self.alternatives[0].holds(column)
        for part in self.alternatives[1:]:
            covered = covered | part.holds(column)
        return covered

    def fails(self, column: Column) -> NDArray[np.bool_]:
        """Return for each row of a column whether all alternatives fail."""
        return reduce(np.logical_and, (part.fails(column) for part in self.alternatives))

    def accepts(self, value: Value) -> bool:
        """Return whether one value satisfies an alternative."""
        return any(part.accepts(value) for part in self.alternatives)

    def __str__(self) -> str:
        first, *others = self.alternatives
        words = ["missing" if isinstance(part, Presence) else str(part) for part in others]
        return f"{first} (or {' or '.join(words)})"

    def to_json(self) -> dict[str, object]:
        """Return the condition as plain data, with its alternatives under ``any``."""
        parts = [part.to_json() for part in self.alternatives]
        for part in parts:
            del part["column"]
        return {"column": self.column, "any": parts}


Condition: TypeAlias = Plain | AnyOf


def condition_from_json(obj: object) -> Condition:
    """Make a condition from the plain data of its ``to_json``; anything else is a ValueError."""
    if not _ANY_OF.fit(obj):
        return plain_from_json(obj)
    parts = obj["any"]
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise ValueError(f"'any' of column {obj['column']!r} must be a list of JSON objects")
    if any("column" in part for part in parts):
        raise ValueError(f"alternatives of column {obj['column']!r} must not name a column again")
    return AnyOf(tuple(plain_from_json({"column": obj["column"], **part}) for part in parts))


_ANY_OF = Fields(
    {"any": list_of({"oneOf": [plain.part for plain in PLAIN_FIELDS]}, minItems=1)},
    about="One of several alternatives holds.",
).of_column()
CONDITION = define(
    "condition",
    {"oneOf": [*(plain.of_column().part for plain in PLAIN_FIELDS), _ANY_OF.part]},
)


def any_of(alternatives: Sequence[Plain]) -> Condition:
    """Return the condition with these alternatives, plain if there is only one."""
    return alternatives[0] if len(alternatives) == 1 else AnyOf(tuple(alternatives))


def negate(condition: Condition) -> Condition:
    """Return the condition that holds where another does not, missing values included."""
    parts = condition.alternatives
    *known, last = parts
    if isinstance(last, Presence):
        if not known:
            return Presence(last.column, not last.missing)
        return any_of(_others(known))
    return any_of([*_others(parts), Presence(last.column, True)])


def opposite(condition: Condition) -> Condition:
    """Return the condition that is true where another one is false, unknown where that is unknown.

    Conditions that accept missing values beside others have no such opposite.
    """
    if isinstance(condition, Presence):
        return Presence(condition.column, not condition.missing)
    return any_of(_others(condition.alternatives))


def _others(parts: Sequence[Plain]) -> list[Plain]:
    """Return the conditions on known values that hold where none of ranges or labels does."""
    first = parts[0]
    if isinstance(first, Labels):
        return [Labels(first.column, first.labels, not first.negated)]
    assert isinstance(first, Range)
    gaps: list[Plain] = []
    low, low_open = -math.inf, False
    for part in parts:
        assert isinstance(part, Range)
        if part.low > -math.inf:
            end, end_open = part.low, not part.low_open
            gaps.append(Range(part.column, low, end, low_open, end_open, part.kind))
        low, low_open = part.high, not part.high_open
    if low < math.inf:
        gaps.append(Range(first.column, low, low_open=low_open, kind=first.kind))
    return gaps


def _apart(low: Plain, high: Plain) -> bool:
    """Return whether one range ends before the other starts, with something between them."""
    assert isinstance(low, Range)
    assert isinstance(high, Range)
    return low.high < high.low or (low.high == high.low and low.high_open and high.low_open)
