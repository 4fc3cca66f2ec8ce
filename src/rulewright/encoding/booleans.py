"""Boolean variables: every value or interval of a column as a yes-or-no question.

A nominal column gives one Boolean per label, a numeric one a Boolean per interval of about equally
many rows (and, if asked for, one per threshold), a column with missing values one more. Constant
variables are dropped; of variables with the same or the opposite answers on all training rows the
first one stays. A missing value and a label never seen answer no to all but ``is missing``, so the
negative literal of a question, its exact opposite (`rulewright.rules`), holds for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulewright.encoding.covers import PackedCovers
from rulewright.encoding.domains import Attribute, MissingMode, attributes
from rulewright.rules import (
    Condition,
    Conjunction,
    Contradiction,
    Labels,
    condition_from_json,
    negate,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulewright.data import Column, Table
    from rulewright.kernels import BoolArray, FloatArray

_NO_CODE = -9  # that no row has
BooleanLiteral = tuple[int, bool]
"""A variable, and True for the question itself or False for its opposite."""


@dataclass(frozen=True, slots=True)
class Boolean:
    """One Boolean variable."""

    condition: Condition  # the positive literal
    attribute: int  # index of its attribute
    values: tuple[int, ...]  # the values of the attribute's domain for which the answer is yes

    def literal(self, positive: bool) -> Condition:
        """Give the condition of a literal; the negative one holds wherever this one does not."""
        return self.condition if positive else negate(self.condition)

    def __str__(self) -> str:
        return str(self.condition)


@dataclass(frozen=True, eq=False)
class BooleanEncoding:
    """Boolean variables of a training table, and the way between rows, bits and conditions."""

    attributes: tuple[Attribute, ...]  # domains of the columns that have a variable
    variables: tuple[Boolean, ...]

    def __len__(self) -> int:
        return len(self.variables)

    def covers(self, table: Table) -> PackedCovers:
        """Return which rows, read by the schema of the training table, answer yes to what."""
        conditions = [variable.condition for variable in self.variables]
        answers = (_answers(condition, table[condition.column]) for condition in conditions)
        return PackedCovers.pack_lines(answers, len(table))

    def conjunction(self, term: Iterable[BooleanLiteral]) -> Conjunction:
        """Give the conditions of a term, one per column; an empty term is ``true``.

        Raises
        ------
        Contradiction
            When no value can satisfy the literals of some column together.
        """
        return Conjunction.of(self.variables[j].literal(positive) for j, positive in term)

    def conjunctions(self, formula: Iterable[Iterable[BooleanLiteral]]) -> tuple[Conjunction, ...]:
        """Give the terms of a formula as conjunctions, each once and none that can never hold."""
        found: dict[frozenset[Condition], Conjunction] = {}
        for term in formula:
            try:
                conjunction = self.conjunction(term)
            except Contradiction:
                continue
            found.setdefault(frozenset(conjunction), conjunction)
        return tuple(found.values())

    def to_json(self) -> dict[str, object]:
        """Return the domains and the variables as plain data."""
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
        """Read what `to_json` wrote; a ValueError names what is wrong."""
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
    """Refuse a variable of an attribute or of values that do not exist."""
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
    """Turn the columns of training rows into Boolean variables.

    Parameters
    ----------
    table : Table
        The training rows.
    weights : array, optional
        Weights of the rows, by which intervals have equal frequency.
    missing : {"indicator", "value"}
        What ``is missing`` counts as in the attributes, for columns with missing values: as an
        attribute of its own with two values, or as one more value of the column. The
        variables are the same.
    thresholds : bool
        Whether numeric columns also get a variable per threshold, ``x <= t``.
    n_bins : int
        Most intervals of a numeric column.

    Returns
    -------
    BooleanEncoding, PackedCovers
        The variables, in the order of the columns, and the training rows where each is true.
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
    """The variables kept so far, and what the training rows answer to them."""

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
        """Keep a question unless its answer is constant, or the same as or opposite to another."""
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
        # Comparing codes is much quicker than asking every label of a long list.
        code = column.schema.label_index.get(condition.labels[0], _NO_CODE)
        answers: BoolArray = column.values == code
        return answers
    return condition.holds(column)
