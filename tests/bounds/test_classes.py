import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from builders import SEEDS
from rulewright import bounds as b

DELTAS = [0.5, 0.1, 0.05, 0.01, 1e-6, 1e-12]
GRID = [(n, k) for n in (1, 2, 7, 50, 2000) for k in sorted({0, 1, n // 10, n // 2, n - 1, n})]


@pytest.mark.parametrize("delta", DELTAS)
def test_held_out_bound_is_the_beta_quantile(delta):
    """It equals scipy's quantile and solves its definition (B1)."""
    for n, k in GRID:
        value = b.held_out_bound(k, n, delta).value
        if k == n:
            assert value == 1
        else:
            assert value == pytest.approx(stats.beta.isf(delta, k + 1, n - k), rel=1e-9)
            assert stats.binom.cdf(k, n, value) == pytest.approx(delta, rel=1e-6)


@pytest.mark.parametrize("delta", DELTAS)
def test_held_out_bound_rises_and_falls_as_it_must(delta):
    """It rises with errors, falls with rows, and is no less than the share of errors (B1)."""
    raws = [b.held_out_bound(k, 60, delta).raw for k in range(61)]
    assert all(a < c for a, c in pairwise(raws))
    assert all(raw >= k / 60 for k, raw in enumerate(raws))
    raws = [b.held_out_bound(4, n, delta).raw for n in (4, 5, 10, 100, 10**6)]
    assert all(a > c for a, c in pairwise(raws))


@pytest.mark.parametrize("delta", DELTAS)
def test_no_errors_have_a_closed_form(delta):
    """Zero errors on n rows give 1 - delta^(1/n)."""
    for n in (1, 10, 1000):
        assert b.held_out_bound(0, n, delta).value == pytest.approx(1 - delta ** (1 / n))


def test_held_out_bound_covers_every_error_exactly():
    """Summed over all counts, the bound fails with probability delta at most, and not far less."""
    n, delta = 40, 0.1
    uppers = np.array([b.held_out_bound(k, n, delta).value for k in range(n + 1)])
    for error in np.linspace(0.005, 0.995, 199):
        failure = stats.binom.pmf(np.arange(n + 1), n, error)[uppers < error].sum()
        assert failure <= delta + 1e-12
    just_above = uppers[:n] + 1e-9
    failures = [
        stats.binom.pmf(np.arange(n + 1), n, e)[uppers < e].sum() for e in just_above if e < 1
    ]
    assert failures == pytest.approx([delta] * len(failures), abs=1e-6)


@pytest.mark.parametrize("k", [0, 3, 10**3, 5 * 10**5])
def test_tiny_delta_and_a_million_rows_do_not_underflow(k):
    """At delta = 1e-12 the bound still solves its definition to nine digits."""
    value = b.held_out_bound(k, 10**6, 1e-12).value
    assert stats.binom.cdf(k, 10**6, value) == pytest.approx(1e-12, rel=1e-8)


@pytest.mark.parametrize("delta", DELTAS)
def test_looser_forms_are_looser(delta):
    """The exact bound is below Hoeffding's and Chernoff's everywhere (I2)."""
    for n, k in GRID:
        exact = b.held_out_bound(k, n, delta).raw
        assert exact <= b.hoeffding_bound(k, n, delta).raw + 1e-12
        assert exact <= b.chernoff_bound(k, n, delta).raw + 1e-12


def test_the_printed_chernoff_bound_is_too_small():
    """Without its factors of 2 it falls below the exact bound at n = 2000, k = 203 (E1)."""
    share, cost = 203 / 2000, math.log(1e6) / 2000
    printed = share + math.sqrt(share * cost) + cost
    assert printed < b.held_out_bound(203, 2000, 1e-6).value - 0.0019


def test_errors_are_counts_up_to_n():
    """More errors than rows, or half an error, are refused."""
    for errors in (11, -1, 0.5, math.nan):
        with pytest.raises(ValueError, match="errors"):
            b.held_out_bound(errors, 10)
    with pytest.raises(ValueError, match="n_predicted"):
        b.selective_held_out_bound(1, 11, 10)


def test_selective_bound_counts_predicted_rows_only():
    """It is B1 on the predicted rows and says how many those were."""
    bound = b.selective_held_out_bound(2, 60, 100, 0.05)
    assert bound.value == b.held_out_bound(2, 60, 0.05).value
    assert "60 of 100" in str(bound)


def test_occam_equals_the_finite_class_for_a_flat_prior():
    """ln(1/P) = ln|H| gives the same bound, and the exact form is tighter (B3, B3')."""
    for k, n in ((0, 50), (10, 50), (100, 4000)):
        for cost in (0.0, 3.0, 40.0):
            flat = b.finite_class_bound(k / n, cost, n)
            assert b.occam_bound(k / n, cost, n).raw == flat.raw
            assert b.exact_occam_bound(k, cost, n).raw <= flat.raw


def test_a_rich_class_costs_more_and_many_rows_pay_for_it():
    """The bound rises with ln|H| and comes down to the training error (B3)."""
    raws = [b.finite_class_bound(0.1, size, 500).raw for size in (0.0, 1.0, 10.0, 1e4)]
    assert all(a < c for a, c in pairwise(raws))
    assert b.finite_class_bound(0.1, 10.0, 10**14).raw == pytest.approx(0.1, abs=1e-6)
    assert b.ln_dnf_class(3, 20) == pytest.approx(60 * math.log(3))


def test_exact_occam_bound_works_beyond_the_smallest_float():
    """Priors like exp(-5000) go through logarithms, without a jump where these take over."""
    k, n = 40, 5000
    raws = [b.exact_occam_bound(k, cost, n, 0.05).raw for cost in (596.9, 597.1, 5000.0)]
    assert raws[0] < raws[1] < raws[2] < 1
    assert raws[1] - raws[0] < 1e-3
    value, counts = raws[2], np.arange(k + 1)
    ln_tail = np.logaddexp.reduce(stats.binom.logpmf(counts, n, value))
    assert ln_tail == pytest.approx(math.log(0.05) - 5000, rel=1e-9)
    assert b.exact_occam_bound(3, math.inf, 50).value == 1


def test_vapniks_form_is_smaller():
    """B4 rises with the dimension and Vapnik's form is below it."""
    for n in (10, 1000):
        raws = [b.vc_bound(0.1, v, n).raw for v in range(n + 1)]
        assert all(a < c for a, c in pairwise(raws))
        assert all(b.vapnik_bound(0.1, v, n).raw < raw for v, raw in enumerate(raws))


def test_a_dimension_above_n_is_no_certificate():
    """A condition of B4 is v <= n."""
    assert b.vc_bound(0.1, 10, 10).certified
    assert "exceeds" in b.vc_bound(0.1, 11, 10).reasons[0]


def test_the_selection_penalty_is_never_a_certificate():
    """B5 rises with capacity, has its formula, and certifies nothing."""
    first, second = b.srm_penalty(2, 100), b.srm_penalty(3, 100)
    assert first.value < second.value
    assert first.value == pytest.approx(math.sqrt(0.64 * math.log(100 * math.e)))
    assert not first.certified


@given(SEEDS)
def test_breimans_bound_covers_the_limit_vote(seed):
    """For random tables of base classifiers the vote's error in the limit is below it (B6)."""
    rng = np.random.default_rng(seed)
    right = np.where(rng.random((6, 30)) < rng.uniform(0.4, 1, (1, 30)), 1.0, -1.0)
    margin, sd = right.mean(axis=0), right.std(axis=1)
    strength = margin.mean()
    if strength > 0 and sd.min() > 0:
        correlation = margin.var() / sd.mean() ** 2
        bound = b.breiman_bound(strength, min(correlation, 1.0))
        assert np.mean(margin < 0) <= bound.value + 1e-12
        assert not bound.certified


def test_breimans_bound_is_linear_and_falls_with_strength():
    """Twice the correlation is twice the bound; without strength it is 1."""
    assert b.breiman_bound(0.6, 0.2).raw == pytest.approx(2 * b.breiman_bound(0.6, 0.1).raw)
    assert b.breiman_bound(0.7, 0.2).raw < b.breiman_bound(0.6, 0.2).raw
    assert b.breiman_bound(0.0, 0.2).value == 1
    with pytest.raises(ValueError, match="correlation"):
        b.breiman_bound(0.5, 1.5)


@given(SEEDS, st.integers(1, 12))
def test_adaboost_keeps_its_bound(seed, n_rounds):
    """The training error of AdaBoost on random classifiers is below both forms (B7)."""
    rng = np.random.default_rng(seed)
    weights, scores, errors = np.full(25, 1 / 25), np.zeros(25), []
    for _ in range(n_rounds):
        right = np.where(rng.random(25) < 0.7, 1.0, -1.0)
        error = float(weights[right < 0].sum())
        if 0 < error <= 0.5:
            errors.append(error)
            scores += 0.5 * math.log((1 - error) / error) * right
            weights *= np.exp(-0.5 * math.log((1 - error) / error) * right)
            weights /= weights.sum()
    bound = b.adaboost_bound(errors)
    assert np.mean(scores <= 0) <= bound.value + 1e-12
    assert bound.value <= bound.terms["exponential"] + 1e-12
    assert bound.certified


def test_adaboost_needs_weak_learners():
    """Errors above 1/2 or of 0 break the condition; outside [0, 1] they are refused."""
    assert not b.adaboost_bound([0.1, 0.6]).certified
    assert b.adaboost_bound([0.1, 0.0]).value == 0
    assert b.adaboost_bound([1e-300] * 3).terms["ln_product"] == pytest.approx(
        1.5 * math.log(4e-300)
    )
    with pytest.raises(ValueError, match="errors"):
        b.adaboost_bound([1.1])
