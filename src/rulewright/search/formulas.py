"""DNF formulas over Boolean variables as plain tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rulewright.kernels import BoolArray, StatArray

Literal = tuple[int, bool]
"""A variable, and whether it must be true."""

Term = tuple[Literal, ...]
"""A conjunction; without literals it is true."""

Formula = tuple[Term, ...]
"""A disjunction; without terms it is false."""

TRUE: Formula = ((),)
FALSE: Formula = ()


def term_cover(columns: BoolArray, term: Term) -> BoolArray:
    """Tell which rows satisfy the term, given the variables as lines of a matrix."""
    holds = np.ones(columns.shape[1], dtype=np.bool_)
    for variable, positive in term:
        holds &= columns[variable] == positive
    return holds


def formula_cover(columns: BoolArray, formula: Formula) -> BoolArray:
    """Tell which rows satisfy a term of the formula."""
    covered = np.zeros(columns.shape[1], dtype=np.bool_)
    for term in formula:
        covered |= term_cover(columns, term)
    return covered


def count_literals(formula: Formula) -> int:
    """Return the number of literals."""
    return sum(map(len, formula))


def decode(terms: Iterable[Sequence[int]]) -> Formula:
    """Turn literals as kernels write them (2 * variable, plus 1 if negated) into a formula."""
    return tuple(tuple((code // 2, code % 2 == 0) for code in term) for term in terms)


def without_subsumed(formula: Formula) -> Formula:
    """Drop every term that has all literals of another; of equal terms the first stays."""
    sets = [frozenset(term) for term in formula]
    return tuple(
        term
        for i, term in enumerate(formula)
        if not any(
            other < sets[i] or (other == sets[i] and j < i)
            for j, other in enumerate(sets)
            if j != i
        )
    )


def simplify(formula: Formula, columns: BoolArray, gains: StatArray) -> Formula:
    """Drop terms and literals, one at a time, as long as that costs nothing.

    Parameters
    ----------
    formula : Formula
    columns : Boolean array of shape (variables, rows)
    gains : int64 array
        What covering each row saves: positive for positives, negative for negatives.
    """
    before: Formula | None = None
    while formula != before:
        before = formula
        for t in reversed(range(len(formula))):
            others = formula[:t] + formula[t + 1 :]
            rest = ~formula_cover(columns, others)
            if gains[term_cover(columns, formula[t]) & rest].sum() <= 0:
                formula = others
            else:
                term = _shortened(formula[t], columns, np.where(rest, gains, 0))
                formula = (*formula[:t], term, *formula[t + 1 :])
    return without_subsumed(formula)


def _shortened(term: Term, columns: BoolArray, gains: StatArray) -> Term:
    """Drop the literals without which the term gains no less."""
    best = gains[term_cover(columns, term)].sum()
    for literal in term:
        shorter = tuple(other for other in term if other != literal)
        gain = gains[term_cover(columns, shorter)].sum()
        if gain >= best:
            term, best = shorter, gain
    return term
