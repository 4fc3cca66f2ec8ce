"""Builder of an ONNX graph: adds operations, and stores each constant once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DAY
from rulewright.programs.program import positive
from rulewright.rules import Condition, Conjunction, Formula, Labels, Or, Plain, Presence, Range

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import ArrayLike

    from rulewright.data import ColumnSchema, Schema

MAX_OPERATIONS = 200_000
"""More take runtimes minutes to load."""

OPSETS = {"": 18, "ai.onnx.ml": 3}
IR_VERSION = 8


def onnx_package() -> Any:
    """Import the onnx package, or raise an error that says how to install it."""
    try:
        import onnx  # noqa: PLC0415 - heavy, and only needed here
    except ImportError:
        raise ImportError(
            "writing ONNX needs the package onnx: pip install rulewright[onnx]"
        ) from None
    return onnx


class OnnxGraph:
    """Operations of an ONNX graph in the order in which they are computed."""

    def __init__(self) -> None:
        self._onnx = onnx_package()
        self._nodes: list[Any] = []
        self._stored: dict[tuple[Any, ...], str] = {}
        self._initializers: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def add(self, operation: str, *values: str, domain: str = "", **attributes: Any) -> str:
        """Add an operation on values and return the name of its result."""
        if len(self._nodes) >= MAX_OPERATIONS:
            raise ValueError(
                f"the ONNX graph of this model has more than {MAX_OPERATIONS:,} operations: its "
                "rules are too many or too long; export a model of fewer rules"
            )
        name = f"/rule/{len(self._nodes)}"
        self._nodes.append(
            self._onnx.helper.make_node(operation, values, [name], domain=domain, **attributes)
        )
        return name

    def constant(self, values: ArrayLike, dtype: Any = np.float64) -> str:
        """Store numbers, truth values or text and return their name."""
        array = np.asarray(values, dtype=dtype)
        content = tuple(array.ravel()) if array.dtype == object else array.tobytes()
        key = (array.dtype, array.shape, content)
        if key not in self._stored:
            name = self._stored[key] = f"/constant/{len(self._stored)}"
            if array.dtype == object:
                texts = [text.encode() for text in array.ravel()]
                kind = self._onnx.TensorProto.STRING
                tensor = self._onnx.helper.make_tensor(name, kind, array.shape, texts)
            else:
                tensor = self._onnx.numpy_helper.from_array(array, name)
            self._initializers.append(tensor)
        return self._stored[key]

    def cast(self, value: str, dtype: Any) -> str:
        """Convert a value to another type."""
        return self.add("Cast", value, to=self.type_of(dtype))

    def type_of(self, dtype: Any) -> int:
        """Return what ONNX calls a type of NumPy; objects are text."""
        if np.dtype(dtype) == object:
            return int(self._onnx.TensorProto.STRING)
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def take_input(self, name: str, dtype: Any) -> str:
        """Declare a column of rows."""
        helper = self._onnx.helper
        self.inputs.append(helper.make_tensor_value_info(name, self.type_of(dtype), ["rows", 1]))
        return name

    def give_output(self, name: str, value: str, dtype: Any, shape: Sequence[Any]) -> None:
        """Add an output: a value under a name."""
        helper = self._onnx.helper
        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, self.type_of(dtype), shape))

    def serialise(self) -> bytes:
        """Return the content of an ONNX file, after its checks."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, "rulewright", self.inputs, self.outputs, self._initializers
        )
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="rulewright")
        model.ir_version = IR_VERSION
        self._onnx.checker.check_model(model)
        content: bytes = model.SerializeToString()
        return content


MISSING_CODE = -1
"""Codes of labels index tables from the end too: -2 is a label never seen."""


class OnnxColumns:
    """Inputs of a graph: ordered columns by their names, codes of labels, and tests of both."""

    def __init__(self, graph: OnnxGraph, schema: Schema) -> None:
        self.graph, self.schema = graph, schema
        self._codes: dict[str, str] = {}
        self._parts: dict[str, str] = {}
        self._tests: dict[Any, str] = {}
        self._positive: dict[int, Formula] = {}

    def codes(self, column: str) -> str:
        """Return the places of the labels of a nominal column; see `MISSING_CODE`."""
        return self._codes[column]

    def value(self, column: str) -> str:
        """Return the numbers of an ordered column."""
        return self._parts.get(column, column)

    def read(self, column: ColumnSchema, taken: Collection[str]) -> None:
        """Declare a column as an input, unless its name is taken; labels become codes."""
        name = column.name
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

    def take_part(self, column: ColumnSchema) -> None:
        """Compute a part of dates, which are milliseconds since 1970; codes of weekdays."""
        if column.part is None:
            return
        unit, dates = column.part.unit, column.source
        if unit == "hour":
            self._parts[column.name] = self._floor_divide(self._modulo(dates, DAY), 3_600_000)
            return
        days = self._floor_divide(dates, DAY)
        if unit == "month":
            self._parts[column.name] = self._month(days)
            return
        known = self._modulo(self._calculate("Add", days, 3), 7)  # 1970 began on a Thursday
        missing = self.graph.add("IsNaN", dates)
        code = self.graph.add("Where", missing, self.graph.constant([[MISSING_CODE]]), known)
        self._codes[column.name] = self.graph.cast(code, np.int64)

    def _month(self, days: str) -> str:
        """Return the month of a number of days since 1970, by years that begin in March."""
        day = self._modulo(self._calculate("Add", days, 719_468), 146_097)  # of 400 years
        leaps = self._floor_divide(day, 1_460), self._floor_divide(day, 146_096)
        rest = self.graph.add("Sub", self.graph.add("Sub", day, leaps[0]), leaps[1])
        rest = self.graph.add("Add", rest, self._floor_divide(day, 36_524))
        year = self._floor_divide(rest, 365)
        leaps = self._floor_divide(year, 4), self._floor_divide(year, 100)
        before = self.graph.add("Add", self._calculate("Mul", year, 365), leaps[0])
        before = self.graph.add("Sub", before, leaps[1])
        of_year = self._calculate("Mul", self.graph.add("Sub", day, before), 5)
        march = self._floor_divide(self._calculate("Add", of_year, 2), 153)  # 0 is March
        return self._calculate("Add", self._modulo(self._calculate("Add", march, 2), 12), 1)

    def _calculate(self, operation: str, value: str, number: float) -> str:
        return self.graph.add(operation, value, self.graph.constant([[number]]))

    def _floor_divide(self, value: str, number: float) -> str:
        return self.graph.add("Floor", self._calculate("Div", value, number))

    def _modulo(self, value: str, number: float) -> str:
        whole = self._calculate("Mul", self._floor_divide(value, number), number)
        return self.graph.add("Sub", value, whole)

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
                graph.add("IsNaN", self.value(part.column))
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
        value = self.value(part.column)
        return [
            self.graph.add(operation, value, self.graph.constant([[bound]]))
            for bound, operation in sides
            if math.isfinite(bound)
        ]
