"""Columns as finite domains: labels or intervals, and the questions they are encoded by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from rulewright.rules import Condition, Labels, Presence, Range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rulewright.data import Column

MissingMode = Literal["indicator", "value"]
Questions = list[tuple[Condition, tuple[int, ...]]]
"""Conditions, each with the values of the domain that satisfy it."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column as a finite domain."""

    column: str
    values: tuple[Condition, ...]  # the domain: each training row satisfies at most one of them

    @property
    def size(self) -> int:
        """Number of values of the domain."""
        return len(self.values)


def attributes(
    column: Column,
    n_bins: int,
    missing: MissingMode,
    thresholds: bool,
    weights: NDArray[np.float64] | None = None,
) -> Iterator[tuple[Attribute, Questions]]:
    """Give the attributes of a column with their questions, each with the values that say yes."""
    name = column.schema.name
    cuts = equal_frequency_cuts(column, n_bins, weights)
    values = _domain(column, cuts)
    questions: Questions = [(value, (i,)) for i, value in enumerate(values)]
    if thresholds:
        kind = column.schema.kind
        questions += [
            (Range(name, high=cut, kind=kind), tuple(range(i + 1))) for i, cut in enumerate(cuts)
        ]
    is_missing = Presence(name, True)
    some_missing = bool(missing_rows(column).any())
    if some_missing and missing == "value":
        questions.append((is_missing, (len(values),)))
        values.append(is_missing)
    yield Attribute(name, tuple(values)), questions
    if some_missing and missing == "indicator":
        yield Attribute(name, (is_missing, Presence(name, False))), [(is_missing, (0,))]


def _domain(column: Column, cuts: list[float]) -> list[Condition]:
    """Give the labels that occur, or the intervals; a numeric column without cuts is just known."""
    name = column.schema.name
    if not column.schema.type.ordered:
        found = np.unique(column.values[column.values >= 0]).tolist()
        return [Labels(name, (column.schema.labels[code],)) for code in found]
    if not cuts:
        return [Presence(name, False)]
    ends = pairwise([-math.inf, *cuts, math.inf])
    kind = column.schema.kind
    return [Range(name, low, high, low_open=low > -math.inf, kind=kind) for low, high in ends]


def equal_frequency_cuts(
    column: Column, n_bins: int, weights: NDArray[np.float64] | None = None
) -> list[float]:
    """Cut a numeric column where the weight (or number) of rows below is nearest to equal shares.

    Each cut is a short number near the middle between two neighbouring values, so equal values
    stay together; cuts that fall together are one. A nominal column has none.
    """
    if not column.schema.type.ordered:
        return []
    known = ~np.isnan(column.values)
    distinct, place = np.unique(column.values[known], return_inverse=True)
    if len(distinct) < 2:
        return []
    below = np.cumsum(np.bincount(place, None if weights is None else weights[known]))
    if weights is not None:  # by a power of two, which changes no cut: products may overflow
        below = np.ldexp(below, -int(np.frexp(below[-1])[1]))
    ranks = np.arange(1, n_bins) * below[-1] / n_bins
    places = sorted({int(np.argmin(np.abs(below[:-1] - rank))) for rank in ranks})
    pairs = [(float(distinct[i]), float(distinct[i + 1])) for i in places]
    # A cut may stand on the lower value: x <= cut parts the two all the same.
    between = column.schema.type.between
    return [between(math.nextafter(a, -math.inf), b, a / 2 + b / 2) for a, b in pairs]


def missing_rows(column: Column) -> NDArray[np.bool_]:
    """Tell which rows of a column are missing."""
    return Presence(column.schema.name, True).holds(column)
