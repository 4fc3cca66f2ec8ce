"""What every reader gives: names, the number of rows and columns that are loaded when asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

Wanted = Literal["any", "labels", "text"]
"""
How a loaded column will be used; only untyped (CSV) columns and dates care.

any     as what it looks like; dates are refused
labels  as labels or classes: whole numbers stay exact
text    as the text that stands in the file
"""


@dataclass(frozen=True)
class Raw:
    """
    The values of one column before they are checked.

    Attributes
    ----------
    values : 1-D array
        Values of any type; None, NaN, NA and NaT are missing.
    declared : tuple or None
        Categories that the container declares, in their order.
    finite : bool
        Whether the reader knows already that no value is infinite.
    """

    values: NDArray[Any]
    declared: tuple[object, ...] | None = None
    finite: bool = False


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
