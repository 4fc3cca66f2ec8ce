"""Regression rules: an intercept plus the responses of the rules that fire and linear terms."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rulewright.data import NUMBER, Fields, Schema
from rulewright.model.document import json_list
from rulewright.model.explanation import (
    Explanation,
    Reason,
    ReasonLine,
    RowReasons,
    others_text,
    select_shown,
)
from rulewright.model.forms.terms import (
    LINEAR,
    AddedParts,
    LinearTerm,
    amounts,
    check_linear,
    check_sums,
    linear_lines,
    merge_rules,
    terms_of,
    with_lines,
)
from rulewright.model.rule_model import RuleModel
from rulewright.model.training_notes import base_mean
from rulewright.programs import Program, nodes
from rulewright.rules import (
    Adds,
    NumberCoverage,
    Outcome,
    Rule,
    finite_number,
    write_exact,
    write_number,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class RegressionRules(RuleModel):
    """The number of a row is an intercept plus the responses of fired rules and linear terms.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    intercept : float
        The number that every row starts with.
    rules : tuple of Rule
        The rules, with outcomes ``Adds(0, response)``; they are added in this order.
    summary : dict
        Notes of the learner, as JSON data.
    linear : tuple of LinearTerm
        What numeric columns add, apart from the rules.
    """

    form: ClassVar[str] = "regression"
    outcome: ClassVar[type[Outcome]] = Adds
    amount: ClassVar[str] = "added"
    fields: ClassVar[Fields] = Fields(
        {"intercept": NUMBER},
        {"linear": LINEAR},
        "The number is an intercept plus what fired rules and linear terms add.",
    )

    schema: Schema
    intercept: float
    rules: tuple[Rule, ...]
    summary: dict[str, Any] = field(default_factory=dict)
    linear: tuple[LinearTerm, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        self._check_common()
        intercept = finite_number(self.intercept, "intercept")
        check_linear(self.linear, self.schema, 1)
        check_sums([intercept], self.rules, self.linear)
        vars(self).update(intercept=intercept)

    @property
    def n_classes(self) -> None:
        """None: a number is predicted."""

    @property
    def scope(self) -> str:
        """The prediction, for the title of the model."""
        return "one number"

    @property
    def head_names(self) -> tuple[str, ...]:
        """Nothing: all rules add to the number."""
        return ()

    @property
    def effect_title(self) -> str:
        """The rules add to the number."""
        return "adds"

    def effect(self, rule: Rule) -> str:
        """Write the contribution of a rule, in units of the target."""
        assert isinstance(rule.outcome, Adds)
        return rule.outcome.number_text

    @cached_property
    def program(self) -> Program:
        """The sum."""
        return Program(self.schema, self._sum())

    def _sum(self) -> nodes.Node:
        """Return the intercept plus what rules and lines add."""
        terms = tuple(term for rule in self.rules for term in terms_of(rule))
        sums = nodes.TermSums(nodes.Constant(self.intercept), terms)
        return with_lines(sums, self.linear, vector=False)

    def predict(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return the number of each row."""
        return self.scores(X, n_threads=n_threads)

    def explain(self, X: object, *, n_threads: int | None = None) -> Explanation:
        """Return for each row which rules fired and what they and the linear terms add."""
        rows = self._rows(X, n_threads)
        scores, parts = rows.value(self.program.scores), AddedParts.of(self, rows.table)
        return Explanation(self, rows.table, rows.covers(), scores, evidence=parts)

    def reasons_for(self, found: Explanation, row: int, max_reasons: int | None) -> RowReasons:
        """Return what rules and lines add to the number."""
        reasons = [
            _adding(float(part.amounts[0]), part.text, part.is_line)
            for part in found.evidence.added(row, found.rule_ids(row))
        ]
        shown = select_shown(reasons, max_reasons)
        hidden, rest = reasons[len(shown) :], []
        if hidden:
            amount = math.fsum(one.moves for one in hidden if one.moves is not None)
            rest = [_adding(amount, others_text(hidden))]
        start = [Reason(write_number(self.intercept), "start")]
        total = [ReasonLine(write_number(found.scores[row]), "", "total")] if reasons else []
        return RowReasons(ReasonLine("adds", "", "reason"), shown, start, rest, total)

    def start_fields(self) -> dict[str, Any]:
        """Return the intercept."""
        return {"intercept": self.intercept}

    def explained_fields(self, found: Explanation, row: int) -> dict[str, Any]:
        """Return what lines add."""
        lines = found.evidence.lines(row)
        return {"linear": [{"column": line.column, self.amount: added} for line, _, added in lines]}

    def with_rules(self, rules: Sequence[Rule]) -> Self:
        """Return the same model with other rules; only new rules are checked."""
        check_sums([self.intercept], rules, self.linear)
        return super().with_rules(rules)

    def merge_rules(self) -> Self:
        """Join rules with the same conditions; the numbers stay the same."""
        return self._copy_with(rules=merge_rules(self.rules))

    def preamble(self) -> str:
        """Write which number every row starts with, and what columns add by themselves."""
        return self._preamble(write_number(self.intercept), exact=False)

    def exact_preamble(self) -> str:
        """Write the same with all digits."""
        return self._preamble(write_exact(self.intercept), exact=True)

    def _preamble(self, start: str, *, exact: bool) -> str:
        lines = [f"start: {start}", self._describe_amounts(exact=exact)]
        if any(amounts(rule)[1] for rule in self.rules):
            lines.append(
                "A rule whose conditions are known to fail adds the number after 'otherwise'."
            )
        return "\n".join([*lines, *linear_lines(self.linear, (), exact=exact)])

    def _describe_amounts(self, *, exact: bool) -> str:
        return "Each rule that applies adds its number, in units of the target."

    def effect_cells(self, rule: Rule, exact: bool) -> dict[str, str]:
        """Return what a rule adds."""
        assert isinstance(rule.outcome, Adds)
        return {"adds": rule.outcome.exact_text if exact else rule.outcome.number_text}

    def effect_columns(self) -> dict[str, list[Any]]:
        """Return what the rules add."""
        return {"adds": [rule.outcome.value for rule in self.rules]}

    def head_columns(self) -> dict[str, list[Any]]:
        """Return nothing: all rules add to the number."""
        return {}

    def coverage_columns(self) -> dict[str, list[Any]]:
        """Return mean and deviation of the covered numbers."""
        found = [rule.coverage for rule in self.rules if isinstance(rule.coverage, NumberCoverage)]
        names, base = ("mean", "deviation"), base_mean(self)
        columns = {name: [getattr(coverage, name) for coverage in found] for name in names}
        return columns | {"base_mean": [math.nan if base is None else base] * len(self)}

    def form_fields(self) -> dict[str, Any]:
        """Return the intercept, and linear terms if there are any."""
        fields: dict[str, Any] = {"intercept": self.intercept}
        return fields | ({"linear": [t.to_json() for t in self.linear]} if self.linear else {})

    @classmethod
    def read_fields(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Read the intercept, and linear terms if there are any."""
        terms = json_list(content.get("linear", []), "linear")
        return {
            "intercept": content["intercept"],
            "linear": tuple(map(LinearTerm.from_json, terms)),
        }


def _adding(amount: float, text: str, is_line: bool = False) -> Reason:
    return Reason(write_number(amount, "+"), text, moves=amount, is_line=is_line)
