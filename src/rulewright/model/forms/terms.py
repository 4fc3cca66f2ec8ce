"""What models that add up responses share: the amounts of their rules, and linear terms."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from rulewright.data import NUMBER, WEIGHT, Fields, Part, Schema, Table, define, list_of
from rulewright.model.class_explanation import Added
from rulewright.model.document import json_list
from rulewright.model.explanation import rule_text
from rulewright.model.scales import write_condition
from rulewright.model.text import escape_line
from rulewright.programs import Node, nodes
from rulewright.rules import (
    Adds,
    Coverage,
    Head,
    Not,
    Rule,
    checked_text,
    finite_number,
    write_exact,
    write_name,
    write_number,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.model.entries import Entry
    from rulewright.model.forms.additive import AdditiveRules
    from rulewright.model.forms.regression import RegressionRules

_MAX_SIZE = sys.float_info.max / 2


def check_sums(
    intercepts: Sequence[float], rules: Sequence[Rule], linear: Sequence[LinearTerm] = ()
) -> None:
    """Reject amounts so large that a score or a difference of two scores could overflow."""
    sizes = [abs(value) for value in intercepts]
    for rule in rules:
        for k in range(rule.head.first, rule.head.last + 1):
            sizes[k] += max(map(abs, amounts(rule)))
    lines = linear_sizes(linear, len(sizes))
    if not max(a + b for a, b in zip(sizes, lines, strict=True)) <= _MAX_SIZE:
        raise ValueError("intercepts and responses must be finite and so must be their sums")


def amounts(rule: Rule) -> tuple[float, float]:
    """Return what a rule adds where it holds and where it is known not to hold."""
    assert isinstance(rule.outcome, Adds)
    return rule.outcome.value, rule.outcome.otherwise


def terms_of(rule: Rule) -> Iterator[nodes.Term]:
    """Return the terms that add the amounts of a rule."""
    response, otherwise = amounts(rule)
    yield nodes.Term(rule.body, rule.head, response)
    if otherwise:
        yield nodes.Term(Not(rule.body), rule.head, otherwise)


class AddedParts(NamedTuple):
    """What the rules and lines of a model add to rows, for explanations."""

    model: AdditiveRules | RegressionRules
    table: Table
    units: NDArray[np.float64]  # what slopes multiply, of shape (rows, lines)
    # which rule (column) is known not to apply to which row; None if no rule adds anything there
    failed: NDArray[np.bool_] | None

    @classmethod
    def of(cls, model: AdditiveRules | RegressionRules, table: Table) -> Self:
        """Look at the rows of a table."""
        failed = None
        if any(amounts(rule)[1] for rule in model.rules):
            failed = np.column_stack([rule.body.fails(table) for rule in model.rules])
        return cls(model, table, units_of(model.linear, table), failed)

    def added(self, row: int, ids: Sequence[int]) -> list[Added]:
        """Return what rules that apply, rules that fail and lines add, the largest first."""
        rules, steps = self.model.rules, self._steps_of(ids)
        found = [Added(self._vector([i]), rule_text(self.model, i)) for i in ids if i not in steps]
        for entry in {entry.places: entry for entry in steps.values()}.values():
            added = self._vector([i for i in ids if i in entry.places])
            found.append(Added(added, self._step_text(entry, row)))
        for i in [] if self.failed is None else np.flatnonzero(self.failed[row]).tolist():
            if amounts(rules[i])[1]:
                text = f"rule {self.model.numbers[i]}: not ({rules[i].body})"
                found.append(Added(self._vector([i], 1), text))
        for line, unit in zip(self.model.linear, self.units[row], strict=True):
            added = np.array(line.slopes) * unit
            if added.any():
                found.append(Added(added, f"line of {escape_line(line.column)}", True))
        return sorted(found, key=lambda part: -float(np.abs(part.amounts).max()))

    def _vector(self, ids: Sequence[int], which: int = 0) -> NDArray[np.float64]:
        """Return what rules add to the scores together: their first amounts, or the second ones."""
        added = np.zeros(self.model.n_classes or 1)
        for i in ids:
            added[self.model.rules[i].head.classes] += amounts(self.model.rules[i])[which]
        return added

    def _steps_of(self, ids: Sequence[int]) -> dict[int, Entry]:
        """Return the entry of each rule that is printed as a part of steps."""
        wanted = set(ids)
        return {
            i: entry
            for entry in self.model.entries
            if entry.steps
            for i in entry.places
            if i in wanted
        }

    def _step_text(self, entry: Entry, row: int) -> str:
        """Name the step that a row is on."""
        numbers = [self.model.numbers[i] for i in entry.places]
        value = float(self.table[entry.steps[0].body.column].values[row])
        body = next(step.body for step in entry.steps if step.body.accepts(value))
        text = write_condition(body, self.model.scales)
        return f"rules {min(numbers)}-{max(numbers)}: {text}"

    def lines(self, row: int) -> list[tuple[LinearTerm, int, float]]:
        """Return what each line adds to the score of each class on a row, the largest first."""
        found = [
            (line, k, slope * float(self.units[row, place]))
            for place, line in enumerate(self.model.linear)
            for k, slope in enumerate(line.slopes)
        ]
        return sorted((item for item in found if item[2]), key=lambda item: -abs(item[2]))


def scale_rule(rule: Rule, slope: float) -> Rule:
    """Multiply the amounts of a rule."""
    response, otherwise = amounts(rule)
    return rule.with_outcome(Adds(rule.head, slope * response, slope * otherwise))


def merge_rules(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Join rules of the same body and head; a sum of zero leaves no rule."""
    same: dict[tuple[Hashable, Head], list[Rule]] = {}
    for rule in rules:
        same.setdefault((rule.body.key, rule.head), []).append(rule)
    joined = [_with_sums(equal) for equal in same.values()]
    return tuple(rule for rule in joined if amounts(rule) != (0.0, 0.0))


