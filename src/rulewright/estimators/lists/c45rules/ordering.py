"""From a subset of rules for each class to a list: order, default class, and what is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.search import heaviest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.estimators.lists.c45rules.simplification import SimplifiedRule
    from rulewright.search import Brancher

    Places = NDArray[np.intp]

TIE = 1e-9


def order_classes(
    brancher: Brancher, by_class: Sequence[Sequence[SimplifiedRule]]
) -> list[SimplifiedRule]:
    """Put next the class whose rules are wrong on the fewest rows that are not yet covered."""
    weights, left = brancher.weights, np.ones(len(brancher.weights), dtype=np.bool_)
    covers = {
        head: np.logical_or.reduce([rule.cover for rule in rules])
        for head, rules in enumerate(by_class)
        if rules
    }
    found: list[SimplifiedRule] = []
    while covers:
        wrong = {
            head: float(weights[left & cover & (brancher.labels != head)].sum())
            for head, cover in covers.items()
        }
        head = min(covers, key=lambda c: (wrong[c], c))
        found += sorted(by_class[head], key=lambda rule: rule.error)
        left &= ~covers.pop(head)
    return found


def default_class(brancher: Brancher, rules: Sequence[SimplifiedRule]) -> int:
    """Return the heaviest class on the rows that no rule covers, of equal ones the heavier."""
    left = np.ones(len(brancher.weights), dtype=np.bool_)
    for rule in rules:
        left &= ~rule.cover
    weights = brancher.weights * left
    sums = np.bincount(brancher.labels, weights, minlength=brancher.n_classes)
    return heaviest(sums.astype(np.float64), brancher.class_weights)


def without_harmful(
    brancher: Brancher, rules: Sequence[SimplifiedRule], default: int
) -> list[SimplifiedRule]:
    """Drop, one at a time, the rule without which there are fewest training errors."""
    weights, kept = brancher.weights, list(rules)
    while kept:
        first, second = _deciders(kept, len(weights))
        heads = np.array([*(rule.head for rule in kept), default])
        wrong = heads[[first, second]] != brancher.labels
        change = np.bincount(first, weights * (wrong[1] - 1.0 * wrong[0]), len(heads))[:-1]
        worst = int(np.argmin(change))
        if not change[worst] < -TIE:
            break
        kept.pop(worst)
    return kept


def keep_reached_rules(rules: Sequence[SimplifiedRule], n_rows: int) -> list[SimplifiedRule]:
    """Keep the rules that decide a row."""
    first, _ = _deciders(rules, n_rows)
    decides = np.bincount(first, minlength=len(rules) + 1) > 0
    return [rule for rule, does in zip(rules, decides[:-1], strict=True) if does]


def _deciders(rules: Sequence[SimplifiedRule], n_rows: int) -> tuple[Places, Places]:
    """Return the first and the second rule that covers each row; the default comes last."""
    first: Places = np.full(n_rows, len(rules), dtype=np.intp)
    second = first
    for i, rule in reversed([*enumerate(rules)]):
        second = np.where(rule.cover, first, second)
        first = np.where(rule.cover, i, first)
    return first, second
