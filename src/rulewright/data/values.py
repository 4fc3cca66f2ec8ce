"""Conversion of values of any type to numbers, Booleans or text, and to codes of labels."""

import math
import re
import sys
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError, DataTypeError, RowError, RowTypeError, reading_option
from rulewright.data.moments import ISO
from rulewright.data.schema import BOOLEAN_LABELS, label_of
from rulewright.data.source import PlainType, Raw, as_objects

_Group = Literal["missing", "string", "boolean", "number", "complex", "moment", "unknown"]

_NUMBER = re.compile(
    r"\s*[+-]?((\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|inf|infinity)\s*", re.ASCII | re.IGNORECASE
)
LARGEST_EXACT = 2**53  # integers up to here are exact as floats
_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_LONGEST_WHOLE = 400  # longer numbers are infinite as floats, and slow in int()
_DAY = r"(0?[1-9]|[12]\d|3[01])"  # or a month: the order varies
_DATE = re.compile(
    rf"(\d{{4}}(?P<a>[-/.]){_DAY}(?P=a){_DAY}|{_DAY}(?P<b>[-/.]){_DAY}(?P=b)\d{{4}}"
    rf"|{_DAY}/{_DAY}/\d\d)([T ]\d{{1,2}}:\d\d.*)?",
    re.ASCII,
)
_MOMENTS = {"datetime", "date", "time", "timedelta", "Timestamp", "Timedelta", "Period"}
_MOMENTS |= {"datetime64", "timedelta64"}
_TEXT_TYPES = {str, float, type(None)}  # text with gaps, as dataframes hold it


def convert_values(name: str, raw: Raw) -> Raw:
    """Convert values of any type to a plain form; ``type`` says which.

    The forms are numbers (integers, or floats with NaN for missing, or objects with None for
    missing if some integer is not exact as a float), Booleans without missing values, or objects
    that are strings or None.
    """
    if raw.type is not None:
        return raw
    values, type_ = _type_values(name, raw.values, raw.types)
    return raw._replace(values=values, type=type_)


def _type_values(
    name: str, values: NDArray[Any], elsewhere: frozenset[type]
) -> tuple[NDArray[Any], PlainType]:
    kind = values.dtype.kind
    if kind in "iuf":
        return values, "number"
    if kind == "b":
        return values, "boolean"
    if kind in "OT":
        return _plain_objects(name, values.astype(object, copy=False), elsewhere)
    if kind == "U":
        return values.astype(object), "string"
    raise _refusal(name, {"c": "complex", "M": "moment", "m": "moment"}.get(kind, ""), values.dtype)


def text_to_number(text: str) -> float:
    """Return the number in a text, or raise a plain ValueError."""
    # Stricter than float(): "1_000", "nan" and digits of other scripts are text.
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def exact_number(text: str) -> int | float:
    """Return the number in a text; integers of any size are exact."""
    if _WHOLE.fullmatch(text) and len(text) <= _LONGEST_WHOLE:
        return int(text)
    return text_to_number(text)


def refuse_written_dates(name: str, values: NDArray[Any]) -> None:
    """Reject a text column that contains only dates: later rows would have new labels."""
    known = [value for value in values if value is not None]
    if known and all(map(_is_date, known)):
        first = next((value for value in known if not ISO.fullmatch(value)), known[0])
        raise DataError(
            f"The dates in column {name!r} are not written as 2024-03-01, but as {first!r:.80}. "
            f"Use {reading_option('date', f'{name}:dmy')}, or :mdy or :ymd for another order of "
            f"day, month and year, {reading_option('nominal', name)} to take the dates as labels, "
            "or drop the column."
        )


def date_error(where: str, found: object, row: int | None = None) -> DataError:
    """Return the error about a column with unsupported dates or times."""
    return _at(
        DataError,
        f"Dates and times are not supported: {where}",
        row,
        f" holds {found}. Convert it to numbers (days since a date, hour, weekday), or drop it.",
    )


def check_finite(name: str, values: NDArray[Any]) -> None:
    """Reject a float column with an infinite value."""
    with np.errstate(all="ignore"):
        total = values.sum()
    # A finite sum proves that all values are finite, without a temporary array.
    if math.isfinite(total):
        return
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise RowError(
            f"Input X contains infinity: column {name!r}, ",
            row,
            f" is {values[row]}. Replace it by a finite number, or by NaN for missing.",
        )


def _plain_objects(
    name: str, values: NDArray[Any], elsewhere: frozenset[type]
) -> tuple[NDArray[Any], PlainType]:
    types = {*map(type, values), *elsewhere}
    groups = {_group(type_) for type_ in types}
    if not groups <= {"missing", "string", "boolean", "number"}:
        raise _object_error(name, values)
    if groups <= {"missing", "number"}:
        return _numbers(name, values, types), "number"
    if groups == {"string"}:
        return values, "string"
    if groups == {"boolean"}:
        return values.astype(bool), "boolean"
    if types <= _TEXT_TYPES:
        texts = values.copy()
        texts[values != values] = None  # NaN
        if {*map(type, texts)} <= {str, type(None)}:
            return texts, "string"
    absent = {type_ for type_ in types if _group(type_) == "missing"}
    known = [None if type(value) in absent or value != value else value for value in values]
    groups = {_group(type(value)) for value in known if value is not None}
    groups |= {_group(type_) for type_ in elsewhere} - {"missing"}
    labels = [None if value is None else label_of(value) for value in known]
    return as_objects(labels), groups.pop() if len(groups) == 1 else "mixed"  # type: ignore[return-value]


