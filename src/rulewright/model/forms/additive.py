"""Additive rules: intercepts plus the points of the rules that apply, one score per class.

A point is a unit of the scores: one more in the total of two classes multiplies the odds by 2.72.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rulewright.data import NUMBER, Fields, Schema, Table, described, list_of
from rulewright.model.class_model import ClassModel
from rulewright.model.directions import class_of_interest
from rulewright.model.forms.terms import (
    LINEAR,
    AddedParts,
    LinearTerm,
    amounts,
    check_linear,
    check_sums,
    linear_lines,
    merge_rules,
    scale_rule,
    terms_of,
    with_lines,
)
from rulewright.model.steps import STEPS, IsotonicSteps, checked_steps
from rulewright.model.text import align_cells, escape_line
from rulewright.programs import ClassProgram, nodes, recipes
from rulewright.rules import (
    Adds,
    Outcome,
    Rule,
    checked_number,
    format_signed,
    write_exact,
    write_factor,
    write_percent,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.model.class_explanation import ClassExplanation
    from rulewright.model.explanation import Explanation, RowReasons


@dataclass(frozen=True, eq=False, repr=False)
class AdditiveRules(ClassModel):
    """Scores are intercepts plus responses of fired rules; probabilities follow from them.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    classes : array-like
        Class labels: all strings, all integers, all floats or all booleans.
    intercepts : tuple of float
        One score per class that every row starts with.
    rules : tuple of Rule
        The rules; their responses are added in this order.
    summary : dict
        Notes of the learner, as JSON data.
    steps : tuple of IsotonicSteps, optional
        Calibration, one for each class: probabilities are the steps at the margin of the scores,
        divided by their sum, and not the softmax.
    linear : tuple of LinearTerm
        What numeric columns add to the scores, apart from the rules.
    decision : Decision, optional
        How the class is chosen; anything that ``with_decision`` takes.
    """

    form: ClassVar[str] = "additive"
    outcome: ClassVar[type[Outcome]] = Adds
    amount: ClassVar[str] = "added"
    fields: ClassVar[Fields] = Fields(
        {
            "intercepts": described(
                "The score of each class before any rule.", list_of(NUMBER, minItems=1)
            )
        },
        {
            "steps": described("Isotonic calibration, one for each class.", list_of(STEPS)),
            "linear": LINEAR,
        },
        "Scores are intercepts plus what fired rules and linear terms add; probabilities are their "
        "softmax, or the steps.",
    )

    schema: Schema
    classes: NDArray[Any]
    intercepts: tuple[float, ...]
    rules: tuple[Rule, ...]
    summary: dict[str, Any] = field(default_factory=dict)
    steps: tuple[IsotonicSteps, ...] | None = field(default=None, kw_only=True)
    linear: tuple[LinearTerm, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        self._check_common()
        intercepts = tuple(checked_number(value, "intercept") for value in self.intercepts)
        if len(intercepts) != len(self.classes):
            raise ValueError(
                f"{len(self.classes)} classes need as many intercepts: {len(intercepts)}"
            )
        check_linear(self.linear, self.schema, len(self.classes))
        check_sums(intercepts, self.rules, self.linear)
        steps = None if self.steps is None else checked_steps(self.steps, len(self.classes))
        vars(self).update(intercepts=intercepts, steps=steps)

    @cached_property
    def base_program(self) -> ClassProgram:
        """The sums, their softmax or steps, and the class of the highest score or probability."""
        n, costs = len(self.classes), None
        terms = [term for rule in self.rules for term in terms_of(rule)]
        sums = nodes.TermSums(nodes.Constant(self.intercepts), tuple(terms))
        scores = with_lines(sums, self.linear, vector=True)
        chances = recipes.softmax_node(scores)
        if self.steps is not None:
            tables = tuple((steps.thresholds, steps.values) for steps in self.steps)
            chances = recipes.shares(nodes.Steps(recipes.margins_node(scores, n), tables))
        chosen = recipes.prefer_first(scores, tuple(range(n)))
        if self.steps is not None:
            costs = 1.0 - chances
            chosen = recipes.cheapest(costs, scores, n)
        labels = tuple(self.classes.tolist())
        return ClassProgram(self.schema, scores, labels, chances, chosen, costs=costs)

    def staged_scores(
        self, X: object, *, n_threads: int | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Return the scores after no rule, the first rule, the first two, and so on to all.

        Linear terms count from the start.
        """
        table = self._read(X)
        rows = self._native.rows(table, n_threads)
        holds = rows.covers(next(n for n in self.program.nodes if isinstance(n, nodes.TermSums)))
        columns = iter(holds.T)
        scores = np.tile(np.array(self.intercepts), (len(holds), 1))
        for line in self.linear:
            scores += line.units(table)[:, np.newaxis] * np.array(line.slopes)
        yield scores.copy()
        for rule in self.rules:
            for term in terms_of(rule):
                scores[next(columns), term.head.classes] += term.amount
            yield scores.copy()

    def _explain_form(self, scores: NDArray[np.float64], table: Table) -> dict[str, Any]:
        return {"evidence": AddedParts.of(self, table)}

    def reasons_for(self, found: ClassExplanation, row: int, max_reasons: int | None) -> RowReasons:
        """Return what rules and lines add, each with the scores after it."""
        name = escape_line(found.label(row))
        unit = f"points for {name}" if len(self.classes) <= 2 else "points"
        added = found.evidence.added(row, found.rule_ids(row))
        return found.added_up(
            row, max_reasons, unit, self.intercepts, added, partial(points_text, self.class_names)
        )

    def start_fields(self) -> dict[str, Any]:
        """Return the intercepts."""
        return {"intercepts": list(self.intercepts)}

    def explained_fields(self, found: Explanation, row: int) -> dict[str, Any]:
        """Return what lines add, if any does."""
        linear = [
            {"column": line.column, "class": self.class_names[k], self.amount: amount}
            for line, k, amount in found.evidence.lines(row)
        ]
        return {"linear": linear} if linear else {}

    def with_rules(self, rules: Sequence[Rule]) -> Self:
        """Return the same model with other rules; only new rules are checked."""
        check_sums(self.intercepts, rules, self.linear)
        return super().with_rules(rules)

    def merge_rules(self) -> Self:
        """Join rules with the same conditions and head; the scores stay the same.

        The first of them stays, with the sum of the responses; a sum of zero leaves no rule.
        """
        return self._copy_with(rules=merge_rules(self.rules))

    def scale_scores(self, slope: float, offsets: Sequence[float]) -> Self:
        """Multiply all scores and add to them: how a temperature or a logistic curve calibrates.

        Parameters
        ----------
        slope : float
            Factor of all scores, not negative.
        offsets : sequence of float
            What is then added to the score of each class.
        """
        if self.steps is not None:
            raise ValueError(
                "the steps of this model were fitted to its scores: scale the model first"
            )
        if not 0.0 <= slope < math.inf:
            raise ValueError(f"slope must be finite and not negative, not {slope}")
        if len(offsets) != len(self.classes):
            raise ValueError(f"{len(self.classes)} classes need as many offsets: {len(offsets)}")
        pairs = zip(self.intercepts, offsets, strict=True)
        intercepts = tuple(slope * start + offset for start, offset in pairs)
        rules = tuple(scale_rule(rule, slope) for rule in self.rules)
        linear = tuple(term.scale_slopes(slope) for term in self.linear)
        check_sums(intercepts, rules, linear)
        return self._copy_with(intercepts=intercepts, rules=rules, linear=linear)

    def with_steps(self, steps: Sequence[IsotonicSteps] | None) -> Self:
        """Return the same model with another calibration, or none."""
        checked = None if steps is None else checked_steps(steps, len(self.classes))
        return self._copy_with(steps=checked)

    def preamble(self) -> str:
        """Write which points every row starts with, and which probabilities they give."""
        return self._preamble(exact=False)

    def exact_preamble(self) -> str:
        """Write the same with all digits."""
        return self._preamble(exact=True)

    def _preamble(self, *, exact: bool) -> str:
        names, says = self.shown_names, "Each rule that applies adds its points to its class"
        if self.steps is None and len(names) > 1:
            says += "; one point multiplies the odds of the class by 2.72"
        lines = [start_text(self, names, exact=exact), f"{says}."]
        if any(amounts(rule)[1] for rule in self.rules):
            lines.append(
                "A rule whose conditions are known to fail adds the points after 'otherwise'."
            )
        if any(rule.head.is_union for rule in self.rules):
            lines.append("order: " + " < ".join(names))
        if self.steps is not None:
            lines.append(CALIBRATED)
        lines += scale_lines(self, names)
        return "\n".join([*lines, *linear_lines(self.linear, names, exact=exact)])

    def effect_cells(self, rule: Rule, exact: bool) -> dict[str, str]:
        """Return the points of a rule, its class and, unless steps calibrate, the odds factor."""
        assert isinstance(rule.outcome, Adds)
        points = rule.outcome.exact_text if exact else self.effect(rule)
        cells = {"points": points, "class": rule.head.text(self.shown_names)}
        if self.steps is None and len(self.classes) > 1:
            cells["odds"] = write_factor(rule.outcome.value - rule.outcome.otherwise)
        return cells

    def effect_columns(self) -> dict[str, list[Any]]:
        """Return the points and, unless steps calibrate, what they multiply the odds by."""
        points = [rule.outcome.value for rule in self.rules]
        with np.errstate(over="ignore"):
            odds = np.exp([amounts(rule)[0] - amounts(rule)[1] for rule in self.rules]).tolist()
        return {"points": points} | ({"odds": odds} if self.steps is None else {})

    def form_fields(self) -> dict[str, Any]:
        """Return the intercepts, and steps and lines if there are any."""
        fields: dict[str, Any] = {"intercepts": list(self.intercepts)}
        if self.steps is not None:
            fields["steps"] = [steps.to_json() for steps in self.steps]
        if self.linear:
            fields["linear"] = [term.to_json() for term in self.linear]
        return fields

    @classmethod
    def read_fields(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Read the intercepts, and steps and lines if there are any."""
        fields = super().read_fields(content)
        if "steps" in fields:
            fields["steps"] = tuple(map(IsotonicSteps.from_json, fields["steps"]))
        if "linear" in fields:
            fields["linear"] = tuple(map(LinearTerm.from_json, fields["linear"]))
        return fields


_TOTALS = (-4, -2, -1, 0, 1, 2, 4)
_LEADS = (0, 1, 2, 4)


CALIBRATED = "probabilities by calibrated steps"


def start_text(model: AdditiveRules, names: Sequence[str], *, exact: bool = False) -> str:
    """Write with how many points rows start, and which probabilities those are.

    With two classes these are the points of the class of interest.
    """
    starts = np.array(model.intercepts)
    write = partial(write_exact, sign="+") if exact else format_signed
    if len(names) == 1:
        return f"start: {write(float(starts[0]))} points for {names[0]}"
    chances = model.probabilities(starts[np.newaxis])[0]
    if len(names) == 2:
        k = class_of_interest(model)
        points = f"{write(float(starts[k] - starts[1 - k]))} points for {names[k]}"
        return f"start: {points}, probability {write_percent(chances[k])}"
    each = zip(names, starts.tolist(), chances, strict=True)
    listed = ", ".join(f"{name}: {write(value)} ({write_percent(p)})" for name, value, p in each)
    return f"start in points (probability): {listed}"


def scale_lines(model: AdditiveRules, names: Sequence[str]) -> list[str]:
    """Write a table of totals and their probabilities; with steps, of two classes only."""
    n = len(names)
    if n == 1 or (n > 2 and model.steps is not None):
        return []
    totals = np.array(_TOTALS if n == 2 else _LEADS, dtype=np.float64)
    k = class_of_interest(model) if n == 2 else n - 1
    scores = np.zeros((len(totals), n))
    scores[:, k] = totals
    chances = model.probabilities(scores)[:, k]
    first = (
        f"points for {names[k]} minus {names[k - 1]}" if n == 2 else "lead over all others, points"
    )
    second = f"probability of {names[k]}" if n == 2 else "probability"
    width = max(len(first), len(second))
    return align_cells(
        [
            [first.ljust(width), *(f"{t:+g}" if t else "0" for t in totals), ""],
            [second.ljust(width), *(f"{p:.3f}" for p in chances), ""],
        ]
    )


def points_text(
    names: Sequence[str], points: NDArray[np.float64], chosen: int, *, level: bool = False
) -> str:
    """Write points for the chosen class, of two minus the other's, or for another class.

    With `level` the points are totals, else what a reason adds.
    """
    if len(points) <= 2:
        return format_signed(float(points[chosen] - points[np.arange(len(points)) != chosen].sum()))
    k = chosen if level or points[chosen] else int(np.argmax(np.abs(points)))
    return f"{format_signed(float(points[k]))} {escape_line(names[k])}"
