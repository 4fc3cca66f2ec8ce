from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from budget import examples
from builders import SEEDS, random_columns, random_limits, random_score, random_stats, searches
from rulewright.kernels import (
    GROUP,
    ROW,
    STAT,
    Roots,
    Score,
    Workspace,
    count_histogram,
)

pytestmark = pytest.mark.native


def changed(rng, stats):
    """Draw rows and what their statistics become."""
    rows = np.flatnonzero(rng.random(len(stats)) < rng.choice([0.0, 0.2, 1.0])).astype(ROW)
    return rows, rng.permutation(stats)[: len(rows)]


@examples(100)
@given(searches(), SEEDS, st.integers(1, 7), st.sampled_from([3, 20, 62]))
def test_rules_from_blocks_equal_the_twin(search, seed, n_blocks, bits):
    """After any changes growth from chosen blocks is growth on their rows, counted anew."""
    stats = reference.used_lanes(search.stats, search.score, search.limits).copy()
    if bits < 62:  # small numbers, of which two share a word
        stats = np.fmod(stats, 2**bits)
    rng, score = np.random.default_rng(seed), replace(search.score, first_lane=0)
    roots, twin = (
        make(search.columns, stats, n_blocks, bits=bits) for make in (Roots, reference.Roots)
    )
    workspace = Workspace()
    for _ in range(3):
        chosen = rng.random(n_blocks) < 0.6
        given_ = chosen, score, search.limits
        assert roots.grow(*given_, workspace) == twin.grow(*given_)
        rows, after = changed(rng, stats)
        with roots.following(rows):
            stats[rows] = after


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_threads_do_not_change_rules_from_blocks(dtype):
    """One and two threads grow and follow alike on many rows, and as growth on those rows does."""
    rng = np.random.default_rng(4)
    n_rows, n_columns = 15_000, GROUP + 3
    columns = random_columns(rng, n_rows, n_columns, 200, dtype)
    stats = np.stack([rng.integers(-(2**19), 2**19, n_rows), rng.integers(1, 2**17, n_rows)], 1)
    limits = replace(random_limits(rng, n_columns), max_conditions=4, min_weight=0)
    score = Score("newton", unit=2.0**-19, l2=1.0, down=True)
    rows = np.flatnonzero(rng.random(n_rows) < 0.4).astype(ROW)
    chosen, rules = np.array([True, False, True]), []
    for n_threads in (1, 2):
        current = stats.copy()
        roots = Roots(columns, current, 3, n_threads)
        with roots.following(rows):
            current[rows] = stats[rows[::-1]]
        rules.append(roots.grow(chosen, score, limits, Workspace()))
    assert rules[0] == rules[1]
    assert rules[0] == reference.Roots(columns, current, 3).grow(chosen, score, limits)
    assert rules[0].conditions


@pytest.mark.parametrize("bits", [3, 19, 30, 60])
def test_packed_sums_are_exact(bits):
    """Sums of small numbers, of which two share a word, and of large ones are those of the twin."""
    rng = np.random.default_rng(bits)
    n_rows = 20_000
    columns = random_columns(rng, n_rows, GROUP + 1, 3)
    largest = 2**bits // (n_rows if bits > 50 else 1)
    stats = rng.choice(np.array([-largest, largest - 1, 1], dtype=STAT), (n_rows, 2))
    rows = np.arange(n_rows, dtype=ROW)
    expected = reference.count_histogram(columns, rows, stats)
    np.testing.assert_array_equal(count_histogram(columns, rows, stats), expected)


def test_roots_refuse_larger_statistics():
    """Statistics of more bits than was said would run into each other: an error, not a sum."""
    columns = random_columns(np.random.default_rng(0), 50, 3)
    stats = np.full((50, 2), 2**9, dtype=STAT)
    with pytest.raises(ValueError, match="more bits"):
        Roots(columns, stats, 4, bits=7)
    Roots(columns, stats, 4, bits=10)


def test_roots_refuse_other_rows():
    """Statistics, blocks, lanes and rows that do not belong to the roots are errors."""
    rng = np.random.default_rng(0)
    columns, limits = random_columns(rng, 50, 3), replace(random_limits(rng, 3), min_weight=0)
    stats = random_stats(rng, 50, 2, tied=False)[:, :4].copy()
    roots, score = Roots(columns, stats, 4), replace(random_score(rng, 1, tied=False), n_lanes=2)
    with pytest.raises(ValueError, match="1 to 65,536"):
        Roots(columns, stats, 0)
    with pytest.raises(ValueError, match="differ in rows"):
        Roots(columns, stats[:-1], 4)
    with pytest.raises(ValueError, match="more or fewer blocks"):
        roots.grow(np.ones(3, np.bool_), score, limits, Workspace())
    with pytest.raises(ValueError, match="all lanes"):
        roots.grow(np.ones(4, np.bool_), score, limits, Workspace())
    with pytest.raises(ValueError, match="ascend"), roots.following(np.array([2, 1], ROW)):
        pass
    other = random_columns(rng, 51, 3)
    with pytest.raises(ValueError, match="not the rows"):
        roots.native.remember(other.native, np.zeros(1, ROW), stats, 1)
    with pytest.raises(ValueError, match="not the rows"):
        roots.native.follow(other.native, stats, 1)
