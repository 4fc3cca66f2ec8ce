"""Names of rules in edits: by number, by conditions, and in the log by conditions and classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from rulewright.data import DataError, offer_names
from rulewright.model import DecisionList
from rulewright.rules import (
    Adds,
    And,
    Conjunction,
    Contradiction,
    Coverage,
    Formula,
    Head,
    NumberCoverage,
    Rule,
    Says,
    parse_conjunction,
    parse_formula,
)


class EditError(DataError):
    """An edit that cannot be made: what is wrong, and what to do."""


class RuleName(NamedTuple):
    """The name of a rule in a log: its conditions, and the classes that its points are for."""

    text: str
    classes: str = ""

    def __str__(self) -> str:
        return f"{self.text} -> {self.classes}" if self.classes else self.text


def name_of(model: Any, place: int) -> RuleName:
    """Return the name of a rule."""
    rule = model.rules[place]
    needs_class = isinstance(rule.outcome, Adds) and model.n_classes is not None
    return RuleName(str(rule.body), rule.head.text(model.class_names) if needs_class else "")


def place_of(model: Any, name: RuleName) -> int:
    """Find a rule by its name; an EditError if there is none."""
    for place in range(len(model.rules)):
        if name_of(model, place) == name:
            return place
    raise EditError(f"the model has no rule '{name}'. print(model) lists the rules.")


def find_rule(model: Any, wanted: Any) -> RuleName:
    """Find a rule by its printed number, its conditions as text, or the rule itself."""
    names = [name_of(model, place) for place in range(len(model.rules))]
    if isinstance(wanted, RuleName):
        place_of(model, wanted)
        return wanted
    if isinstance(wanted, Rule):
        wanted = str(wanted.body)
    if isinstance(wanted, str):
        text = str(read_body(wanted, model))
        found = [name for name in names if name.text == text]
    else:
        found = [n for n, number in zip(names, model.numbers, strict=True) if number == wanted]
    if not found:
        raise EditError(
            f"there is no rule {wanted!r}. Name a rule by its printed number, 1 to {len(names)}, "
            "or by its conditions."
        )
    if len(found) > 1:
        raise EditError(f"{len(found)} rules have the conditions {wanted!r}: use their numbers.")
    return found[0]


def read_body(text: str, model: Any) -> Formula:
    """Read conditions and check that the model has their columns and labels."""
    try:
        body = parse_formula(text)
        if isinstance(body, And):  # conditions on one column that do not merge
            parse_conjunction(text)
    except Contradiction as error:
        raise EditError(f"no row can satisfy {text!r}: {error}") from None
    except ValueError as error:
        raise EditError(f"{text!r} is not a condition: {error}") from None
    known = model.schema.names
    if unknown := [name for name in body.columns if name not in known]:
        near = offer_names(unknown[0], known, "The columns are")
        raise EditError(f"{text!r}: the model has no column {unknown[0]!r}. {near}")
    try:
        model.with_rules([replace(any_rule(model), body=body)])
    except ValueError as error:
        raise EditError(f"{text!r} does not fit the columns of the model: {error}") from None
    return body


def any_rule(model: Any) -> Rule:
    """Return a rule that adds nothing."""
    if model.n_classes is None:
        return Rule(Conjunction(), Adds(Head(0, 0), 0.0), NumberCoverage(0.0, 0.0, 0.0, "given"))
    coverage = Coverage.of((0.0,) * model.n_classes, "given")
    if isinstance(model, DecisionList):
        return Rule(Conjunction(), Says(model.default), coverage)
    return Rule(Conjunction(), Adds(Head(0, 0), 0.0), coverage)
