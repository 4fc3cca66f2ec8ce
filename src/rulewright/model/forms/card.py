"""Rule cards: rules with integer points, whose total becomes a probability.

A card is a model of additive rules whose responses are whole multiples of one unit, so that a
person can add them up. Everything that additive rules can do, a card can do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from rulewright.data import NUMBER, Fields, described
from rulewright.model.directions import class_of_interest
from rulewright.model.forms.additive import CALIBRATED, AdditiveRules
from rulewright.model.forms.terms import amounts, linear_lines
from rulewright.model.text import align_cells, escape_line
from rulewright.rules import (
    Rule,
    checked_number,
    format_signed,
    write_exact,
    write_factor,
    write_number,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.model.class_explanation import ClassExplanation
    from rulewright.model.explanation import RowReasons

MOST_TOTALS = 13
"""Totals that a printed card lists."""

_SMALL = 0.1
"""Below this unit the text says how many points double the odds."""

_WHOLE = 1e-6
"""Points that differ by less from a whole number are one."""


class CardTotal(NamedTuple):
    """A total of a card and the probability of the class that points count for."""

    total: float
    probability: float


@dataclass(frozen=True, eq=False, repr=False)
class RuleCard(AdditiveRules):
    """Rules with integer points; the total of the points gives the probability.

    The score of a class is its intercept plus `unit` times the points of its rules. With two
    classes all points count for one class: the log-odds of it are its intercept plus
    ``unit * (total - start)``. Parameters as for `AdditiveRules`, and:

    Parameters
    ----------
    unit : float
        Value of a point in log-odds, above 0.
    start : float
        Points that every total starts with.
    """

    form: ClassVar[str] = "card"
    fields: ClassVar[Fields] = Fields(
        {
            **AdditiveRules.fields.needed,
            "unit": described("The value of a point in log-odds, above 0.", NUMBER),
            "start": described("The points that every total starts with.", NUMBER),
        },
        AdditiveRules.fields.optional,
        "Additive rules whose responses are whole multiples of one unit: points.",
    )

    unit: float = field(default=1.0, kw_only=True)
    start: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        unit, start = checked_number(self.unit, "unit"), checked_number(self.start, "start")
        if unit <= 0:
            raise ValueError(f"unit must be above 0, not {unit}")
        vars(self).update(unit=unit, start=start)

    @property
    def positive(self) -> int:
        """Position of the class that points count for, of two classes."""
        return self.rules[0].head.first if self.rules else class_of_interest(self)

    @property
    def points(self) -> tuple[float, ...]:
        """Points of each rule: whole numbers, unless somebody has changed responses."""
        return tuple(self.to_points(amounts(rule)[0]) for rule in self.rules)

    def to_points(self, response: float) -> float:
        """Return a response in points, rounded where it is nearly whole."""
        points = response / self.unit
        return float(round(points)) if abs(points - round(points)) < _WHOLE else points

    def totals(self, X: object) -> NDArray[np.float64]:
        """Return the total of each row, or with more classes of each row and class."""
        scores: NDArray[np.float64] = self.scores(X) - np.array(self.intercepts)
        scores = scores / self.unit + self.start
        if len(self.classes) != 2:
            return scores
        return np.asarray(np.round(scores[:, self.positive], 6))

    @property
    def total_range(self) -> tuple[float, float]:
        """The lowest and the highest total, if every rule could apply."""
        points = self.points
        low = math.fsum(value for value in points if value < 0)
        high = math.fsum(value for value in points if value > 0)
        return self.start + low, self.start + high

    def probability_of(self, totals: Sequence[float]) -> NDArray[np.float64]:
        """Return the probability of the class that points count for, of two classes."""
        scores = np.tile(np.array(self.intercepts), (len(totals), 1))
        scores[:, self.positive] += self.unit * (np.array(totals) - self.start)
        chances: NDArray[np.float64] = self.probabilities(scores)[:, self.positive]
        return chances

    def shown_totals(self, most: int = MOST_TOTALS) -> list[CardTotal]:
        """Return totals from the lowest to the highest, of two classes; of many only some."""
        low, high = self.total_range
        step = max(1, math.ceil((high - low) / (most - 1)))
        totals = [low + step * k for k in range(math.floor((high - low) / step) + 1)]
        if totals[-1] < high:
            totals.append(high)
        chances = self.probability_of(totals).tolist()
        return [CardTotal(*pair) for pair in zip(totals, chances, strict=True)]

    def scale_scores(self, slope: float, offsets: Sequence[float]) -> Self:
        """Multiply all scores and add to them; the points stay the same."""
        scaled = super().scale_scores(slope, offsets)
        return scaled._copy_with(unit=self.unit * slope or self.unit)  # noqa: SLF001

    def reasons_for(self, found: ClassExplanation, row: int, max_reasons: int | None) -> RowReasons:
        """Return the points that rules add, each with the total after it."""
        if len(self.classes) != 2:
            return super().reasons_for(found, row, max_reasons)
        added = found.evidence.added(row, found.rule_ids(row))
        unit = f"points for {escape_line(self.class_names[self.positive])}"
        return found.added_up(row, max_reasons, unit, self.intercepts, added, self._write_score)

    def _write_score(self, scores: NDArray[np.float64], chosen: int, *, level: bool = False) -> str:
        """Write what a reason adds in points, or the total of scores."""
        k = self.positive
        points = float(scores[k] - scores[1 - k]) / self.unit
        if not level:
            return write_signed_points(self.to_points(points * self.unit))
        base = (self.intercepts[k] - self.intercepts[1 - k]) / self.unit
        return write_points(self.to_points((points - base + self.start) * self.unit))

    def form_fields(self) -> dict[str, Any]:
        """Return the fields of additive rules, the unit and the start."""
        return {**super().form_fields(), "unit": self.unit, "start": self.start}

    @classmethod
    def read_fields(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Read the fields of additive rules, the unit and the start."""
        rest = dict(content)
        own: dict[str, Any] = {name: rest.pop(name) for name in ("unit", "start")}
        return {**super().read_fields(rest), **own}

    def _preamble(self, *, exact: bool) -> str:
        names = self.shown_names
        write = write_exact if exact else partial(write_number)
        lines = [
            f"total: start with {write_points(self.start, exact)} and add the points of every rule "
            "that applies"
        ]
        if len(names) == 2:
            lines += self._two_class_lines(names[self.positive], exact)
        else:
            starts = zip(names, self.intercepts, strict=True)
            listed = ", ".join(f"{name}: {write(value)}" for name, value in starts)
            lines.append(f"scores: {listed}; {write(self.unit)} more for each point of the class")
        if self.steps is not None:
            lines.append(CALIBRATED)
        return "\n".join([*lines, *linear_lines(self.linear, names, exact=exact)])

    def _two_class_lines(self, name: str, exact: bool) -> list[str]:
        """Write the log-odds, and a table of totals and probabilities."""
        k = self.positive
        at_start = self.intercepts[k] - self.intercepts[1 - k]
        write = write_exact if exact else write_number
        if self.unit < _SMALL:
            odds = f"{write_number(math.log(2) / self.unit)} points double the odds"
        else:
            odds = f"one point multiplies the odds by {write_factor(self.unit)}"
        lines = [
            f"log-odds of {name}: {write(at_start)} and {write(self.unit)} more for each point "
            f"above {write_points(self.start, exact)} ({odds})"
        ]
        shown = self.shown_totals()
        first, second = "total", f"probability of {name}"
        width = max(len(first), len(second))
        totals = [write_points(one.total, exact=False) for one in shown]
        chances = [f"{one.probability:.3f}" for one in shown]
        cells = [[first.ljust(width), *totals, ""], [second.ljust(width), *chances, ""]]
        return [*lines, *align_cells(cells)]

    def effect(self, rule: Rule) -> str:
        """Write the points of a rule."""
        value, otherwise = map(self.to_points, amounts(rule))
        text = write_signed_points(value)
        return f"{text}, otherwise {write_signed_points(otherwise)}" if otherwise else text

    def effect_cells(self, rule: Rule, exact: bool) -> dict[str, str]:
        """Return the points of a rule and its class."""
        value, otherwise = map(self.to_points, amounts(rule))
        text = write_signed_points(value, exact)
        if otherwise:
            text += f", otherwise {write_signed_points(otherwise, exact)}"
        return {"points": text, "class": rule.head.text(self.shown_names)}

    def effect_columns(self) -> dict[str, list[Any]]:
        """Return the points, and what they multiply the odds by."""
        responses = [amounts(rule)[0] - amounts(rule)[1] for rule in self.rules]
        with np.errstate(over="ignore"):
            odds = np.exp(responses).tolist()
        points = list(self.points)
        return {"points": points} | ({"odds": odds} if self.steps is None else {})


def write_points(points: float, exact: bool = False) -> str:
    """Write points: whole numbers without a fraction."""
    if points == round(points) and abs(points) < 1e15:
        return str(int(points))
    return write_exact(points) if exact else write_number(points)


def write_signed_points(points: float, exact: bool = False) -> str:
    """Write points with their sign."""
    if points == round(points) and abs(points) < 1e15:
        return f"{int(points):+d}" if points else "0"
    return write_exact(points, sign="+") if exact else format_signed(points)
