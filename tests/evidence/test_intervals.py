"""Intervals against other implementations and by exact coverage."""

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest, ttest_1samp, ttest_ind

from rulewright.evidence.claims import clopper_pearson, difference_interval, mean_interval


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_intervals_of_shares_are_exact(n, alpha):
    """The interval is scipy's, and misses any share with probability alpha at most."""
    counts = np.arange(n + 1)
    low, high = clopper_pearson(counts, n, alpha)
    exact = [binomtest(k, n).proportion_ci(1 - alpha, "exact") for k in counts]
    np.testing.assert_allclose(np.transpose([low, high]), exact, atol=1e-12)
    for share in np.linspace(0.01, 0.99, 33):
        held = (low <= share) & (share <= high)
        assert binom.pmf(counts, n, share)[held].sum() >= 1 - alpha


def test_intervals_of_shares_of_nothing():
    """Without rows every share is possible; effective numbers lie between whole ones."""
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    lows, highs = clopper_pearson([3, 3.5, 4], [10, 10.5, 11])
    assert (np.diff(lows) > 0).all()
    assert (np.diff(highs) > 0).all()
    with pytest.raises(ValueError, match="alpha must lie above 0 and below 1"):
        clopper_pearson(1, 2, 0.0)


def test_intervals_of_means_are_students_and_welchs():
    """The intervals are those of the t-tests of scipy."""
    rng = np.random.default_rng(0)
    one, other = rng.normal(2, 3, 9), rng.normal(size=23)
    found = mean_interval(one.mean(), one.var(ddof=1), len(one), 0.1)
    np.testing.assert_allclose(found, ttest_1samp(one, 0).confidence_interval(0.9))
    figures = [(f(one), f(other)) for f in (np.mean, lambda x: np.var(x, ddof=1), len)]
    welch = ttest_ind(one, other, equal_var=False).confidence_interval(0.9)
    np.testing.assert_allclose(difference_interval(*figures, 0.1), welch)


def test_intervals_of_single_numbers_are_open():
    """One number says nothing of its spread; equal numbers have none."""
    assert mean_interval(3.0, np.nan, 1) == (-np.inf, np.inf)
    assert mean_interval(np.nan, np.nan, 0) == (-np.inf, np.inf)
    assert difference_interval((3.0, 1.0), (np.nan, 1.0), (1, 5)) == (-np.inf, np.inf)
    assert difference_interval((3.0, 1.0), (0.0, 0.0), (4, 5)) == (2.0, 2.0)


@pytest.mark.parametrize("size", [1e-170, 1.0, 1e170, 1e299])
def test_intervals_of_differences_have_no_unit(size):
    """Variances whose squares overflow or underflow give the same interval, in another unit."""
    expected = difference_interval((3.0, 1.0), (4.0, 1.0), (10.0, 20.0))
    root = math.sqrt(size)
    found = difference_interval((3.0 * root, root), (4.0 * size, size), (10.0, 20.0))
    np.testing.assert_allclose(np.array(found) / root, expected, rtol=1e-9)


def test_variances_that_are_infinite_say_nothing():
    """The interval holds every difference."""
    found = difference_interval((1.0, 2.0), (1e308, math.inf), (5.0, 5.0))
    assert found == (-math.inf, math.inf)
