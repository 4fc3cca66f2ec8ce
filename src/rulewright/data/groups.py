"""Groups of rows that belong together, such as the rows of a customer."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError
from rulewright.data.readers.arrays import values_of
from rulewright.data.source import Raw
from rulewright.data.values import convert_values, factor

Groups: TypeAlias = NDArray[np.integer[Any]]


def read_groups(groups: Any, n_rows: int) -> NDArray[np.intp]:
    """Read the group of each row: numbers, text or dates, one per row, none missing."""
    raw = values_of(groups, "groups")
    if raw.values.ndim != 1:
        raise DataError(f"groups must be a 1d array, not one of shape {raw.values.shape}.")
    if len(raw.values) != n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, "
            f"but groups has {len(raw.values)}."
        )
    return make_groups(raw, "groups")


def make_groups(raw: Raw, name: str) -> NDArray[np.intp]:
    """Turn the values of a column into numbers of groups, from 0."""
    raw = raw if raw.values.dtype.kind in "Mm" else convert_values(name, raw)
    values = raw.values
    missing = values == None if values.dtype.kind == "O" else values != values  # noqa: E711
    if np.any(missing):
        raise DataError(
            f"{name}: row {int(np.argmax(missing))} (counting from 0) has no group. Give it a "
            "group of its own, or drop the row."
        )
    if values.dtype.kind == "O":
        return factor(values.astype(str))[1].astype(np.intp)
    return np.unique(values, return_inverse=True)[1].astype(np.intp).ravel()


def draw_one_each(groups: Groups) -> NDArray[np.intp]:
    """Draw one row of each group at random, always the same; return their places."""
    order = np.random.default_rng(0).permutation(len(groups))
    return np.sort(order[np.unique(groups[order], return_index=True)[1]])


class Units:
    """What random draws take as a whole: groups of rows, or single rows without groups."""

    def __init__(self, n_rows: int, groups: Groups | None = None) -> None:
        self.of_rows: Groups | None = None
        self.n = n_rows
        if groups is not None:
            self.of_rows = np.unique(groups, return_inverse=True)[1]
            self.n = int(self.of_rows.max(initial=-1)) + 1

    def rows(self, chosen: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
        """Return the rows of some units; without groups in the order of the units."""
        if self.of_rows is None:
            return np.asarray(chosen, np.intp)
        marked = np.zeros(self.n, dtype=np.bool_)
        marked[chosen] = True
        return np.flatnonzero(marked[self.of_rows])

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the value of the unit of each row."""
        return values if self.of_rows is None else values[self.of_rows]

    def labels(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the class of each unit: the most frequent one of its rows."""
        if self.of_rows is None:
            return labels
        n_classes = int(labels.max(initial=0)) + 1
        counts = np.bincount(self.of_rows * n_classes + labels, minlength=self.n * n_classes)
        found: NDArray[np.int32] = counts.reshape(self.n, n_classes).argmax(axis=1).astype(np.int32)
        return found
