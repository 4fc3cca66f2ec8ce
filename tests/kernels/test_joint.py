"""Columns of few codes are counted by joint codes: the sums are those of the twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from budget import examples
from builders import SEEDS, free_limits, packed_columns
from rulewright.kernels import (
    ROW,
    STAT,
    Roots,
    Score,
    Workspace,
    count_histogram,
)
from rulewright.kernels import grow_rule as grow

pytestmark = pytest.mark.native

SIZES = st.sampled_from([1, 2, 3, 5, 16, 17, 255, 256])
LONG = st.sampled_from([257, 400])


def drawn_columns(rng, n_rows, n_codes, dtype):
    """Make columns of so many codes, the last of which stands for missing values."""
    codes = np.column_stack([rng.integers(0, n, n_rows) for n in n_codes])
    return packed_columns(codes, [n - 1 for n in n_codes], rng.integers(0, 2, len(n_codes)), dtype)


def drawn_stats(rng, n_rows, bits, lanes=2):
    """Make statistics of at most so many bits, and their extremes."""
    largest = 2**bits // (n_rows if bits > 50 else 1)
    return rng.choice(np.array([-largest, largest - 1, 0, 3], dtype=STAT), (n_rows, lanes))


@examples(60)
@given(SEEDS, st.data(), st.sampled_from([3, 19, 60]), st.sampled_from([2, 2, 3, 4, 6]))
def test_sums_of_joint_codes_are_exact(seed, data, bits, lanes):
    """Any mix of short and long columns, few and many rows, gives the histogram of the twin."""
    rng = np.random.default_rng(seed)
    dtype = data.draw(st.sampled_from([np.uint8, np.uint16]))
    sizes = SIZES if dtype == np.uint8 else SIZES | LONG
    n_codes = data.draw(st.lists(sizes, min_size=1, max_size=30))
    n_rows = data.draw(st.sampled_from([100, 400, 2_500]))
    columns = drawn_columns(rng, n_rows, n_codes, dtype)
    stats = drawn_stats(rng, n_rows, bits, lanes)
    stats[:, rng.integers(lanes)] //= 64  # pairs of lanes need not be alike
    rows = np.flatnonzero(rng.random(n_rows) < 0.8).astype(ROW)
    found = count_histogram(columns, rows, stats, n_threads=2)
    np.testing.assert_array_equal(found, reference.count_histogram(columns, rows, stats))


@pytest.mark.parametrize("n_codes", [[2] * 200, [3, 6, 2] * 11, [2] * 9 + [300, 4] + [255, 2] * 8])
def test_rules_on_few_codes_equal_the_twin(n_codes):
    """Growth on rows and on blocks finds, for any number of threads, the rule of the twin."""
    rng = np.random.default_rng(len(n_codes))
    n_rows, n_blocks = 3_000, 3
    dtype = np.uint8 if max(n_codes) <= 256 else np.uint16
    columns = drawn_columns(rng, n_rows, n_codes, dtype)
    stats = abs(drawn_stats(rng, n_rows, 19)) + 1
    stats[:, 0] *= rng.choice([-1, 1], n_rows)
    limits = free_limits(len(n_codes), max_conditions=3)
    score = Score("newton", unit=2.0**-19, l2=1.0, down=True)
    chosen = np.array([True, False, True])
    expected = reference.Roots(columns, stats, n_blocks).grow(chosen, score, limits)
    assert len(expected.conditions) == 3
    rows = np.flatnonzero(np.repeat(chosen, n_rows // n_blocks)).astype(ROW)
    for n_threads in (1, 2):
        assert grow(columns, rows, stats, score, limits, n_threads) == expected
        roots = Roots(columns, stats, n_blocks, n_threads)
        assert roots.grow(chosen, score, limits, Workspace()) == expected


def test_only_columns_in_use_are_told_apart():
    """A code that no row has takes no room: nine columns of two labels and no missing value."""
    rng = np.random.default_rng(0)
    columns = packed_columns(rng.integers(0, 2, (500, 9)), [2] * 9, [1] * 9)
    stats = drawn_stats(rng, 500, 19)
    rows = np.arange(500, dtype=ROW)
    found = count_histogram(columns, rows, stats)
    np.testing.assert_array_equal(found, reference.count_histogram(columns, rows, stats))
    assert not found[2::3].any()
