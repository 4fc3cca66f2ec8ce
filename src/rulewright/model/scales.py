"""Scales of columns in the text of models: their ends, and the order of their labels.

``late_payments = 0`` stands for ``<= 0`` where training values are whole from 0: a value below 0 or
above 12 did not occur in training, and a rule treats it as the end. ``size >= medium`` stands for
``size in {medium, large}`` where labels are ordered. The header of the text names the scales. Rules
keep their thresholds and sets, and `parse_model` restores them from the header.
"""

from __future__ import annotations

import math
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.rules import AnyOf, Conjunction, Labels, Range, parse_order, write_label, write_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rulewright.data import Column
    from rulewright.model.rule_model import RuleModel
    from rulewright.rules import Condition, Formula, Plain

Ends = tuple[float, float]
"""The smallest and the largest training value of a column; infinite if it is no end of a scale."""

_SCALES = {(0.0, 1.0), (1.0, 12.0), (1.0, 7.0), (0.0, 6.0), (0.0, 23.0), (1.0, 31.0), (0.0, 59.0)}
"""Flags, months, weekdays, hours, days and minutes, whose largest value is an end too."""
_PREFIX, _SUFFIX = "whole numbers: ", " (= at an end also covers values beyond it)"
_ORDER = "ordered labels: "
_PLAIN_NAME = re.compile(r"[^\s,()]+(?:\([^\s,()]+\))?")


class Scales(NamedTuple):
    """The scales that the text of a model uses, by column."""

    ends: Mapping[str, Ends] = MappingProxyType({})
    orders: Mapping[str, Sequence[str]] = MappingProxyType({})  # labels in their order


NO_SCALES = Scales()


def find_ends(column: Column) -> list[float] | None:
    """Return the smallest and the largest value of a column of whole numbers, for the summary."""
    if not column.schema.type.arithmetic or not len(column.values):
        return None
    known = column.values[~column.is_missing]
    if not len(known) or np.any(known != np.rint(known)) or np.abs(known).max() > 2**31:
        return None
    return [float(known.min()), float(known.max())]


def scales_of(model: RuleModel) -> Scales:
    """Return the scales that the text of a model uses."""
    return Scales(_find_used_ends(model), _find_used_orders(model))


def _find_used_orders(model: RuleModel) -> dict[str, Sequence[str]]:
    """Return the labels of ordered columns, where a rule holds from or up to a label."""
    noted = model.summary.get("training")
    ordered = noted.get("ordered") if isinstance(noted, dict) else None
    names = ordered if isinstance(ordered, list) else ()
    orders = {name: model.schema[name].labels for name in names if name in model.schema}
    parts = [part for rule in model.rules for part in _parts_in(rule.body)]
    used = {part.column for part in parts if _bound(part, orders.get(part.column, ()))}
    return {name: orders[name] for name in sorted(used) if _PLAIN_NAME.fullmatch(write_name(name))}


def _bound(part: Plain, order: Sequence[str]) -> str | None:
    """Write the bound of labels that are the first or the last ones of an order, but not one."""
    if not isinstance(part, Labels) or part.negated or not 1 < len(part.labels) < len(order):
        return None
    n_labels, wanted = len(part.labels), set(part.labels)
    if wanted == set(order[:n_labels]):
        return f"<= {write_label(order[n_labels - 1])}"
    return f">= {write_label(order[-n_labels])}" if wanted == set(order[-n_labels:]) else None


def _find_used_ends(model: RuleModel) -> dict[str, Ends]:
    """Return the ends of the scales where a rule ends, by column, for columns of plain names.

    A column is left out where a rule tests for the end alone: its text means just that.
    """
    noted = model.summary.get("training")
    found = noted.get("whole") if isinstance(noted, dict) else None
    ends = {
        name: _ends_of(*pair)
        for name, pair in (found.items() if isinstance(found, dict) else ())
        if isinstance(pair, list) and len(pair) == 2 and all(map(_is_number, pair))
    }
    found_parts = (part for rule in model.rules for part in _parts_in(rule.body))
    parts = [part for part in found_parts if isinstance(part, Range)]
    exact = {part.column for part in parts if part.low == part.high}
    used = {part.column for part in parts if _at_end(part, ends) is not None} - exact
    return {name: ends[name] for name in sorted(used) if _PLAIN_NAME.fullmatch(write_name(name))}


