"""The entries of a printed model: single rules, and the thresholds of one column as one entry.

Where a model adds up rules, those whose only condition is a range of the same column make a step
function of it. It is printed as one entry: its ranges, and what all of its rules add in each. The
rules stay what they are. Rules are numbered from 1 in the order in which they are printed.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.model.directions import class_of_interest
from rulewright.rules import Adds, Conjunction, Coverage, Head, NumberCoverage, Range

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from rulewright.model.rule_model import RuleModel
    from rulewright.rules import Rule

_ON_TRAINING_ROWS = ("training", "outside", "corrected")
_LEFT, _RIGHT = (-math.inf, False), (math.inf, False)
_MOST = 1e15
"""Counts beyond this have no digits after the point."""
Cut = tuple[float, bool]
"""A place between values: just below a value, or just above it if the second part is True."""


class Step(NamedTuple):
    """A range of the values of a column, and what the rules of the column add there.

    `counts` are the weights of the training rows by class, or their weight and the sum of their
    numbers; None if they do not follow from what the rules cover.
    """

    body: Range
    outcome: Adds
    counts: NDArray[np.float64] | None


class Entry(NamedTuple):
    """One or more rules that are printed together; with several there are steps."""

    places: tuple[int, ...]
    steps: tuple[Step, ...] = ()


def find_entries(model: RuleModel) -> list[Entry]:
    """Return the entries in the order in which they are printed, the strongest first."""
    order = [*range(len(model))]
    if model.in_order:
        return [Entry((i,)) for i in order]
    order.sort(key=lambda i: -model.strength(i))
    groups: dict[Hashable, list[int]] = {}
    for i in order:
        groups.setdefault(_group_of(model, i), []).append(i)
    return [_entry(model, places) for places in groups.values()]


def _group_of(model: RuleModel, i: int) -> Hashable:
    """Return what rules of one step function have in common; a rule of its own has its place."""
    rule = model.rules[i]
    part = _range_of(rule)
    if model.outcome is not Adds or part is None:
        return i
    return part.column, part.kind, rule.head if (model.n_classes or 1) > 2 else None


def _range_of(rule: Rule) -> Range | None:
    """Return the range that is the only condition of a rule, if it is one."""
    body, outcome = rule.body, rule.outcome
    if not isinstance(body, Conjunction) or not isinstance(outcome, Adds) or outcome.otherwise:
        return None
    return body.only_range


def _entry(model: RuleModel, places: list[int]) -> Entry:
    if len(places) == 1:
        return Entry((places[0],))
    parts = {i: _range_of(model.rules[i]) for i in places}
    head = model.rules[places[0]].head
    if model.n_classes == 2:
        head = Head.of(class_of_interest(model))
    spans = {i: _span(part) for i, part in parts.items() if part is not None}
    ordered = sorted(spans, key=lambda i: (spans[i], i))
    cuts = sorted({_LEFT, _RIGHT, *(cut for span in spans.values() for cut in span)})
    counts = _count_steps(model, spans, cuts)
    first = parts[places[0]]
    assert first is not None
    steps = []
    for k in range(len(cuts) - 1):
        low, high = cuts[k], cuts[k + 1]
        inside = [i for i in ordered if spans[i][0] <= low and high <= spans[i][1]]
        if not inside and (own := counts[k]) is not None and not own.any():
            continue  # between two whole numbers, say: no rule and no row
        amount = math.fsum(_amount_for(model.rules[i], head) for i in inside)
        body = Range(
            first.column, low[0], high[0], low_open=low[1], high_open=not high[1], kind=first.kind
        )
        steps.append(Step(body, Adds(head, amount), counts[k]))
    return Entry(tuple(ordered), tuple(steps))


def _span(part: Range) -> tuple[Cut, Cut]:
    """Return where a range begins and ends."""
    low = (part.low, part.low_open) if part.low > -math.inf else _LEFT
    return low, ((part.high, not part.high_open) if part.high < math.inf else _RIGHT)


def _amount_for(rule: Rule, head: Head) -> float:
    """Return what a rule adds; with two classes, for one class instead of the other."""
    value = rule.outcome.value
    return value if rule.head == head else -value


def _count_steps(
    model: RuleModel, spans: dict[int, tuple[Cut, Cut]], cuts: Sequence[Cut]
) -> list[NDArray[np.float64] | None]:
    """Return the counts between cuts, where they follow from the counts of the rules."""
    place = {cut: k for k, cut in enumerate(cuts)}
    edges = []
    for i, (low, high) in spans.items():
        counts = _counts_of(model.rules[i])
        if counts is None:
            return [None] * (len(cuts) - 1)
        edges.append((place[low], place[high], counts))
    first = model.rules[next(iter(spans))].body.conditions[0]
    if (known := model.known_counts(first.column)) is not None:
        edges.append((0, len(cuts) - 1, known))
    below = _solve(edges, len(cuts))
    found: list[NDArray[np.float64] | None] = []
    for (group, one), (other, two) in pairwise(below):
        found.append(_tidy(np.maximum(two - one, 0.0)) if group == other else None)
    return found


def _tidy(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Remove what rounding has added; enormous weights stay."""
    return counts.round(9) if counts.max(initial=0.0) < _MOST else counts


def _solve(
    edges: Sequence[tuple[int, int, NDArray[np.float64]]], n_cuts: int
) -> list[tuple[int, NDArray[np.float64]]]:
    """Return each cut a group, and the counts below it relative to the first cut of the group."""
    zero = np.zeros_like(edges[0][2])
    below: dict[int, tuple[int, NDArray[np.float64]]] = {}
    for start in range(n_cuts):
        if start in below:
            continue
        below[start], queue = (start, zero), [start]
        while queue:
            here = queue.pop()
            for one, two, counts in edges:
                for end, there, step in ((one, two, counts), (two, one, -counts)):
                    if end == here and there not in below:
                        below[there] = (start, below[here][1] + step)
                        queue.append(there)
    return [below[k] for k in range(n_cuts)]


def _counts_of(rule: Rule) -> NDArray[np.float64] | None:
    """Return the coverage of a rule on training rows as counts that add up, if known."""
    coverage = rule.coverage
    if coverage.rows not in _ON_TRAINING_ROWS:
        return None
    if isinstance(coverage, NumberCoverage):
        if coverage.events is not None and coverage.exposure is not None:
            return np.array([coverage.support, coverage.events, coverage.exposure])
        return np.array([coverage.support, coverage.support * coverage.mean])
    counts = coverage.counts
    return None if counts is None else np.array(counts)


def step_coverage(model: RuleModel, step: Step) -> Coverage | NumberCoverage | None:
    """Return what was counted in a range, if it is known."""
    if step.counts is None:
        return None
    if model.n_classes is not None:
        return Coverage.of(tuple(step.counts.tolist()))
    if len(step.counts) == 3:
        return NumberCoverage.of_rate(*step.counts.tolist())
    support, total = step.counts.tolist()
    return NumberCoverage(support, total / support if support else 0.0, 0.0)
