"""Pessimistic errors of C4.5."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulewright.stopping.description_length import added_errors, pessimistic_rate, predicted_errors

RATES = {
    (6, 0): 0.2063,
    (9, 0): 0.1428,
    (1, 0): 0.75,
    (16, 1): 0.1567,
    (4, 0): 0.2929,
    (3, 0): 0.37,
    (2, 0): 0.5,
    (10, 3): 0.4591,
    (100, 20): 0.2343,
}


@pytest.mark.parametrize(("counts", "rate"), RATES.items())
def test_rates_at_the_usual_confidence(counts, rate):
    """Rates of pairs of cases and errors, as computed by hand, to the digits that are given."""
    assert pessimistic_rate(*counts) == pytest.approx(rate, abs=5e-5)


def test_errors_below_one_are_interpolated():
    """Half an error lies half way between none and one."""
    none, one = added_errors(10, 0), added_errors(10, 1)
    assert added_errors(10, 0.5) == pytest.approx((none + one) / 2)


def test_few_cases():
    """Nearly all wrong adds two thirds of what is right; no cases have no errors, and rate 1."""
    assert added_errors(3, 2.5) == pytest.approx(0.67 * 0.5)
    assert added_errors(0, 0) == 0
    assert pessimistic_rate(0, 0) == 1


@given(st.floats(0.1, 1e6), st.floats(0, 1), st.sampled_from([0.05, 0.1, 0.25]))
def test_less_confidence_means_more_errors(cases, share, confidence):
    """Predicted errors are no fewer than seen, no more than cases, and fall with confidence."""
    errors = share * cases
    found = predicted_errors(cases, errors, confidence)
    assert errors <= found <= cases + 1e-6 * cases
    assert found >= predicted_errors(cases, errors, 0.4) - 1e-9 * cases