def _ends_of(low: float, high: float) -> Ends:
    return (low if low == 0.0 or (low, high) in _SCALES else -math.inf), (
        high if (low, high) in _SCALES else math.inf
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _parts_in(body: Formula) -> list[Plain]:
    parts: Iterable[Condition] = body.conditions if isinstance(body, Conjunction) else ()
    return [plain for part in parts for plain in part.alternatives]


def _at_end(part: Range, ends: Mapping[str, Ends]) -> float | None:
    """Return the end of the scale that a range consists of, values beyond it included."""
    low, high = ends.get(part.column, (-math.inf, math.inf))
    if part.low == -math.inf and part.high == low and not part.high_open:
        return low
    return high if part.high == math.inf and part.low == high and not part.low_open else None


def write_condition(part: Condition, scales: Scales) -> str:
    """Write a condition: the end of a scale with ``=``, labels in their order."""
    if isinstance(part, AnyOf):
        first, *_ = part.alternatives
        return write_condition(first, scales) + str(part).removeprefix(str(first))
    if isinstance(part, Range) and (end := _at_end(part, scales.ends)) is not None:
        return str(Range(part.column, end, end))
    if isinstance(part, Labels) and (order := scales.orders.get(part.column)):
        if bound := _bound(part, order):
            return f"{write_name(part.column)} {bound}"
        if len(part.labels) > 1:
            words = map(write_label, sorted(part.labels, key=order.index))
            return f"{str(part).partition('{')[0]}{{{', '.join(words)}}}"
    return str(part)


def scale_lines(scales: Scales) -> list[str]:
    """Write the lines of the header that name the scales, if there are any."""
    texts = [f"{write_name(name)} {_range_text(*pair)}" for name, pair in scales.ends.items()]
    lines = [f"{_PREFIX}{', '.join(texts)}{_SUFFIX}"] if texts else []
    for name, order in scales.orders.items():
        lines.append(f"{_ORDER}{write_name(name)}: {' < '.join(map(write_label, order))}")
    return lines


def _range_text(low: float, high: float) -> str:
    return f"from {low:.0f}" if high == math.inf else f"{low:.0f} to {high:.0f}"


_ONE = re.compile(r"(\S+) (?:from (-?\d+)|(-?\d+) to (-?\d+))(?:, |$)")


def read_scales(notes: Sequence[str]) -> Scales:
    """Read what ``scale_lines`` wrote; names of columns with ends are as formulas write them."""
    orders = [note.removeprefix(_ORDER) for note in notes if note.startswith(_ORDER)]
    return Scales(_read_ends(notes), dict(map(parse_order, orders)))


def _read_ends(notes: Iterable[str]) -> dict[str, Ends]:
    line = next((note for note in notes if note.startswith(_PREFIX)), "")
    found = _ONE.findall(line.removeprefix(_PREFIX).removesuffix(_SUFFIX))
    return {
        name: (float(only or low), float(high) if high else math.inf)
        for name, only, low, high in found
    }


def restore_ends(body: Formula, ends: Mapping[str, Ends]) -> Formula:
    """Return the thresholds that the text of a body stands for."""
    if not isinstance(body, Conjunction) or not ends:
        return body
    return Conjunction(tuple(_restore(part, ends) for part in body.conditions))


def _restore(part: Condition, ends: Mapping[str, Ends]) -> Condition:
    if not isinstance(part, Range) or part.low != part.high:
        return part
    low, high = ends.get(write_name(part.column), (-math.inf, math.inf))
    if part.low == low:
        return Range(part.column, high=low)
    return Range(part.column, low=high) if part.low == high else part
