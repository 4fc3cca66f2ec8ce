"""The three plain kinds of condition on one column, and their text and JSON forms.

``Range`` tests a numeric column or one of another ordered kind, ``Labels`` a nominal one,
``Presence`` any. A missing value fails every condition but ``is missing``; a label never seen in
training is not missing: it fails ``=`` and ``in`` and satisfies ``!=`` and ``not in``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from rulewright.data import FLAG, KINDS, NUMBER, TEXT, Column, ColumnSchema, Fields, Part, list_of
from rulewright.rules.checks import (
    check_ordered,
    checked_column,
    checked_flag,
    checked_labels,
    checked_number,
)
from rulewright.rules.words import write_label, write_name, write_word

if TYPE_CHECKING:
    from numpy.typing import NDArray


Value: TypeAlias = float | str | None
"""One value of a row: a number, a label, or missing (``None`` or NaN)."""


class PlainCondition:
    """What the plain conditions share as parts of formulas with three values."""

    __slots__ = ()

    decides_missing: ClassVar[bool] = False
    """Whether the condition is true or false, not unknown, where the value is missing."""
    column: str

    @property
    def needs(self) -> str | None:
        """Name of the kind of column that the condition fits; None for all."""
        return None

    @property
    def alternatives(self) -> tuple[Any, ...]:
        """The plain conditions of which one must hold: this one."""
        return (self,)

    @property
    def marks(self) -> tuple[Any, ...]:
        """The thresholds or labels that the condition distinguishes."""
        return ()

    def holds(self, column: Column) -> NDArray[np.bool_]:
        """Return on which rows of a column the condition is true."""
        raise NotImplementedError

    def fails(self, column: Column) -> NDArray[np.bool_]:
        """Return on which rows of a column the condition is false; elsewhere it is unknown."""
        other = ~self.holds(column)
        return other if self.decides_missing else other & ~column.is_missing

    def check(self, schema: ColumnSchema) -> None:
        """Raise a ValueError if the condition does not fit a column."""
        if self.needs not in (None, schema.kind):
            raise ValueError(f"'{self}' needs a {self.needs} column, not a {schema.kind} one")


@dataclass(frozen=True, slots=True)
class Range(PlainCondition):
    """A column of an ordered kind lies between two bounds, of which at least one is finite.

    Parameters
    ----------
    column : str
        Name of the column.
    low, high : float
        The bounds; an infinite one means there is none on that side.
    low_open, high_open : bool
        Whether the bound itself is excluded; always False for an absent bound.
    kind : str
        Kind of the column, which writes the bounds.
    """

    column: str
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    kind: str = "numeric"

    def __post_init__(self) -> None:
        column = checked_column(self.column)
        low = checked_number(self.low, f"lower bound of column {column!r}")
        high = checked_number(self.high, f"upper bound of column {column!r}")
        low_open = checked_flag(self.low_open, f"low_open of column {column!r}")
        high_open = checked_flag(self.high_open, f"high_open of column {column!r}")
        if self.kind != "numeric":
            check_ordered(self.kind, column)
            low, low_open = _snap_bound(self.kind, low, low_open, up=True)
            high, high_open = _snap_bound(self.kind, high, high_open, up=False)
        if low == -math.inf and high == math.inf:
            raise ValueError(
                f"range of column {column!r} has no bound; use Presence(missing=False)"
            )
        if low > high or math.inf in (low, -high) or (low == high and (low_open or high_open)):
            raise ValueError(
                f"range of column {column!r} from {low} to {high} is empty; widen its bounds"
            )
        _set(self, column=column, low=low, high=high)
        _set(self, low_open=low_open and low > -math.inf)
        _set(self, high_open=high_open and high < math.inf)

    @property
    def needs(self) -> str:
        """Name of the kind of column that the condition fits."""
        return self.kind

    def check(self, schema: ColumnSchema) -> None:
        """Raise a ValueError if the range does not fit a column."""
        if self.low == self.high and schema.kind == "nominal":
            name, value = write_name(self.column), write_word(KINDS[self.kind].write(self.low))
            raise ValueError(f"'{self}' compares labels with a number; quote it: {name} = {value}")
        PlainCondition.check(self, schema)

    @property
    def marks(self) -> tuple[float, ...]:
        """The finite bounds."""
        return tuple(bound for bound in (self.low, self.high) if math.isfinite(bound))

    def holds(self, column: Column) -> NDArray[np.bool_]:
        """Return for each row of a column whether its value lies in the range."""
        _check_kind(column, self)
        values: NDArray[np.float64] = column.values
        if self.low == -math.inf:
            return values < self.high if self.high_open else values <= self.high
        above = values > self.low if self.low_open else values >= self.low
        if self.high == math.inf:
            return above
        above &= values < self.high if self.high_open else values <= self.high
        return above

    def accepts(self, value: Value) -> bool:
        """Return whether one number lies in the range."""
        if _is_missing(value):
            return False
        number = checked_number(value, f"value of column {self.column!r}")
        above = self.low < number if self.low_open else self.low <= number
        return above and (number < self.high if self.high_open else number <= self.high)

    def __str__(self) -> str:
        name, write = write_name(self.column), KINDS[self.kind].write
        below = "" if self.high == math.inf else write(self.high)
        below = f"{'<' if self.high_open else '<='} {below}"
        if self.low == -math.inf:
            return f"{name} {below}"
        if self.high == math.inf:
            return f"{name} {'>' if self.low_open else '>='} {write(self.low)}"
        if self.low == self.high:
            return f"{name} = {write(self.low)}"
        return f"{write(self.low)} {'<' if self.low_open else '<='} {name} {below}"

    def to_json(self) -> dict[str, object]:
        """Return the range as plain data; absent bounds, closed ends and numbers leave no key."""
        obj: dict[str, object] = {"column": self.column}
        if self.kind != "numeric":
            obj["kind"] = self.kind
        if self.low > -math.inf:
            obj["low"] = self.low
        if self.low_open:
            obj["low_open"] = True
        if self.high < math.inf:
            obj["high"] = self.high
        if self.high_open:
            obj["high_open"] = True
        return obj


def _snap_bound(kind: str, bound: float, is_open: bool, *, up: bool) -> tuple[float, bool]:
    """Return an equal bound that values of the kind can have; a moved one is closed."""
    if not math.isfinite(bound):
        return bound, is_open
    snapped = KINDS[kind].snap(bound, up=up)
    return snapped, is_open and snapped == bound


@dataclass(frozen=True, slots=True)
class Labels(PlainCondition):
    """A nominal column has one of the labels or, negated, is known and has none of them.

    Parameters
    ----------
    column : str
        Name of the column.
    labels : tuple of str
        At least one label; kept sorted, each once.
    negated : bool
        False for ``=`` and ``in``, True for ``!=`` and ``not in``.
    """

    column: str
    labels: tuple[str, ...]
    negated: bool = False

    def __post_init__(self) -> None:
        column = checked_column(self.column)
        negated = checked_flag(self.negated, f"negated of column {column!r}")
        _set(self, column=column, labels=checked_labels(self.labels, column), negated=negated)

    @property
    def needs(self) -> str:
        """Name of the kind of column that the condition fits."""
        return "nominal"

    @property
    def marks(self) -> tuple[str, ...]:
        """The labels."""
        return self.labels

    def check(self, schema: ColumnSchema) -> None:
        """Raise a ValueError if the column is not nominal or lacks a label."""
        PlainCondition.check(self, schema)
        for label in self.labels:
            if label not in schema.label_index:
                raise ValueError(f"column {schema.name!r} has no label {label!r}")

    def holds(self, column: Column) -> NDArray[np.bool_]:
        """Return for each row of a nominal column whether its label satisfies the condition."""
        _check_kind(column, self)
        wanted = frozenset(self.labels)
        answers = [(label in wanted) != self.negated for label in column.schema.labels]
        # The negative codes index from the end: -2 is an unseen label, -1 a missing one.
        by_code = np.array([*answers, self.negated, False], dtype=np.bool_)
        covered: NDArray[np.bool_] = by_code[column.values]
        return covered

    def accepts(self, value: Value) -> bool:
        """Return whether one label satisfies the condition."""
        if _is_missing(value):
            return False
        if not isinstance(value, str):
            raise ValueError(
                f"value of nominal column {self.column!r} must be a label (a string), "
                f"not {type(value).__name__}"
            )
        return (value in self.labels) != self.negated

    def __str__(self) -> str:
        name, words = write_name(self.column), [write_label(label) for label in self.labels]
        if len(words) == 1:
            return f"{name} {'!=' if self.negated else '='} {words[0]}"
        return f"{name} {'not in' if self.negated else 'in'} {{{', '.join(words)}}}"

    def to_json(self) -> dict[str, object]:
        """Return the condition as plain data, with its labels under ``in`` or ``not_in``."""
        return {"column": self.column, "not_in" if self.negated else "in": list(self.labels)}


@dataclass(frozen=True, slots=True)
class Presence(PlainCondition):
    """A column of any kind is missing, or is known.

    Parameters
    ----------
    column : str
        Name of the column.
    missing : bool
        True for ``is missing``, False for ``is known``.
    """

    column: str
    missing: bool

    decides_missing: ClassVar[bool] = True

    def __post_init__(self) -> None:
        column = checked_column(self.column)
        _set(self, column=column, missing=checked_flag(self.missing, f"missing of {column!r}"))

    def holds(self, column: Column) -> NDArray[np.bool_]:
        """Return for each row of a column whether its value is missing (or is known)."""
        return column.is_missing if self.missing else ~column.is_missing

    def accepts(self, value: Value) -> bool:
        """Return whether one value is missing (or is known)."""
        return _is_missing(value) == self.missing

    def __str__(self) -> str:
        return f"{write_name(self.column)} is {'missing' if self.missing else 'known'}"

    def to_json(self) -> dict[str, object]:
        """Return the condition as plain data."""
        return {"column": self.column, "missing": self.missing}


Plain: TypeAlias = Range | Labels | Presence


def plain_from_json(obj: object) -> Plain:
    """Make a plain condition from the data of its ``to_json``; all else is a ValueError."""
    if not isinstance(obj, dict):
        raise ValueError(f"a condition must be a JSON object, not {type(obj).__name__}")
    if "column" not in obj:
        raise ValueError("a condition must have the key 'column'")
    fields = {key: value for key, value in obj.items() if key != "column"}
    column = checked_column(obj["column"])
    for key, part in (("in", _IN), ("not_in", _NOT_IN)):
        if part.fit(fields):
            if not isinstance(fields[key], list):
                raise ValueError(f"{key!r} of column {column!r} must be a list of labels")
            return Labels(column, tuple(fields[key]), negated=key == "not_in")
    if _PRESENCE.fit(fields):
        return Presence(column, fields["missing"])
    if fields.keys() - {"kind"} and _RANGE.fit(fields):
        return _range_from_json(column, fields)
    raise ValueError(
        f"condition on column {column!r} has the keys {list(fields)}; expected 'low' and 'high' "
        "(with 'low_open', 'high_open'), or 'in', or 'not_in', or 'missing', or 'any'"
    )


def _ordered_kinds() -> Part:
    names = [name for name, kind in KINDS.items() if kind.ordered]
    return {"description": "Kind of the column; numeric if left out.", "enum": names}


_RANGE = Fields(
    {},
    {
        "kind": _ordered_kinds,
        "low": NUMBER,
        "low_open": FLAG,
        "high": NUMBER,
        "high_open": FLAG,
    },
    "low <= value <= high; of dates, milliseconds since 1970. An absent bound is none, and one "
    "that is open is excluded.",
    {
        "anyOf": [{"required": ["low"]}, {"required": ["high"]}],
        "dependentRequired": {"low_open": ["low"], "high_open": ["high"]},
    },
)
_IN = Fields({"in": list_of(TEXT, minItems=1)}, about="The label is one of these.")
_NOT_IN = Fields(
    {"not_in": list_of(TEXT, minItems=1)}, about="The value is known and its label none of these."
)
_PRESENCE = Fields({"missing": FLAG}, about="The value is missing (true) or known (false).")
PLAIN_FIELDS = (_RANGE, _IN, _NOT_IN, _PRESENCE)
"""The fields of plain conditions apart from the column."""


def _range_from_json(column: str, fields: dict[str, Any]) -> Range:
    for side in ("low", "high"):
        if f"{side}_open" in fields and side not in fields:
            raise ValueError(f"column {column!r} has '{side}_open' but no {side!r} bound")
        if side in fields and math.isinf(checked_number(fields[side], f"{side!r} of {column!r}")):
            raise ValueError(f"{side!r} of column {column!r} is infinite; leave the key out")
    return Range(column, **fields)


def _set(condition: Plain, **fields: object) -> None:
    """Store checked fields in a condition that is still being built."""
    for name, value in fields.items():
        object.__setattr__(condition, name, value)


def _is_missing(value: Value) -> bool:
    return value is None or value != value


def _check_kind(column: Column, condition: Plain) -> None:
    if column.schema.kind != condition.needs:
        raise ValueError(
            f"condition '{condition}' needs a {condition.needs} column, "
            f"but column {column.schema.name!r} is {column.schema.kind}"
        )
