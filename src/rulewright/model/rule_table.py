"""The printed table of rules: the effect of each rule, its conditions, and its coverage."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from rulewright.model.entries import Entry, Step, step_coverage
from rulewright.model.scales import write_condition
from rulewright.model.training_notes import are_weighted, base_mean, base_rate
from rulewright.rules import (
    Conjunction,
    Coverage,
    NumberCoverage,
    Rule,
    write_name,
    write_number,
    write_percent,
    write_weight,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rulewright.model.rule_model import RuleModel

COVERED = {
    "training": "training rows",
    "outside": "training rows",
    "corrected": "training rows",
    "left out": "held-out rows",
    "given": "given rows",
}
"""What the covered rows of a coverage are called."""
SHARE, MEAN, RATE, BASE = "share [95 %]", "mean [95 %]", "observed rate [95 %]", "all"
TEXT_TITLES = ("class", "rule")
"""Columns of the table that hold words."""
UNKNOWN = "-"


class Bar(NamedTuple):
    """A share or mean with its interval, and the one of all rows; NaN where not known."""

    value: float
    low: float
    high: float
    base: float


class TextLine(NamedTuple):
    """A line of the table: its cells by title, and its rule in parts that stay together."""

    cells: dict[str, str]
    parts: tuple[str, ...]
    bar: Bar | None = None
    place: int | None = None  # of the rule, if the line is one

    @property
    def rule(self) -> str:
        """The rule in one line."""
        return " ".join(self.parts)


def table_lines(
    model: RuleModel, entries: Iterable[Entry], *, exact: bool = False
) -> list[TextLine]:
    """Return the lines of some entries; `exact` writes effects with all digits."""
    listed = list(entries)
    kinds = {model.rules[i].coverage.rows for entry in listed for i in entry.places}
    return [line for entry in listed for line in _entry_lines(model, entry, len(kinds) == 1, exact)]


def rule_cells(model: RuleModel, ids: Sequence[int]) -> list[dict[str, str]]:
    """Return the cells of rules one by one, by title."""
    kinds = {model.rules[i].coverage.rows for i in ids}
    return [_cells(model, model.rules[i], i, len(kinds) == 1, False) for i in ids]


def body_text(model: RuleModel, rule: Rule) -> str:
    """Write where a rule applies, as the text of the model does."""
    if not isinstance(rule.body, Conjunction) or not rule.body.conditions:
        return str(rule.body)
    return " and ".join(write_condition(part, model.scales) for part in rule.body.conditions)


def rule_parts(model: RuleModel, rule: Rule) -> tuple[str, ...]:
    """Write a rule in parts: its conditions, with ``IF`` and ``THEN`` if it decides."""
    body, scales = rule.body, model.scales
    texts = [str(body)]
    if isinstance(body, Conjunction):
        texts = [write_condition(part, scales) for part in body.conditions]
    first, *others = texts or ["true"]
    parts = [first, *(f"and {text}" for text in others)]
    if model.decides:
        parts = [f"IF {first}", *parts[1:], f"THEN {rule.head.text(model.shown_names)}"]
    return tuple(parts)


def write_rule(model: RuleModel, i: int) -> str:
    """Write a rule without its number: its outcome and its conditions."""
    rule = model.rules[i]
    text = " ".join(rule_parts(model, rule))
    if model.decides:
        return text
    head = f" for {rule.head.text(model.shown_names)}" if model.shown_names else ""
    unit = f" {model.effect_title}" if model.shown_names else ""
    return f"{text}: {model.effect(rule)}{unit}{head}"


def _entry_lines(model: RuleModel, entry: Entry, same: bool, exact: bool) -> list[TextLine]:
    if not entry.steps:
        rule = model.rules[entry.places[0]]
        cells = _cells(model, rule, entry.places[0], same, exact)
        return [TextLine(cells, rule_parts(model, rule), _bar(model, rule), entry.places[0])]
    steps = [_step_line(model, step, same, exact, entry.places[0]) for step in entry.steps]
    numbers = [model.numbers[i] for i in entry.places]
    name = entry.steps[0].body.column
    cells = dict.fromkeys(steps[0].cells, "") | {"#": f"{min(numbers)}-{max(numbers)}"}
    return [TextLine(cells, (f"steps of {write_name(name)}:",)), *steps]


def _step_line(model: RuleModel, step: Step, same: bool, exact: bool, place: int) -> TextLine:
    """Write a range of a step function; its share is the counted one, without an interval."""
    counted = step_coverage(model, step)
    known = model.rules[place].coverage if counted is None else counted
    rule = Rule(Conjunction((step.body,)), step.outcome, known)
    cells = _cells(model, rule, place, same, exact) | {"#": ""}
    rows = next(title for title in cells if title.endswith("rows"))
    measure = next(title for title in (MEAN, RATE, SHARE) if title in cells)
    bar = Bar(math.nan, math.nan, math.nan, math.nan)
    if counted is None:
        cells |= {rows: UNKNOWN, measure: UNKNOWN}
    elif isinstance(counted, NumberCoverage):
        cells[measure] = write_number(counted.mean) if counted.support else UNKNOWN
        bar = bar._replace(value=counted.mean)
    else:
        share = counted.share(step.outcome.head)
        cells[measure] = UNKNOWN if math.isnan(share) else write_percent(share)
        bar = bar._replace(value=share)
    return TextLine(
        cells,
        (f"  {write_condition(step.body, model.scales)}",),
        None if counted is None else bar,
    )


def count_rows(model: RuleModel, weight: float, rows: str = COVERED["training"]) -> str:
    """Write a number of rows, which is the sum of weights where rows are weighted."""
    return f"{write_weight(weight)} {'weighted ' if are_weighted(model) else ''}{rows}"


def _cells(model: RuleModel, rule: Rule, i: int, same: bool, exact: bool) -> dict[str, str]:
    """Return the cells of a rule; `i` is its place, or the place of a rule in its entry."""
    coverage = rule.coverage
    cells = {"#": str(model.numbers[i]), **model.origin(i), **model.effect_cells(rule, exact)}
    kind, weighted = COVERED[coverage.rows], are_weighted(model)
    own = write_weight(coverage.support)
    if isinstance(coverage, Coverage):
        own = coverage.count_text(rule.head)
    if not same:
        cells["rows"] = f"{own} {'weighted ' if weighted else ''}{kind}"
    else:
        short = kind.removeprefix("training ")
        cells[f"weighted {short}" if weighted else short] = own
    if isinstance(coverage, NumberCoverage):
        if coverage.events is not None:
            cells["events"] = write_weight(coverage.events)
        title = MEAN if coverage.events is None else RATE
        cells[title], base = coverage.mean_text or UNKNOWN, base_mean(model)
        return cells if base is None else cells | {BASE: write_number(base)}
    cells[SHARE], base = coverage.share_text(rule.head) or UNKNOWN, base_rate(model, rule.head)
    return cells if base is None else cells | {BASE: write_percent(base)}


def _bar(model: RuleModel, rule: Rule) -> Bar:
    if isinstance(rule.coverage, NumberCoverage):
        base = base_mean(model)
        return Bar(rule.coverage.mean, math.nan, math.nan, math.nan if base is None else base)
    base = base_rate(model, rule.head)
    return Bar(rule.share, *rule.share_interval, math.nan if base is None else base)
