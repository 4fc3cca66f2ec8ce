"""Rows where exports of models tend to go wrong."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import label_of, label_value
from rulewright.programs.covers import marks_by_column
from rulewright.programs.distances import NumberDistance
from rulewright.programs.nearest import Nearest
from rulewright.programs.nodes import LineValue
from rulewright.rules import Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rulewright.data import ColumnSchema, Schema
    from rulewright.programs.program import Program
    from rulewright.programs.target import Rows
    from rulewright.rules import Condition

_RANDOM_ROWS = 300
_PLANTED_ROWS = 1500
_MAX_VALUES = 1000


def adversarial_rows(program: Program, seed: int = 0) -> Rows:
    """Make rows of missing, unseen, huge and tiny values, and values on and beside thresholds.

    They are mixed at random, and rows are planted that satisfy all conditions of a formula or all
    but one, because random rows seldom meet a long rule.

    Parameters
    ----------
    program : Program
        The program whose thresholds and labels are used.
    seed : int
        Seed of the mixing.
    """
    rng = np.random.default_rng(seed)
    schema, marks = program.schema, marks_by_column(program.marked)
    for node in program.nodes:
        if isinstance(node, LineValue):
            marks.setdefault(node.column, set()).update((node.low, node.high, node.center))
        for distance in node.used if isinstance(node, Nearest) else ():
            if isinstance(distance, NumberDistance):
                marks[distance.column].update((distance.low, distance.high, *distance.limits))
    choices = {name: _choices(schema[name], marks[name], rng) for name in program.columns}
    n_listed = max(map(len, choices.values()), default=0)
    rows: Rows = {name: [None] * (1 + n_listed + _RANDOM_ROWS) for name in schema.names}
    for name, values in choices.items():
        listed = [values[i % len(values)] for i in range(n_listed)]
        rows[name][1:] = listed + [_draw(values, rng) for _ in range(_RANDOM_ROWS)]
    for row in itertools.islice(_planted_rows(program, choices, rng), _PLANTED_ROWS):
        for name, column in rows.items():
            column.append(row.get(name))
    return rows


def _planted_rows(
    program: Program, choices: dict[str, list[Any]], rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Make rows that satisfy the conditions of a formula but for one, which is probed."""
    for i in rng.permutation(len(program.marked)).tolist():
        covered = {name: _draw(values, rng) for name, values in choices.items()}
        conditions = program.marked[i].conditions
        for condition in conditions:
            values = choices[condition.column]
            fitting = [value for value in values if _accepts(condition, value, program.schema)]
            covered[condition.column] = _draw(fitting or values, rng)
        for condition in conditions:
            for probe in _probes(condition, choices[condition.column], program.schema, rng):
                yield covered | {condition.column: probe}


def _probes(
    condition: Condition, choices: list[Any], schema: Schema, rng: np.random.Generator
) -> Iterator[Any]:
    """Give values that show whether a condition is evaluated exactly."""
    for part in condition.alternatives:
        yield None
        if isinstance(part, Range):
            kind = schema[condition.column].type
            yield from (kind.to_table_value(v) for mark in part.marks for v in kind.probes(mark))
        else:
            if part.marks:
                yield label_value(_draw(part.marks, rng), schema[condition.column])
            yield _draw(choices, rng)


def _draw(values: Sequence[Any], rng: np.random.Generator) -> Any:
    return values[int(rng.integers(len(values)))]


def _accepts(condition: Condition, value: Any, schema: Schema) -> bool:
    kind = schema[condition.column].type
    if value is not None:
        value = kind.number(value) if kind.ordered else label_of(value)
    return condition.accepts(value)


def _choices(
    column: ColumnSchema, marks: Iterable[float | str], rng: np.random.Generator
) -> list[Any]:
    """Give the values worth trying in a column."""
    if column.type.ordered:
        cuts = [mark for mark in marks if not isinstance(mark, str)]
        kind = column.type
        numbers = [*kind.extremes, *itertools.chain.from_iterable(map(kind.probes, cuts))]
        values: list[Any] = [kind.to_table_value(number) for number in numbers]
    else:
        labels = {*marks, *column.labels[:5], *_unseen(column)}
        values = [label_value(str(label), column) for label in sorted(map(str, labels))]
    if len(values) > _MAX_VALUES:
        values = [values[i] for i in rng.permutation(len(values))[:_MAX_VALUES]]
    return [None, *values]


def _unseen(column: ColumnSchema) -> Iterable[str]:
    """Give labels that are not in the schema, as near to those as can be."""
    if column.label_type == "boolean":
        return ()
    if column.label_type == "number":
        tries = ["-12345", "0.3", "1e-300", "1000000"]
    else:
        tries = ['it\'s "new"; -- \\', "NULL", "nan", "ÿ\n"]
        tries += [change(label) for label in column.labels[:3] for change in _CHANGES]
    return [label for label in tries if label not in column.labels]


_CHANGES = (str.swapcase, lambda label: label + " ", lambda label: label + "'")
