"""What the rules of one column add up to, exactly: a number for each interval or label.

Rules that test only this column, and its linear term, are summed at every value that they can tell
apart. Rules that test other columns too cannot be drawn as a curve; they are listed apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import MISSING_CODE, Column, Table
from rulewright.explain.terms import Additive, LineTerm, RuleTerm, additive_terms, n_outputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import ColumnSchema
    from rulewright.explain.terms import Term
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import LinearTerm


@dataclass(frozen=True, eq=False)
class Step:
    """Values of a column for which its rules add the same.

    An interval from `low` to `high`, of which an end is excluded where it is open; or the labels;
    with neither the rows where the value is missing. `adds` holds what each score gets, `adds_high`
    what it gets at the upper end, which differs under a linear term only.
    """

    adds: FloatArray
    adds_high: FloatArray
    labels: tuple[str, ...] = ()
    low: float = math.nan
    high: float = math.nan
    low_open: bool = False
    high_open: bool = False

    @property
    def is_missing(self) -> bool:
        """Whether these are the rows without a value."""
        return not self.labels and math.isnan(self.low)

    def covers(self, column: Column) -> BoolArray:
        """Mark the rows of a column whose value this is."""
        if self.is_missing:
            return column.is_missing
        if self.labels:
            known = [
                column.schema.labels.index(x) for x in self.labels if x in column.schema.labels
            ]
            return np.isin(column.values, known)
        values = column.values
        above = values > self.low if self.low_open else values >= self.low
        return above & (values < self.high if self.high_open else values <= self.high)


@dataclass(frozen=True, eq=False)
class ColumnSteps:
    """The sum of the rules of one column, and the rules that test it with other columns."""

    column: str
    steps: tuple[Step, ...]
    rules: tuple[int, ...]
    joint_rules: tuple[int, ...]
    has_line: bool


def merge_column_steps(model: Any, column: str) -> ColumnSteps:
    """Sum the rules that test one column alone, exactly.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules or fitted estimator
        The model.
    column : str
        A column of the model.

    Returns
    -------
    ColumnSteps
        Intervals in ascending order, or labels, and a step for missing values.
    """
    fitted, terms = additive_terms(model, "merge_column_steps")
    own = [term for term in terms if term.columns == (column,)]
    joint = [
        t.place for t in terms if isinstance(t, RuleTerm) and column in t.columns and t not in own
    ]
    schema, lines = fitted.schema[column], [t.line for t in own if isinstance(t, LineTerm)]
    if not schema.type.ordered:
        steps = _label_steps(fitted, own, schema)
    else:
        marks = {m for t in own if isinstance(t, RuleTerm) for m in t.marks(column)}
        steps = _interval_steps(fitted, own, schema, sorted(marks | _bends(lines)))
    missing = _sum(fitted, own, schema, [math.nan if schema.type.ordered else MISSING_CODE])[0]
    steps.append(Step(missing, missing))
    rules = tuple(t.place for t in own if isinstance(t, RuleTerm))
    return ColumnSteps(column, tuple(steps), rules, tuple(joint), bool(lines))


def _bends(lines: Sequence[LinearTerm]) -> set[float]:
    return {end for line in lines for end in (line.low, line.high)}


def _sum(
    model: Additive, terms: Sequence[Term], schema: ColumnSchema, values: Sequence[Any]
) -> FloatArray:
    """Return what terms add to each score at some values of a column."""
    kind = np.float64 if schema.type.ordered else np.int32
    table = Table((Column(schema, np.array(values, dtype=kind)),), True, len(values))
    total = np.zeros((len(values), n_outputs(model)))
    for term in terms:
        total += term.contributions(table)[:, np.newaxis] * term.sizes(n_outputs(model))
    return total


def _label_steps(model: Additive, terms: Sequence[Term], schema: ColumnSchema) -> list[Step]:
    """Join the labels that get the same."""
    found: dict[bytes, tuple[FloatArray, list[str]]] = {}
    sums = _sum(model, terms, schema, range(len(schema.labels)))
    for label, adds in zip(schema.labels, sums, strict=True):
        found.setdefault(np.round(adds, 12).tobytes(), (adds, []))[1].append(label)
    return [Step(adds, adds, tuple(labels)) for adds, labels in found.values()]


def _interval_steps(
    model: Additive, terms: Sequence[Term], schema: ColumnSchema, marks: Sequence[float]
) -> list[Step]:
    """Cut the numbers at thresholds, and join neighbours that get the same."""
    ends = [-math.inf, *marks, math.inf]
    cells: list[tuple[float, float, bool]] = []  # open intervals, and single values
    for low, high in pairwise(ends):
        cells += [(low, high, True), (high, high, False)]
    cells.pop()
    firsts, lasts = (
        _sum(model, terms, schema, [_near(cell, first=first) for cell in cells])
        for first in (True, False)
    )
    steps: list[Step] = []
    for (low, high, is_open), first, last in zip(cells, firsts, lasts, strict=True):
        low_open = is_open
        old = steps[-1] if steps else None
        level = old is not None and (not is_open or _same(old.adds, old.adds_high))
        if old and level and _same(first, last) and _same(old.adds_high, first):
            steps.pop()
            low, low_open, first = old.low, old.low_open, old.adds
        steps.append(Step(first, last, (), low, high, low_open, is_open))
    return steps


def _same(one: FloatArray, other: FloatArray) -> bool:
    return bool(np.allclose(one, other, rtol=1e-9, atol=1e-12))


def _near(cell: tuple[float, float, bool], *, first: bool) -> float:
    """Return the first or the last value of a cell; far from 0 any value will do."""
    low, high, _ = cell
    start, other = (low, high) if first else (high, low)
    if math.isinf(start):
        start, other = other, start
    return 0.0 if math.isinf(start) else math.nextafter(start, other)
