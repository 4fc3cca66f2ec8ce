"""The weights of confidence-rated boosting: the kernel against its twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from budget import examples
from builders import SEEDS
from rulewright.kernels import ROW, STAT, Exponential

pytestmark = pytest.mark.native


def states(rng, n_rows, n_heads, by_cost):
    """Make a kernel and a twin of the same weights, some of them 0."""
    own = rng.integers(0 if by_cost else -1, n_heads, n_rows).astype(np.int32)
    weights = rng.exponential(size=(n_rows, n_heads)) * (rng.random((n_rows, n_heads)) < 0.9)
    if by_cost:
        weights[np.arange(n_rows), own] = 0
    for kind in (Exponential, reference.Exponential):
        scores, stats = np.zeros((n_rows, n_heads)), np.zeros((n_rows, 2 * n_heads + 1), STAT)
        yield kind(own, weights.copy(), scores, stats, by_cost), scores, stats


@examples(60)
@given(SEEDS, st.integers(1, 5000), st.integers(1, 4), st.booleans(), st.integers(1, 3))
def test_kernel_equals_twin(seed, n_rows, n_heads, by_cost, n_threads):
    """Scores, range, lanes, sums and steps of rows agree; integers to the bit."""
    rng = np.random.default_rng(seed)
    (one, scores, stats), (two, twin_scores, twin_stats) = states(rng, n_rows, n_heads, by_cost)
    np.testing.assert_allclose(one.range(), two.range(), rtol=1e-12)
    for _ in range(3):
        rows = np.flatnonzero(rng.random(n_rows) < 0.5).astype(ROW)
        place, confidence = int(rng.integers(n_heads)), float(rng.normal())
        for state in (one, two):
            state.add(rows, place, confidence, n_threads)
            state.scale(0.25, n_threads)
            state.write(rows, 2.0**19, n_threads)
        np.testing.assert_allclose(one.range(), two.range(), rtol=1e-12)
        np.testing.assert_array_equal(scores, twin_scores)
        np.testing.assert_array_equal(stats, twin_stats)
        np.testing.assert_array_equal(one.row_steps(n_threads), two.row_steps(n_threads))
        sums = [state.sum(rows, place, 2.0**30, n_threads) for state in (one, two)]
        np.testing.assert_allclose(*sums, rtol=1e-12)


def test_weights_never_vanish():
    """A row that is fitted ever so well keeps a weight and a step; a weight of 0 stays 0."""
    own, weights = np.zeros(3, np.int32), np.array([[1.0], [1e-200], [0.0]])
    for kind in (Exponential, reference.Exponential):
        moved, stats = weights.copy(), np.zeros((3, 2), STAT)
        state = kind(own, moved, np.zeros((3, 1)), stats, False)
        rows = np.arange(3, dtype=ROW)
        for _ in range(2):
            state.add(rows, 0, 400.0, 1)
        state.write(rows, 2.0**60, 1)
        assert moved[:, 0].tolist() == [1e-300, 1e-300, 0.0]
        assert stats[:, 0].tolist() == [1, 1, 0]
