"""Rules compiled once for prediction: columns become small codes, conditions intervals of codes.

A numeric column is coded by the thresholds its rules use: code ``2 i + 1`` is a value equal to
threshold ``i``, the even codes are the gaps around it, so ``<``, ``<=``, ``>`` and ``>=`` are all
exact. A nominal column is coded by the labels its rules name; other known labels share one code.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.rules import AnyOf, Labels, Presence, Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from rulewright.data import ColumnSchema, Schema, Table
    from rulewright.rules import Condition, Rule

# A column with more thresholds than fit into 16-bit codes is coded in several parts.
MAX_CUTS = (kernels.UNSEEN - 1) // 2
MAX_LABELS = kernels.UNSEEN - 1

Interval = tuple[int, int, int]
"""Row of the code matrix, lowest code, highest code."""


class NumericCoder:
    """Codes of a numeric column by the thresholds of its rules."""

    def __init__(self, name: str, row: int, cuts: Sequence[float], max_cuts: int) -> None:
        self.name, self.row, self.max_cuts = name, row, max_cuts
        parts = [cuts[start : start + max_cuts] for start in range(0, len(cuts), max_cuts)]
        self.parts = [np.array(part, dtype=np.float64) for part in parts or [[]]]
        self.cuts = cuts

    @property
    def n_rows(self) -> int:
        """How many rows of the code matrix the column takes."""
        return len(self.parts)

    def encode(self, table: Table, codes: NDArray[np.uint16], n_threads: int) -> None:
        """Write the codes of a table's column into the code matrix."""
        values = table[self.name].values
        for i, part in enumerate(self.parts):
            codes[self.row + i] = kernels.encode_values(values, part, True, n_threads)

    def conditions(self, condition: Condition) -> list[list[Interval]]:
        """Give intervals that must hold, all of the outer list and any of the inner ones."""
        if isinstance(condition, AnyOf):
            return _any_of([self.conditions(part) for part in condition.alternatives])
        if isinstance(condition, Presence):
            return [[_presence(self.row, condition)]]
        assert isinstance(condition, Range)
        sides: dict[int, tuple[int, int]] = {}
        if condition.low > -np.inf:
            part, i = divmod(bisect_left(self.cuts, condition.low), self.max_cuts)
            sides[part] = (2 * i + 1 + condition.low_open, 2 * len(self.parts[part]))
        if condition.high < np.inf:
            part, i = divmod(bisect_left(self.cuts, condition.high), self.max_cuts)
            sides[part] = (sides.get(part, (0, 0))[0], 2 * i + 1 - condition.high_open)
        return [[(self.row + part, low, high)] for part, (low, high) in sides.items()]


class NominalCoder:
    """Codes of a nominal column by the labels its rules name."""

    n_rows = 1

    def __init__(self, schema: ColumnSchema, row: int, labels: Sequence[str]) -> None:
        if len(labels) > MAX_LABELS:
            raise ValueError(
                f"rules name {len(labels)} labels of column {schema.name!r}, more than "
                f"{MAX_LABELS}; group its labels before learning"
            )
        self.name, self.row = schema.name, row
        self.code_of = {label: code for code, label in enumerate(labels)}
        other = len(labels)
        known = [self.code_of.get(label, other) for label in schema.labels]
        # Codes of the data room index this from the end too: -2 is unseen, -1 is missing.
        self.lookup = np.array([*known, kernels.UNSEEN, kernels.MISSING], dtype=np.uint16)

    def encode(self, table: Table, codes: NDArray[np.uint16], n_threads: int) -> None:
        """Write the codes of a table's column into the code matrix."""
        np.take(self.lookup, table[self.name].values, out=codes[self.row], mode="wrap")

    def conditions(self, condition: Condition) -> list[list[Interval]]:
        """Give intervals that must hold, all of the outer list and any of the inner ones."""
        if isinstance(condition, AnyOf):
            return _any_of([self.conditions(part) for part in condition.alternatives])
        if isinstance(condition, Presence):
            return [[_presence(self.row, condition)]]
        assert isinstance(condition, Labels)
        runs = _runs(sorted(self.code_of[label] for label in condition.labels))
        if condition.negated:
            runs = _gaps(runs)
        return [[(self.row, low, high) for low, high in runs]]


