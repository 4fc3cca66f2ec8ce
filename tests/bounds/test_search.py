import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import SEEDS
from rulewright import bounds as b


def random_problem(seed, n_positives, n_negatives, n_variables):
    """Give distinct Boolean rows, no positive one among the negative."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(2**n_variables)[: n_positives + n_negatives]
    bits = rows[:, None] >> np.arange(n_variables) & 1
    return bits[:n_positives], bits[n_positives:]


def covers_one_of(group, negatives):
    """Tell whether the common literals of a group of rows hold on some negative row."""
    common = (group == group[0]).all(axis=0)
    return bool((negatives[:, common] == group[0, common]).all(axis=1).any())


def largest_block(positives, negatives):
    """Find the largest least set whose common literals cover a negative row, by trying all."""
    n, covering, largest = len(positives), set(), 0
    for size in range(1, n + 1):
        for group in combinations(range(n), size):
            parts = (group[:i] + group[i + 1 :] for i in range(size))
            if any(part in covering for part in parts):
                covering.add(group)
            elif covers_one_of(positives[list(group)], negatives):
                covering.add(group)
                largest = size
    return largest


def success_probability(positives, negatives, k):
    """Compute the chance of one call of the randomised search, over all orders and choices."""

    def finish(order, terms):
        if not order:
            return 1.0
        new = [
            [*terms[:i], [*terms[i], order[0]], *terms[i + 1 :]]
            for i in range(k)
            if not terms[i] or not covers_one_of(positives[[*terms[i], order[0]]], negatives)
        ]
        return sum(finish(order[1:], choice) for choice in new) / max(len(new), 1)

    orders = list(permutations(range(len(positives))))
    return sum(finish(order, [[]] * k) for order in orders) / len(orders)


@given(SEEDS, st.integers(1, 7), st.integers(0, 6), st.integers(4, 7))
def test_no_block_is_larger_than_the_bound(seed, n_positives, n_negatives, n_variables):
    """Brute force over all sets of positive rows finds no larger block (B13)."""
    rows = random_problem(seed, n_positives, n_negatives, n_variables)
    largest = largest_block(*rows)
    bound = b.block_size_bound(*rows)
    assert largest <= bound.value <= b.block_size_bound(*rows, pairs=False).value <= n_positives
    assert bound.certified


@given(SEEDS, st.integers(2, 9), st.integers(1, 6))
def test_block_size_is_its_formula(seed, n_positives, n_negatives):
    """The three parts equal loops over Hamming distances and agreements of three (B13)."""
    held, denied = random_problem(seed, n_positives, n_negatives, 5)
    terms = b.block_size_bound(held, denied).terms
    assert terms["distance"] == 1 + max((p != x).sum() for p in held for x in denied)
    assert terms["pairs"] == max(
        5 + 2 - (p != q).sum() - ((p == q) & (p == x)).sum()
        for p, q in combinations(held, 2)
        for x in denied
    )


def test_many_rows_are_looked_at_in_parts():
    """More rows than fit one product give the formula too."""
    rng = np.random.default_rng(1)
    held, denied = rng.random((700, 40)) < 0.5, rng.random((3, 40)) < 0.5
    differs = (held != denied[:, None]).astype(np.int64)
    shared = differs @ differs.transpose(0, 2, 1)
    shared[:, np.arange(700), np.arange(700)] = 0
    assert b.block_size_bound(held, denied).terms["pairs"] == 2 + shared.max()


def test_block_size_at_its_edges():
    """Nothing to tell apart makes no block; a shared row breaks the condition."""
    none, one = np.zeros((0, 3)), np.ones((1, 3))
    assert b.block_size_bound(none, one).value == b.block_size_bound(one, none).value == 0
    assert b.block_size_bound(one, 0 * one).value == 1
    assert not b.block_size_bound(one, one).certified
    with pytest.raises(ValueError, match="variables"):
        b.block_size_bound(one, np.ones((1, 2)))
    with pytest.raises(ValueError, match="negatives"):
        b.block_size_bound(one, [[0, 1, math.nan]])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("k", [2, 3])
def test_one_call_succeeds_at_least_that_often(seed, k):
    """The exact chance of a call on a solvable problem is above the bound (B12)."""
    rows = random_problem(seed, 5, 4, 4)
    chance = success_probability(*rows, k)
    if chance > 0:
        size = b.block_size_bound(*rows).value
        assert chance >= b.randomsearch_success(5, k, size).value
        assert chance >= b.randomsearch_success(5, k, max(largest_block(*rows), 2)).value


def test_success_falls_with_rows_and_blocks():
    """One term always succeeds; more rows or larger blocks make it rarer (B12)."""
    assert b.randomsearch_success(50, 1, 10).value == 1
    for values in (
        [b.randomsearch_success(n, 3, 6).value for n in (0, 1, 5, 40)],
        [b.randomsearch_success(20, 3, size).value for size in (2, 3, 10, 20)],
    ):
        assert values == sorted(set(values), reverse=True)
    assert b.randomsearch_success(20, 3, 0).value == b.randomsearch_success(20, 3, 2).value
    assert b.randomsearch_success(10, 2, 3).value == pytest.approx(2**-7.5)


def test_restarts_reach_delta():
    """That many calls miss with probability delta at most, one fewer would not be promised."""
    terms = b.randomsearch_success(8, 2, 4, 0.01).terms
    tau = math.exp(terms["ln_success"])
    assert terms["restarts"] == math.ceil(math.log(100) / tau)
    assert (1 - tau) ** terms["restarts"] <= 0.01


def test_restarts_beyond_every_float_are_reported_in_logarithms():
    """The number is infinite, its logarithm is not, and the bound calls itself vacuous."""
    bound = b.randomsearch_success(10**4, 5, 50)
    assert bound.terms["restarts"] == math.inf
    assert bound.terms["ln_restarts"] == pytest.approx(
        math.log(math.log(20)) - bound.terms["ln_success"]
    )
    assert bound.vacuous


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((-1, 2, 3), "n_positives"), ((5, 0, 3), "k"), ((5, 2, -1), "block_size"),
     ((5, 2, math.nan), "block_size"), ((5, 2, 3, 0.0), "delta")],
)  # fmt: skip
def test_bad_numbers_are_refused_by_name(arguments, name):
    """Each argument of the success bound is checked."""
    with pytest.raises(ValueError, match=name):
        b.randomsearch_success(*arguments)
