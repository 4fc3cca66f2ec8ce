"""Formulas that a text would repeat: named once, its length stays in proportion to the model."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rulewright.rules import And, Or

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rulewright.rules import Formula

MAX_SHARED, MIN_CHARACTERS = 400, 50_000
"""Databases limit the columns of a step, and few repetitions are easier to read than a column."""


def find_repeated(uses: Iterable[tuple[Formula, int]]) -> dict[int, tuple[Formula, int]]:
    """Give the formulas, and parts of formulas, that are used more than once.

    Parameters
    ----------
    uses : iterable of pairs of a formula and a number
        Formulas without "not", and how often each is used here.

    Returns
    -------
    dict from the identity of a formula to it and the number of uses
        Parts come before what they are part of.
    """
    times: Counter[int] = Counter()
    found: dict[int, Formula] = {}

    def visit(formula: Formula, n: int) -> None:
        times[id(formula)] += n
        if id(formula) not in found:
            for part in formula.parts if isinstance(formula, And | Or) else ():
                visit(part, 1)
            found[id(formula)] = formula

    for formula, n in uses:
        visit(formula, n)
    return {key: (formula, times[key]) for key, formula in found.items() if times[key] > 1}


def find_long_repeated(
    uses: Iterable[tuple[Formula, int]], length: Callable[[Formula], int]
) -> list[Formula]:
    """Give the repeated formulas whose repetitions are longest, parts before wholes.

    Parameters
    ----------
    uses : iterable of pairs of a formula and a number
        Formulas without "not", and how often the text has each.
    length : function
        Gives the length of the text of a conjunction.
    """
    known: dict[int, int] = {}

    def size(formula: Formula) -> int:
        if id(formula) not in known:
            if isinstance(formula, And | Or):
                known[id(formula)] = sum(size(part) for part in formula.parts)
            else:
                known[id(formula)] = length(formula)
        return known[id(formula)]

    found = find_repeated(uses)
    costs = {key: (n - 1) * size(formula) for key, (formula, n) in found.items()}
    large = sorted((key for key in costs if costs[key] > MIN_CHARACTERS), key=lambda k: -costs[k])
    chosen = set(large[:MAX_SHARED])
    return [formula for key, (formula, _) in found.items() if key in chosen]
