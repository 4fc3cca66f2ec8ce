"""The result of every reader: column names, number of rows, and columns loaded on demand."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rulewright.data.findings import Finding
from rulewright.data.readers.budget import Budget

if TYPE_CHECKING:
    from rulewright.data.number_texts import TextTraits

Wanted = Literal["any", "labels", "text"]
"""
The form in which a column is loaded; only relevant for untyped (CSV) columns and dates.

any     the inferred type
labels  labels or classes: integers stay exact
text    the text in the file
"""
LabelType = Literal["string", "number", "boolean"]
PlainType = Literal["number", "boolean", "string", "mixed"]
"""Type of plain values; mixed and incomplete Boolean columns are objects that hold labels."""
Types = frozenset[type]


class Raw(NamedTuple):
    """The values of a column before validation; None, NaN, NA and NaT are missing."""

    values: NDArray[Any]
    declared: tuple[object, ...] | None = None  # categories, in the order of the container
    finite: bool = False  # whether all values are known to be finite
    ordered: bool = False  # whether the container declares its categories as ordered
    untyped: bool = False  # whether the container has no date type: dates may be text
    written: bool = False  # whether the container has no number type: numbers may be text
    type: PlainType | None = None  # type of plain values (see ``values.convert_values``)
    types: Types = frozenset()  # types of the column's other values, if these are some rows
    marks: "Callable[[], TextTraits] | None" = None  # number formats of the complete column
    decisions: tuple[Finding, ...] = ()  # findings about reading the values


@dataclass(frozen=True)
class Source:
    """An opened table: columns are loaded by position, so that unused ones cost nothing."""

    names: tuple[str, ...]
    named: bool
    n_rows: int
    load: Callable[[int, Wanted], Raw]
    path: str | None = None  # path of the file; None for data in memory
    notes: tuple[Finding, ...] = ()  # about its rows
    split: "Callable[[int], Iterator[Source]] | None" = None  # splits it into parts of n rows
    index: Any = None  # names of the rows, as an array or a pandas Index; None if they have none
    sparse: bool = False  # whether most cells need no memory before they are loaded
    budget: Budget | None = None  # of a file whose cells may take far more bytes than itself

    @cached_property
    def positions(self) -> dict[str, int]:
        """Position of each column by name."""
        return {name: at for at, name in enumerate(self.names)}

    def parts(self, n_rows: int) -> "Iterator[Source]":
        """Yield the table in parts of `n_rows` rows, only one of which needs to be in memory.

        Columns have the same types in all parts. Notes refer to the whole table.
        """
        for part in self._slice_rows(n_rows) if self.split is None else self.split(n_rows):
            yield replace(part, path=self.path, notes=(), split=None)

    def _slice_rows(self, n_rows: int) -> "Iterator[Source]":
        load = cache(self._load_typed)
        for start in range(0, self.n_rows, n_rows):
            rows = slice(start, min(start + n_rows, self.n_rows))
            index = None if self.index is None else self.index[rows]
            some = partial(_some, load, rows)
            yield replace(self, load=some, n_rows=rows.stop - rows.start, index=index)

    def _load_typed(self, position: int, wanted: Wanted) -> Raw:
        raw = self.load(position, wanted)
        types = map(type, raw.values) if raw.values.dtype.kind == "O" else ()
        return raw._replace(types=frozenset(types))


def _some(load: Callable[[int, Wanted], Raw], rows: slice, position: int, wanted: Wanted) -> Raw:
    raw = load(position, wanted)
    return raw._replace(values=raw.values[rows])


def positional_names(n_columns: int) -> tuple[str, ...]:
    """Return the names of unnamed columns: x0, x1, ..."""
    return tuple(f"x{position}" for position in range(n_columns))


def as_objects(values: Iterable[Any]) -> NDArray[Any]:
    """Return values as an array of objects, without conversion."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array
