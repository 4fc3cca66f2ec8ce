"""Bounds on useless columns: by hand, and by simulation of halves that choose at random."""

import numpy as np
import pytest

from rulewright.evidence.selection import (
    check_max_false,
    check_threshold,
    first_for_bound,
    pair_bound,
    path_bound,
    path_scores,
)


def test_bounds_by_hand():
    """Ten of a hundred columns with a threshold of 0.75 leave two useless ones at most."""
    assert pair_bound(10, 100, 0.75) == pytest.approx(2.0)
    assert first_for_bound(2.0, 100, 0.75) == 10
    assert first_for_bound(1e-9, 100, 0.75) == 1
    assert first_for_bound(1e9, 100, 0.75) == 100
    assert path_bound(np.array([1.0, 0.5, 0.0]), 2, 10).tolist() == [0.25, 0.5, 10.0]
    assert path_scores(np.array([[0.5, 1.0], [0.1, 0.75]])).tolist() == [0.5, 0.25]


def test_columns_chosen_at_random_keep_the_bounds():
    """If every half draws its columns, no more are kept on average than the bounds say."""
    rng = np.random.default_rng(0)
    p, q, n_pairs, repeats = 12, 4, 3, 4000
    ranks = rng.random((repeats, 2 * n_pairs, p)).argsort(axis=2).argsort(axis=2)
    among = np.stack([(ranks < k).mean(axis=1) for k in range(1, q + 1)], axis=2)
    kept = (among[:, :, -1] >= 0.6).sum(axis=1)
    error = 3 * kept.std() / np.sqrt(repeats)
    assert 0 < kept.mean() <= pair_bound(q, p, 0.6) + error
    scores = np.array([path_scores(one) for one in among])
    for least in (0.1, 0.25, 0.4):
        high = (scores >= least).sum(axis=1)
        assert high.mean() <= path_bound(least, q, p) + 3 * high.std() / np.sqrt(repeats)
    assert (scores >= 0.1).any()


@pytest.mark.parametrize("threshold", [0.5, 1.01, np.nan])
def test_thresholds_without_a_bound_are_refused(threshold):
    """Half of the samples, or more than all, is no threshold."""
    with pytest.raises(ValueError, match=r"must be above 0\.5 and at most 1"):
        check_threshold(threshold)


@pytest.mark.parametrize("max_false", [0, -1, np.inf, np.nan])
def test_numbers_that_are_no_bound_are_refused(max_false):
    """A bound is finite and above 0."""
    with pytest.raises(ValueError, match="must be a number above 0"):
        check_max_false(max_false)
