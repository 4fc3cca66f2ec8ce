"""Trees of other packages in a common form: splits with a condition for the left side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from rulewright.data import ColumnSchema, DataError, Schema, label_of
from rulewright.rules import Condition, Labels, Plain, Presence, Range, any_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


LARGEST_SINGLE = float(np.finfo(np.float32).max)


class ModelSplit(NamedTuple):
    """The two children of a node, and the condition for the left one, missing values included."""

    left: int
    right: int
    condition: Condition


ModelTree: TypeAlias = dict[int, ModelSplit]
"""The splits of a tree by their nodes; node 0 is the root."""


class ModelColumns:
    """The features of a model, by position, as columns of a schema.

    Features are matched by name if the schema has all their names, else by position.
    """

    def __init__(self, schema: Schema, names: Sequence[str] | None, n_features: int) -> None:
        if names is not None and all(name in schema for name in names):
            self.columns = [schema[name] for name in names]
        elif len(schema) == n_features:
            self.columns = list(schema)
        else:
            known = "" if names is None else f" ({', '.join(map(str, names[:8]))})"
            raise DataError(
                f"the model has {n_features} features{known}, the schema has {len(schema)} "
                f"columns ({', '.join(schema.names[:8])}); pass the schema of its training table"
            )

    def at_most(self, feature: int, threshold: float, missing: bool) -> Condition:
        """Return ``x <= threshold``, including missing values if `missing`."""
        name = self._of_kind(feature, ordered=True).name
        if threshold == math.inf:
            return Presence(name, missing=False)  # such a split separates missing values
        return self.any_of(feature, [self.range(feature, high=threshold)], missing)

    def range(self, feature: int, **bounds: Any) -> Range:
        """Return a range of the column of a feature."""
        column = self._of_kind(feature, ordered=True)
        return Range(column.name, **bounds, kind=column.kind)

    def among(self, feature: int, categories: Iterable[object], missing: bool) -> Condition:
        """Return the condition that a nominal column has one of these categories."""
        column = self._of_kind(feature, ordered=False)
        labels = tuple(label_of(category) for category in categories)
        for label in labels:
            if label not in column.label_index:
                raise DataError(
                    f"the model has the label {label!r} of column {column.name!r}, the schema "
                    "does not; pass the schema of its training table"
                )
        return self.any_of(feature, [Labels(column.name, labels)] if labels else [], missing)

    def any_of(self, feature: int, parts: list[Plain], missing: bool) -> Condition:
        """Return the condition that one of several is true, or that the value is missing."""
        gone: list[Plain] = [Presence(self.columns[feature].name, missing=True)]
        return any_of(parts + gone if missing else parts)

    def category(self, feature: int, code: int, named: Sequence[object] = ()) -> object:
        """Return the category of a code: its name, else its label, else the number."""
        column = self._of_kind(feature, ordered=False)
        names = named or (column.labels if column.label_type == "string" else ())
        if not names:
            return code
        if not code < len(names):
            raise DataError(
                f"the model has the category {code} of column {column.name!r}, but the schema "
                f"has only {len(names)} labels; pass the schema of its training table"
            )
        return names[code]

    def _of_kind(self, feature: int, ordered: bool) -> ColumnSchema:
        column = self.columns[feature]
        if column.type.ordered != ordered:
            how = "numbers" if ordered else "categories"
            raise DataError(
                f"column {column.name!r} is {column.kind} in the schema, but the model splits it "
                f"as {how}; read the table as for training the model"
            )
        return column


def single_precision_cut(threshold: float) -> float:
    """Return the largest number that rounds to at most the threshold in single precision.

    Then ``float32(x) <= threshold`` equals ``x <= cut`` for all numbers x.
    """
    if abs(threshold) > LARGEST_SINGLE:
        return threshold
    below = np.float32(threshold)
    if float(below) > threshold:
        below = np.nextafter(below, np.float32(-math.inf))
    largest = float(below) == LARGEST_SINGLE
    above = 2.0**128 if largest else float(np.nextafter(below, np.float32(math.inf)))
    middle = (float(below) + above) / 2
    # A number halfway between two is rounded to the one whose last bit is 0.
    even = int(below.view(np.uint32)) % 2 == 0
    return middle if even else math.nextafter(middle, -math.inf)


def set_bits(words: Sequence[int]) -> list[int]:
    """Return the positions of the bits set in words of 32 bits."""
    flat = np.array(words, dtype="<u4").view(np.uint8)
    places: list[int] = np.flatnonzero(np.unpackbits(flat, bitorder="little")).tolist()
    return places
