"""Canonical rule sets: what they merge, what they keep, and how they are written again."""

from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.builders import nominal, numeric, table
from rulewright.encoding.booleans import encode_booleans
from rulewright.encoding.canonical import (
    FALSE,
    TRUE,
    canonical_rule_set,
    canonical_term,
    covers,
    domain_sizes,
    drop_covered_terms,
    rule_set_conjunctions,
    term_conjunction,
    term_length,
    term_literals,
)
from rulewright.rules import Contradiction


def nominal_encoding(*sizes):
    """Encode all combinations of values of nominal attributes of these sizes."""
    rows = list(product(*(range(size) for size in sizes)))
    columns = [
        nominal([row[j] for row in rows], f"a{j}", tuple("abcdefgh"[:size]))
        for j, size in enumerate(sizes)
    ]
    drawn = table(*columns)
    return encode_booleans(drawn, missing="value")[0], drawn


def mixed_encoding(thresholds=False):
    """Encode a nominal column with missing values and a numeric one."""
    rng = np.random.default_rng(3)
    drawn = table(
        nominal(rng.integers(-1, 3, 80)),
        numeric(np.where(rng.random(80) < 0.2, np.nan, rng.normal(size=80)), "b"),
    )
    options = {"missing": "value", "n_bins": 4, "thresholds": thresholds}
    return encode_booleans(drawn, **options)[0], drawn


def random_formula(seed, encoding, max_terms=4, max_literals=5):
    """Draw terms over the variables of an encoding; variables may come twice in a term."""
    rng = np.random.default_rng(seed)
    return tuple(
        tuple(
            (int(rng.integers(len(encoding))), bool(rng.integers(2)))
            for _ in range(rng.integers(0, max_literals + 1))
        )
        for _ in range(rng.integers(0, max_terms + 1))
    )


def holds(conjunctions, rows):
    """Tell which rows satisfy one of the conjunctions."""
    covered = np.zeros(len(rows), dtype=bool)
    for conjunction in conjunctions:
        covered |= conjunction.holds(rows)
    return covered


def sampled_covers(encoding, formula, rows):
    """Tell which rows satisfy a formula as it was drawn."""
    found = []
    for term in formula:
        try:
            found.append(encoding.conjunction(term))
        except Contradiction:
            continue
    return holds(found, rows)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_terms_express_all_non_empty_subsets(size):
    """All sets of literals on d values give exactly 2^d - 1 canonical terms (I12)."""
    encoding, _ = nominal_encoding(size)
    literals = list(product(range(len(encoding)), (True, False)))
    subsets = chain.from_iterable(combinations(literals, n) for n in range(len(literals) + 1))
    found = {canonical_term(encoding, subset) for subset in subsets} - {None}
    assert len(found) == 2**size - 1


def test_an_attribute_of_one_value_has_no_condition():
    """A constant column is no attribute, so its only canonical term is TRUE (I12, d = 1)."""
    encoding, _ = nominal_encoding(1, 2)
    assert domain_sizes(encoding) == (2,)


@pytest.mark.parametrize("thresholds", [False, True])
@given(seed=st.integers(0, 2**32 - 1))
def test_canonical_rule_sets_cover_the_same_training_rows(thresholds, seed):
    """Making a formula canonical and writing it out again changes no training row."""
    encoding, rows = mixed_encoding(thresholds)
    formula = random_formula(seed, encoding)
    rule_set = canonical_rule_set(encoding, formula)
    again = rule_set_conjunctions(encoding, rule_set)
    assert np.array_equal(holds(again, rows), sampled_covers(encoding, formula, rows))


@given(seed=st.integers(0, 2**32 - 1))
def test_canonical_form_is_a_fixed_point(seed):
    """Literals of a canonical rule set give the same rule set, in any order."""
    encoding, _ = mixed_encoding(thresholds=True)
    rule_set = canonical_rule_set(encoding, random_formula(seed, encoding))
    written = [term_literals(encoding, term)[::-1] for term in reversed(rule_set)]
    assert canonical_rule_set(encoding, written) == rule_set
    assert list(rule_set) == sorted(rule_set)


@given(seed=st.integers(0, 2**32 - 1))
def test_no_term_covers_another(seed):
    """Of two terms one of which allows all that the other does, only that one is left."""
    encoding, _ = nominal_encoding(3, 2, 2)
    rule_set = canonical_rule_set(encoding, random_formula(seed, encoding, 6, 2))
    for one, other in combinations(rule_set, 2):
        assert not covers(one, other)
        assert not covers(other, one)


@given(seed=st.integers(0, 2**32 - 1))
def test_covering_is_inclusion_of_rows(seed):
    """On all combinations of values, a term covers another just if it holds wherever that does."""
    encoding, rows = nominal_encoding(3, 2, 2)
    drawn = [canonical_term(encoding, term) for term in random_formula(seed, encoding, 4, 3)]
    for one, other in combinations([term for term in drawn if term is not None], 2):
        general = term_conjunction(encoding, one).holds(rows)
        special = term_conjunction(encoding, other).holds(rows)
        assert covers(one, other) == bool((general | ~special).all())


def test_literals_are_the_fewest():
    """A single value takes one literal, several take the opposite of each other value."""
    encoding, _ = nominal_encoding(4)
    one, three, two = ((0, 0b0100),), ((0, 0b1011),), ((0, 0b0101),)
    assert str(term_conjunction(encoding, one)) == "a0 = c"
    assert str(term_conjunction(encoding, three)) == "a0 != c (or missing)"
    assert [len(term_literals(encoding, term)) for term in (one, three, two)] == [1, 1, 2]
    assert [term_length((4,), term) for term in (one, three, two)] == [1, 1, 2]


def test_length_counts_the_fewest_literals():
    """The length is the least number of literals found by trying all sets of them."""
    encoding, _ = nominal_encoding(4)
    literals = list(product(range(len(encoding)), (True, False)))
    least = {}
    for n in range(5):
        for subset in combinations(literals, n):
            least.setdefault(canonical_term(encoding, subset), n)
    del least[None]
    assert {term: term_length((4,), term) for term in least} == least


def test_true_and_false():
    """An empty term covers all others; terms that allow nothing leave FALSE."""
    encoding, _ = nominal_encoding(3, 2)
    assert canonical_rule_set(encoding, [[(0, True)], []]) == TRUE
    assert canonical_rule_set(encoding, [[(0, True), (1, True)]]) == FALSE
    assert canonical_rule_set(encoding, []) == FALSE
    assert drop_covered_terms([(), ((0, 1),)]) == TRUE


def test_equal_conditions_become_one_term():
    """``a0 = c`` is the same as neither ``a`` nor ``b``."""
    encoding, _ = nominal_encoding(3)
    formula = [[(2, True)], [(0, False), (1, False)]]
    assert len(canonical_rule_set(encoding, formula)) == 1


def test_values_without_literals_are_an_error():
    """A set of values that the variables cannot tell apart is named."""
    rows = table(nominal([0, 1, 2], "a0", tuple("abc")), nominal([0, 1, 1], "b", tuple("pq")))
    whole, _ = encode_booleans(rows, missing="value")
    without_last = type(whole)(whole.attributes, whole.variables[:1])
    with pytest.raises(ValueError, match="values 10 of attribute 0"):
        term_literals(without_last, ((0, 0b010),))
