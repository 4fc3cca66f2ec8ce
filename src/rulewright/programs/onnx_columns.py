"""The columns of rows in an ONNX graph, and where conditions and formulas hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.programs.program import positive
from rulewright.rules import Conjunction, Labels, Or, Presence, Range

if TYPE_CHECKING:
    from collections.abc import Collection

    from rulewright.data import Schema
    from rulewright.programs.onnx_graph import OnnxGraph
    from rulewright.rules import Condition, Formula, Plain

MISSING_CODE = -1
"""Codes of labels index tables from the end too: -2 is a label never seen."""


class OnnxColumns:
    """Inputs of a graph: ordered columns by their names, codes of labels, and tests of both."""

    def __init__(self, graph: OnnxGraph, schema: Schema) -> None:
        self.graph, self.schema = graph, schema
        self._codes: dict[str, str] = {}
        self._tests: dict[Any, str] = {}
        self._positive: dict[int, Formula] = {}

    def codes(self, column: str) -> str:
        """Return the places of the labels of a nominal column; see `MISSING_CODE`."""
        return self._codes[column]

    def read(self, name: str, taken: Collection[str]) -> None:
        """Declare a column as an input, unless its name is taken; labels become codes."""
        column = self.schema[name]
        if name in taken or not name or name.startswith(("/rule/", "/constant/")):
            raise ValueError(
                f"column {name!r} cannot be an input of an ONNX graph, which has values of this "
                "name; rename the column and learn again"
            )
        if column.type.ordered:
            self.graph.take_input(name, np.float64)
            return
        if "" in column.labels:
            raise ValueError(
                f"column {name!r} has the empty text as a label, which in ONNX stands for missing; "
                "give the label another name and learn again"
            )
        self._codes[name] = self.graph.add(
            "LabelEncoder",
            self.graph.take_input(name, object),
            domain="ai.onnx.ml",
            keys_strings=[*column.labels, ""],
            values_int64s=[*range(len(column.labels)), MISSING_CODE],
            default_int64=-2,
        )

    def test(self, formula: Formula) -> str:
        """Return where a formula holds, as a column of truth values."""
        formula = positive(formula, self._positive)
        if id(formula) not in self._tests:
            if isinstance(formula, Conjunction):
                parts, operation = list(map(self._condition, formula.conditions)), "And"
            else:
                parts = list(map(self.test, formula.parts))  # type: ignore[union-attr]
                operation = "Or" if isinstance(formula, Or) else "And"
            self._tests[id(formula)] = self._join(operation, parts)
        return self._tests[id(formula)]

    def _join(self, operation: str, parts: list[str]) -> str:
        if not parts:
            return self.graph.constant([[operation == "And"]], np.bool_)
        value = parts[0]
        for part in parts[1:]:
            value = self.graph.add(operation, value, part)
        return value

    def _condition(self, condition: Condition) -> str:
        if condition not in self._tests:
            parts = list(map(self._plain, condition.alternatives))
            self._tests[condition] = self._join("Or", parts)
        return self._tests[condition]

    def _plain(self, part: Plain) -> str:
        graph, column = self.graph, self.schema[part.column]
        if isinstance(part, Labels):
            wanted = [(label in part.labels) != part.negated for label in column.labels]
            table = graph.constant([*wanted, part.negated, False], np.bool_)
            return graph.add("Gather", table, self.codes(part.column))
        if isinstance(part, Presence):
            missing = (
                graph.add("IsNaN", part.column)
                if column.type.ordered
                else graph.add(
                    "Equal", self.codes(part.column), graph.constant([[MISSING_CODE]], np.int64)
                )
            )
            return missing if part.missing else graph.add("Not", missing)
        return self._join("And", self._bounds(part))

    def _bounds(self, part: Range) -> list[str]:
        sides = (
            (part.low, "Greater" if part.low_open else "GreaterOrEqual"),
            (part.high, "Less" if part.high_open else "LessOrEqual"),
        )
        value = part.column
        return [
            self.graph.add(operation, value, self.graph.constant([[bound]]))
            for bound, operation in sides
            if math.isfinite(bound)
        ]