def _with_sums(rules: Sequence[Rule]) -> Rule:
    """Return the first of some rules with the sums of what all of them add."""
    if len(rules) == 1:
        return rules[0]
    sums = map(math.fsum, zip(*map(amounts, rules), strict=True))
    rule = rules[0].with_outcome(Adds(rules[0].head, *sums))
    parts = [one.coverage for one in rules if isinstance(one.coverage, Coverage)]
    if {part.rows for part in parts} != {"outside"}:
        return rule
    # Each was grown on other rows; together they count as certain as one of them.
    weights = np.add.reduce([part.share_weights for part in parts]) / len(parts)
    corrected, first = tuple(weights.tolist()), parts[0]
    if first.counts is None:
        return replace(rule, coverage=replace(first, class_weights=corrected))
    return replace(rule, coverage=replace(first, corrected=corrected))


_NUMBERS: dict[str, Part] = {"low": NUMBER, "high": NUMBER, "center": NUMBER, "deviation": WEIGHT}
_FIELDS = Fields(
    {**_NUMBERS, "slopes": list_of(NUMBER, minItems=1)},
    about="slopes[k] * (value held between low and high - center); a missing value adds nothing.",
).of_column()
LINEAR = list_of(define("linear_term", _FIELDS.part))


@dataclass(frozen=True, slots=True)
class LinearTerm:
    """Slopes times the value of a column, held between two bounds, minus its mean.

    A missing value adds nothing, as the mean does.

    Parameters
    ----------
    column : str
        A numeric column.
    low, high : float
        The bounds: a value beyond counts as the bound.
    center, deviation : float
        Mean and standard deviation of the bounded values of the training rows.
    slopes : tuple of float
        What one unit adds to the score of each class, or to the number.
    """

    column: str
    low: float
    high: float
    center: float
    deviation: float
    slopes: tuple[float, ...]

    def __post_init__(self) -> None:
        checked_text(self.column, "column of a linear term")
        for name in _NUMBERS:
            number = finite_number(getattr(self, name), f"{name} of a linear term")
            object.__setattr__(self, name, number)
        if not self.low <= self.high or self.deviation < 0.0:
            raise ValueError("a linear term needs low <= high and a deviation that is not negative")
        slopes = tuple(finite_number(slope, "slope of a linear term") for slope in self.slopes)
        object.__setattr__(self, "slopes", slopes)

    def check(self, schema: Schema, n_slopes: int) -> None:
        """Raise a ValueError if the term does not fit the columns or the number of classes."""
        if self.column not in schema or not schema[self.column].type.arithmetic:
            raise ValueError(f"linear term: the schema has no numeric column {self.column!r}")
        if len(self.slopes) != n_slopes:
            raise ValueError(f"linear term: {len(self.slopes)} slopes instead of {n_slopes}")

    @property
    def largest(self) -> float:
        """The largest amount that a slope of 1 can add or take away."""
        return max(abs(self.low - self.center), abs(self.high - self.center))

    @property
    def line(self) -> nodes.LineValue:
        """What the slopes multiply, as a value of a program."""
        return nodes.LineValue(self.column, self.low, self.high, self.center)

    def units(self, table: Table) -> NDArray[np.float64]:
        """Return what the slopes multiply, for each row of a table."""
        return nodes.line_values(self.line, table[self.column].values)

    def text(self, slope: float, name: str = "", *, exact: bool = False) -> str:
        """Write what the term adds to one score; `exact` for all digits."""
        write = write_exact if exact else write_number
        adds = f"{write(slope, '+')} points for {name}" if name else write(slope, "+")
        # A mean that is 0 but for rounding is 0.
        center = 0.0 if abs(self.center) < 1e-9 * self.deviation and not exact else self.center
        bounds = f"values clipped to {write(self.low)} to {write(self.high)}"
        return (
            f"line: {adds} per unit of {write_name(self.column)} above {write(center)} ({bounds})"
        )

    def scale_slopes(self, slope: float) -> LinearTerm:
        """Multiply the slopes."""
        return replace(self, slopes=tuple(slope * own for own in self.slopes))

    def to_json(self) -> dict[str, Any]:
        """Return the term as plain data."""
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        return {"column": self.column, **numbers, "slopes": list(self.slopes)}

    @classmethod
    def from_json(cls, obj: object) -> LinearTerm:
        """Make a term from the data of its ``to_json``; anything else is a ValueError."""
        if not _FIELDS.fit(obj):
            raise ValueError(f"a linear term needs the keys column, slopes, {', '.join(_NUMBERS)}")
        return cls(**{**obj, "slopes": tuple(json_list(obj["slopes"], "slopes"))})


