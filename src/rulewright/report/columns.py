"""The view by column: what each column contributes, its rules merged into one curve with counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from markupsafe import Markup

from rulewright.evidence import (
    format_number,
    format_percent,
    format_signed_number,
    write_interval,
    write_threshold,
)
from rulewright.explain import ColumnSteps, Step, merge_column_steps
from rulewright.html import cut_line, draw_bar, draw_move
from rulewright.model import (
    AdditiveRules,
    RatioRules,
    RegressionRules,
    class_of_interest,
    escape_line,
)
from rulewright.report.figures import N_LOOKS, Axis, ChartLine, LineChart

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.data import Table
    from rulewright.explain import EvaluatedRows
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import RuleModel

_SHOWN_COLUMNS, _SHOWN_CLASSES, _SHOWN_STEPS, _SHOWN_LABELS = 12, 3, 30, 5
_MISSING = "missing"


class Part(NamedTuple):
    """A score that a step changes: its name, a bar, and the amount."""

    name: str
    bar: Markup
    amount: str


@dataclass(frozen=True)
class StepLine:
    """One step of a column: its values, its contribution, its rows, and observed values."""

    values: str
    parts: list[Part]
    rows: str
    share: str
    share_bar: Markup
    observed: str


@dataclass(frozen=True)
class ColumnView:
    """One column: its curve, its steps, and the rules that test it with other columns."""

    name: str
    share: str
    unit: str
    observed: str
    drawing: LineChart | None
    steps: list[StepLine]
    more_steps: int
    joint_rules: list[int]


@dataclass(frozen=True)
class Scores:
    """The shown scores, computed from the contributions of steps, by name."""

    unit: str
    observed: str
    names: list[str]
    looks: list[int | None]
    weights: FloatArray

    @classmethod
    def of(cls, model: RuleModel, target: str, found: ColumnSteps) -> Scores:
        """Choose the class of interest, or with several classes the ones that the column moves."""
        names = [cut_line(name, 20) for name in model.head_names]
        if isinstance(model, RatioRules):
            unit = f"change of the logarithm of the {model.quantity}"
            return cls(unit, "observed rate", [""], [None], np.ones((1, 1)))
        if not names:
            unit = f"change of {cut_line(target, 22) if target else 'the prediction'}"
            return cls(unit, f"mean {target or 'target'}", [""], [None], np.ones((1, 1)))
        if len(names) == 2:
            k = class_of_interest(model)
            weights = np.array([[1.0 if j == k else -1.0 for j in range(2)]])
            return cls(f"points for {names[k]}", f"{names[k]}, observed", [""], [None], weights)
        ends = [part for step in found.steps for part in (step.adds, step.adds_high)]
        moved = np.ptp(np.array(ends), axis=0)
        order = [int(k) for k in np.argsort(-moved, kind="stable")]
        shown = [k for k in order[:_SHOWN_CLASSES] if moved[k] > 0] or order[:1]
        weights, looks = np.eye(len(names))[shown], [k % N_LOOKS for k in shown]
        observed = f"{names[shown[0]]}, observed"
        return cls("points", observed, [names[k] for k in shown], [*looks], weights)


def column_views(
    model: RuleModel, rows: EvaluatedRows | None, importances: dict[str, float], target: str
) -> list[ColumnView]:
    """Describe the most important columns of a model that adds up; of others nothing."""
    if not isinstance(model, AdditiveRules | RegressionRules):
        return []
    total = sum(importances.values()) or 1.0
    names = [k for k, v in importances.items() if v > 0][:_SHOWN_COLUMNS]
    found = [merge_column_steps(model, name) for name in names]
    scores = [Scores.of(model, target, one) for one in found]
    ends = [
        own.weights @ np.stack([step.adds, step.adds_high], 1)
        for one, own in zip(found, scores, strict=True)
        for step in one.steps
    ]
    largest = max((float(np.abs(end).max()) for end in ends), default=0.0)
    return [
        _column_view(model, rows, one, own, largest, importances[one.column] / total)
        for one, own in zip(found, scores, strict=True)
    ]


def _column_view(
    model: RuleModel,
    rows: EvaluatedRows | None,
    found: ColumnSteps,
    scores: Scores,
    largest: float,
    share: float,
) -> ColumnView:
    steps = _shown_steps(found, None if rows is None else rows.table)
    write = _writer(model, found.column, None if rows is None else rows.table)
    lines = [_step_line(model, rows, found.column, s, scores, largest, write) for s in steps]
    return ColumnView(
        escape_line(found.column),
        format_percent(share),
        scores.unit,
        scores.observed,
        _draw(model, rows, found, scores, lines),
        lines[:_SHOWN_STEPS] if found.rules or found.has_line else [],
        max(0, len(lines) - _SHOWN_STEPS),
        list(found.joint_rules),
    )


def _shown_steps(found: ColumnSteps, table: Table | None) -> list[Step]:
    """Drop missing values if there are none and no rule uses them."""
    *known, missing = found.steps
    none = table is None or not table[found.column].is_missing.any()
    return known if none and not missing.adds.any() else [*known, missing]


def _step_line(
    model: RuleModel,
    rows: EvaluatedRows | None,
    column: str,
    step: Step,
    scores: Scores,
    largest: float,
    write: Callable[[Step], str],
) -> StepLine:
    starts, ends = scores.weights @ step.adds, scores.weights @ step.adds_high
    parts = []
    for name, look, start, end in zip(scores.names, scores.looks, starts, ends, strict=True):
        text, last = (
            format_signed_number(float(x), points=bool(model.head_names)) for x in (start, end)
        )
        text = text if text == last else f"{text} to {last}"
        bar = draw_move(float(end if abs(end) > abs(start) else start), largest, look)
        parts.append(Part(name, bar, text))
    if rows is None:
        return StepLine(write(step), parts, "", "", Markup(""), "")
    inside = step.covers(rows.table[column])
    weight, total = float(rows.weights[inside].sum()), float(rows.weights.sum())
    share = weight / total if total else math.nan
    observed = _observe(model, rows, inside, scores)
    bar = draw_bar(share)
    return StepLine(
        write(step), parts, format_number(weight, 9), format_percent(share), bar, observed
    )


def _observe(model: RuleModel, rows: EvaluatedRows, inside: BoolArray, scores: Scores) -> str:
    """Write the share of the class of interest, or the mean, among some rows with a target."""
    weights = rows.weights[inside]
    if rows.table.target is None or not weights.sum():
        return ""
    if not model.head_names:
        return format_number(rows.table.known_numbers.take(inside).average(weights))
    shown = int(np.argmax(scores.weights[0]))
    return format_percent(float(np.average(rows.codes[inside] == shown, weights=weights)))


def _writer(model: RuleModel, column: str, table: Table | None) -> Callable[[Step], str]:
    """Return how the values of a step are written; counts are whole numbers."""
    schema = model.schema[column]
    known = np.zeros(0) if table is None else table[column].values[~table[column].is_missing]
    whole = schema.type.arithmetic and len(known) > 0 and bool((known == np.round(known)).all())

    def write(step: Step) -> str:
        if step.is_missing:
            return _MISSING
        if step.labels:
            shown = ", ".join(
                cut_line(label, 24) or "(empty)" for label in step.labels[:_SHOWN_LABELS]
            )
            more = len(step.labels) - _SHOWN_LABELS
            return f"{shown} and {more} more" if more > 0 else shown
        ends = {"low_open": step.low_open, "high_open": step.high_open}
        text = write_interval(step.low, step.high, schema.type, **ends, whole=whole)
        edges = {"or less": known.min(), "or more": known.max()} if whole else {}
        for beyond, edge in edges.items():  # no value is beyond it
            only = write_threshold(float(edge), schema.type)
            text = only if text == f"{only} {beyond}" else text
        return text

    return write


def _draw(
    model: RuleModel,
    rows: EvaluatedRows | None,
    found: ColumnSteps,
    scores: Scores,
    lines: Sequence[StepLine],
) -> LineChart | None:
    """Draw the curve of an ordered column over the values that occur; jumps are at thresholds."""
    kind = model.schema[found.column].type
    steps = [step for step in found.steps if not step.is_missing]
    if not kind.ordered or len(steps) < 2:
        return None
    low, high = _ends(found, rows)
    shown = [step for step in steps if step.low <= high and step.high >= low]
    x = np.array([end for s in shown for end in (max(s.low, low), min(s.high, high))])
    ends = np.array([end for s in shown for end in (s.adds, s.adds_high)]) @ scores.weights.T
    looks = zip(scores.names, scores.looks, strict=True)
    charts = [ChartLine(name, x, ends[:, k], look=look) for k, (name, look) in enumerate(looks)]
    first = [line.parts[0].amount for line in lines]
    order = np.argsort(scores.weights[0] @ np.array([step.adds for step in steps]).T)
    of = f" for {scores.names[0]}" if scores.names[0] else ""
    low_at, high_at = int(order[0]), int(order[-1])
    text = (
        f"Lowest{of}: {first[low_at]} ({lines[low_at].values}). "
        f"Highest{of}: {first[high_at]} ({lines[high_at].values})."
    )
    write = None if kind.arithmetic else lambda value: write_threshold(value, kind)[:10]
    axis = Axis(cut_line(found.column, 34), write=write)
    return LineChart(f"Effect of {cut_line(found.column)}", charts, axis, Axis(scores.unit), text)


def _ends(found: ColumnSteps, rows: EvaluatedRows | None) -> tuple[float, float]:
    """Return the range of the curve: values that occur, and all thresholds with some room."""
    marks = [x for s in found.steps for x in (s.low, s.high) if math.isfinite(x)]
    room = 0.1 * (max(marks) - min(marks)) or 0.1 * abs(marks[0]) or 1.0
    ends = [min(marks) - room, max(marks) + room]
    if rows is not None:
        column = rows.table[found.column]
        known = column.values[~column.is_missing]
        if len(known):
            ends = [min(*marks, float(known.min())), max(*marks, float(known.max()))]
            room = 0.04 * (ends[1] - ends[0])
            ends = [ends[0] - room, ends[1] + room]
    return ends[0], ends[1]
