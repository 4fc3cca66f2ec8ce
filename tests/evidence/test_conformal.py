"""Thresholds of conformal prediction: by hand, and coverage of all ranks."""

import math

import numpy as np
import pytest

from rulewright.evidence.predictions import conformal_threshold, coverage_bound, rank_of


def test_thresholds_by_hand():
    """Of nine scores the ninth is the threshold for 90 %; of eight there is none."""
    assert conformal_threshold(np.arange(9.0, 0.0, -1.0), 0.1) == 9.0
    assert conformal_threshold(np.arange(8.0), 0.1) == math.inf
    assert conformal_threshold(np.arange(19.0), 0.1) == 17.0
    assert conformal_threshold(np.zeros(0), 0.5) == math.inf
    assert rank_of(9, 0.3) == 7  # 10 * 0.7 is a little more than 7


def test_coverage_is_that_of_ranks():
    """The threshold has at least 1 - alpha of all places that a new score can take."""
    for n in range(1, 60):
        for alpha in (0.05, 0.1, 0.2, 0.5):
            assert rank_of(n, alpha) / (n + 1) >= 1 - alpha - 1e-9
            assert (rank_of(n, alpha) - 1) / (n + 1) < 1 - alpha


def test_the_bound_of_the_rows_at_hand():
    """Uniform scores of a draw cover less than the bound with probability delta."""
    rng = np.random.default_rng(0)
    drawn = np.sort(rng.random((4000, 50)), axis=1)
    covered = drawn[:, rank_of(50, 0.1) - 1]
    below = (covered < coverage_bound(50, 0.1, 0.1)).mean()
    assert below == pytest.approx(0.1, abs=0.02)
    assert covered.mean() >= 0.9 - 3 * covered.std() / 4000**0.5
    assert coverage_bound(5, 0.1, 0.1) == 1.0