@dataclass(frozen=True)
class CompiledModel:
    """What prediction needs of a list of rules."""

    columns: tuple[str, ...]
    coders: tuple[NumericCoder | NominalCoder, ...]
    rules: kernels.CompiledRules

    def codes(self, table: Table, n_threads: int) -> NDArray[np.uint16]:
        """Code a table: one row per coded column, one column per row of the table."""
        n_codes = sum(coder.n_rows for coder in self.coders)
        codes = np.empty((n_codes, len(table)), dtype=np.uint16)
        for coder in self.coders:
            coder.encode(table, codes, n_threads)
        return codes


def compile_rules(rules: Sequence[Rule], schema: Schema, max_cuts: int = MAX_CUTS) -> CompiledModel:
    """Compile rules over the columns of a schema; only the columns they use are coded."""
    coders = _coders(rules, schema, max_cuts)
    intervals: list[Interval] = []
    condition_starts, rule_starts = [0], [0]
    for rule in rules:
        for condition in rule.body.conditions:
            for alternatives in coders[condition.column].conditions(condition):
                intervals += alternatives
                condition_starts.append(len(intervals))
        rule_starts.append(len(condition_starts) - 1)
    compiled = kernels.CompiledRules(
        intervals=np.array(intervals, dtype=np.int32).reshape(-1, 3),
        condition_starts=np.array(condition_starts, dtype=np.int32),
        rule_starts=np.array(rule_starts, dtype=np.int32),
    )
    return CompiledModel(tuple(coders), tuple(coders.values()), compiled)


def _coders(
    rules: Iterable[Rule], schema: Schema, max_cuts: int
) -> dict[str, NumericCoder | NominalCoder]:
    """Make a coder for each column that rules use, in the order of the schema."""
    used = marks_by_column(rules)
    coders: dict[str, NumericCoder | NominalCoder] = {}
    row = 0
    for name in schema.names:
        if name not in used:
            continue
        marks: list[float | str] = sorted(used[name])
        coder = _coder(schema[name], row, marks, max_cuts)
        coders[name] = coder
        row += coder.n_rows
    return coders


def marks_by_column(rules: Iterable[Rule]) -> dict[str, set[float | str]]:
    """Give the thresholds and labels that rules use of each column."""
    used: dict[str, set[float | str]] = {}
    for rule in rules:
        for condition in rule.body.conditions:
            used.setdefault(condition.column, set()).update(_marks(condition))
    return used


def _coder(
    column: ColumnSchema, row: int, marks: Sequence[float | str], max_cuts: int
) -> NumericCoder | NominalCoder:
    if column.type.ordered:
        cuts = [mark for mark in marks if not isinstance(mark, str)]
        return NumericCoder(column.name, row, cuts, max_cuts)
    return NominalCoder(column, row, [mark for mark in marks if isinstance(mark, str)])


def _marks(condition: Condition) -> Iterable[float | str]:
    """Give the thresholds or labels that a condition tells apart."""
    if isinstance(condition, AnyOf):
        return [mark for part in condition.alternatives for mark in _marks(part)]
    if isinstance(condition, Labels):
        return condition.labels
    if isinstance(condition, Range):
        return [bound for bound in (condition.low, condition.high) if np.isfinite(bound)]
    return ()


def _any_of(alternatives: Sequence[list[list[Interval]]]) -> list[list[Interval]]:
    """Bring alternatives to the form of a condition.

    Only a range over several parts of a column has more than one list, of which any choice must
    hold with any choice of the others.
    """
    choices = itertools.product(*alternatives)
    return [list(itertools.chain.from_iterable(choice)) for choice in choices]


def _presence(row: int, condition: Presence) -> Interval:
    if condition.missing:
        return row, kernels.MISSING, kernels.MISSING
    return row, 0, kernels.UNSEEN


def _runs(codes: Sequence[int]) -> list[tuple[int, int]]:
    """Join sorted codes to runs: 1, 2, 3, 7 gives (1, 3), (7, 7)."""
    runs: list[tuple[int, int]] = []
    for code in codes:
        if runs and runs[-1][1] == code - 1:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return runs


def _gaps(runs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Give the runs of all other codes but that of missing."""
    starts = [0, *(high + 1 for _, high in runs)]
    stops = [*(low - 1 for low, _ in runs), kernels.UNSEEN]
    return [(low, high) for low, high in zip(starts, stops, strict=True) if low <= high]
