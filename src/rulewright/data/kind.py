"""The kind of a column: all that differs between numbers, labels and kinds to come.

A new kind is one file in ``data/kinds/`` and one line in ``data/kinds/__init__.py``.
"""

from __future__ import annotations

import math
import re
import sys
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from rulewright.data.frame import LabelColumn
    from rulewright.data.json_fields import Part
    from rulewright.data.schema import ColumnSchema
    from rulewright.data.source import Raw, Wanted
    from rulewright.data.table import Column

_LARGEST = sys.float_info.max


class SqlWords(Protocol):
    """How one database writes values, and reads columns given by a name and an expression."""

    @property
    def name(self) -> str:
        """Name of the dialect."""

    def number(self, value: float) -> str:
        """Write a finite number exactly."""

    def text(self, value: str) -> str:
        """Write a string."""

    def double(self, column: str, expression: str) -> str:
        """Write the reading of a numeric column: doubles, NaN as NULL, else an error."""

    def label(self, column: str, expression: str) -> str:
        """Write the reading of labels as text, and an error for what is no exact label."""

    def truth(self, column: str, expression: str) -> str:
        """Write the reading of Booleans as 1 and 0, and of what is neither as another number."""

    def label_number(self, column: str, expression: str) -> str:
        """Write the reading of labels that are numbers, NaN as NULL, else an error."""

    def moment(self, column: str, expression: str) -> str:
        """Write the reading of dates and date-times to the millisecond, else an error."""

    def moment_number(self, value: str) -> str:
        """Write the milliseconds since 1970 of what `moment` reads."""

    def moment_literal(self, short: str, full: str) -> str:
        """Write a moment, given by its short text and that to the millisecond."""


