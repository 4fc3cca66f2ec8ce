"""Linear terms: what a numeric column adds to scores, as a straight line between two bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import NUMBER, WEIGHT, Fields, Part, define, list_of
from rulewright.model.document import json_list
from rulewright.model.text import escape_line
from rulewright.programs import nodes
from rulewright.rules import checked_text, finite_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.data import Schema, Table
    from rulewright.programs import Node

_NUMBERS: dict[str, Part] = {"low": NUMBER, "high": NUMBER, "center": NUMBER, "deviation": WEIGHT}
_FIELDS = Fields(
    {**_NUMBERS, "slopes": list_of(NUMBER, minItems=1)},
    about="slopes[k] * (value held between low and high - center); a missing value adds nothing.",
).of_column()
LINEAR = list_of(define("linear_term", _FIELDS.part))


@dataclass(frozen=True, slots=True)
class LinearTerm:
    """Slopes times the value of a column, held between two bounds, minus its mean.

    A missing value adds nothing, as the mean does.

    Parameters
    ----------
    column : str
        A numeric column.
    low, high : float
        The bounds: a value beyond counts as the bound.
    center, deviation : float
        Mean and standard deviation of the bounded values of the training rows.
    slopes : tuple of float
        What one unit adds to the score of each class, or to the number.
    """

    column: str
    low: float
    high: float
    center: float
    deviation: float
    slopes: tuple[float, ...]

    def __post_init__(self) -> None:
        checked_text(self.column, "column of a linear term")
        for name in _NUMBERS:
            number = finite_number(getattr(self, name), f"{name} of a linear term")
            object.__setattr__(self, name, number)
        if not self.low <= self.high or self.deviation < 0.0:
            raise ValueError("a linear term needs low <= high and a deviation that is not negative")
        slopes = tuple(finite_number(slope, "slope of a linear term") for slope in self.slopes)
        object.__setattr__(self, "slopes", slopes)

    def check(self, schema: Schema, n_slopes: int) -> None:
        """Raise a ValueError if the term does not fit the columns or the number of classes."""
        if self.column not in schema or not schema[self.column].type.arithmetic:
            raise ValueError(f"linear term: the schema has no numeric column {self.column!r}")
        if len(self.slopes) != n_slopes:
            raise ValueError(f"linear term: {len(self.slopes)} slopes instead of {n_slopes}")

    @property
    def largest(self) -> float:
        """The largest amount that a slope of 1 can add or take away."""
        return max(abs(self.low - self.center), abs(self.high - self.center))

    @property
    def line(self) -> nodes.LineValue:
        """What the slopes multiply, as a value of a program."""
        return nodes.LineValue(self.column, self.low, self.high, self.center)

    def units(self, table: Table) -> NDArray[np.float64]:
        """Give what the slopes multiply, for each row of a table."""
        return nodes.line_values(self.line, table[self.column].values)

    def text(self, slope: float, name: str = "") -> str:
        """Write what the term adds to one score."""
        adds = f"{slope:+.3g} points for {name}" if name else f"{slope:+.3g}"
        # A mean that is 0 but for rounding is 0.
        center = 0.0 if abs(self.center) < 1e-9 * self.deviation else self.center
        bounds = f"values held within {self.low:.4g} to {self.high:.4g}"
        return f"line: {adds} per unit of {escape_line(self.column)} above {center:.4g} ({bounds})"

    def scale_slopes(self, slope: float) -> LinearTerm:
        """Multiply the slopes."""
        return replace(self, slopes=tuple(slope * own for own in self.slopes))

    def to_json(self) -> dict[str, Any]:
        """Give the term as plain data."""
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        return {"column": self.column, **numbers, "slopes": list(self.slopes)}

    @classmethod
    def from_json(cls, obj: object) -> LinearTerm:
        """Make a term from the data of its ``to_json``; anything else is a ValueError."""
        if not _FIELDS.fit(obj):
            raise ValueError(f"a linear term needs the keys column, slopes, {', '.join(_NUMBERS)}")
        return cls(**{**obj, "slopes": tuple(json_list(obj["slopes"], "slopes"))})


def check_linear(terms: Sequence[LinearTerm], schema: Schema, n_slopes: int) -> None:
    """Refuse terms that do not fit a model; a column has one term at most."""
    for term in terms:
        if not isinstance(term, LinearTerm):
            raise ValueError(f"a linear term must be a LinearTerm, not {type(term).__name__}")
        term.check(schema, n_slopes)
    if len({term.column for term in terms}) < len(terms):
        raise ValueError("a column has two linear terms")


def units_of(terms: Sequence[LinearTerm], table: Table) -> NDArray[np.float64]:
    """Give what the slopes of each term multiply, as an array of shape (rows, terms)."""
    units = np.empty((len(table), len(terms)))
    for k, term in enumerate(terms):
        units[:, k] = term.units(table)
    return units


def linear_lines(terms: Sequence[LinearTerm], names: Sequence[str]) -> list[str]:
    """Write the terms, the one that moves scores most first, a line for each slope."""
    ordered = sorted(terms, key=lambda term: -max(map(abs, term.slopes)) * term.deviation)
    return [
        term.text(slope, names[k] if names else "")
        for term in ordered
        for k, slope in enumerate(term.slopes)
        if slope
    ]


def with_lines(scores: Node, terms: Sequence[LinearTerm], *, vector: bool) -> Node:
    """Add linear terms to scores, one after the other."""
    for term in terms:
        slopes = nodes.Constant(term.slopes if vector else term.slopes[0])
        scores = scores + slopes * term.line
    return scores


def linear_sizes(terms: Sequence[LinearTerm], n_slopes: int) -> list[float]:
    """Give the largest amount that the terms can add to each score."""
    sizes = [0.0] * n_slopes
    for term in terms:
        for k, slope in enumerate(term.slopes):
            sizes[k] += abs(slope) * term.largest
    return sizes
