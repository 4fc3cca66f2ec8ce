"""The ends of scales: ``late_payments = 0`` for ``<= 0`` where training values are whole from 0.

A value below 0 or above 12 did not occur in training, and a rule treats it as the end. So the text
writes the end with ``=``, and its header names the columns and their ends. The rule keeps its
threshold, and `parse_model` restores it from the header.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.rules import Conjunction, Range, write_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rulewright.data import Column
    from rulewright.model.rule_model import RuleModel
    from rulewright.rules import Condition, Formula

Ends = tuple[float, float]
"""The smallest and the largest training value of a column; infinite if it is no end of a scale."""

_SCALES = {(0.0, 1.0), (1.0, 12.0), (1.0, 7.0), (0.0, 6.0), (0.0, 23.0), (1.0, 31.0), (0.0, 59.0)}
"""Flags, months, weekdays, hours, days and minutes, whose largest value is an end too."""
_PREFIX, _SUFFIX = "whole numbers: ", " (= at an end also covers values beyond it)"
_PLAIN_NAME = re.compile(r"[^\s,()]+")


def find_ends(column: Column) -> list[float] | None:
    """Return the smallest and the largest value of a column of whole numbers, for the summary."""
    if not column.schema.type.arithmetic or not len(column.values):
        return None
    known = column.values[~column.is_missing]
    if not len(known) or np.any(known != np.rint(known)) or np.abs(known).max() > 2**31:
        return None
    return [float(known.min()), float(known.max())]


def scale_ends(model: RuleModel) -> dict[str, Ends]:
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
    parts = [part for rule in model.rules for part in _ranges_in(rule.body)]
    exact = {part.column for part in parts if part.low == part.high}
    used = {part.column for part in parts if _at_end(part, ends) is not None} - exact
    return {name: ends[name] for name in sorted(used) if _PLAIN_NAME.fullmatch(write_name(name))}


def _ends_of(low: float, high: float) -> Ends:
    return (low if low == 0.0 or (low, high) in _SCALES else -math.inf), (
        high if (low, high) in _SCALES else math.inf
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ranges_in(body: Formula) -> list[Range]:
    parts: Iterable[Any] = body.conditions if isinstance(body, Conjunction) else ()
    return [part for part in parts if isinstance(part, Range)]


def _at_end(part: Range, ends: Mapping[str, Ends]) -> float | None:
    """Return the end of the scale that a range consists of, values beyond it included."""
    low, high = ends.get(part.column, (-math.inf, math.inf))
    if part.low == -math.inf and part.high == low and not part.high_open:
        return low
    return high if part.high == math.inf and part.low == high and not part.low_open else None


def write_condition(part: Condition, ends: Mapping[str, Ends]) -> str:
    """Write a condition, the end of a scale with ``=``."""
    if isinstance(part, Range) and (end := _at_end(part, ends)) is not None:
        return str(Range(part.column, end, end))
    return str(part)


def ends_line(ends: Mapping[str, Ends]) -> list[str]:
    """Write the line of the header that names the scales, if there are any."""
    texts = [f"{write_name(name)} {_range_text(*pair)}" for name, pair in ends.items()]
    return [f"{_PREFIX}{', '.join(texts)}{_SUFFIX}"] if texts else []


def _range_text(low: float, high: float) -> str:
    return f"from {low:.0f}" if high == math.inf else f"{low:.0f} to {high:.0f}"


_ONE = re.compile(r"(\S+) (?:from (-?\d+)|(-?\d+) to (-?\d+))(?:, |$)")


def read_ends(notes: Iterable[str]) -> dict[str, Ends]:
    """Read what ``ends_line`` wrote; the names are as formulas write them."""
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
