"""The nearest rule in an ONNX graph: the distances of all rules at once, column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.programs.distances import LabelDistance, NumberDistance

if TYPE_CHECKING:
    from rulewright.programs.nearest import Gap, Nearest
    from rulewright.programs.onnx import OnnxWriter


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
    graph, value = writer.graph, distance.column
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
