"""Canonical rule sets: one form for all formulas that allow the same values of every attribute.

A term over Boolean features allows some values of each attribute's domain: the value itself for
``a = v``, all others for its negation, and the intersection for several literals. So a canonical
term stores, for each attribute that it restricts, the non-empty set of allowed values as the bits
of an integer; the set of all values is no condition. A canonical rule set is the sorted tuple of
its terms, without terms covered by another and without contradictory terms: ``()`` is FALSE,
``((),)`` is TRUE.

Equal canonical rule sets agree on all rows with values in the domains. `term_literals` makes a
fixed choice of literals for each canonical term, so they agree on all other rows, too.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rulewright.encoding.booleans import Boolean, BooleanEncoding, BooleanLiteral
    from rulewright.rules import Conjunction

CanonicalTerm = tuple[tuple[int, int], ...]
"""Ascending pairs (attribute, allowed values): value i is allowed where bit i is 1."""

CanonicalRuleSet = tuple[CanonicalTerm, ...]
"""Ascending canonical terms, none of which covers another."""

TRUE: CanonicalRuleSet = ((),)
FALSE: CanonicalRuleSet = ()


def domain_sizes(encoding: BooleanEncoding) -> tuple[int, ...]:
    """Return the number of values of each attribute."""
    return tuple(attribute.size for attribute in encoding.attributes)


def canonical_term(
    encoding: BooleanEncoding, term: Iterable[BooleanLiteral]
) -> CanonicalTerm | None:
    """Return the canonical form of a conjunction of literals, None if it allows no value."""
    allowed: dict[int, int] = {}
    for literal in term:
        attribute = encoding.variables[literal[0]].attribute
        values = allowed_values(encoding, literal)
        allowed[attribute] = allowed.get(attribute, values) & values
    # No literal allows all values, because constant features were dropped.
    return tuple(sorted(allowed.items())) if all(allowed.values()) else None


def canonical_rule_set(
    encoding: BooleanEncoding, formula: Iterable[Iterable[BooleanLiteral]]
) -> CanonicalRuleSet:
    """Return the canonical form of a formula in disjunctive normal form."""
    terms = {canonical_term(encoding, term) for term in formula}
    return drop_covered_terms(term for term in terms if term is not None)


def drop_covered_terms(terms: Iterable[CanonicalTerm]) -> CanonicalRuleSet:
    """Sort and deduplicate terms, and drop terms covered by another one."""
    found = sorted(set(terms))
    return tuple(
        term for term in found if not any(other != term and covers(other, term) for other in found)
    )


def covers(general: CanonicalTerm, special: CanonicalTerm) -> bool:
    """Return whether the first term allows everything that the second one allows."""
    allowed = dict(special)
    return all(a in allowed and allowed[a] & ~values == 0 for a, values in general)


def allowed_values(encoding: BooleanEncoding, literal: BooleanLiteral) -> int:
    """Return the values of its attribute that a literal allows, as bits."""
    variable = encoding.variables[literal[0]]
    yes = _values_of(variable)
    return yes if literal[1] else _all_values(encoding, variable.attribute) & ~yes


def term_literals(encoding: BooleanEncoding, term: CanonicalTerm) -> tuple[BooleanLiteral, ...]:
    """Write a canonical term with few literals, always the same ones."""
    return tuple(
        literal for a, values in term for literal in _literals_of_values(encoding, a, values)
    )


def term_conjunction(encoding: BooleanEncoding, term: CanonicalTerm) -> Conjunction:
    """Write a canonical term as conditions on columns."""
    return encoding.conjunction(term_literals(encoding, term))


def rule_set_conjunctions(
    encoding: BooleanEncoding, rule_set: CanonicalRuleSet
) -> tuple[Conjunction, ...]:
    """Write a canonical rule set as conditions on columns."""
    return tuple(term_conjunction(encoding, term) for term in rule_set)


def term_length(sizes: Sequence[int], term: CanonicalTerm) -> int:
    """Return the minimum number of literals ``a = v`` and ``a != v`` of a term."""
    return sum(
        1 if values.bit_count() == 1 else sizes[a] - values.bit_count() for a, values in term
    )


def _values_of(variable: Boolean) -> int:
    return sum(1 << value for value in variable.values)


def _all_values(encoding: BooleanEncoding, attribute: int) -> int:
    return (1 << encoding.attributes[attribute].size) - 1


def _literals_of_values(
    encoding: BooleanEncoding, attribute: int, values: int
) -> Iterator[BooleanLiteral]:
    """Pick literals greedily: each must exclude some value, the most exclusive first."""
    left = _all_values(encoding, attribute) & ~values
    excluded = {
        (j, positive): left & ~yes if positive else yes
        for j, yes in _questions_of(encoding, attribute)
        for positive in (True, False)
        if values & yes == (values if positive else 0)
    }
    if reduce(or_, excluded.values(), 0) != left:
        raise ValueError(f"no literals allow the values {values:b} of attribute {attribute} alone")
    # Ties: features before their negations, in the order of the features.
    for literal in sorted(excluded, key=lambda item: (-excluded[item].bit_count(), not item[1])):
        if excluded[literal] & left:
            yield literal
            left &= ~excluded[literal]


def _questions_of(encoding: BooleanEncoding, attribute: int) -> list[tuple[int, int]]:
    """Return the features of an attribute, each with its true values."""
    variables = enumerate(encoding.variables)
    return [(j, _values_of(v)) for j, v in variables if v.attribute == attribute]
