"""Rows where exports of models tend to go wrong."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import label_of
from rulewright.data.kinds.nominal import label_value
from rulewright.model.compiled import marks_by_column
from rulewright.rules import AnyOf, Labels, Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rulewright.data import ColumnSchema, Schema
    from rulewright.model.rule_model import RuleModel
    from rulewright.rules import Condition

Rows = dict[str, list[Any]]
"""Column name to values; missing is None."""

_RANDOM_ROWS = 300
_PLANTED_ROWS = 1500
_MAX_VALUES = 1000
_EXTREMES = (
    math.nan,
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    1.7976931348623157e308,
    -1.7976931348623157e308,
)


def adversarial_rows(model: RuleModel, seed: int = 0) -> Rows:
    """Make rows of missing, unseen, huge and tiny values, and values on and beside thresholds.

    They are mixed at random, and rows are planted that a rule covers or just misses, for random
    rows seldom meet a long rule.

    Parameters
    ----------
    model : RuleModel
        The model whose thresholds and labels are used.
    seed : int
        Seed of the mixing.
    """
    rng = np.random.default_rng(seed)
    marks = marks_by_column(model.rules)
    choices = {name: _choices(model.schema[name], marks[name], rng) for name in model.columns}
    n_listed = max(map(len, choices.values()), default=0)
    rows: Rows = {name: [None] * (1 + n_listed + _RANDOM_ROWS) for name in model.schema.names}
    for name, values in choices.items():
        listed = [values[i % len(values)] for i in range(n_listed)]
        rows[name][1:] = listed + [_draw(values, rng) for _ in range(_RANDOM_ROWS)]
    for row in itertools.islice(_planted_rows(model, choices, rng), _PLANTED_ROWS):
        for name, column in rows.items():
            column.append(row.get(name))
    return rows


def _planted_rows(
    model: RuleModel, choices: dict[str, list[Any]], rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Make rows that satisfy a rule but for one condition, which is probed."""
    for i in rng.permutation(len(model)).tolist():
        covered = {name: _draw(values, rng) for name, values in choices.items()}
        conjunction = model.rules[i].body
        for condition in conjunction:
            values = choices[condition.column]
            fitting = [value for value in values if _accepts(condition, value, model.schema)]
            covered[condition.column] = _draw(fitting or values, rng)
        for condition in conjunction:
            for probe in _probes(condition, choices[condition.column], model.schema, rng):
                yield covered | {condition.column: probe}


def _probes(
    condition: Condition, choices: list[Any], schema: Schema, rng: np.random.Generator
) -> list[Any]:
    """Give values that show whether a condition is kept to the letter."""
    if isinstance(condition, AnyOf):
        parts = condition.alternatives
        return [probe for part in parts for probe in _probes(part, choices, schema, rng)]
    if isinstance(condition, Range):
        bounds = [bound for bound in (condition.low, condition.high) if math.isfinite(bound)]
        return [None, *itertools.chain.from_iterable(map(_around, bounds))]
    if isinstance(condition, Labels):
        label = condition.labels[int(rng.integers(len(condition.labels)))]
        return [None, label_value(label, schema[condition.column]), _draw(choices, rng)]
    return [None, _draw(choices, rng)]


def _around(value: float) -> list[float]:
    """Give a number and its finite neighbours."""
    near = (value, math.nextafter(value, -math.inf), math.nextafter(value, math.inf))
    return [number for number in near if math.isfinite(number)]


def _draw(values: list[Any], rng: np.random.Generator) -> Any:
    return values[int(rng.integers(len(values)))]


def _accepts(condition: Condition, value: Any, schema: Schema) -> bool:
    nominal = schema[condition.column].kind == "nominal"
    return condition.accepts(label_of(value) if nominal and value is not None else value)


def _choices(
    column: ColumnSchema, marks: Iterable[float | str], rng: np.random.Generator
) -> list[Any]:
    """Give the values worth trying in a column."""
    if column.kind == "numeric":
        cuts = [mark for mark in marks if not isinstance(mark, str)]
        values: list[Any] = [*_EXTREMES, *itertools.chain.from_iterable(map(_around, cuts))]
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
