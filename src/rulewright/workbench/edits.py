"""Edits of a model as data: each turns a state into another, and can be written to a log.

Edits name rules by their text, so that a log can be replayed on another fit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.model import DecisionList, RegressionRules
from rulewright.rules import (
    Adds,
    And,
    Conjunction,
    Formula,
    Head,
    Not,
    Or,
    Range,
    Rule,
    Says,
    normalise,
    parse_condition,
)
from rulewright.search import Constraints
from rulewright.workbench.forms import with_value
from rulewright.workbench.names import EditError, RuleName, any_rule, place_of, read_body
from rulewright.workbench.state import RuleChange, State

if TYPE_CHECKING:
    from collections.abc import Sequence


def go_on() -> None:
    """Do not stop a search."""


class Edit(ABC):
    """A change of a model."""

    word: ClassVar[str]
    """The word for the edit in logs."""

    @abstractmethod
    def apply(self, state: State) -> State:
        """Return the edited state."""

    @abstractmethod
    def describe(self) -> str:
        """Write the edit in one line."""

    @property
    def rules(self) -> tuple[RuleName, ...]:
        """The rules that the edit names."""
        own = [getattr(self, item.name) for item in fields(self)]  # type: ignore[arg-type]
        flat = [one for value in own for one in (value if type(value) is tuple else (value,))]
        return tuple(one for one in flat if isinstance(one, RuleName))

    def to_json(self) -> dict[str, Any]:
        """Return the edit as plain data."""
        names = [item.name for item in fields(self) if item.compare]  # type: ignore[arg-type]
        own = {name: _plain(getattr(self, name)) for name in names}
        return {
            "do": self.word,
            **{name: value for name, value in own.items() if value is not None},
        }


def _plain(value: Any) -> Any:
    if isinstance(value, RuleName):
        return {"if": value.text, "for": value.classes}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.to_json() if isinstance(value, Constraints) else value


def edit_of(content: Any) -> Edit:
    """Read an edit from plain data; anything else is an EditError."""
    try:
        known = dict(content)
        kind = EDITS[known.pop("do")]
        return kind(**{name: _read(value) for name, value in known.items()})
    except (KeyError, TypeError, ValueError) as error:
        raise EditError(f"not an edit: {content!r} ({error})") from None


def _read(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"if", "for"}:
        return RuleName(value["if"], value["for"])
    return tuple(map(_read, value)) if isinstance(value, list) else value


def _listed(names: Sequence[RuleName]) -> str:
    return "; ".join(map(str, names))


@dataclass(frozen=True)
class Drop(Edit):
    """Remove rules."""

    word = "drop"
    names: tuple[RuleName, ...]

    def apply(self, state: State) -> State:
        """Remove the rules; the other points stay."""
        gone = {place_of(state.model, name) for name in self.names}
        return state.with_rules([c for c in state.unchanged if c.source not in gone])

    def describe(self) -> str:
        """Name the rules."""
        return f"drop {_listed(self.names)}"


@dataclass(frozen=True)
class Replace(Edit):
    """Give a rule other conditions; its points are fitted again unless it is frozen."""

    word = "replace"
    name: RuleName
    text: str

    def apply(self, state: State) -> State:
        """Replace the conditions."""
        changes, place = state.unchanged, place_of(state.model, self.name)
        body = read_body(self.text, state.model)
        _check_new(state.model, body, changes[place].rule, place)
        rule = replace(changes[place].rule, body=body)
        refits = state.form is not None and not state.frozen[place]
        changes[place] = RuleChange(rule, place, state.frozen[place], refits)
        return state.with_rules(changes)

    def describe(self) -> str:
        """Write both conditions."""
        return f"replace {self.name} by {self.text}"


@dataclass(frozen=True)
class Add(Edit):
    """Add a rule; given points are held fixed, others are fitted."""

    word = "add"
    text: str
    votes: str | None = None
    points: float | None = None
    place: int | None = None

    def apply(self, state: State) -> State:
        """Add the rule at the end, or in a list before the rule at a place."""
        model, changes = state.model, state.unchanged
        rule = replace(any_rule(model), body=read_body(self.text, model))
        if isinstance(model, DecisionList):
            return self._add_to_list(state, rule)
        heads = self._heads(model)
        if self.points is not None:
            if len(heads) > 1:
                raise EditError(f"add {self.text}: points need a class: votes=...")
            rule = rule.with_outcome(Adds(heads[0], self.points))
            _check_new(model, rule.body, rule)
            return state.with_rules([*changes, RuleChange(rule, None, is_frozen=True)])
        if state.form is None:
            raise EditError(f"add {self.text}: without rows to fit, give points=...")
        tried = []
        for head in heads[-1:] if len(heads) == 2 else heads:
            new = rule.with_outcome(Adds(head, 0.0))
            _check_new(model, new.body, new)
            tried.append(state.with_rules([*changes, RuleChange(new, None, refits=True)]))
        best = max(tried, key=lambda one: one.model.rules[-1].outcome.value)
        is_low = len(heads) == 2 and best.model.rules[-1].outcome.value < 0
        return _turn_last(best) if is_low else best

    def _heads(self, model: Any) -> list[Head]:
        """Return the classes that the rule may add points to."""
        if isinstance(model, RegressionRules):
            return [Head(0, 0)]
        if self.votes is None:
            return [Head(k, k) for k in range(len(model.classes))]
        names = list(model.class_names)
        if self.votes not in names:
            raise EditError(f"votes={self.votes!r} is not a class. Classes: {', '.join(names)}.")
        k = names.index(self.votes)
        return [Head(k, k)]

    def _add_to_list(self, state: State, rule: Rule) -> State:
        changes = state.unchanged
        if state.form is None or self.points is not None or self.votes is not None:
            raise EditError("rules of a list are counted: they need rows, and no points or class.")
        place = len(changes) if self.place is None else self.place
        _check_new(state.model, rule.body, rule)
        changes.insert(place, RuleChange(rule, None, refits=True))
        return state.with_rules(changes)

    def describe(self) -> str:
        """Write the rule."""
        points = "" if self.points is None else f" with {self.points:+g} points"
        return f"add {self.text}{f' for {self.votes}' if self.votes else ''}{points}"


def _turn_last(state: State) -> State:
    """Let the last rule raise the first of two classes instead of lowering the second."""

    def turn(model: Any) -> Any:
        *rest, last = model.rules
        return model.with_rules([*rest, last.with_outcome(Adds(Head(0, 0), -last.outcome.value))])

    return replace(state, model=turn(state.model), folds=tuple(map(turn, state.folds)))


def _check_new(model: Any, body: Formula, rule: Rule, at: int | None = None) -> None:
    """Refuse a rule that the model has already."""
    for place, other in enumerate(model.rules):
        same_head = isinstance(rule.outcome, Says) or other.head == rule.head
        if place != at and same_head and other.body.key == body.key:
            raise EditError(f"the model has this rule already: rule {model.numbers[place]}.")


@dataclass(frozen=True)
class Split(Edit):
    """Divide a rule by a condition into two with the same points; a refit tells them apart."""

    word = "split"
    name: RuleName
    text: str

    def apply(self, state: State) -> State:
        """Put two rules in the place of one."""
        changes, place = state.unchanged, place_of(state.model, self.name)
        rule, frozen = changes[place].rule, state.frozen[place]
        try:
            condition = read_body(str(parse_condition(self.text)), state.model)
        except ValueError as error:
            raise EditError(f"{self.text!r} is not a single condition: {error}") from None
        bodies = [normalise(And((rule.body, part))) for part in (condition, Not(condition))]
        parts = [RuleChange(replace(rule, body=body), place, frozen) for body in bodies]
        return state.with_rules([*changes[:place], *parts, *changes[place + 1 :]])

    def describe(self) -> str:
        """Write the rule and the condition."""
        return f"split {self.name} by {self.text}"


@dataclass(frozen=True)
class Merge(Edit):
    """Join rules for the same classes into one that applies where any of them does."""

    word = "merge"
    names: tuple[RuleName, ...]

    def apply(self, state: State) -> State:
        """Put one rule in the place of the first; its points are fitted unless one is frozen."""
        changes = state.unchanged
        places = [place_of(state.model, name) for name in self.names]
        if len(set(places)) < 2:
            raise EditError("merge needs two rules or more.")
        own = [state.model.rules[place] for place in places]
        if not isinstance(own[0].outcome, Says) and len({rule.head for rule in own}) > 1:
            raise EditError("merge needs rules for the same classes.")
        body = normalise(Or(tuple(rule.body for rule in own)))
        first, frozen = min(places), any(state.frozen[place] for place in places)
        joined = RuleChange(
            replace(state.model.rules[first], body=body),
            first,
            frozen,
            state.form is not None and not frozen,
        )
        return state.with_rules(
            [
                joined if c.source == first else c
                for c in changes
                if c.source not in {*places} - {first}
            ]
        )

    def describe(self) -> str:
        """Name the rules."""
        return f"merge {_listed(self.names)}"


@dataclass(frozen=True)
class RoundThresholds(Edit):
    """Round the thresholds of numeric columns to significant digits; points stay."""

    word = "round"
    digits: int
    names: tuple[RuleName, ...] = ()

    def apply(self, state: State) -> State:
        """Round, and join rules that become equal."""
        if not 1 <= self.digits <= 15:
            raise EditError(f"digits={self.digits} must be from 1 to 15.")
        wanted = {place_of(state.model, name) for name in self.names} or set(
            range(len(state.frozen))
        )
        changes: list[RuleChange] = []
        for change in state.unchanged:
            rule = change.rule
            if change.source in wanted:
                rule = replace(rule, body=self._round(rule.body))
            changes.append(change._replace(rule=rule))
        return state.with_rules(changes)

    def _round(self, body: Formula) -> Formula:
        if not isinstance(body, Conjunction):
            return body
        try:
            return Conjunction.of([self._round_range(c) for c in body.conditions])
        except ValueError as error:
            raise EditError(f"{self.digits} digits leave nothing of '{body}': {error}") from None

    def _round_range(self, condition: Any) -> Any:
        if not isinstance(condition, Range) or condition.kind != "numeric":
            return condition
        low, high = (
            float(f"{end:.{self.digits}g}") if np.isfinite(end) else end
            for end in (condition.low, condition.high)
        )
        return replace(condition, low=low, high=high)

    def describe(self) -> str:
        """Write the digits."""
        where = f" of {_listed(self.names)}" if self.names else ""
        return f"round thresholds{where} to {self.digits} digits"


@dataclass(frozen=True)
class SetPoints(Edit):
    """Give a rule fixed points."""

    word = "set_points"
    name: RuleName
    points: float

    def apply(self, state: State) -> State:
        """Set and freeze the points, also without each fold."""
        if isinstance(state.model, DecisionList):
            raise EditError(
                "rules of a list have shares, not points: replace, move or recount them."
            )
        if not np.isfinite(self.points):
            raise EditError(f"points={self.points} must be finite.")
        changes, place = state.unchanged, place_of(state.model, self.name)
        rule = with_value(changes[place].rule, self.points)
        changes[place] = RuleChange(rule, place, is_frozen=True, sets_points=True)
        return state.with_rules(changes)

    def describe(self) -> str:
        """Write the points."""
        return f"set the points of {self.name} to {self.points:+g}"


@dataclass(frozen=True)
class Freeze(Edit):
    """Hold the points of rules fixed at their values."""

    word = "freeze"
    names: tuple[RuleName, ...]

    def apply(self, state: State) -> State:
        """Freeze the rules; without each fold they keep the points that were fitted so."""
        places = {place_of(state.model, name) for name in self.names}
        frozen = tuple(own or i in places for i, own in enumerate(state.frozen))
        return replace(state, frozen=frozen)

    def describe(self) -> str:
        """Name the rules."""
        return f"freeze {_listed(self.names)}"


@dataclass(frozen=True)
class Thaw(Edit):
    """Let the points of rules move again in the next refit."""

    word = "thaw"
    names: tuple[RuleName, ...]

    def apply(self, state: State) -> State:
        """Thaw the rules."""
        places = {place_of(state.model, name) for name in self.names}
        frozen = tuple(own and i not in places for i, own in enumerate(state.frozen))
        return replace(state, frozen=frozen)

    def describe(self) -> str:
        """Name the rules."""
        return f"thaw {_listed(self.names)}"


@dataclass(frozen=True)
class Move(Edit):
    """Give a rule of a decision list another place."""

    word = "move"
    name: RuleName
    to: int

    def apply(self, state: State) -> State:
        """Move the rule; shares stay until they are recounted by a refit."""
        if not isinstance(state.model, DecisionList):
            raise EditError("only the rules of a decision list have an order.")
        changes = state.unchanged
        if not 1 <= self.to <= len(changes):
            raise EditError(f"to={self.to} must be a place from 1 to {len(changes)}.")
        changes.insert(self.to - 1, changes.pop(place_of(state.model, self.name)))
        return state.with_rules(changes)

    def describe(self) -> str:
        """Write the place."""
        return f"move {self.name} to place {self.to}"


@dataclass(frozen=True)
class Constrain(Edit):
    """Require that rules comply with constraints: previews report rules that do not."""

    word = "constrain"
    constraints: Any

    def apply(self, state: State) -> State:
        """Keep the constraints."""
        constraints = Constraints.of(self.constraints)
        constraints.check(state.model.schema)
        notes = {**state.model.summary, "constraints": constraints.to_json()}
        return replace(state, constraints=constraints, model=state.model.with_summary(notes))

    def describe(self) -> str:
        """Write the constraints."""
        plain = Constraints.of(self.constraints).to_json()
        return f"constrain {', '.join(f'{key}: {value}' for key, value in plain.items())}"


@dataclass(frozen=True)
class Refit(Edit):
    """Fit the points of all rules that are not frozen, and the intercepts."""

    word = "refit"

    def apply(self, state: State) -> State:
        """Refit on all rows and without each fold."""
        return state.refit_free()

    def describe(self) -> str:
        """Write what is fitted."""
        return "refit the points of the rules that are not frozen"


EDITS: dict[str, type[Edit]] = {kind.word: kind for kind in Edit.__subclasses__()}
