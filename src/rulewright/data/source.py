"""What every reader returns: names, the number of rows and columns that are loaded on demand."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from numpy.typing import NDArray

Wanted = Literal["any", "labels", "text"]
"""
The form in which a column is loaded; it matters for untyped (CSV) columns and dates only.

any     the inferred type
labels  labels or classes: whole numbers stay exact
text    the text in the file
"""
PlainType = Literal["number", "boolean", "string", "mixed"]
"""Type of plain values; mixed and incomplete boolean columns are objects that hold labels."""


class Raw(NamedTuple):
    """
    The values of one column before they are checked.

    Attributes
    ----------
    values : 1-D array
        Values of any type; None, NaN, NA and NaT are missing.
    declared : tuple or None
        Categories that the container declares, in their order.
    finite : bool
        Whether it is known that no value is infinite.
    ordered : bool
        Whether the container declares its categories as ordered.
    untyped : bool
        Whether the container has no types for dates, so that text may hold them.
    type : PlainType or None
        Type of the values once they are plain (see ``values.plain``).
    """

    values: NDArray[Any]
    declared: tuple[object, ...] | None = None
    finite: bool = False
    ordered: bool = False
    untyped: bool = False
    type: PlainType | None = None


@dataclass(frozen=True)
class Source:
    """
    An opened table: columns are loaded by position, so that unused ones cost nothing.

    ``path`` is that of the file, None for data in memory.
    """

    names: tuple[str, ...]
    named: bool
    n_rows: int
    load: Callable[[int, Wanted], Raw]
    path: str | None = None


def positional_names(n_columns: int) -> tuple[str, ...]:
    """Return the names of columns that have none: x0, x1, ..."""
    return tuple(f"x{position}" for position in range(n_columns))
