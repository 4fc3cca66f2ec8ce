"""Boolean columns: every value or interval of a column as a yes-or-no question, packed in bits.

A nominal column gives one Boolean per label, a numeric one a Boolean per interval of about equally
many rows (and, if asked for, one per threshold), a column with missing values one more. Questions
that all rows answer alike are dropped; of questions with the same or the opposite answers on all
training rows the first one stays. A missing value and a label never seen answer no to
all but ``is missing``, so the negative literal of a question, its exact opposite
(``rulewright.rules.any_of``), holds for them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.encoding.domains import attributes, missing_rows
from rulewright.rules.any_of import Condition, negated
from rulewright.rules.condition import Labels
from rulewright.rules.conjunction import Conjunction, Contradiction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rulewright.data import Column, Schema, Table
    from rulewright.encoding.domains import Attribute, MissingMode

_NO_CODE = -9  # that no row has
BooleanLiteral = tuple[int, bool]
"""A variable, and True for the question itself or False for its opposite."""


@dataclass(frozen=True, slots=True)
class Boolean:
    """One Boolean variable.

    Parameters
    ----------
    condition : Condition
        The positive literal.
    attribute : int
        Index of its attribute.
    values : tuple of int
        The values of the attribute's domain for which the answer is yes.
    aliases : tuple of Condition
        Conditions that were left out because they hold on the same training rows.
    """

    condition: Condition
    attribute: int
    values: tuple[int, ...]
    aliases: tuple[Condition, ...] = ()

    def literal(self, positive: bool) -> Condition:
        """Give the condition of a literal; the negative one holds wherever this one does not."""
        return self.condition if positive else negated(self.condition)

    def __str__(self) -> str:
        return str(self.condition)


@dataclass(frozen=True, eq=False)
class BooleanEncoding:
    """Boolean variables of a training table, and the way between rows, bits and conditions.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    attributes : tuple of Attribute
        Domains of the columns that have a variable.
    variables : tuple of Boolean
        The variables.
    complete : frozenset of str
        Columns without missing values in training.
    """

    schema: Schema
    attributes: tuple[Attribute, ...]
    variables: tuple[Boolean, ...]
    complete: frozenset[str]

    def __len__(self) -> int:
        return len(self.variables)

    def bits(self, table: Table) -> NDArray[np.uint64]:
        """Answer all questions for training or new rows.

        Parameters
        ----------
        table : Table
            Rows read with the schema of the training table (``read_like``).

        Returns
        -------
        uint64 array of shape (variables, words)
            Row i is bit ``i % 64`` of word ``i // 64``; bits beyond the last row are 0.
        """
        self._warn_of_missing(table)
        bits = np.zeros((len(self), -(-len(table) // 64)), dtype=np.uint64)
        for line, variable in zip(bits, self.variables, strict=True):
            line[:] = pack(_answers(variable.condition, table[variable.condition.column]))
        return bits

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

    def _warn_of_missing(self, table: Table) -> None:
        names = {attribute.column for attribute in self.attributes} & self.complete
        new = [
            name for name in self.schema.names if name in names and missing_rows(table[name]).any()
        ]
        if new:
            warnings.warn(
                f"missing values in columns without any in training: {', '.join(new)}; they answer "
                "no to every question",
                stacklevel=3,
            )


def encode_booleans(
    table: Table,
    *,
    missing: MissingMode = "indicator",
    thresholds: bool = False,
    n_bins: int = 10,
) -> BooleanEncoding:
    """Turn the columns of training rows into Boolean variables.

    Parameters
    ----------
    table : Table
        The training rows; their weights, if any, say what equal frequency means.
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
    BooleanEncoding
        The variables, in the order of the columns.
    """
    if missing not in ("indicator", "value"):
        raise ValueError(f"missing must be 'indicator' or 'value', not {missing!r}")
    if n_bins < 2:
        raise ValueError(f"n_bins must be at least 2, not {n_bins}")
    kept = _Kept(len(table))
    for column in table.columns:
        for attribute, questions in attributes(column, n_bins, missing, thresholds, table.weights):
            for condition, values in questions:
                kept.add(attribute, condition, values, _answers(condition, column))
    complete = frozenset(c.schema.name for c in table.columns if not missing_rows(c).any())
    return BooleanEncoding(table.schema, tuple(kept.attributes), tuple(kept.variables), complete)


def pack(answers: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack answers, or lines of answers, into words.

    Row i is bit ``i % 64`` of word ``i // 64``, spare bits are 0.
    """
    *lines, n_rows = answers.shape
    packed = np.zeros((*lines, -(-n_rows // 64) * 8), dtype=np.uint8)
    packed[..., : -(-n_rows // 8)] = np.packbits(answers, axis=-1, bitorder="little")
    return packed.view("<u8").astype(np.uint64)


class _Kept:
    """The variables kept so far, found by their answers."""

    def __init__(self, n_rows: int) -> None:
        self.full = pack(np.ones(n_rows, dtype=np.bool_))
        self.attributes: list[Attribute] = []
        self.variables: list[Boolean] = []
        self._place: dict[bytes, int] = {}

    def add(
        self,
        attribute: Attribute,
        condition: Condition,
        values: tuple[int, ...],
        answers: NDArray[np.bool_],
    ) -> None:
        """Keep a question unless all rows answer alike or it has been asked before."""
        if answers.all() or not answers.any():
            return
        bits = pack(answers)
        same, opposite = bits.tobytes(), (bits ^ self.full).tobytes()
        if same in self._place:
            self._alias(self._place[same], condition)
        elif opposite in self._place:
            self._alias(self._place[opposite], negated(condition))
        else:
            self._place[same] = len(self.variables)
            if not self.attributes or self.attributes[-1] is not attribute:
                self.attributes.append(attribute)
            self.variables.append(Boolean(condition, len(self.attributes) - 1, values))

    def _alias(self, place: int, condition: Condition) -> None:
        variable = self.variables[place]
        self.variables[place] = replace(variable, aliases=(*variable.aliases, condition))


def _answers(condition: Condition, column: Column) -> NDArray[np.bool_]:
    if isinstance(condition, Labels) and not condition.negated and len(condition.labels) == 1:
        # Comparing codes is much quicker than asking every label of a long list.
        code = column.schema.label_index.get(condition.labels[0], _NO_CODE)
        answers: NDArray[np.bool_] = column.values == code
        return answers
    return condition.holds(column)
