"""P-values and e-values against enumeration and other implementations."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp
from scipy.stats import fisher_exact, hypergeom, mannwhitneyu, nchypergeom_fisher

from budget import examples
from rulewright.evidence.claims import (
    TILTS,
    rank_e_value,
    rank_p_value,
    share_e_value,
    share_p_value,
)


@st.composite
def margins(draw):
    """Draw the number of rows, of those with the property, and of those inside."""
    total = draw(st.integers(1, 60))
    return total, draw(st.integers(0, total)), draw(st.integers(0, total))


def tables(total, positives, covered):
    """Give all tables with these totals."""
    a = np.arange(max(0, covered + positives - total), min(covered, positives) + 1)
    outside = np.stack([positives - a, total - covered - positives + a], axis=-1)
    return a, np.stack([a, covered - a], axis=-1), outside


@given(margins())
@examples(60)
def test_the_expected_e_value_is_one(sizes):
    """Without an effect the mean over all tables is 1; with the opposite effect it is at most 1."""
    total, positives, covered = sizes
    a, inside, outside = tables(*sizes)
    e = share_e_value(inside, outside)
    assert (e * hypergeom.pmf(a, total, positives, covered)).sum() == pytest.approx(1.0)
    for odds in (0.3, 0.9):
        chances = nchypergeom_fisher.pmf(a, total, positives, covered, odds)
        assert (e * chances).sum() <= 1.0 + 1e-9
    assert (np.diff(e) >= -1e-12).all()


@given(margins())
@examples(60)
def test_p_values_are_fishers(sizes):
    """The p-value is that of Fisher's one-sided exact test."""
    _, inside, outside = tables(*sizes)
    for one, other, p in zip(inside, outside, share_p_value(inside, outside), strict=True):
        assert p == pytest.approx(fisher_exact([one, other], alternative="greater").pvalue)


def test_share_e_value_by_hand():
    """With one row of two inside, psi^A has the mean (1 + psi) / 2."""
    odds = np.exp(TILTS)
    assert share_e_value([1, 0], [0, 1]) == pytest.approx(np.mean(2 * odds / (1 + odds)))
    assert share_e_value([0, 1], [1, 0]) == pytest.approx(np.mean(2 / (1 + odds)))


@pytest.mark.parametrize(("a", "b", "c", "d"), [(700, 300, 4000, 5000), (90, 9000, 900, 90_000)])
def test_large_tables_are_summed_whole(a, b, c, d):
    """The window that is summed has all of the probability."""
    total, positives, covered = a + b + c + d, a + c, a + b
    x, _, _ = tables(total, positives, covered)
    ways = -gammaln(x + 1) - gammaln(covered - x + 1) - gammaln(positives - x + 1)
    ways -= gammaln(total - covered - positives + x + 1)
    moments = [logsumexp(ways + t * (x - a)) - logsumexp(ways) for t in TILTS]
    expected = logsumexp(np.negative(moments)) - np.log(len(TILTS))
    assert np.log(share_e_value([a, b], [c, d])) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_overwhelming_evidence_is_finite():
    """An e-value too large for a number is the largest one."""
    assert 1e290 < share_e_value([20_000, 0], [0, 20_000]) < np.inf
    assert 1e290 < rank_e_value(np.arange(9e3) + 9e3, np.arange(9e3)) < np.inf


@pytest.mark.parametrize("values", [[1, 2, 3, 4, 5, 6, 7, 8.5], [1, 1, 1, 2, 2, 5, 5, 5]])
@pytest.mark.parametrize("n", [1, 3, 4, 6])
def test_the_expected_rank_e_value_is_at_most_one(values, n):
    """The mean over all choices of rows inside is at most 1, with equal numbers too."""
    numbers = np.array(values, dtype=float)
    chosen = [list(rows) for rows in combinations(range(8), n)]
    found = [rank_e_value(numbers[rows], np.delete(numbers, rows)) for rows in chosen]
    assert np.mean(found) <= 1.0 + 1e-12
    assert max(found) > 2.0


def test_rank_e_values_grow_with_the_shift():
    """Larger numbers inside are evidence, smaller ones are not, whichever side has more rows."""
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=40), rng.normal(size=160)
    assert rank_e_value(one + 1, other) > 100 > 1 > rank_e_value(one - 1, other)
    assert rank_e_value(other + 1, one) > 100 > 1 > rank_e_value(other - 1, one)


def test_rank_p_values_are_mann_whitneys():
    """The p-value is scipy's; without rows on both sides or with equal numbers only it is 1."""
    rng = np.random.default_rng(1)
    one, other = rng.normal(size=5), rng.normal(size=30)
    expected = mannwhitneyu(one, other, alternative="greater", method="exact").pvalue
    assert rank_p_value(one, other) == pytest.approx(expected)
    nothing = np.empty(0)
    for inside, outside in ((nothing, one), (one, nothing), (np.ones(4), np.ones(9))):
        assert rank_p_value(inside, outside) == 1.0
        assert rank_e_value(inside, outside) <= 1.0
