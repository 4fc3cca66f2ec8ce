"""The search among the rows of a partition, step by step: kernel = twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from builders import SEEDS, random_columns
from rulewright.kernels import (
    GROUP,
    ROW,
    STAT,
    BlockSearch,
    Lanes,
)

pytestmark = pytest.mark.native


def drawn_starts(rng, n_rows, n_blocks):
    """Cut rows into blocks, some of them empty."""
    cuts = np.sort(rng.integers(0, n_rows + 1, size=n_blocks - 1))
    return np.concatenate([[0], cuts, [n_rows]]).astype(STAT)


@given(SEEDS, st.integers(1, 3), st.sampled_from([np.uint8, np.uint16]), st.booleans())
def test_histograms_are_those_of_the_twin(seed, n_lanes, dtype, keeps_roots):
    """After any changes, every step of a search counts the rows that are left."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(0, 60))
    columns = random_columns(rng, n_rows, int(rng.integers(1, 20)), dtype=dtype)
    stats = rng.integers(-(2**40), 2**40, size=(n_rows, n_lanes)).astype(STAT)
    given_ = columns, stats, drawn_starts(rng, n_rows, 5), keeps_roots
    ours, twin = BlockSearch(*given_), reference.BlockSearch(*given_)
    for _ in range(3):
        first = int(rng.integers(n_lanes))
        n = int(rng.integers(1, n_lanes - first + 1))
        lanes = Lanes(first, n, bool(first + n < n_lanes and rng.random() < 0.5))
        start = rng.random(5) < 0.6, lanes
        np.testing.assert_array_equal(ours.start(*start), twin.start(*start))
        for _ in range(3):
            column = int(rng.integers(len(columns.n_bins)))
            test = (column, *(int(code) for code in rng.integers(-1, 7, size=rng.integers(3, 6))))
            np.testing.assert_array_equal(ours.narrow(test), twin.narrow(test))
        rows = np.flatnonzero(rng.random(n_rows) < 0.4).astype(ROW)
        with ours.following(rows):
            stats[rows] = stats[rows[::-1]]


@pytest.mark.parametrize("keeps_roots", [False, True])
def test_many_rows_with_small_numbers_are_counted_exactly(keeps_roots):
    """Blocks so large that two sums share a word have the histograms of the twin."""
    rng = np.random.default_rng(0)
    n_rows = 12_000
    columns = random_columns(rng, n_rows, GROUP + 3, 200)
    stats = rng.integers(-(2**19), 2**19, size=(n_rows, 2)).astype(STAT)
    given_ = columns, stats, np.array([0, 5000, 5000, n_rows], STAT), keeps_roots
    ours, twin = BlockSearch(*given_), reference.BlockSearch(*given_)
    rows = np.arange(0, n_rows, 2, dtype=ROW)
    with ours.following(rows):
        stats[rows] = stats[rows[::-1]]
    start = np.array([True, False, True]), Lanes(0, 2, False)
    np.testing.assert_array_equal(ours.start(*start), twin.start(*start))
    for test in ((0, 20, 200, 30), (GROUP, 0, 60, -1)):
        np.testing.assert_array_equal(ours.narrow(test), twin.narrow(test))


def test_bad_input_is_refused():
    """Blocks, lanes, rows and tests that do not belong to the rows never reach the kernel."""
    rng = np.random.default_rng(0)
    columns, stats = random_columns(rng, 10, 3), np.ones((10, 2), dtype=STAT)
    starts = np.array([0, 4, 10], dtype=STAT)
    for bad in (starts[::-1].copy(), starts + 1, starts[:1], starts[:2]):
        with pytest.raises(ValueError, match=r"start|blocks"):
            BlockSearch(columns, stats, bad, True)
    with pytest.raises(ValueError, match="differ in rows"):
        BlockSearch(columns, stats[:9], starts, True)
    search, both = BlockSearch(columns, stats, starts, True), np.ones(2, np.bool_)
    for lanes in ((0, 3, False), (1, 2, False), (0, 0, False), (0, 2, True)):
        with pytest.raises(ValueError, match="lane"):
            search.start(both, Lanes(*lanes))
    with pytest.raises(ValueError, match="more or fewer blocks"):
        search.start(np.ones(3, np.bool_), Lanes(0, 2, False))
    for column in (-1, 3):
        with pytest.raises(ValueError, match="column"):
            search.narrow((column, 0, 1, -1))
    with pytest.raises(ValueError, match="four numbers"):
        search.narrow((0, 0, 1))
    with pytest.raises(ValueError, match="ascend"), search.following(np.array([2, 1], ROW)):
        pass
    other = random_columns(rng, 11, 3).native
    with pytest.raises(ValueError, match="not the rows"):
        search.native.narrow(other, stats, [0, 0, 1, -1])
