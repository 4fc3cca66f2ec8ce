import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import SEEDS
from rulewright.bounds import block_size_bound, randomsearch_success
from rulewright.search import dnf_covers, find_consistent_dnf


def planted(seed, n_rows=12, n_variables=5):
    """Draw distinct rows that two terms explain; both classes are there."""
    rng = np.random.default_rng(seed)
    X = np.unique(rng.random((n_rows, n_variables)) < 0.5, axis=0)
    rng.shuffle(X)
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & ~X[:, 3])
    return X, y


@given(SEEDS, st.integers(1, 4), st.booleans(), st.booleans())
def test_a_found_formula_makes_no_error(seed, k, break_symmetry, generalise):
    """What is found has at most k terms, covers all positives and no negative."""
    rng = np.random.default_rng(seed)
    X, y = rng.random((14, 6)) < 0.5, rng.random(14) < 0.5
    result = find_consistent_dnf(
        X,
        y,
        k,
        max_restarts=50,
        break_symmetry=break_symmetry,
        generalise=generalise,
        random_state=seed,
    )
    assert (result.formula is not None) == (result.status == "FOUND")
    if result.formula is not None:
        assert result.guaranteed
        assert len(result.formula) <= k
        np.testing.assert_array_equal(dnf_covers(X, result.formula), y)
    if result.status == "NOT_FOUND" and break_symmetry:
        assert not result.guaranteed


@given(SEEDS)
def test_generalised_terms_have_no_literal_to_spare(seed):
    """After generalisation every literal keeps a negative out."""
    X, y = planted(seed)
    formula = find_consistent_dnf(X, y, 2, generalise=True, random_state=seed).formula
    for term in formula or ():
        for literal in term if (~y).any() else ():
            shorter = (tuple(other for other in term if other != literal),)
            assert dnf_covers(X[~y], shorter).any()


def test_planted_formulas_are_found_with_the_confidence_asked_for():
    """With delta = 1/1000 two planted terms are found in at least 99 of 100 problems."""
    found = 0
    for seed in range(100):
        X, y = planted(seed)
        result = find_consistent_dnf(X, y, 2, delta=1e-3, max_restarts=10**5, random_state=seed)
        found += result.status == "FOUND"
    assert found >= 99


def test_a_single_restart_succeeds_as_often_as_the_bound_says():
    """The share of restarts that succeed is not below the bound of their probability."""
    checked = 0
    for seed in range(30):
        X, y = planted(seed, n_rows=10)
        size = block_size_bound(X[y], X[~y]).value if 2 <= y.sum() < len(y) else 0
        if not size:
            continue
        times = 100
        found = sum(
            find_consistent_dnf(X, y, 2, max_restarts=1, random_state=r).status == "FOUND"
            for r in range(times)
        )
        tau = randomsearch_success(int(y.sum()), 2, size).value
        assert found / times >= tau - 4 * math.sqrt(tau * (1 - tau) / times)
        checked += 1
    assert checked > 10


def infeasible():
    """Give rows for which two terms are too few: parity of three variables."""
    X = np.array(list(itertools.product([0, 1], repeat=3)))
    return X, X.sum(axis=1) % 2 == 1


def test_not_found_says_what_it_is_worth():
    """Enough restarts bring the delta asked for; fewer bring a larger one and no guarantee."""
    X, y = infeasible()
    enough = find_consistent_dnf(X, y, 2, delta=0.01, random_state=0)
    assert (enough.status, enough.guaranteed) == ("NOT_FOUND", True)
    assert enough.delta <= 0.01
    assert enough.restarts == math.ceil(math.exp(enough.ln_restarts_needed))
    few = find_consistent_dnf(X, y, 2, delta=0.01, max_restarts=3, random_state=0)
    assert (few.status, few.guaranteed, few.restarts) == ("NOT_FOUND", False, 3)
    assert 0.01 < few.delta < 1
    assert find_consistent_dnf(X, y, 4, random_state=0).status == "FOUND"


def test_what_needs_no_search_is_settled_at_once():
    """Contradictions, single classes and single terms have a certain answer."""
    X = np.array([[0, 1], [1, 1], [0, 1], [1, 0]])
    clash = find_consistent_dnf(X, [1, 1, 0, 0], 2)
    assert (clash.status, clash.contradictions) == ("CONTRADICTORY", ((0, 2),))
    assert find_consistent_dnf(X, [1, 1, 1, 1], 2).formula == ((),)
    assert find_consistent_dnf(X, [0, 0, 0, 0], 2).formula == ()
    one = find_consistent_dnf(X, [1, 1, 1, 0], 1)
    assert (one.status, one.formula) == ("FOUND", (((1, True),),))
    none = find_consistent_dnf(*infeasible(), 1)
    assert (none.status, none.guaranteed, none.restarts) == ("PROVEN_INFEASIBLE", True, 0)


@given(SEEDS)
def test_threads_and_packing_change_nothing(seed):
    """The same seed gives the same result on two threads and for repeated rows of packed bits."""
    X, y = planted(seed)
    result = find_consistent_dnf(X, y, 2, max_restarts=40, random_state=seed)
    assert find_consistent_dnf(X, y, 2, max_restarts=40, random_state=seed, n_jobs=2) == result
    twice, labels = np.vstack([X, X]), np.concatenate([y, y])
    padded = np.zeros((X.shape[1], 64), np.bool_)
    padded[:, : len(twice)] = twice.T
    bits = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    assert find_consistent_dnf(bits, labels, 2, max_restarts=40, random_state=seed) == result


def test_a_time_limit_and_a_callback_end_the_search():
    """A search with a large budget stops when it is told to, and says why."""
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 12)) < 0.5, rng.random(300) < 0.5
    _, first = np.unique(X, axis=0, return_index=True)
    X, y = X[first], y[first]
    start = time.monotonic()
    late = find_consistent_dnf(X, y, 3, max_restarts=10**9, time_limit=0.1, random_state=0)
    told = find_consistent_dnf(
        X, y, 3, max_restarts=10**9, random_state=0, progress=lambda done, best: True
    )
    assert time.monotonic() - start < 10
    assert (late.status, late.stop_reason, late.guaranteed) == ("NOT_FOUND", "time", False)
    assert told.stop_reason == "cancelled"


@pytest.mark.parametrize(("name", "value"), [("k", 0), ("max_restarts", 0), ("delta", 1.0)])
def test_bad_arguments_are_named(name, value):
    """An error says which argument cannot be used."""
    with pytest.raises(ValueError, match=name):
        find_consistent_dnf(**{"X": np.eye(3), "y": [1, 0, 0], "k": 1, name: value})
