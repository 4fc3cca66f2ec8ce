"""The kind of a column: everything that differs between numbers, labels and other kinds.

To add a kind, add a file in ``data/kinds/`` and a line in ``data/kinds/__init__.py``.
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
    from rulewright.data.moments import Unit
    from rulewright.data.schema import ColumnSchema
    from rulewright.data.source import Raw, Wanted
    from rulewright.data.table import Column

_LARGEST = sys.float_info.max


class SqlWords(Protocol):
    """How a database writes values, and reads columns given by a name and an expression."""

    @property
    def name(self) -> str:
        """Name of the dialect."""

    def number(self, value: float) -> str:
        """Write a finite number exactly."""

    def text(self, value: str) -> str:
        """Write a string."""

    def double(self, column: str, expression: str) -> str:
        """Write a numeric column: doubles, NaN as NULL, else an error."""

    def label(self, column: str, expression: str) -> str:
        """Write a column of labels as text, with an error for values that are not exact labels."""

    def truth(self, column: str, expression: str) -> str:
        """Write a Boolean column as 1 and 0, and invalid values as another number."""

    def label_number(self, column: str, expression: str) -> str:
        """Write a column of numeric labels, NaN as NULL, else an error."""

    def moment(self, column: str, expression: str) -> str:
        """Write a column of dates and date-times to the millisecond, else an error."""

    def moment_number(self, value: str) -> str:
        """Write the milliseconds since 1970 of the output of `moment`."""

    def moment_literal(self, short: str, full: str) -> str:
        """Write a time, given by its short text and its text to the millisecond."""

    def date_part(self, unit: Unit, moment: str) -> str:
        """Write a part of the output of `moment`: a number as a double, a weekday as text."""


class Kind(ABC):
    """The behaviour of a kind of columns; stateless.

    Values of an ordered kind are float64 with NaN for missing, with ``Range`` conditions. Values of
    other kinds are int32 label codes with -1 for missing, with ``Labels`` conditions.
    """

    name: ClassVar[str]  # in schemas and messages
    ordered: ClassVar[bool]
    fields: ClassVar[Mapping[str, Part]] = {}  # of the JSON form, besides ``name`` and ``kind``
    arithmetic: ClassVar[bool] = False  # whether values can be added, scaled and rounded
    operators: ClassVar[tuple[str, ...]]  # of matching conditions
    literal: ClassVar[re.Pattern[str]] = re.compile(r"(?!)")  # a threshold in rule text

    def claims(self, raw: Raw) -> bool:
        """Return whether a column of any type, without a given kind, is of this kind.

        Kinds are asked in the order of `KINDS`. Objects that no kind claims are numeric if all are
        numbers, else nominal.
        """
        return False

    def wanted(self, schema: ColumnSchema | None) -> Wanted:
        """Return the form in which a reader loads a column with a known or new schema."""
        return "any"

    @abstractmethod
    def read(self, name: str, raw: Raw) -> Column:
        """Check the values of a new column and infer its schema."""

    @abstractmethod
    def read_like(self, schema: ColumnSchema, raw: Raw) -> Column:
        """Validate the values of a column with a known schema."""

    def recode(self, column: Column, schema: ColumnSchema) -> Column:
        """Convert a column of this kind to another schema of this kind."""
        return replace(column, schema=schema)

    @abstractmethod
    def raw(self, column: Column) -> Raw:
        """Return the values of a column in container form, for another kind."""

    def to_frame_values(self, column: Column) -> NDArray[Any] | LabelColumn:
        """Return the values of a column for a dataframe; reading them restores the kind."""
        return self.raw(column).values

    @abstractmethod
    def is_missing(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which stored values are missing; an unseen label is not."""

    def to_json(self, schema: ColumnSchema) -> dict[str, Any]:
        """Return the `fields` of a column as plain data."""
        return {}

    def from_json(self, name: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Validate the `fields` of a column and return the fields of its schema."""
        return {}

    def write(self, value: Any) -> str:
        """Write a label, or a threshold such that `parse` restores it."""
        return str(value)

    def parse(self, text: str) -> Any:
        """Parse a threshold that matches `literal`, or a label."""
        return text

    def snap(self, value: float, *, up: bool) -> float:
        """Return the nearest valid threshold on one side of a number."""
        return value

    def between(self, low: float, high: float, near: float | None = None) -> float:
        """Return the shortest threshold strictly between two values."""
        return short_between(low, high, near)

    def to_table_value(self, value: float) -> Any:
        """Return the table value of a stored number."""
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
        """Values of an ordered kind that exports may handle incorrectly."""
        return (math.nan, 0.0, -0.0, 1.0, -1.0, 5e-324, _LARGEST, -_LARGEST)

    @abstractmethod
    def describe(self, column: Column, write_label: Callable[[str], str] = str) -> str:
        """Describe the values of a column in one line, with labels formatted by `write_label`."""

    @abstractmethod
    def reader(self, schema: ColumnSchema) -> str:
        """Name the function that reads a value in exported Python and JavaScript."""

    @abstractmethod
    def sql_value(self, schema: ColumnSchema, expression: str, sql: SqlWords) -> str:
        """Write how SQL reads a column, given by an expression, as in the model."""

    def sql_number(self, value: str, sql: SqlWords) -> str:
        """Write the stored number of a value that `sql_value` reads."""
        return value

    @abstractmethod
    def sql_literal(self, schema: ColumnSchema, value: Any, sql: SqlWords) -> str:
        """Write a threshold or label to compare with `sql_value`."""


KINDS: dict[str, Kind] = {}
"""All kinds by name; without a given kind, the first that claims a column is used."""


_DIGITS = 17  # enough to restore any float from its text


def short_between(low: float, high: float, near: float | None = None) -> float:
    """Return the shortest decimal strictly between two numbers, so that ``x <= it`` separates them.

    Integers come first, then few significant digits. Ties go to the decimal nearest to `near` (by
    default the middle), then to the one nearer to 0. The result is 0 if it lies between and `near`
    is closer to it than a tenth of the gap. The numbers may be infinite. If no float lies strictly
    between them, the result is `low`.
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
    """Round up; large floats are integers already."""
    return float(math.ceil(number)) if abs(number) < 2**53 else number


def _middle(low: float, high: float) -> float:
    low, high = max(low, -_LARGEST), min(high, _LARGEST)
    middle = (low + high) / 2
    return middle if math.isfinite(middle) else low / 2 + high / 2


def _fewest_digits(first: float, last: float, near: float) -> float:
    """Find the float in ``[first, last]`` with the fewest digits, nearest to `near`, not 0."""
    text = f"{abs(near):.{_DIGITS - 1}e}"  # d.dddddddddddddddde±xx
    digits, exponent = int(text[0] + text[2 : _DIGITS + 1]), int(text[_DIGITS + 2 :])
    sign = "-" if near < 0 else ""
    shortest, fewest, most = near, 1, _DIGITS
    # Bisection works because a decimal that fits also fits with more digits.
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
