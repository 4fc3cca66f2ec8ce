"""The rules as lines of a table: effect, conditions, and coverage in the given data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.html import cut_line
from rulewright.model import (
    ClassModel,
    RuleModel,
    base_mean,
    base_rate,
    escape_line,
    strongest,
    write_condition,
)
from rulewright.rules import Conjunction, NumberCoverage, Rule
from rulewright.trust import ClassRuleStatistics, RuleStatistics, compute_statistics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.evidence import Places
    from rulewright.explain import EvaluatedRows
    from rulewright.kernels import BoolArray

_SHOWN_COUNTS = 8
_EXAMPLES = 4
COUNTED_ON = {
    "training": (
        "training rows",
        "on the training rows, which also chose the rules: expect less on new rows",
    ),
    "outside": (
        "training rows, corrected",
        "on training rows, mostly rows that the rule was not grown on",
    ),
    "corrected": (
        "training rows, corrected",
        "on the training rows, corrected for optimism by cross-validation",
    ),
    "left out": ("held-out rows", "on held-out rows of the learner"),
    "given": ("given rows", "on given rows"),
}
"""What the rows of a coverage are called above a column, and in a sentence."""
_OF_NUMBERS = ("outside", "difference", "difference_low", "difference_high")


@dataclass(frozen=True)
class RuleCount:
    """Counts on rows where a rule applies: the share of its head, or a mean."""

    rows: str
    support: float
    share: float
    value: float
    low: float
    high: float
    base: float


@dataclass(frozen=True)
class RuleLine:
    """One rule: its printed number, effect, training counts, and counts in the given data."""

    place: int
    number: int
    conditions: list[str]
    head: str
    effect: str
    strength: float
    learned: RuleCount
    given: RuleCount | None = None
    evidence: dict[str, float] = field(default_factory=dict)
    counts: list[tuple[str, float]] = field(default_factory=list)
    examples: list[int] = field(default_factory=list)

    @property
    def shown(self) -> RuleCount:
        """The counts in the table of rules: on given rows if there are any."""
        return self.learned if self.given is None else self.given


def rule_lines(
    model: RuleModel, rows: EvaluatedRows | None, places: Places, *, judge: bool = True
) -> list[RuleLine]:
    """Describe all rules, strongest first.

    `places` are the rows that the report shows, of which each rule names some that it covers. Rules
    are judged by rows with a target, unless these rows chose them.
    """
    order = strongest(model, None)
    if rows is None:
        return [RuleLine(*_describe_rule(model, i)) for i in order]
    known = judge and rows.table.target is not None
    found = compute_statistics(rows) if known else None
    lines = []
    for i in order:
        inside = rows.inside(i)
        examples = np.flatnonzero(inside[places])[:_EXAMPLES].tolist()
        given = {} if found is None else _describe_given(rows, found, i, inside)
        lines.append(RuleLine(*_describe_rule(model, i), **given, examples=examples))
    return lines


def covered_examples(rows: EvaluatedRows, most: int) -> Places:
    """Choose rows to show: some of each rule, the rarest rules first, then the first rows."""
    chosen = np.zeros(len(rows), dtype=np.bool_)
    for i in np.argsort(rows.decided.count(), kind="stable").tolist():
        inside = np.flatnonzero(rows.inside(i))
        lacking = min(2, len(inside)) - int(chosen[inside].sum())
        if lacking > 0 and chosen.sum() + lacking <= most:
            free = inside[~chosen[inside]]
            chosen[free[np.linspace(0, len(free) - 1, lacking).astype(np.intp)]] = True
    free = np.flatnonzero(~chosen)
    chosen[free[: most - int(chosen.sum())]] = True
    return np.flatnonzero(chosen)


def _describe_rule(
    model: RuleModel, i: int
) -> tuple[int, int, list[str], str, str, float, RuleCount]:
    rule = model.rules[i]
    texts = [str(rule.body)]
    if isinstance(rule.body, Conjunction) and rule.body.conditions:
        texts = [write_condition(part, model.scales) for part in rule.body.conditions]
    conditions = [*map(escape_line, texts)]
    names = [cut_line(name) for name in model.head_names]
    head = rule.head.text(names) if names else ""
    effect, strength = model.effect(rule), abs(rule.outcome.value)
    return i, model.numbers[i], conditions, head, effect, strength, _describe_learned(model, rule)


def _describe_learned(model: RuleModel, rule: Rule) -> RuleCount:
    """Return what the learner counted, with the name of its rows."""
    coverage, nan = rule.coverage, float("nan")
    if isinstance(coverage, NumberCoverage):
        base = base_mean(model)
        ends = (coverage.mean, nan, nan, nan if base is None else base)
    else:
        base = base_rate(model, rule.head)
        ends = (rule.share, *rule.share_interval, nan if base is None else base)
    return RuleCount(coverage.rows, coverage.support, nan, *ends)


def _describe_given(
    rows: EvaluatedRows, found: RuleStatistics, i: int, inside: BoolArray
) -> dict[str, Any]:
    """Return the statistics of a rule, its evidence, and the covered classes."""
    of_classes = isinstance(found, ClassRuleStatistics)
    measure = "precision" if of_classes else "mean"
    numbers = [getattr(found, f"{measure}{end}")[i] for end in ("", "_low", "_high")]
    base = found.base_rate[i] if of_classes else found.outside[i]  # type: ignore[attr-defined]
    parts = (found.support[i], found.share[i], *numbers, base)
    return {
        "given": RuleCount("given", *map(float, parts)),
        "evidence": _evidence(found, i),
        "counts": _counts(rows, inside),
    }


def _evidence(found: RuleStatistics, i: int) -> dict[str, float]:
    """Return what supports the claim of a rule, by the names of the statistics."""
    of_classes = isinstance(found, ClassRuleStatistics)
    own = ("outside", "lift") if of_classes else _OF_NUMBERS
    names = ("less", *own, "p_value", "p_adjusted", "discovered_by_p")
    return {name: float(getattr(found, name)[i]) for name in names}


def _counts(rows: EvaluatedRows, inside: BoolArray) -> list[tuple[str, float]]:
    """Return the covered weight of the most frequent classes, and of all others together."""
    model = rows.model
    if not isinstance(model, ClassModel):
        return []
    totals = np.bincount(rows.codes[inside] + 1, rows.weights[inside], len(model.classes) + 1)
    names = ["(unknown to the model)", *(cut_line(name) for name in model.class_names)]
    order = [int(k) for k in np.argsort(-totals, kind="stable") if totals[k] > 0]
    shown = [(names[k], float(totals[k])) for k in order[:_SHOWN_COUNTS]]
    rest = float(totals[order[_SHOWN_COUNTS:]].sum())
    return [*shown, ("other classes", rest)] if rest else shown


def order_by_use(model: RuleModel) -> Sequence[str]:
    """Return the columns that the model uses, the most used first."""
    uses = dict.fromkeys(model.columns, 0)
    for rule in model.rules:
        for name in set(rule.body.columns) & uses.keys():
            uses[name] += 1
    return sorted(uses, key=lambda name: -uses[name])
