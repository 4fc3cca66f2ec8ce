"""Which way each rule moves the prediction, for the bars of reports, notebooks and charts.

With two classes the class of interest is to the right. Direction alone distinguishes the two sides,
so that bars can be read in print and without colours. More than two classes have a colour each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from rulewright.html import cut_line, draw_key, draw_move
from rulewright.rules import Adds, Rule, Votes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulewright.model.rule_model import RuleModel

N_LOOKS = 6
_LETTERS = 24
_SAME = 0.02
"""Shares of two classes that differ by less count as equal."""


class Direction(NamedTuple):
    """How far a rule moves the prediction, signed, and the colour of its bar."""

    amount: float
    look: int


class Look(NamedTuple):
    """A colour of bars, and its meaning."""

    look: int
    text: str


def class_of_interest(model: RuleModel) -> int:
    """Return the class that figures of two classes are about.

    It is the class that the user named, else the rarer class of the training rows, of about equally
    frequent ones the second.
    """
    names, summary = [*model.head_names], model.summary
    settings, shares = summary.get("settings"), summary.get("class_shares")
    own = settings.get("positive_class") if isinstance(settings, dict) else None
    for named in (summary.get("positive_class"), own):
        if named in names:
            return names.index(named)
    if not isinstance(shares, list) or [len(names), len(shares)] != [2, 2]:
        return min(1, max(0, len(names) - 1))
    known = all(isinstance(share, int | float) for share in shares)  # a file may hold anything
    return 0 if known and shares[0] - shares[1] < -_SAME * sum(shares) else 1


def direction(model: RuleModel, rule: Rule) -> Direction:
    """Return which way a rule moves the prediction, and how far."""
    outcome, n_classes = rule.outcome, len(model.head_names)
    amount = outcome.value - (outcome.otherwise if isinstance(outcome, Adds) else 0.0)
    if n_classes not in (0, 2):
        return Direction(amount, rule.head.first % N_LOOKS)
    if n_classes == 2 and rule.head.first != class_of_interest(model):
        amount = -amount
    return Direction(amount, 0 if amount >= 0 else 1)


def looks(model: RuleModel, ids: Iterable[int], target: str = "") -> list[Look]:
    """Explain the colours of the bars of some rules, those to the left first."""
    names, of = [cut_line(name, _LETTERS) for name in model.head_names], target or "the prediction"
    if not names:
        return [Look(1, f"lowers {of}"), Look(0, f"raises {of}")]
    verb = _verb(model)
    if len(names) == 2:
        right = class_of_interest(model)
        return [Look(1, f"{verb} {names[1 - right]}"), Look(0, f"{verb} {names[right]}")]
    heads = dict.fromkeys(sorted(model.rules[i].head for i in ids))
    return [Look(head.first % N_LOOKS, f"{verb} {head.text(names)}") for head in heads]


def _verb(model: RuleModel) -> str:
    if issubclass(model.outcome, Adds):
        return "raises the probability of"
    return "votes for" if issubclass(model.outcome, Votes) else "predicts"


def draw_effects(model: RuleModel, ids: Iterable[int]) -> dict[int, Markup]:
    """Draw a bar for each rule, to both sides of 0 unless all amounts of several classes are > 0.

    The longest one fills its side.
    """
    found = {i: direction(model, model.rules[i]) for i in ids}
    largest = max((abs(one.amount) for one in found.values()), default=0.0)
    signed = len(model.head_names) <= 2 or any(one.amount < 0 for one in found.values())
    return {i: draw_move(d.amount, largest, d.look, signed=signed) for i, d in found.items()}


def draw_keys(model: RuleModel, ids: Iterable[int], target: str = "") -> Markup:
    """Describe the colours of the bars of some rules."""
    return Markup("").join(draw_key(*key) for key in looks(model, ids, target))
