import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from builders import SEEDS, random_columns
from rulewright import kernels
from rulewright.kernels import GROUP, Score

pytestmark = pytest.mark.native


@given(st.integers(0, 300), st.floats(0, 1), st.integers(0, 2**64 - 1))
def test_draws_equal_the_twin(n, share, seed):
    """Native and NumPy draw the same rows from the same seed."""
    size = int(share * n)
    native, twin = kernels.draw_rows(n, size, seed), reference.draw_rows(n, size, seed)
    np.testing.assert_array_equal(native.rows, twin.rows)
    np.testing.assert_array_equal(native.drawn, twin.drawn)


@given(st.integers(0, 300), st.floats(0, 1), SEEDS)
def test_a_draw_has_the_right_size_without_repeats(n, share, seed):
    """A draw is a sorted set of the size asked for."""
    size = int(share * n)
    rows, drawn = kernels.draw_rows(n, size, seed)
    assert np.array_equal(np.flatnonzero(drawn), rows)
    assert rows.dtype == np.uint32
    assert len(rows) == size
    assert np.all(np.diff(rows.astype(np.int64)) > 0)
    assert size == 0 or rows[-1] < n


def test_draws_are_uniform():
    """Every row, and every pair of rows, is drawn as often as any other."""
    n, size, times = 12, 5, 6000
    taken = np.zeros((times, n))
    for seed in range(times):
        taken[seed] = kernels.draw_rows(n, size, seed).drawn
    share = size / n
    assert np.abs(taken.mean(axis=0) - share).max() < 5 * math.sqrt(share * (1 - share) / times)
    pair = share * (size - 1) / (n - 1)
    pairs = (taken.T @ taken / times)[np.triu_indices(n, 1)]
    assert np.abs(pairs - pair).max() < 5 * math.sqrt(pair * (1 - pair) / times)


def test_draws_of_neighbouring_seeds_are_unrelated():
    """Two draws share as many rows as chance says, whether their seeds are near or far."""
    n, size, times = 40, 20, 3000
    taken = np.zeros((times, n))
    for seed in range(times):
        taken[seed] = kernels.draw_rows(n, size, seed).drawn
    for apart in (1, 2, 1024):
        shared = (taken[apart:] * taken[:-apart]).mean(axis=0)
        assert np.abs(shared - 0.25).max() < 5 * math.sqrt(0.25 * 0.75 / (times - apart))


@st.composite
def covers(draw):
    rng = np.random.default_rng(draw(SEEDS))
    n_columns = draw(st.integers(1, 2 * GROUP + 1))
    dtype = draw(st.sampled_from([np.uint8, np.uint16]))
    columns = random_columns(rng, draw(st.integers(0, 60)), n_columns, dtype=dtype)
    n_tests = draw(st.integers(0, 4))
    low = rng.integers(-1, 4, n_tests)
    parts = [
        rng.integers(0, n_columns, n_tests),
        low,
        low + rng.integers(-1, 7, n_tests),
        *rng.integers(-1, 6, (draw(st.integers(1, 4)), n_tests)),
    ]
    return columns, np.ascontiguousarray(np.transpose(parts), dtype=np.int32)


@given(covers())
def test_covers_equal_the_twin(case):
    """Any conjunction of tests covers the rows that the twin says."""
    columns, tests = case
    native = kernels.cover_rows(columns, tests)
    assert native.dtype == np.uint32
    np.testing.assert_array_equal(native, reference.cover_rows(columns, tests))


def test_a_test_keeps_codes_between_low_and_high_but_those_skipped():
    """The numbers of a test mean column, lowest, highest and excluded codes."""
    codes = np.zeros((1, 6, GROUP), dtype=np.uint8)
    codes[0, :, 0] = [0, 1, 2, 3, 4, 5]
    columns = kernels.CodeColumns(codes, np.array([5], np.int32), np.array([0], np.uint8))
    tests = np.array([[0, 1, 4, 2]], dtype=np.int32)
    assert kernels.cover_rows(columns, tests).tolist() == [1, 3, 4]
    tests = np.array([[0, 1, 4, 2, -1], [0, 0, 5, 0, 3]], dtype=np.int32)
    assert kernels.cover_rows(columns, tests).tolist() == [1, 4]
    assert kernels.cover_rows(columns, tests[:0]).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("n_rows", [4095, 4096, 4097, 13_000])
def test_threads_do_not_change_covers(n_rows):
    """Blocks of rows join to the same cover for any number of threads."""
    columns = random_columns(np.random.default_rng(1), n_rows, 5)
    tests = np.array([[0, 0, 3, 1], [3, 0, 2, -1]], dtype=np.int32)
    one = kernels.cover_rows(columns, tests, n_threads=1)
    np.testing.assert_array_equal(one, kernels.cover_rows(columns, tests, n_threads=2))
    np.testing.assert_array_equal(one, reference.cover_rows(columns, tests))


@given(covers(), SEEDS)
def test_prefix_sums_equal_the_twin(case, seed):
    """Sums after each test, on both sides of a split, are those of the twin."""
    columns, tests = case
    rng = np.random.default_rng(seed)
    stats = rng.integers(-(2**50), 2**50, (columns.n_rows, 5))
    side, first = rng.random(columns.n_rows) < 0.6, int(rng.integers(0, 4))
    for name in ("prefix_sums", "judged_sums", "failure_sums"):
        native, twin = (
            getattr(door, name)(columns, tests, stats, first, side) for door in (kernels, reference)
        )
        np.testing.assert_array_equal(native, twin)


