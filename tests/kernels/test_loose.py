"""Of fewer rows than codes only the codes that rows have are looked at."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from budget import examples
from builders import SEEDS, free_limits, packed_columns, random_limits, random_score, random_stats
from rulewright.kernels import (
    ROW,
    Roots,
    Score,
    Workspace,
    grow_rule,
)

pytestmark = pytest.mark.native


def ranked_columns(rng, n_rows, sizes):
    """Make columns of so many codes: with many of them, few rows have the same."""
    codes = np.column_stack([rng.integers(0, n, n_rows) for n in sizes])
    return packed_columns(codes, [n - 1 for n in sizes], rng.integers(0, 2, len(sizes)), np.uint16)


@examples(60)
@given(SEEDS, st.lists(st.sampled_from([2, 63, 64, 65, 129, 400]), min_size=1, max_size=20))
def test_rules_of_few_rows_equal_the_twin(seed, sizes):
    """Any score, limits and number of lanes, on columns of few and of many codes side by side."""
    rng = np.random.default_rng(seed)
    n_rows, n_pairs, tied = int(rng.integers(1, 90)), int(rng.choice([1, 3])), rng.random() < 0.5
    columns = ranked_columns(rng, n_rows, sizes)
    stats = abs(random_stats(rng, n_rows, n_pairs, tied))
    score, limits = random_score(rng, n_pairs, tied), random_limits(rng, len(sizes))
    rows = np.flatnonzero(rng.random(n_rows) < 0.7).astype(ROW)
    found = grow_rule(columns, rows, stats, score, limits, n_threads=2)
    assert found == reference.grow_rule(columns, rows, stats, score, limits)


@pytest.mark.parametrize("sizes", [[5_000] * 30, [2] * 40 + [6_000] * 9])
def test_threads_do_not_change_rules_of_few_rows(sizes):
    """Growth on rows and on blocks is that of the twin, table after table on the same threads."""
    rng = np.random.default_rng(1)
    columns, n_rows = ranked_columns(rng, 900, sizes), 900
    stats = np.stack([rng.integers(-99, 99, n_rows), rng.integers(1, 99, n_rows)], axis=1)
    limits = free_limits(len(sizes), max_conditions=3)
    score = Score("newton", unit=0.01, l2=1.0, down=True)
    chosen = np.array([True, False, True])
    rows = np.flatnonzero(np.repeat(chosen, 300)).astype(ROW)
    expected = reference.grow_rule(columns, rows, stats, score, limits)
    assert expected.conditions
    for n_threads in (1, 2, 1):
        assert grow_rule(columns, rows, stats, score, limits, n_threads) == expected
        roots = Roots(columns, stats, 3, n_threads)
        assert roots.grow(chosen, score, limits, Workspace()) == expected
