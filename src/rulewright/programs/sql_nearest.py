"""The nearest rule in SQL: distances in groups of rules, the least of each, and its place.

Databases limit the columns of a step and the terms of an expression, so rules come in groups, and
sums of many terms in parts.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from rulewright.programs.distances import NumberDistance
from rulewright.programs.nearest import Gap, Nearest, squared_labels, squared_unseen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.programs.sql_expressions import SqlExpressions

    Step = tuple[dict[str, str], list[str]]
    """The columns of a step, and the columns of earlier steps that it reads."""

_RULES, _TERMS, MAX_COLUMNS = 200, 100, 1000


def nearest_steps(node: Nearest, name: str, writer: SqlExpressions) -> Iterator[Step]:
    """Return the steps that find the nearest rule; the last one has the column `name`."""
    texts = _Texts(node, name, writer)
    if len(texts.inputs) > MAX_COLUMNS:
        raise ValueError(
            f"SQL of rules that compare {len(texts.inputs)} labels and columns, more than "
            f"{MAX_COLUMNS}, is not supported; group labels before learning"
        )
    yield texts.inputs, []
    best: list[str] = []
    for start in range(0, len(node.rules), _RULES):
        places = range(start, min(start + _RULES, len(node.rules)))
        totals = {i: f"{name}_d{i}" for i in places}
        yield from texts.sums(totals)
        least = f"{name}_least{start}"
        yield {least: writer.extreme("min", list(totals.values()))}, list(totals.values())
        whens = [f"WHEN {total} = {least} THEN {i}" for i, total in totals.items()]
        if best:
            whens.insert(0, f"WHEN {best[0]} <= {least} THEN {best[1]}")
        columns = {name: f"CASE {' '.join(whens)} END"}
        columns[f"{name}_best{start}"] = writer.extreme("min", [least, *best[:1]])
        yield columns, [least, *totals.values(), *best]
        best = [f"{name}_best{start}", name]


def find_near(bound: float, width: float) -> float:
    """Return the farthest number above a bound, below it if the width is negative, that is near.

    A number is near if its squared distance is rounded to 0, which PostgreSQL calls an error.
    Distances grow with the numbers, and numbers are in the order of their bits.
    """
    near, far = (_to_place(number) for number in (bound, bound + 2.0**-530 * width))
    while abs(far - near) > 1:
        middle = (near + far) // 2
        gap = (_to_number(middle) - bound) / width
        near, far = (middle, far) if gap * gap == 0.0 else (near, middle)
    return _to_number(near)


def _to_place(number: float) -> int:
    """Return the place of a number in the order of all numbers; both zeros are at 0."""
    (bits,) = struct.unpack("<q", struct.pack("<d", abs(number)))
    return -bits if number < 0.0 else int(bits)


def _to_number(place: int) -> float:
    (number,) = struct.unpack("<d", struct.pack("<q", abs(place)))
    return -number if place < 0 else float(number)


class _Texts:
    """The texts of the distances of a node."""

    def __init__(self, node: Nearest, name: str, writer: SqlExpressions) -> None:
        self.node, self.writer = node, writer
        self.inputs: dict[str, str] = {}
        self.numbers: dict[str, str] = {}
        for i, distance in enumerate(node.used):
            if isinstance(distance, NumberDistance):
                self.numbers[distance.column] = f"{name}_x{i}"
                value = writer.variable(distance.column)
                held = writer.write_held(
                    writer.numeric(distance.column), *distance.limits, distance.scale
                )
                missing = writer.missing[1].format(value)
                self.inputs[f"{name}_x{i}"] = writer.where.format(missing, "NULL", held)
        self.labels = {key: f"{name}_l{i}" for i, key in enumerate(node.label_gaps)}
        for key, gap in node.label_gaps.items():
            self.inputs[self.labels[key]] = self._label(gap)

    def sums(self, totals: dict[int, str]) -> Iterator[Step]:
        """Write the distances of some rules, part by part."""
        rules = {i: [self._term(gap) for gap in self.node.gaps[i]] for i in totals}
        longest = max(1, max(map(len, rules.values())))
        for start in range(0, longest, _TERMS):
            columns = {}
            for i, terms in rules.items():
                part = [totals[i]] if start else []
                part += terms[start : start + _TERMS]
                text = " + ".join(part or [self.writer.number(0.0)])
                columns[totals[i]] = self.writer.comment(self.node.rules[i]) + text
                self.writer.count(len(columns[totals[i]]))
            read = [*self.inputs, *(totals.values() if start else ())]
            yield columns, read

    def _term(self, gap: Gap) -> str:
        distance, writer = gap.distance, self.writer
        if not isinstance(distance, NumberDistance):
            return self.labels[gap.label_key]
        x, one, zero = self.numbers[distance.column], writer.number(1.0), writer.number(0.0)
        missing = f"WHEN {writer.missing[1].format(x)} THEN {one}"
        if not distance.width:
            return f"CASE {missing} ELSE {zero} END"
        low, high, width = map(writer.number, (gap.low, gap.high, distance.width))
        below = self._square(f"({low} - {x}) / {width}")
        above = self._square(f"({x} - {high}) / {width}")
        first, last = find_near(gap.low, -distance.width), find_near(gap.high, distance.width)
        return (
            f"CASE {missing} WHEN {x} < {writer.number(first)} THEN {below} "
            f"WHEN {x} > {writer.number(last)} THEN {above} ELSE {zero} END"
        )

    def _square(self, text: str) -> str:
        return f"({text}) * ({text})"

    def _label(self, gap: Gap) -> str:
        """Write the squared distance of a label to a condition."""
        name, writer = gap.distance.column, self.writer
        variable, column = writer.variable(name), writer.program.schema[name]
        by_square: dict[float, list[str]] = {}
        whens = []
        for label, square in squared_labels(gap, writer.program.schema):
            if label is None:
                missing = writer.missing[0].format(variable)
                whens.append(f"WHEN {missing} THEN {writer.number(square)}")
            else:
                by_square.setdefault(square, []).append(writer.mark(column, label))
        for square, marks in by_square.items():
            test = writer.labels(variable, marks, False)
            whens.append(f"WHEN {test} THEN {writer.number(square)}")
        text = f"CASE {' '.join(whens)} ELSE {writer.number(squared_unseen(gap))} END"
        writer.count(len(text))
        return text