def check_linear(terms: Sequence[LinearTerm], schema: Schema, n_slopes: int) -> None:
    """Reject terms that do not fit a model; a column has one term at most."""
    for term in terms:
        if not isinstance(term, LinearTerm):
            raise ValueError(f"a linear term must be a LinearTerm, not {type(term).__name__}")
        term.check(schema, n_slopes)
    if len({term.column for term in terms}) < len(terms):
        raise ValueError("a column has two linear terms")


def units_of(terms: Sequence[LinearTerm], table: Table) -> NDArray[np.float64]:
    """Return what the slopes of each term multiply, as an array of shape (rows, terms)."""
    units = np.empty((len(table), len(terms)))
    for k, term in enumerate(terms):
        units[:, k] = term.units(table)
    return units


def linear_lines(
    terms: Sequence[LinearTerm], names: Sequence[str], *, exact: bool = False
) -> list[str]:
    """Write the terms, the one that moves scores most first, a line for each slope."""
    ordered = sorted(terms, key=lambda term: -max(map(abs, term.slopes)) * term.deviation)
    return [
        term.text(slope, names[k] if names else "", exact=exact)
        for term in ordered
        for k, slope in enumerate(term.slopes)
        if slope
    ]


def with_lines(scores: Node, terms: Sequence[LinearTerm], *, vector: bool) -> Node:
    """Add linear terms to scores, one after the other."""
    for term in terms:
        slopes = nodes.Constant(term.slopes if vector else term.slopes[0])
        scores = scores + slopes * term.line
    return scores


def linear_sizes(terms: Sequence[LinearTerm], n_slopes: int) -> list[float]:
    """Return the largest amount that the terms can add to each score."""
    sizes = [0.0] * n_slopes
    for term in terms:
        for k, slope in enumerate(term.slopes):
            sizes[k] += abs(slope) * term.largest
    return sizes
