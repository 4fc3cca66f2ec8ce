"""How far a value is from a condition, column by column: what nearest rules add up.

A number has the distance to the nearer bound of the interval, as a share of the range of its column
in the training rows; 1 if it is missing, and 0 wherever it is if that range is 0. A label has the
distance that a table gives for the two groups of labels. Groups join labels that are equally far
from all others; missing values and labels never seen belong to groups too.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rulewright.data import NUMBER, PLACE, WEIGHT, Fields, Part, define, described, list_of
from rulewright.rules import Conjunction, Labels, Presence, Range, checked_column, finite_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import ColumnSchema
    from rulewright.rules import Condition, Formula

FARTHEST = 1000.0
"""A number more ranges outside the training rows is held there, so that every sum is finite."""
_MOST_WIDTH, _SCALE = 1e300, 2.0**-40
"""Columns of a larger range are scaled before they are subtracted, which would overflow."""


@dataclass(frozen=True)
class NumberDistance:
    """Distances in an ordered column: shares of its range."""

    column: str
    low: float  # the least training value
    high: float  # the largest one

    def __post_init__(self) -> None:
        checked_column(self.column)
        for name in ("low", "high"):
            number = finite_number(getattr(self, name), f"{name} of column {self.column!r}")
            object.__setattr__(self, name, number)
        if self.low > self.high:
            raise ValueError(f"column {self.column!r} has no values from {self.low} to {self.high}")

    @cached_property
    def scale(self) -> float:
        """What numbers are multiplied by: a power of 2, and 1 unless they are huge."""
        return 1.0 if self.high - self.low <= _MOST_WIDTH else _SCALE

    @cached_property
    def width(self) -> float:
        """The scaled range."""
        return self.high * self.scale - self.low * self.scale

    @cached_property
    def limits(self) -> tuple[float, float]:
        """The numbers that values are held between, not scaled."""
        far, most = FARTHEST * (self.high - self.low), sys.float_info.max
        return max(self.low - far, -most), min(self.high + far, most)

    def fits(self, schema: ColumnSchema) -> bool:
        """Return whether a column has such distances."""
        return schema.type.ordered

    def takes(self, condition: Condition) -> bool:
        """Return whether a condition has distances: a closed interval inside the range."""
        if not isinstance(condition, Range) or condition.low_open or condition.high_open:
            return False
        return self.low <= condition.low and condition.high <= self.high

    def values(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the values of a column as kernels take them."""
        held: NDArray[np.float64] = np.clip(values, *self.limits) * self.scale
        return held

    def to_json(self) -> dict[str, Any]:
        """Return the distances as plain data."""
        return {"column": self.column, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class LabelDistance:
    """Distances of a nominal column, between groups of labels."""

    column: str
    groups: tuple[int, ...]  # group of each label of the schema
    unseen: int  # group of labels that are not in the schema
    missing: int  # group of missing values
    # distance of each group to each other, from 0 to ``FARTHEST``
    table: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        what = f"column {checked_column(self.column)!r}"
        table = tuple(
            tuple(finite_number(gap, f"distance of {what}") for gap in line) for line in self.table
        )
        object.__setattr__(self, "table", table)
        n = len(table)
        if any(len(line) != n or not 0.0 <= min(line) <= max(line) <= FARTHEST for line in table):
            raise ValueError(
                f"distances of {what} must be a square matrix with values from 0 to {FARTHEST}"
            )
        object.__setattr__(self, "groups", tuple(self.groups))
        for group in (*self.groups, self.unseen, self.missing):
            if type(group) is not int or not 0 <= group < n:
                raise ValueError(f"{what} has {n} groups of labels, none of them is {group!r}")

    @cached_property
    def squares(self) -> NDArray[np.float64]:
        """The squared distances."""
        table = np.array(self.table, dtype=np.float64)
        return np.asarray(table * table)

    def fits(self, schema: ColumnSchema) -> bool:
        """Return whether a column has such distances."""
        return not schema.type.ordered and len(schema.labels) == len(self.groups)

    def takes(self, condition: Condition) -> bool:
        """Return whether a condition has distances: one label, or none at all."""
        if isinstance(condition, Presence):
            return condition.missing
        return isinstance(condition, Labels) and len(condition.labels) == 1 > condition.negated

    def group(self, condition: Condition, schema: ColumnSchema) -> int:
        """Return the group that a condition names."""
        if isinstance(condition, Labels):
            return self.groups[schema.label_index[condition.labels[0]]]
        return self.missing

    def values(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the values of a column as kernels take them: as groups."""
        # Codes of the data room index this from the end too: -2 is unseen, -1 is missing.
        groups = np.array([*self.groups, self.unseen, self.missing], dtype=np.float64)
        return np.asarray(groups[values])

    def to_json(self) -> dict[str, Any]:
        """Return the distances as plain data."""
        return {
            "column": self.column,
            "groups": list(self.groups),
            "unseen": self.unseen,
            "missing": self.missing,
            "table": [list(line) for line in self.table],
        }


Distance: TypeAlias = NumberDistance | LabelDistance


def distance_from_json(obj: object) -> Distance:
    """Make the distances of a column from the data of their ``to_json``, or raise a ValueError."""
    if _OF_NUMBERS.fit(obj):
        return NumberDistance(**obj)
    if not _OF_LABELS.fit(obj):
        listed = ", ".join(repr(name) for name in _OF_LABELS.needed if name != "column")
        raise ValueError("distances of a column need its name, 'low' and 'high', or " + listed)
    lists = [obj["groups"], obj["table"], *(obj["table"] if isinstance(obj["table"], list) else ())]
    if not all(isinstance(part, list) for part in lists):
        raise ValueError("groups and table of distances must be lists")
    table = tuple(map(tuple, obj["table"]))
    return LabelDistance(**obj | {"groups": tuple(obj["groups"]), "table": table})


_OF_NUMBERS = Fields(
    {"low": NUMBER, "high": NUMBER}, about="Distances of a numeric column, in units of its range."
).of_column()
_OF_LABELS = Fields(
    {
        "groups": described("Group of each label of the column.", list_of(PLACE)),
        "unseen": PLACE,
        "missing": PLACE,
        "table": described("Distance of each group to each other.", list_of(list_of(WEIGHT))),
    },
    about="Distances of labels, by groups.",
).of_column()
DISTANCE: Part = {
    "oneOf": [
        define("number_distance", _OF_NUMBERS.part),
        define("label_distance", _OF_LABELS.part),
    ]
}


def check_body(body: Formula, distances: dict[str, Distance]) -> None:
    """Reject a formula that has no distance to rows."""
    if not isinstance(body, Conjunction):
        raise ValueError(f"a nearest rule must be a conjunction, not '{body}'")
    for condition in body.conditions:
        distance = distances.get(condition.column)
        if distance is None or not distance.takes(condition):
            raise ValueError(
                f"'{condition}' has no distances: it must be a closed interval inside the range of "
                "its column, one label, or 'is missing' of a nominal column"
            )