def test_threads_do_not_change_prefix_sums():
    """Blocks of rows join to the same sums for any number of threads."""
    rng = np.random.default_rng(1)
    columns = random_columns(rng, 13_000, 5)
    tests = np.array([[0, 0, 3, 1], [3, 0, 2, -1]], dtype=np.int32)
    stats, side = rng.integers(0, 2**40, (13_000, 2)), rng.random(13_000) < 0.5
    for sums in (kernels.prefix_sums, kernels.judged_sums, kernels.failure_sums):
        one, two = (sums(columns, tests, stats, 0, side, n_threads) for n_threads in (1, 2))
        np.testing.assert_array_equal(one, two)
        assert one.sum() > 0


def prune(door, columns, tests, seed, n_threads=1):
    """Prune with statistics, worths and required columns drawn by the seed."""
    rng = np.random.default_rng(seed)
    n, p = columns.n_rows, len(columns.n_bins)
    stats = np.stack([rng.integers(-(2**40), 2**40, n), rng.integers(0, 2**40, n)], axis=1)
    score = Score("newton", unit=2.0**-38, l2=float(rng.integers(0, 2)), down=rng.random() < 0.5)
    worth, required = rng.normal(size=p), (rng.random(p) < 0.2).astype(np.uint8)
    side, least = rng.random(n) < 0.5, float(rng.normal() / 2)
    split = stats, score, side
    places = door.prune_tests(columns, tests, *split, worth, required, least, n_threads)
    return places, worth


@given(covers(), SEEDS)
def test_pruned_tests_equal_the_twin(case, seed):
    """The same tests stay, and columns have the same worth, to the bit."""
    (native, worth), (twin, expected) = (prune(door, *case, seed) for door in (kernels, reference))
    np.testing.assert_array_equal(native, twin)
    np.testing.assert_array_equal(worth, expected)


@given(SEEDS)
def test_of_many_tests_the_first_can_go(seed):
    """More tests than twelve are pruned like the twin prunes them: those beyond stay."""
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, 50, 5)
    tests = np.zeros((20, 4), dtype=np.int32)
    tests[:, 0], tests[:, 2], tests[:, 3] = rng.integers(0, 5, 20), 99, -1
    tests[rng.integers(0, 20, 5), 1] = 1
    (native, worth), (twin, expected) = (
        prune(door, columns, tests, seed) for door in (kernels, reference)
    )
    np.testing.assert_array_equal(native, twin)
    np.testing.assert_array_equal(worth, expected)
    assert not len(native) or set(range(12, 20)) <= set(native.tolist())


def test_threads_do_not_change_pruned_tests():
    """Blocks of rows join to the same sums for any number of threads."""
    columns = random_columns(np.random.default_rng(1), 13_000, 5)
    tests = np.array([[0, 0, 3, 1], [3, 0, 2, -1], [1, 1, 9, -1]], dtype=np.int32)
    for seed in range(10):
        one, two = (prune(kernels, columns, tests, seed, n_threads) for n_threads in (1, 2))
        np.testing.assert_array_equal(one[0], two[0])
        np.testing.assert_array_equal(one[1], two[1])


@given(st.integers(0, 200), st.integers(1, 4), st.floats(0, 1), SEEDS)
def test_splits_by_weight_equal_the_twin(n, n_strata, share, seed):
    """Native and NumPy take the same rows from the same seed."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, rng.choice([3, 2**50]), n)
    strata = rng.integers(0, n_strata, n).astype(np.int32)
    native = kernels.split_by_weight(weights, strata, share, seed)
    np.testing.assert_array_equal(native, reference.split_by_weight(weights, strata, share, seed))


def test_splits_of_many_rows_equal_the_twin():
    """Most rows are decided by the bucket of their key, the others by sorting."""
    rng = np.random.default_rng(0)
    weights, strata = rng.integers(1, 2**40, 30_000), rng.integers(0, 2, 30_000).astype(np.int32)
    native = kernels.split_by_weight(weights, strata, 2 / 3, 7)
    np.testing.assert_array_equal(native, reference.split_by_weight(weights, strata, 2 / 3, 7))


@given(st.integers(1, 200), st.floats(0.05, 0.95), SEEDS)
def test_a_split_holds_its_share_within_one_row(n, share, seed):
    """Each stratum misses its share by at most half its heaviest row (T11)."""
    rng = np.random.default_rng(seed)
    weights, strata = rng.integers(1, 10**9, n), rng.integers(0, 2, n).astype(np.int32)
    taken = kernels.split_by_weight(weights, strata, share, seed)
    for stratum in np.unique(strata):
        inside = weights[strata == stratum]
        held = weights[taken & (strata == stratum)].sum()
        assert abs(held - share * inside.sum()) <= inside.max() / 2 + 1


def test_splits_by_weight_are_uniform():
    """Rows of equal weight are taken equally often, whichever their place."""
    weights, strata = np.ones(9, dtype=np.int64), np.zeros(9, dtype=np.int32)
    times = 4000
    taken = np.array([kernels.split_by_weight(weights, strata, 2 / 3, s) for s in range(times)])
    assert np.all(taken.sum(axis=1) == 6)
    assert np.abs(taken.mean(axis=0) - 2 / 3).max() < 5 * math.sqrt(2 / 9 / times)