def _numbers(name: str, values: NDArray[Any], types: set[type]) -> NDArray[Any]:
    whole = all(issubclass(type_, int | np.integer) for type_ in types)
    if whole and len(values):
        for dtype in (np.int64, np.uint64):
            try:
                return values.astype(dtype)
            except OverflowError:
                continue
    absent = {type_ for type_ in types if _group(type_) == "missing"}
    numbers = [math.nan if type(value) in absent else value for value in values]
    floats = as_floats(name, numbers)
    if any(issubclass(type_, int | np.integer) for type_ in types) and any(map(_is_large, numbers)):
        return as_objects(None if value != value else value for value in numbers)
    return floats


def _is_large(value: Any) -> bool:
    return isinstance(value, int | np.integer) and abs(int(value)) > LARGEST_EXACT


def as_floats(name: str, numbers: Sequence[Any] | NDArray[Any]) -> NDArray[np.float64]:
    """Convert numbers of any type, with NaN or None for missing, to floats."""
    try:
        return np.asarray(numbers, dtype=np.float64)
    except (OverflowError, ValueError) as error:
        raise DataError(f"Column {name!r} has a number too large for a float: {error}") from None


def _is_date(value: object) -> bool:
    return isinstance(value, str) and _DATE.fullmatch(value) is not None


def _group(type_: type) -> _Group:
    if type_.__name__ in ("NoneType", "NAType", "NaTType"):
        return "missing"
    if issubclass(type_, str):
        return "string"
    if issubclass(type_, bool | np.bool_):
        return "boolean"
    # timedelta64 is a signed integer in NumPy.
    if type_.__name__ in _MOMENTS:
        return "moment"
    if issubclass(type_, int | float | np.integer | np.floating | Decimal | Fraction):
        return "number"
    return "complex" if issubclass(type_, complex | np.complexfloating) else "unknown"


def _object_error(name: str, values: NDArray[Any]) -> DataError:
    for row, value in enumerate(values):
        group = _group(type(value))
        if group in ("complex", "moment", "unknown"):
            return _refusal(name, group, type(value).__name__, row)
    raise AssertionError("called without a value to refuse")


def _refusal(name: str, group: str, found: object, row: int | None = None) -> DataError:
    if group == "complex":
        before, after = "Complex data not supported: column", "Use the real and imaginary parts."
        return _at(DataError, f"{before} {name!r}", row, f". {after}")
    if group == "moment":
        return date_error(f"column {name!r}", found, row)
    return _at(
        DataTypeError,
        f"Column {name!r}",
        row,
        ": argument must be a string, a boolean or a real number, "
        f"not '{found}'. Convert it to numbers or to text, or drop the column.",
    )


def _at(error: type[DataError], before: str, row: int | None, after: str) -> DataError:
    if row is None:
        return error(before + after)
    with_row = RowTypeError if error is DataTypeError else RowError
    return with_row(f"{before}, ", row, after)


_SMALL_RANGE = 1 << 12


def factor(values: NDArray[Any]) -> tuple[list[str], NDArray[np.int32]]:
    """
    Return the sorted distinct labels of plain values, and the code of each row, -1 if missing.

    Numbers are sorted by value, text by code points.
    """
    kind = values.dtype.kind
    if kind == "b":
        return list(BOOLEAN_LABELS), values.astype(np.int32)
    if kind in "iuf":
        distinct, codes = unique_numbers(values.astype(np.float64) if kind == "f" else values)
        known = distinct[distinct == distinct].tolist()
        codes[codes >= len(known)] = -1
        return [label_of(value) for value in known], codes
    return _factor_text(values)


def _factor_text(values: NDArray[Any]) -> tuple[list[str], NDArray[np.int32]]:
    """Encode text that may be None; pandas' hash table, if it is loaded, is twice as fast."""
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        firsts, distinct = pandas.factorize(values)
        order = sorted(range(len(distinct)), key=distinct.__getitem__)
        ranks = np.empty(len(order) + 1, dtype=np.int32)
        ranks[order], ranks[-1] = np.arange(len(order)), -1
        return [label_of(distinct[place]) for place in order], ranks[firsts]
    found: list[Any] = sorted(set(values) - {None})
    index = {label: code for code, label in enumerate(found)}
    index[None] = -1
    codes = np.fromiter(map(index.__getitem__, values), dtype=np.int32, count=len(values))
    return [label_of(label) for label in found], codes


def recode_labels(
    found: Sequence[str], codes: NDArray[np.int32], labels: Sequence[str], absent: int
) -> NDArray[np.int32]:
    """Translate codes of ``found`` to codes of ``labels``; other labels get ``absent``."""
    index = {label: code for code, label in enumerate(labels)}
    # The codes -1 (missing) and -2 (unseen) count from the end.
    lookup = np.array([*(index.get(label, absent) for label in found), absent, -1], dtype=np.int32)
    return lookup[codes]


def unique_numbers(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the sorted distinct numbers, and the position of each row's number among them."""
    if values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        # Counting is faster than sorting for a few small integers, as classes usually are.
        if high - low < _SMALL_RANGE and abs(low) < 1 << 62 and abs(high) < 1 << 62:
            shifted = values.astype(np.int64) - low
            present = np.bincount(shifted) > 0
            ranks = np.cumsum(present, dtype=np.int32) - 1
            distinct = (np.flatnonzero(present) + low).astype(values.dtype)
            return distinct, ranks[shifted].astype(np.int32, copy=False)
    distinct, codes = np.unique(values, return_inverse=True)
    return distinct, codes.astype(np.int32)
