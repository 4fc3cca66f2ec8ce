"""Count and refine of rows in partitions: kernel = twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import SEEDS, random_columns
from rulewright import kernels
from rulewright.kernels import ROW, STAT, Gathered, _core, reference

pytestmark = pytest.mark.native


def drawn(rng, n_rows, n_lanes, dtype):
    """Make columns and some of their rows, a few of them twice, with statistics."""
    columns = random_columns(rng, n_rows, int(rng.integers(1, 20)), dtype=dtype)
    rows = rng.integers(0, n_rows, size=int(rng.integers(0, 2 * n_rows))).astype(ROW)
    stats = rng.integers(-(2**40), 2**40, size=(len(rows), n_lanes)).astype(STAT)
    return columns, Gathered(rows, stats)


@given(SEEDS, st.integers(1, 3), st.sampled_from([np.uint8, np.uint16]))
def test_counts_of_blocks_are_those_of_the_twin(seed, n_lanes, dtype):
    """Every block of rows is added to its own histogram, on top of what is there."""
    rng = np.random.default_rng(seed)
    columns, gathered = drawn(rng, 40, n_lanes, dtype)
    starts = np.sort(rng.integers(0, len(gathered.rows) + 1, size=4)).astype(STAT)
    n_codes = int((columns.n_bins + 1).sum())
    ours = rng.integers(-9, 9, size=(3, n_codes * n_lanes)).astype(STAT)
    twin = ours.copy()
    kernels.add_counts(columns, gathered, starts, ours)
    reference.add_counts(columns, gathered, starts, twin)
    np.testing.assert_array_equal(ours, twin)


@given(SEEDS, st.integers(1, 3), st.sampled_from([np.uint8, np.uint16]))
def test_sides_are_those_of_the_twin(seed, n_lanes, dtype):
    """Rows keep their order and their statistics on both sides of a test."""
    rng = np.random.default_rng(seed)
    columns, gathered = drawn(rng, 40, n_lanes, dtype)
    column = int(rng.integers(len(columns.n_bins)))
    test = (column, *(int(code) for code in rng.integers(-1, 7, size=rng.integers(3, 6))))
    for ours, twin in zip(
        kernels.split_rows(columns, gathered, test),
        reference.split_rows(columns, gathered, test),
        strict=True,
    ):
        np.testing.assert_array_equal(ours.rows, twin.rows)
        np.testing.assert_array_equal(ours.stats, twin.stats)


def test_bad_input_is_refused():
    """Rows, starts and histograms of the wrong size never reach the kernel."""
    columns = random_columns(np.random.default_rng(0), 10, 3)
    rows, stats = np.arange(4, dtype=ROW), np.ones((4, 2), dtype=STAT)
    sums = np.zeros((1, 2 * int((columns.n_bins + 1).sum())), dtype=STAT)
    places = np.array([0, 4], dtype=STAT)
    for bad in (
        (rows + 7, stats, places, sums),
        (rows, stats[:3], places, sums),
        (rows, stats, places[::-1].copy(), sums),
        (rows, stats, places + 1, sums),
        (rows, stats, places, sums[:, 1:].copy()),
        (rows, stats, places[:0], sums),
    ):
        with pytest.raises(ValueError, match=r"row|start|histogram"):
            _core.add_counts(columns.native, *bad)
    for column in (-1, 3):
        with pytest.raises(ValueError, match="column"):
            _core.split_rows(columns.native, rows, stats, [column, 0, 1, -1])
    with pytest.raises(ValueError, match="four numbers"):
        _core.split_rows(columns.native, rows, stats, [0, 0, 1])
