"""Formulas compiled for prediction: columns become small codes, conditions intervals of codes.

An ordered column is coded by the thresholds of its conditions: code ``2 i + 1`` is a value equal to
threshold ``i``, the even codes are the gaps around it, so ``<``, ``<=``, ``>`` and ``>=`` are all
exact. A nominal column is coded by the labels its conditions name; other known labels share a code.

The kernels evaluate conjunctions, as packed bits: row i is bit ``i % 64`` of word ``i // 64``.
Other formulas are joined from the bits of their conjunctions.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rulewright import kernels
from rulewright.encoding import unpack_words
from rulewright.programs.program import list_conjunctions, positive
from rulewright.rules import And, Conjunction, Labels, Or, Presence, Range, any_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.data import ColumnSchema, Schema, Table
    from rulewright.rules import Condition, Formula, Plain

    Bits: TypeAlias = NDArray[np.uint64]
    Joint: TypeAlias = int | tuple[bool, tuple["Joint", ...]]
    """A conjunction by its place, or whether all joints must hold, and the joints."""

# A column with more thresholds than fit into 16-bit codes is coded in several parts.
MAX_CUTS = (kernels.UNSEEN - 1) // 2
MAX_LABELS = kernels.UNSEEN - 1

Interval = tuple[int, int, int]
"""Row of the code matrix, lowest code, highest code."""


class _NumericCoder:
    """Codes of an ordered column by the thresholds of its conditions."""

    def __init__(self, name: str, row: int, cuts: Sequence[float], max_cuts: int) -> None:
        self.name, self.row, self.max_cuts, self.cuts = name, row, max_cuts, cuts
        parts = [cuts[start : start + max_cuts] for start in range(0, len(cuts), max_cuts)]
        self.parts = [np.array(part, dtype=np.float64) for part in parts or [[]]]
        self.n_rows = len(self.parts)

    def intervals(self, part: Plain) -> list[list[Interval]]:
        """Return required intervals: all of the outer list, any of each inner list."""
        assert isinstance(part, Range)
        sides: dict[int, tuple[int, int]] = {}
        if part.low > -np.inf:
            place, i = divmod(bisect_left(self.cuts, part.low), self.max_cuts)
            sides[place] = (2 * i + 1 + part.low_open, 2 * len(self.parts[place]))
        if part.high < np.inf:
            place, i = divmod(bisect_left(self.cuts, part.high), self.max_cuts)
            sides[place] = (sides.get(place, (0, 0))[0], 2 * i + 1 - part.high_open)
        return [[(self.row + place, low, high)] for place, (low, high) in sides.items()]


class _NominalCoder:
    """Codes of a nominal column by the labels its conditions name."""

    n_rows = 1

    def __init__(self, schema: ColumnSchema, row: int, labels: Sequence[str]) -> None:
        if len(labels) > MAX_LABELS:
            raise ValueError(
                f"rules name {len(labels)} labels of column {schema.name!r}, more than "
                f"{MAX_LABELS}; group its labels before learning"
            )
        self.name, self.row = schema.name, row
        self.code_of = {label: code for code, label in enumerate(labels)}
        known = [self.code_of.get(label, len(labels)) for label in schema.labels]
        # Codes of the data room index this from the end too: -2 is unseen, -1 is missing.
        self.lookup = np.array([*known, kernels.UNSEEN, kernels.MISSING], dtype=np.uint16)

    def encode(self, table: Table, codes: NDArray[np.uint16]) -> None:
        """Write the codes of a table's column into the code matrix."""
        np.take(self.lookup, table[self.name].values, out=codes[self.row], mode="wrap")

    def intervals(self, part: Plain) -> list[list[Interval]]:
        """Return required intervals: all of the outer list, any of each inner list."""
        assert isinstance(part, Labels)
        runs = _runs(sorted(self.code_of[label] for label in part.labels))
        if part.negated:
            runs = _gaps(runs)
        return [[(self.row, low, high) for low, high in runs]]


