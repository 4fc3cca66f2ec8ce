"""Boolean features: every value or interval of a column as a yes-or-no question.

A nominal column gives one Boolean per label, a numeric one a Boolean per interval with about
equally many rows (and, optionally, one per threshold), a column with missing values one more.
Constant features are dropped; of features with equal or opposite values on all training rows the
first is kept. A missing value and an unseen label are false for all features except ``is missing``,
so the negated feature, its exact opposite (`rulewright.rules`), is true for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from rulewright.encoding.covers import PackedCovers
from rulewright.rules import (
    Condition,
    Conjunction,
    Contradiction,
    Labels,
    Presence,
    Range,
    condition_from_json,
    negate,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from rulewright.data import Column, Table
    from rulewright.kernels import BoolArray, FloatArray

_NO_CODE = -9  # not a code of any row
BooleanLiteral = tuple[int, bool]
"""A feature, and True for itself or False for its negation."""


@dataclass(frozen=True, slots=True)
class Boolean:
    """One Boolean feature."""

    condition: Condition  # the positive literal
    attribute: int  # index of its attribute
    values: tuple[int, ...]  # values of the attribute's domain for which it is true

    def literal(self, positive: bool) -> Condition:
        """Return the condition of a literal; the negative one is true wherever this one is not."""
        return self.condition if positive else negate(self.condition)

    def __str__(self) -> str:
        return str(self.condition)


@dataclass(frozen=True, eq=False)
class BooleanEncoding:
    """Boolean features of a training table, with conversions between rows, bits and conditions."""

    attributes: tuple[Attribute, ...]  # domains of the columns with a feature
    variables: tuple[Boolean, ...]

    def __len__(self) -> int:
        return len(self.variables)

    def covers(self, table: Table) -> PackedCovers:
        """Return the rows for which each feature is true; read them by the training schema."""
        conditions = [variable.condition for variable in self.variables]
        answers = (_answers(condition, table[condition.column]) for condition in conditions)
        return PackedCovers.pack_lines(answers, len(table))

    def conjunction(self, term: Iterable[BooleanLiteral]) -> Conjunction:
        """Return the conditions of a term, one per column; an empty term is ``true``.

        Raises
        ------
        Contradiction
            If no value can satisfy the literals of some column together.
        """
        return Conjunction.of(self.variables[j].literal(positive) for j, positive in term)

    def conjunctions(self, formula: Iterable[Iterable[BooleanLiteral]]) -> tuple[Conjunction, ...]:
        """Return the terms of a formula as distinct conjunctions, without contradictory ones."""
        found: dict[frozenset[Condition], Conjunction] = {}
        for term in formula:
            try:
                conjunction = self.conjunction(term)
            except Contradiction:
                continue
            found.setdefault(frozenset(conjunction), conjunction)
        return tuple(found.values())

    def to_json(self) -> dict[str, object]:
        """Return the domains and the features as plain data."""
        return {
            "attributes": [
                {"column": a.column, "values": [value.to_json() for value in a.values]}
                for a in self.attributes
            ],
            "variables": [
                {
                    "condition": v.condition.to_json(),
                    "attribute": v.attribute,
                    "values": list(v.values),
                }
                for v in self.variables
            ],
        }

    @classmethod
    def from_json(cls, obj: Any) -> Self:
        """Parse the output of `to_json`; a ValueError says what is wrong."""
        if not isinstance(obj, dict) or obj.keys() != {"attributes", "variables"}:
            raise ValueError("an encoding must have the keys 'attributes' and 'variables'")
        try:
            domains = tuple(
                Attribute(a["column"], tuple(map(condition_from_json, a["values"])))
                for a in obj["attributes"]
            )
            variables = tuple(
                Boolean(condition_from_json(v["condition"]), v["attribute"], tuple(v["values"]))
                for v in obj["variables"]
            )
        except (TypeError, KeyError) as error:
            raise ValueError(
                f"encoding: a field is missing or of the wrong type ({error})"
            ) from None
        for j, variable in enumerate(variables):
            _check_variable(j, variable, domains)
        return cls(domains, variables)


def _check_variable(j: int, variable: Boolean, domains: tuple[Attribute, ...]) -> None:
    """Reject a feature with an unknown attribute or unknown values."""
    if not _is_index(variable.attribute, len(domains)):
        raise ValueError(f"variable {j}: there is no attribute {variable.attribute!r}")
    size = domains[variable.attribute].size
    if not all(_is_index(value, size) for value in variable.values):
        raise ValueError(f"variable {j}: its attribute has {size} values, not {variable.values}")


def _is_index(value: object, size: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < size


def encode_booleans(
    table: Table,
    *,
    weights: FloatArray | None = None,
    missing: MissingMode = "indicator",
    thresholds: bool = False,
    n_bins: int = 10,
) -> tuple[BooleanEncoding, PackedCovers]:
    """Convert the columns of training rows to Boolean features.

    Parameters
    ----------
    table : Table
        The training rows.
    weights : array, optional
        Row weights for equal-frequency intervals.
    missing : {"indicator", "value"}
        How attributes represent ``is missing``, for columns with missing values: as an attribute
        of its own with two values, or as one more value of the column. The features are the
        same.
    thresholds : bool
        Whether numeric columns also get a feature per threshold, ``x <= t``.
    n_bins : int
        Maximum number of intervals per numeric column.

    Returns
    -------
    BooleanEncoding, PackedCovers
        The features, in the order of the columns, and the training rows where each is true.
    """
    if missing not in ("indicator", "value"):
        raise ValueError(f"missing must be 'indicator' or 'value', not {missing!r}")
    if n_bins < 2:
        raise ValueError(f"n_bins must be at least 2, not {n_bins}")
    kept = _KeptVariables()
    for column in table.columns:
        for attribute, questions in attributes(column, n_bins, missing, thresholds, weights):
            for condition, values in questions:
                kept.add(attribute, condition, values, _answers(condition, column))
    encoding = BooleanEncoding(tuple(kept.attributes), tuple(kept.variables))
    return encoding, PackedCovers.pack_lines((), len(table)).stack(*kept.covers)


class _KeptVariables:
    """The features kept so far, and the training rows for which each is true."""

    def __init__(self) -> None:
        self.attributes: list[Attribute] = []
        self.variables: list[Boolean] = []
        self.covers: list[PackedCovers] = []
        self._seen: set[bytes] = set()

    def add(
        self,
        attribute: Attribute,
        condition: Condition,
        values: tuple[int, ...],
        answers: BoolArray,
    ) -> None:
        """Keep a feature unless it is constant, or equal or opposite to another."""
        if answers.all() or not answers.any():
            return
        cover = PackedCovers.pack(answers[np.newaxis])
        key = min(cover.words.tobytes(), (~cover).words.tobytes())  # the same for the opposite
        if key in self._seen:
            return
        self._seen.add(key)
        if not self.attributes or self.attributes[-1] is not attribute:
            self.attributes.append(attribute)
        self.variables.append(Boolean(condition, len(self.attributes) - 1, values))
        self.covers.append(cover)


def _answers(condition: Condition, column: Column) -> BoolArray:
    if isinstance(condition, Labels) and not condition.negated and len(condition.labels) == 1:
        # Comparing codes is much faster than testing every label of a long list.
        code = column.schema.label_index.get(condition.labels[0], _NO_CODE)
        answers: BoolArray = column.values == code
        return answers
    return condition.holds(column)


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
    """Return the attributes of a column with their features, each with its true values."""
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
    """Return the labels that occur, or the intervals; without cuts, only "is known"."""
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

    Each cut is a short number near the middle between two adjacent values, so equal values stay
    together; coinciding cuts are merged. A nominal column has none.
    """
    if not column.schema.type.ordered:
        return []
    known = ~np.isnan(column.values)
    distinct, place = np.unique(column.values[known], return_inverse=True)
    if len(distinct) < 2:
        return []
    below = np.cumsum(np.bincount(place, None if weights is None else weights[known]))
    if weights is not None:  # scaled by a power of two: products could overflow
        below = np.ldexp(below, -int(np.frexp(below[-1])[1]))
    ranks = np.arange(1, n_bins) * below[-1] / n_bins
    places = sorted({int(np.argmin(np.abs(below[:-1] - rank))) for rank in ranks})
    pairs = [(float(distinct[i]), float(distinct[i + 1])) for i in places]
    # A cut may equal the lower value: x <= cut still separates the two.
    between = column.schema.type.between
    return [between(math.nextafter(a, -math.inf), b, a / 2 + b / 2) for a, b in pairs]


def missing_rows(column: Column) -> NDArray[np.bool_]:
    """Return which rows of a column are missing."""
    return Presence(column.schema.name, True).holds(column)