class Kind(ABC):
    """What a kind of columns does; a kind has no state.

    Values of an ordered kind are float64 with NaN for missing, and ``Range`` fits them. Values of
    other kinds are int32 codes of labels with -1 for missing, and ``Labels`` fits them.
    """

    name: ClassVar[str]  # in schemas and messages
    ordered: ClassVar[bool]
    fields: ClassVar[Mapping[str, Part]] = {}  # of the JSON form, beside ``name`` and ``kind``
    arithmetic: ClassVar[bool] = False  # whether values are numbers to add, scale and round
    operators: ClassVar[tuple[str, ...]]  # of the conditions that fit
    literal: ClassVar[re.Pattern[str]] = re.compile(r"(?!)")  # a threshold in the text of a rule

    def claims(self, raw: Raw) -> bool:
        """Return whether a column of values of any type, whose kind is not given, is of this kind.

        Kinds are asked in the order of `KINDS`. Objects that no kind claims are numeric if all of
        them are numbers, else nominal.
        """
        return False

    def wanted(self, schema: ColumnSchema | None) -> Wanted:
        """Return the form in which a reader loads a column, of a known schema or a new one."""
        return "any"

    @abstractmethod
    def read(self, name: str, raw: Raw) -> Column:
        """Check the values of a new column and infer its schema."""

    @abstractmethod
    def read_like(self, schema: ColumnSchema, raw: Raw) -> Column:
        """Check the values of a column whose schema is known."""

    def recode(self, column: Column, schema: ColumnSchema) -> Column:
        """Bring a column of this kind to another schema of this kind."""
        return replace(column, schema=schema)

    @abstractmethod
    def raw(self, column: Column) -> Raw:
        """Return the values of a column as a container would hold them, for another kind."""

    def to_frame_values(self, column: Column) -> NDArray[Any] | LabelColumn:
        """Return the values of a column as a dataframe holds them; reading keeps the kind."""
        return self.raw(column).values

    @abstractmethod
    def is_missing(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which stored values are missing; an unseen label is not."""

    def to_json(self, schema: ColumnSchema) -> dict[str, Any]:
        """Return the `fields` of a column as plain data."""
        return {}

    def from_json(self, name: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Check the `fields` of a column and return the fields of its schema."""
        return {}

    def write(self, value: Any) -> str:
        """Write a threshold such that `parse` returns it, or a label."""
        return str(value)

    def parse(self, text: str) -> Any:
        """Read a threshold that matches `literal`, or a label."""
        return text

    def snap(self, value: float, *, up: bool) -> float:
        """Return the threshold nearest to a number on one side that values can have."""
        return value

    def between(self, low: float, high: float, near: float | None = None) -> float:
        """Return the threshold strictly between two values that is shortest to write."""
        return short_between(low, high, near)

    def to_table_value(self, value: float) -> Any:
        """Return the value that a table holds for a stored number."""
        return value

    def number(self, value: Any) -> float:
        """Return the stored number of what `held` returns."""
        return float(value)

    def probes(self, value: float) -> list[float]:
        """Return a threshold and the values next to it."""
        near = (value, math.nextafter(value, -math.inf), math.nextafter(value, math.inf))
        return [number for number in near if math.isfinite(number)]

    @property
    def extremes(self) -> tuple[float, ...]:
        """Values of an ordered kind that exports may get wrong."""
        return (math.nan, 0.0, -0.0, 1.0, -1.0, 5e-324, _LARGEST, -_LARGEST)

    @abstractmethod
    def describe(self, column: Column, write_label: Callable[[str], str] = str) -> str:
        """Describe the values of a column in one line, its labels as `write_label` writes them."""

    @abstractmethod
    def reader(self, schema: ColumnSchema) -> str:
        """Name the function that reads a value in exported Python and JavaScript."""

    @abstractmethod
    def sql_value(self, schema: ColumnSchema, expression: str, sql: SqlWords) -> str:
        """Write how SQL reads a column, given by an expression, as the model does."""

    def sql_number(self, value: str, sql: SqlWords) -> str:
        """Write the stored number of a value that `sql_value` reads."""
        return value

    @abstractmethod
    def sql_literal(self, schema: ColumnSchema, value: Any, sql: SqlWords) -> str:
        """Write a threshold or label to compare with `sql_value`."""


KINDS: dict[str, Kind] = {}
"""All kinds by name; a column whose kind is not given belongs to the first that claims it."""


_DIGITS = 17  # enough to write any float so that reading restores it


def short_between(low: float, high: float, near: float | None = None) -> float:
    """Return the shortest decimal strictly between two numbers, so that ``x <= it`` separates them.

    Short means a whole number if there is one, and few significant digits. Of the shortest, the one
    nearest to `near` (by default the middle) is returned, of two equally near the one nearer to 0;
    0 itself if it lies between and `near` is closer to it than a tenth of the gap. The numbers may
    be infinite. If no float lies strictly between them, the result is `low`.
    """
    if not low < high or near != near:
        raise ValueError(f"needs low < high and no NaN, not low={low}, high={high}, near={near}")
    low, high = float(low), float(high)
    first, last = math.nextafter(low, math.inf), math.nextafter(high, -math.inf)
    if first > last:
        return low + 0.0
    near = _middle(low, high) if near is None else float(near)
    if max(-_LARGEST, first) <= (whole := _next_whole(first)) <= min(last, _LARGEST):
        first, last = whole, -_next_whole(-last)
    near = min(max(near, first), last)
    if first == last:
        return first + 0.0
    if first <= 0.0 <= last and abs(near) <= last / 10 - first / 10:
        return 0.0
    return _fewest_digits(first, last, near)


def _next_whole(number: float) -> float:
    """Round up; a large float is whole already."""
    return float(math.ceil(number)) if abs(number) < 2**53 else number


def _middle(low: float, high: float) -> float:
    low, high = max(low, -_LARGEST), min(high, _LARGEST)
    middle = (low + high) / 2
    return middle if math.isfinite(middle) else low / 2 + high / 2


def _fewest_digits(first: float, last: float, near: float) -> float:
    """Find the float in ``[first, last]`` with the fewest digits nearest to `near`, not 0."""
    text = f"{abs(near):.{_DIGITS - 1}e}"  # d.dddddddddddddddde±xx
    digits, exponent = int(text[0] + text[2 : _DIGITS + 1]), int(text[_DIGITS + 2 :])
    sign = "-" if near < 0 else ""
    shortest, fewest, most = near, 1, _DIGITS
    # Bisection works because a decimal that fits also fits when written with more digits.
    while fewest < most:
        kept = (fewest + most) // 2
        below, rest = divmod(digits, power := 10 ** (_DIGITS - kept))
        for number in (below, below + 1) if 2 * rest <= power else (below + 1, below):
            short = float(f"{sign}{number}e{exponent + 1 - kept}")
            if first <= short <= last:
                shortest, most = short, kept
                break
        else:
            fewest = kept + 1
    return shortest
