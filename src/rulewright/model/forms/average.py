"""Averages of models: each member predicts probabilities, and counts by its weight.

The score of a class is the weighted mean of the members' probabilities. In a vote each member
counts only for the class that it predicts, with the probability of that class. Probabilities are
the scores divided by their sum, which for means is 1 except for rounding. A vote adds one undecided
member, which keeps its probabilities above 0 and makes them a rough estimate only. The highest
score wins; the first class wins a tie. Weighted probabilities are added up in pairs, so the
expression stays shallow for many members.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np

from rulewright.data import WEIGHT, Fields, Schema, Table, described, list_of
from rulewright.model.class_model import ClassModel
from rulewright.model.document import json_list
from rulewright.model.explanation import Reason, ReasonLine, RowReasons, rule_text, select_shown
from rulewright.model.text import escape_line, write_count
from rulewright.programs import ClassProgram, Constant, Node, Where, recipes
from rulewright.rules import Coverage, NumberCoverage, Outcome, Rule, Says, finite_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.model.class_explanation import ClassExplanation
    from rulewright.model.explanation import Explanation

Combine: TypeAlias = Literal["mean", "vote"]
MAX_DEPTH = 8
"""Averages of averages of averages: so many levels."""
_SHOWN_MEMBERS = 5


@dataclass(frozen=True, eq=False, repr=False)
class AveragedModel(ClassModel):
    """The weighted mean, or a weighted vote, of models of the same columns and classes.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    classes : array-like
        Class labels: all strings, all integers, all floats or all booleans.
    members : tuple of ClassModel
        The models; all have this schema and these classes.
    weights : tuple of float
        How much each counts: not negative, with the sum 1.
    combine : {"mean", "vote"}
        Whether a member counts for all classes by their probabilities, or for the class that it
        predicts by the probability of that.
    summary : dict
        What was noted down, as JSON data.
    rules : tuple of Rule
        The rules of all members, one after the other; left out they are taken from there.
    """

    form: ClassVar[str] = "average"
    outcome: ClassVar[type[Outcome]] = Says
    amount: ClassVar[str] = "value"
    fields: ClassVar[Fields] = Fields(
        {
            "members": described(
                "Models without the columns and classes, which all share.",
                list_of(
                    {"allOf": [{"$ref": "#/$defs/class_form"}], "unevaluatedProperties": False},
                    minItems=1,
                ),
            ),
            "weights": list_of(WEIGHT, minItems=1),
            "combine": {"enum": get_args(Combine)},
            "rules": list_of(described("An average has no rules of its own.", {"not": {}})),
        },
        about="The weighted mean of the probabilities of models, or their vote.",
    )

    schema: Schema
    classes: NDArray[Any]
    members: tuple[ClassModel, ...]
    weights: tuple[float, ...]
    combine: Combine = "mean"
    summary: dict[str, Any] = field(default_factory=dict)
    rules: tuple[Rule, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        members = tuple(self.members)
        rules = tuple(rule for member in members for rule in getattr(member, "rules", ()))
        if self.rules and tuple(self.rules) != rules:
            raise ValueError("rules: an average takes its rules from its members")
        vars(self).update(rules=rules)
        self._check_common()
        for k, member in enumerate(members):
            _check_member(member, k, self)
        if self.combine not in get_args(Combine):
            raise ValueError(f"combine must be mean or vote, not {self.combine!r}")
        weights = _checked_weights(self.weights, len(members))
        vars(self).update(members=members, weights=weights)
        if self.depth > MAX_DEPTH:
            raise ValueError(f"averages of averages may be nested {MAX_DEPTH} deep, no deeper")

    @cached_property
    def depth(self) -> int:
        """How many averages are nested in each other."""
        nested = [m.depth for m in self.members if isinstance(m, AveragedModel)]
        return 1 + max(nested, default=0)

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """The member of each rule, and the place of the rule in it."""
        return tuple((k, i) for k, member in enumerate(self.members) for i in range(len(member)))

    @cached_property
    def base_program(self) -> ClassProgram:
        """The weighted probabilities of all members, added up, and the class that has most."""
        pairs = zip(self.members, self.weights, strict=True)
        parts = [weight * self._member_node(member) for member, weight in pairs]
        while len(parts) > 1:
            sums = [one + two for one, two in zip(parts[::2], parts[1::2], strict=False)]
            parts = [*sums, *parts[2 * len(sums) :]]
        scores, labels = parts[0], tuple(self.classes.tolist())
        odds = scores
        if self.combine == "vote":  # as if one more member were undecided
            odds = scores + 1.0 / (len(self.members) * len(labels))
        chances = recipes.shares(odds)
        chosen = recipes.prefer_first(scores, tuple(range(len(labels))))
        return ClassProgram(self.schema, scores, labels, chances, chosen, costs=1.0 - chances)

    def _member_node(self, member: ClassModel) -> Node:
        """Return the votes or probabilities of a member, before weighting."""
        said = member.program
        if self.combine == "mean":
            return said.probabilities
        is_chosen = recipes.one_hot(said.chosen, len(self.classes))
        return Where(is_chosen, said.probabilities, Constant(0.0))

    def _explain_form(self, scores: NDArray[np.float64], table: Table) -> dict[str, Any]:
        return {"evidence": tuple(member.explain(table) for member in self.members)}

    @cached_property
    def by_weight(self) -> list[int]:
        """The members, the heaviest first."""
        return sorted(range(len(self.members)), key=lambda k: -self.weights[k])

    @cached_property
    def first_rules(self) -> NDArray[np.intp]:
        """The place of the first rule of each member among all rules."""
        return np.cumsum([0, *map(len, self.members)])

    def deciding_rules(self, found: Explanation, row: int) -> list[int]:
        """Return the rules that members name for a row, by falling weight of the member."""
        starts, parts = self.first_rules, found.evidence
        return [int(starts[k]) + i for k in self.by_weight for i in parts[k].rule_ids(row)]

    def explained_fields(self, found: Explanation, row: int) -> dict[str, Any]:
        """Return the prediction of each member for a row, the heaviest first."""
        said = [
            {
                "model": k,
                "weight": self.weights[k],
                "label": found.evidence[k].label(row),
                "probabilities": found.evidence[k].probabilities[row].tolist(),
            }
            for k in self.by_weight
        ]
        return {"members": said}

    def reasons_for(self, found: ClassExplanation, row: int, max_reasons: int | None) -> RowReasons:
        """Return the members' predictions and reasons, the heaviest first."""
        shown = select_shown(self.by_weight, max_reasons)
        rest = []
        if hidden := self.by_weight[len(shown) :]:
            weight = sum(self.weights[k] for k in hidden)
            rest = [Reason(f"{weight:.3g}", write_count(len(hidden), "more model"))]
        reasons = [self._reason(k, found.evidence[k], row) for k in shown]
        return RowReasons(ReasonLine("weight", "says", "because"), reasons, rest=rest)

    def _reason(self, k: int, part: ClassExplanation, row: int) -> Reason:
        """Return a member's prediction; name its strongest rule, and count the others."""
        chance, ids = part.probabilities[row, int(part.chosen[row])], part.rule_ids(row)
        why = "no rule applies"
        if ids:
            why = rule_text(self, int(self.first_rules[k]) + ids[0])
            more = len(ids) - 1
            why += f", and {write_count(more, 'more rule')}" if more else ""
        says = f"{escape_line(part.label(row))} {chance:.3f}"
        return Reason(f"{self.weights[k]:.3g}", f"model {k + 1}: {why}", change=says)

    def with_rules(self, rules: Sequence[Rule]) -> Self:
        """Return the same average of members without the rules that are left out."""
        kept = set(map(id, rules))
        if kept - set(map(id, self.rules)):
            raise ValueError("rules: an average can lose rules, but get no new ones")
        members = tuple(m.with_rules([r for r in m.rules if id(r) in kept]) for m in self.members)
        return self._copy_with(members=members, rules=tuple(r for m in members for r in m.rules))

    def decided_bits(self, X: object, *, n_threads: int | None = None) -> NDArray[np.uint64]:
        """Return which rows each rule has a part in, as its member does."""
        table = self._read(X)
        return np.vstack([m.decided_bits(table, n_threads=n_threads) for m in self.members])

    def with_coverages(self, coverages: Sequence[Coverage | NumberCoverage]) -> Self:
        """Return the same average with other coverage counts of its members' rules."""
        given = iter(coverages)
        members = tuple(m.with_coverages([*islice(given, len(m))]) for m in self.members)
        return self._copy_with(members=members, rules=tuple(r for m in members for r in m.rules))

    def strength(self, i: int) -> float:
        """Return the size of the effect of a rule times the weight of its member."""
        member, place = self.places[i]
        return self.weights[member] * self.members[member].strength(place)

    def origin(self, i: int) -> dict[str, str]:
        """Name the member of a rule."""
        return {"model": str(self.places[i][0] + 1)}

    @property
    def decides(self) -> bool:
        """Whether the rules of all members decide where they apply."""
        return all(member.decides for member in self.members)

    def effect_cells(self, rule: Rule, exact: bool) -> dict[str, str]:
        """Return the number of a rule and, where it decides nothing, its class."""
        cells = super().effect_cells(rule, exact)
        return cells if self.decides else cells | {"class": rule.head.text(self.shown_names)}

    @property
    def effect_title(self) -> str:
        """The unit of the numbers of the rules, if all members have the same."""
        titles = {member.effect_title for member in self.members}
        return titles.pop() if len(titles) == 1 else "says"

    def effect(self, rule: Rule) -> str:
        """Write the number of a rule as its member does."""
        same = len({type(member) for member in self.members}) == 1
        return self.members[0].effect(rule) if same else super().effect(rule)

    def effect_columns(self) -> dict[str, list[Any]]:
        """Return the numbers of the rules, whatever they mean in their members."""
        return {"value": [rule.outcome.value for rule in self.rules]}

    def rules_table(self) -> dict[str, list[Any]]:
        """Return the table of rules as a dict of columns, with the member of each rule."""
        table = super().rules_table()
        members = [member for member, _ in self.places]
        return table | {
            "model": [k + 1 for k in members],
            "weight": [self.weights[k] for k in members],
        }

    def preamble(self) -> str:
        """Write which members count how much."""
        order = self.by_weight
        told = [
            f"model {k + 1} {self.weights[k]:.3g} ({write_count(len(self.members[k]), 'rule')})"
            for k in order[:_SHOWN_MEMBERS]
        ]
        if hidden := order[_SHOWN_MEMBERS:]:
            rest = math.fsum(self.weights[k] for k in hidden)
            told.append(f"{write_count(len(hidden), 'more model')} {rest:.3g}")
        how = {
            "mean": "mean of the probabilities of the models",
            "vote": "each model votes for its predicted class, with its probability",
        }
        return f"{how[self.combine]}, by weight: {', '.join(told)}"

    def form_fields(self) -> dict[str, Any]:
        """Return the members, without the columns and classes that all share, and their weights."""
        members = [
            {key: value for key, value in member.content().items() if key not in _SHARED}
            for member in self.members
        ]
        return {"members": members, "weights": list(self.weights), "combine": self.combine}

    @classmethod
    def read_fields(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Read the weights; the members are read by the reader of models."""
        lists = {name: tuple(json_list(content[name], name)) for name in ("members", "weights")}
        return content | lists

    def content(self) -> dict[str, Any]:
        """Return the model as plain data; the rules are in the members."""
        return super().content() | {"rules": []}

    def _check_rules(self, rules: Sequence[Rule]) -> None:
        """Accept the rules: their members have checked them."""


_SHARED = ("schema", "classes")


def _check_member(member: object, k: int, model: AveragedModel) -> None:
    if not isinstance(member, ClassModel):
        raise ValueError(f"member {k} must be a model of classes, not {type(member).__name__}")
    if member.classes.tolist() != model.classes.tolist():
        raise ValueError(
            f"member {k} has the classes {', '.join(member.class_names)}, and not "
            f"{', '.join(model.class_names)}"
        )
    if member.schema != model.schema:
        raise ValueError(f"member {k} has other columns, or other labels of a column")


def _checked_weights(weights: Sequence[object], n_members: int) -> tuple[float, ...]:
    checked = tuple(finite_number(weight, "weight of a member") for weight in weights)
    if not n_members or len(checked) != n_members:
        raise ValueError(f"an average needs members, and as many weights: {n_members} members")
    if min(checked) < 0.0 or abs(math.fsum(checked) - 1.0) > 1e-9:
        raise ValueError("weights of members must not be negative and sum to 1")
    return checked
