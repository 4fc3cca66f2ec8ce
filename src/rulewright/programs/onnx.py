"""Programs as ONNX graphs of plain operations in double precision, for any ONNX runtime.

Numbers are columns of doubles with NaN for missing, dates the same in milliseconds since 1970, and
labels columns of text with the empty text for missing. Values have the shape (rows, classes) or
(rows, 1). Amounts are added one after the other, in the order of the rules, so that scores have the
bits of the model.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.data import ColumnSchema, label_of
from rulewright.programs import nodes
from rulewright.programs.distances import LabelDistance, NumberDistance
from rulewright.programs.nearest import Gap, Lookup, Nearest
from rulewright.programs.onnx_graph import OnnxColumns, OnnxGraph
from rulewright.programs.program import ClassProgram, Program
from rulewright.programs.target import Answer, CannotRunError, ExportTarget, Rows

if TYPE_CHECKING:
    from collections.abc import Callable


_SIGNS = {
    "+": "Add",
    "-": "Sub",
    "*": "Mul",
    "/": "Div",
    "min": "Min",
    "==": "Equal",
    "<": "Less",
    "<=": "LessOrEqual",
    "and": "And",
}
_REDUCTIONS = {"total": "ReduceSum", "largest": "ReduceMax", "smallest": "ReduceMin"}
_OUTPUTS = ("scores", "probabilities", "label", "prediction")


def write_onnx(program: Program) -> bytes:
    """Write a program as an ONNX file; see ``RuleModel.to_onnx``."""
    return OnnxWriter(program).write()


class OnnxWriter:
    """Operations that compute the values of a program from columns of rows."""

    def __init__(self, program: Program) -> None:
        self.program, self.graph = program, OnnxGraph()
        self.columns = OnnxColumns(self.graph, program.schema)
        self._values: dict[nodes.Node, str] = {}
        self._scalars: dict[float, str] = {}
        self._rows = ""

    def write(self) -> bytes:
        """Write all outputs, and return the file."""
        program, graph = self.program, self.graph
        used = _used(program)
        taken = {*_OUTPUTS, *program.flags, *program.derived}
        for column in program.schema.sources_of(used):
            self.columns.read(column, taken)
        for column in used:
            self.columns.take_part(column)
        self._rows = graph.add("Shape", used[0].source, end=1)
        for node in program.nodes:
            self._values[node] = self._write[type(node)](self, node)
        if not isinstance(program, ClassProgram):
            for name, node in program.numbers.items():
                self._flat_output(name, self._repeat(self._values[node], 1), np.float64)
            return graph.serialise()
        n = program.n_classes
        for name, node in (("scores", program.scores), ("probabilities", program.probabilities)):
            graph.give_output(name, self._repeat(self._values[node], n), np.float64, ["rows", n])
        chosen = self._repeat(self._values[program.chosen], 1)
        labels = np.array(program.labels, dtype=object if _is_text(program.labels) else None)
        places = graph.cast(chosen, np.int64)
        self._flat_output(
            "label", graph.add("Gather", graph.constant(labels, labels.dtype), places), labels.dtype
        )
        for name, node in program.flags.items():
            self._flat_output(name, self._repeat(self._values[node], 1), np.bool_)
        return graph.serialise()

    def _repeat(self, value: str, width: int) -> str:
        """Return a value for every row, if it is a constant too."""
        shape = self.graph.add("Concat", self._rows, self.graph.constant([width], np.int64), axis=0)
        return self.graph.add("Expand", value, shape)

    def scalar(self, value: float) -> str:
        """Return a number to calculate with, repeated for every row.

        ONNX Runtime drops additions of 0 and products with 1. It takes every constant for 0 or 1
        that equals 0 or 1 in single precision.
        """
        if value not in self._scalars:
            self._scalars[value] = self._repeat(self.graph.constant([[value]]), 1)
        return self._scalars[value]

    def _flat_output(self, name: str, value: str, dtype: Any) -> None:
        axis = self.graph.constant([1], np.int64)
        self.graph.give_output(name, self.graph.add("Squeeze", value, axis), dtype, ["rows"])

    def _children(self, node: nodes.Node) -> list[str]:
        return [self._values[child] for child in node.children]

    def _constant(self, node: nodes.Constant) -> str:
        return self.graph.constant([node.numbers])

    def _binary(self, node: nodes.Binary) -> str:
        children = self._children(node)
        if node.sign in "+-*/":
            for place, child in enumerate(node.children):
                if isinstance(child, nodes.Constant) and len(child.numbers) == 1:
                    children[place] = self.scalar(child.numbers[0])
        return self.graph.add(_SIGNS[node.sign], *children)

    def _where(self, node: nodes.Where) -> str:
        return self.graph.add("Where", *self._children(node))

    def _exp(self, node: nodes.Exp) -> str:
        return self.graph.add("Exp", *self._children(node))

    def _reduce(self, node: nodes.Reduce) -> str:
        axes = self.graph.constant([1], np.int64)
        return self.graph.add(_REDUCTIONS[node.how], *self._children(node), axes, keepdims=1)

    def _nearest(self, node: Nearest) -> str:
        return nearest_place(node, self)

    def _lookup(self, node: Lookup) -> str:
        vectors = self.graph.constant(node.vectors)
        found = self.graph.add("Gather", vectors, *self._children(node))
        return self.graph.add("Squeeze", found, self.graph.constant([1], np.int64))

    def _choose(self, node: nodes.Choose) -> str:
        """Find the first true test, in the order of preference; indices are doubles."""
        graph, tests = self.graph, self.graph.cast(self._values[node.test], np.int32)
        if node.order != tuple(range(len(node.order))):
            tests = graph.add("Gather", tests, graph.constant(node.order, np.int64), axis=1)
        place = graph.add("ArgMax", tests, axis=1, keepdims=1)
        return graph.add("Gather", graph.constant(node.order), place)

    def _fold(self, node: nodes.TermFold) -> str:
        graph, n = self.graph, len(node.start.numbers)
        value = self._values[node.start]
        if isinstance(node, nodes.FirstThat):  # the first overwrites those after it
            for body, numbers in reversed(node.terms):
                value = graph.add(
                    "Where", self.columns.test(body), graph.constant([numbers]), value
                )
            return value
        assert isinstance(node, nodes.TermSums | nodes.Maxima)
        operation, nothing = (
            ("Add", 0.0) if isinstance(node, nodes.TermSums) else ("Max", -math.inf)
        )
        value = self.scalar(node.start.numbers[0]) if n == 1 else value
        for body, head, amount in node.terms:
            amounts = np.full((1, n), nothing)
            amounts[0, head.classes] = amount
            others = graph.constant([[nothing] * n])
            changed = self.scalar(amount) if n == 1 else graph.constant(amounts)
            change = graph.add("Where", self.columns.test(body), changed, others)
            value = graph.add(operation, value, change)
        return value

    def _line(self, node: nodes.LineValue) -> str:
        graph, value = self.graph, self.columns.value(node.column)
        bounds = [graph.constant(bound) for bound in (node.low, node.high)]
        held = graph.add("Clip", value, *bounds)
        shifted = graph.add("Sub", held, self.scalar(node.center))
        return graph.add("Where", graph.add("IsNaN", value), graph.constant([[0.0]]), shifted)

    def _steps(self, node: nodes.Steps) -> str:
        """Count for each class the thresholds below its number: the place of the height."""
        graph, found = self.graph, []
        for k, (thresholds, heights) in enumerate(node.tables):
            number = graph.add(
                "Gather", self._values[node.value], graph.constant([k], np.int64), axis=1
            )
            below = graph.add("Less", graph.constant([[*thresholds, math.inf]]), number)
            axes = graph.constant([1], np.int64)
            place = graph.add("ReduceSum", graph.cast(below, np.int64), axes, keepdims=1)
            found.append(graph.add("Gather", graph.constant(heights), place))
        return graph.add("Concat", *found, axis=1)

    def _mix(self, node: nodes.Mix) -> str:
        graph = self.graph
        total = graph.constant([[0.0] * len(node.matrix)])
        for k, row in enumerate(node.matrix):
            part = graph.add(
                "Gather", self._values[node.value], graph.constant([k], np.int64), axis=1
            )
            factors = self.scalar(row[0]) if len(row) == 1 else graph.constant([row])
            total = graph.add("Add", total, graph.add("Mul", part, factors))
        return total

    _write: ClassVar[dict[type[nodes.Node], Callable[[Any, Any], str]]] = {
        nodes.Binary: _binary,
        nodes.Choose: _choose,
        nodes.Constant: _constant,
        nodes.Exp: _exp,
        nodes.FirstThat: _fold,
        nodes.LineValue: _line,
        Lookup: _lookup,
        nodes.Maxima: _fold,
        nodes.Mix: _mix,
        Nearest: _nearest,
        nodes.Reduce: _reduce,
        nodes.Steps: _steps,
        nodes.TermSums: _fold,
        nodes.Where: _where,
    }
    """How each node is computed."""


def _is_text(labels: tuple[Any, ...]) -> bool:
    return isinstance(labels[0], str)


def _used(program: Program) -> list[ColumnSchema]:
    """Return the columns that a graph reads: one at least, for the number of rows."""
    return [program.schema[name] for name in program.columns or program.schema.names[:1]]


def inputs_of(program: Program, rows: Rows) -> dict[str, Any]:
    """Return rows as the inputs of the graph of a program."""
    found = {}
    for column in program.schema.sources_of(_used(program)):
        name, kind, values = column.name, column.type, rows[column.name]
        if kind.ordered:
            numbers = [math.nan if value is None else kind.number(value) for value in values]
            found[name] = np.array(numbers, dtype=np.float64)[:, np.newaxis]
        else:
            texts = ["" if value is None else label_of(value) for value in values]
            found[name] = np.array(texts, dtype=object)[:, np.newaxis]
    return found


def _run(write: Callable[..., Any], program: Program, rows: Rows) -> tuple[list[Answer], list[str]]:
    """Return the answers of ONNX Runtime."""
    try:
        import onnxruntime  # noqa: PLC0415 - heavy, and only needed here
    except ImportError:
        raise CannotRunError("install the package onnxruntime") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        write(program), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, inputs_of(program, rows)), strict=True))
    if not isinstance(program, ClassProgram):
        numbers = [found[name].tolist() for name in program.numbers]
        return [Answer.numbers(program, row) for row in zip(*numbers, strict=True)], []
    flags = [found[name].tolist() for name in program.flags]
    columns = (found[name].tolist() for name in _OUTPUTS[:3])
    told = zip(*flags, strict=True) if flags else [()] * len(found["label"])
    return list(map(Answer._make, zip(*columns, told, strict=True))), []


TARGET = ExportTarget(
    "a graph for ONNX runtimes, in double precision", write_onnx, {"onnx": _run}, unasked=False
)


def nearest_place(node: Nearest, writer: OnnxWriter) -> str:
    """Add up the squared distances of all rules, in the order of the columns; the least wins.

    A rule without a condition on a column adds 0, which changes no sum.
    """
    graph = writer.graph
    total = graph.constant([[0.0] * len(node.rules)])
    for distance in node.used:
        gaps = [next((gap for gap in rule if gap.distance is distance), None) for rule in node.gaps]
        if isinstance(distance, NumberDistance):
            squares = _of_numbers(distance, gaps, writer)
        else:
            squares = _of_labels(distance, gaps, writer)
        total = graph.add("Add", total, squares)
    return graph.add("ArgMin", total, axis=1, keepdims=1)


def _of_numbers(distance: NumberDistance, gaps: list[Gap | None], writer: OnnxWriter) -> str:
    graph, value = writer.graph, writer.columns.value(distance.column)
    zero = graph.constant([[0.0]])
    if not distance.width:
        square = zero
    else:
        held = graph.add("Clip", value, *map(graph.constant, distance.limits))
        scaled = graph.add("Mul", held, writer.scalar(distance.scale))
        low = _bounds([gap.low if gap else 0.0 for gap in gaps], writer)
        high = _bounds([gap.high if gap else 0.0 for gap in gaps], writer)
        above = graph.add(
            "Where", graph.add("Less", high, scaled), graph.add("Sub", scaled, high), zero
        )
        outside = graph.add(
            "Where", graph.add("Less", scaled, low), graph.add("Sub", low, scaled), above
        )
        share = graph.add("Div", outside, writer.scalar(distance.width))
        square = graph.add("Mul", share, share)
    known = graph.add("Where", graph.add("IsNaN", value), graph.constant([[1.0]]), square)
    has_condition = graph.constant([[gap is not None for gap in gaps]], np.bool_)
    return graph.add("Where", has_condition, known, zero)


def _bounds(numbers: list[float], writer: OnnxWriter) -> str:
    return writer.scalar(numbers[0]) if len(numbers) == 1 else writer.graph.constant([numbers])


def _of_labels(distance: LabelDistance, gaps: list[Gap | None], writer: OnnxWriter) -> str:
    graph = writer.graph
    groups = [*distance.groups, distance.unseen, distance.missing]
    table = np.zeros((len(groups), len(gaps)))
    for i, gap in enumerate(gaps):
        if gap is not None:
            table[:, i] = distance.squares[int(gap.low)][groups]
    found = graph.add("Gather", graph.constant(table), writer.columns.codes(distance.column))
    return graph.add("Squeeze", found, graph.constant([1], np.int64))