class Coder:
    """Codes of the columns that some formulas use, and formulas as intervals of codes.

    One row of the code matrix can hold `max_cuts` thresholds.
    """

    def __init__(self, bodies: Iterable[Formula], schema: Schema, max_cuts: int = MAX_CUTS) -> None:
        used = marks_by_column(bodies)
        self._coders: dict[str, _NumericCoder | _NominalCoder] = {}
        self.n_rows = 0
        for name in schema.names:
            if name not in used:
                continue
            marks: list[Any] = sorted(used[name])
            coder: _NumericCoder | _NominalCoder
            if schema[name].type.ordered:
                coder = _NumericCoder(name, self.n_rows, marks, max_cuts)
            else:
                coder = _NominalCoder(schema[name], self.n_rows, marks)
            self._coders[name] = coder
            self.n_rows += coder.n_rows

    def codes(self, table: Table, n_threads: int) -> NDArray[np.uint16]:
        """Code a table: one row per coded column, one column per row of the table."""
        codes = np.empty((self.n_rows, len(table)), dtype=np.uint16)
        values: list[NDArray[np.float64]] = []
        cuts: list[NDArray[np.float64]] = []
        places: list[int] = []
        for coder in self._coders.values():
            if isinstance(coder, _NominalCoder):
                coder.encode(table, codes)
                continue
            values += [table[coder.name].values] * coder.n_rows
            cuts += coder.parts
            places += range(coder.row, coder.row + coder.n_rows)
        kernels.encode_columns(values, cuts, np.array(places, dtype=np.int32), codes, n_threads)
        return codes

    def compile(self, bodies: Sequence[Formula]) -> Covers:
        """Compile formulas to conjunctions for the kernels, and to joints that combine them."""
        known: dict[int, Formula] = {}
        bodies = [positive(body, known) for body in bodies]
        if self.n_rows > len(self._coders):
            bodies = self._split(bodies)
        if all(isinstance(body, Conjunction) for body in bodies):
            return Covers(self._rules(bodies), None)
        # The same object in several formulas is evaluated once.
        parts = list_conjunctions(bodies)
        places = {id(part): i for i, part in enumerate(parts)}
        return Covers(self._rules(parts), tuple(_joint(body, places) for body in bodies))

    def _split(self, bodies: Sequence[Formula]) -> list[Formula]:
        """Write alternatives that span parts of a column as formulas: their choices multiply."""
        known: dict[int, Formula] = {}

        def split(body: Formula) -> Formula:
            if id(body) not in known:
                if isinstance(body, And | Or):
                    known[id(body)] = type(body)(tuple(map(split, body.parts)))
                else:
                    known[id(body)] = self._split_conditions(body)
            return known[id(body)]

        return list(map(split, bodies))

    def _split_conditions(self, body: Formula) -> Formula:
        kept, joined = [], []
        for condition in body.conditions:
            parts = [part for part in condition.alternatives if self._spans(part)]
            if len(parts) < 2:
                kept.append(condition)
                continue
            choices = [Conjunction((part,)) for part in parts]
            if rest := [part for part in condition.alternatives if part not in parts]:
                choices.append(Conjunction((any_of(rest),)))
            joined.append(Or(tuple(choices)))
        return And((Conjunction(tuple(kept)), *joined)) if joined else body

    def _spans(self, part: Plain) -> bool:
        """Return whether a range needs intervals of several parts of its column."""
        return isinstance(part, Range) and len(self._coders[part.column].intervals(part)) > 1

    def _rules(self, bodies: Sequence[Formula]) -> kernels.CompiledRules:
        intervals: list[Interval] = []
        condition_starts, rule_starts = [0], [0]
        for body in bodies:
            for condition in body.conditions:
                for alternatives in self._intervals(condition):
                    intervals += alternatives
                    condition_starts.append(len(intervals))
            rule_starts.append(len(condition_starts) - 1)
        return kernels.CompiledRules(
            intervals=np.array(intervals, dtype=np.int32).reshape(-1, 3),
            condition_starts=np.array(condition_starts, dtype=np.int32),
            rule_starts=np.array(rule_starts, dtype=np.int32),
        )

    def _intervals(self, condition: Condition) -> list[list[Interval]]:
        """Return required intervals: all of the outer list, any of each inner list.

        Only a range over several parts of a column, of which there is one at most, has several
        lists, of which any choice must hold with any choice of the other alternatives.
        """
        coder = self._coders[condition.column]
        choices = [
            [[_presence(coder.row, part)]] if isinstance(part, Presence) else coder.intervals(part)
            for part in condition.alternatives
        ]
        if len(choices) == 1:
            return choices[0]
        return [[*itertools.chain.from_iterable(way)] for way in itertools.product(*choices)]


@dataclass(frozen=True)
class Covers:
    """Compiled formulas: which rows each of them holds on."""

    rules: kernels.CompiledRules
    joints: tuple[Joint, ...] | None
    """How each formula is joined from the conjunctions; None if they are the formulas."""

    def bits(self, codes: NDArray[np.uint16], n_threads: int) -> Bits:
        """Return the packed rows that each formula holds on, as an array (formulas, words)."""
        bits = kernels.rule_bits(codes, self.rules, n_threads)
        if self.joints is None:
            return bits
        return np.array([combine_bits(bits, joint) for joint in self.joints], dtype=np.uint64)

    def matrix(self, codes: NDArray[np.uint16], n_threads: int) -> NDArray[np.bool_]:
        """Return which formula holds on which row, as an array of shape (rows, formulas)."""
        if self.joints is None:
            return kernels.rule_covers(codes, self.rules, n_threads)
        return np.ascontiguousarray(unpack_words(self.bits(codes, n_threads), codes.shape[1]).T)


def marks_by_column(bodies: Iterable[Formula]) -> dict[str, set[float | str]]:
    """Return the thresholds and labels that formulas use of each column."""
    used: dict[str, set[float | str]] = {}
    for leaf in list_conjunctions(bodies):
        for condition in leaf.conditions:
            used.setdefault(condition.column, set()).update(condition.marks)
    return used


def combine_bits(bits: Bits, joint: Joint) -> Bits:
    """Return the bits of a formula from the bits of the conjunctions."""
    if isinstance(joint, int):
        return np.asarray(bits[joint])
    is_and, parts = joint
    join = np.bitwise_and if is_and else np.bitwise_or
    places = [part for part in parts if isinstance(part, int)]
    if len(places) == len(parts):
        return np.asarray(join.reduce(bits[places], axis=0))
    return np.asarray(join.reduce([combine_bits(bits, part) for part in parts]))


def _joint(body: Formula, places: Mapping[int, int]) -> Joint:
    if isinstance(body, And | Or):
        return isinstance(body, And), tuple(_joint(part, places) for part in body.parts)
    return places[id(body)]


def _presence(row: int, part: Presence) -> Interval:
    return (row, kernels.MISSING, kernels.MISSING) if part.missing else (row, 0, kernels.UNSEEN)


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
    """Return the runs of all other codes except the code for missing."""
    starts = [0, *(high + 1 for _, high in runs)]
    stops = [*(low - 1 for low, _ in runs), kernels.UNSEEN]
    return [(low, high) for low, high in zip(starts, stops, strict=True) if low <= high]
