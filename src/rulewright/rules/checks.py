"""Checks of the parts of a condition: each returns the clean value or raises a ValueError."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from rulewright.data import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable


def checked_text(text: object, what: str) -> str:
    """Return a plain string that UTF-8 can encode."""
    if not isinstance(text, str):
        raise ValueError(f"{what} must be a string, not {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} {text!r} is not valid Unicode text") from None
    return str(text)


def checked_column(name: object) -> str:
    """Return a column name as a plain string."""
    return checked_text(name, "column name of a condition")


def checked_labels(labels: Iterable[object], column: str) -> tuple[str, ...]:
    """Return the labels sorted and without duplicates."""
    if isinstance(labels, str):
        raise ValueError(f"labels of column {column!r} must be a tuple of strings, not one string")
    what = f"label of column {column!r}"
    checked = tuple(sorted({checked_text(label, what) for label in labels}))
    if not checked:
        raise ValueError(f"condition on column {column!r} needs at least one label")
    return checked


def check_ordered(kind: object, column: str) -> None:
    """Raise a ValueError unless this is the name of an ordered kind of column."""
    known = [name for name, type_ in KINDS.items() if type_.ordered]
    if kind not in known:
        raise ValueError(f"kind of column {column!r} must be {' or '.join(known)}, not {kind!r}")


def checked_flag(flag: object, what: str) -> bool:
    """Return a plain bool."""
    if not isinstance(flag, bool | np.bool_):
        raise ValueError(f"{what} must be True or False, not {type(flag).__name__}")
    return bool(flag)


def checked_number(value: object, what: str) -> float:
    """Return a float that is not NaN, and 0.0 for -0.0."""
    if not isinstance(value, float):  # the common case first: checking for Real is slow
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError(f"{what} must be a number, not {type(value).__name__}")
        try:
            value = float(value)
        except OverflowError:
            raise ValueError(f"{what} is too large for a float") from None
    if math.isnan(value):
        raise ValueError(f"{what} must not be NaN")
    return float(value) + 0.0  # turns -0.0 into 0.0


def finite_number(value: object, what: str) -> float:
    """Return a finite number, or raise a ValueError."""
    number = checked_number(value, what)
    if not math.isfinite(number):
        raise ValueError(f"{what} must be finite")
    return number
