"""DNF formulas over Boolean variables as plain tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.encoding import BooleanLiteral, PackedCovers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rulewright.kernels import BoolArray, StatArray

Term = tuple[BooleanLiteral, ...]
"""A conjunction; without literals it is true."""

DnfFormula = tuple[Term, ...]
"""A disjunction; without terms it is false."""

TRUE: DnfFormula = ((),)
FALSE: DnfFormula = ()


def term_cover(variables: PackedCovers, term: Term) -> BoolArray:
    """Return which rows satisfy the term, given the rows where each variable is true."""
    return variables.intersection(term).row_mask()


def formula_cover(variables: PackedCovers, formula: DnfFormula) -> BoolArray:
    """Return which rows satisfy at least one term of the formula."""
    covered = ~variables.all_rows(1, variables.n_rows)
    for term in formula:
        covered |= variables.intersection(term)
    return covered.row_mask()


def count_literals(formula: DnfFormula) -> int:
    """Return the number of literals."""
    return sum(map(len, formula))


def decode(terms: Iterable[Sequence[int]]) -> DnfFormula:
    """Convert literals of kernels (2 * variable, plus 1 if negated) to a formula."""
    return tuple(tuple((code // 2, code % 2 == 0) for code in term) for term in terms)


def drop_subsumed(formula: DnfFormula) -> DnfFormula:
    """Drop every term that has all literals of another; of equal terms keep the first."""
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


def simplify_formula(formula: DnfFormula, variables: PackedCovers, gains: StatArray) -> DnfFormula:
    """Drop terms and literals one by one, while the cost does not increase.

    Parameters
    ----------
    formula : DnfFormula
    variables : PackedCovers
        The rows where each variable is true.
    gains : int64 array
        Gain of covering each row: positive for positives, negative for negatives.
    """
    before: DnfFormula | None = None
    while formula != before:
        before = formula
        for t in reversed(range(len(formula))):
            others = formula[:t] + formula[t + 1 :]
            rest = ~formula_cover(variables, others)
            if gains[term_cover(variables, formula[t]) & rest].sum() <= 0:
                formula = others
            else:
                term = _shorten_term(formula[t], variables, np.where(rest, gains, 0))
                formula = (*formula[:t], term, *formula[t + 1 :])
    return drop_subsumed(formula)


def _shorten_term(term: Term, variables: PackedCovers, gains: StatArray) -> Term:
    """Drop the literals without which the gain of the term is at least as high."""
    best = gains[term_cover(variables, term)].sum()
    for literal in term:
        shorter = tuple(other for other in term if other != literal)
        gain = gains[term_cover(variables, shorter)].sum()
        if gain >= best:
            term, best = shorter, gain
    return term
