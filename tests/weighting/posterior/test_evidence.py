"""Log evidence of regions: the odds example, sums over sequences, and smoothing."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulewright.weighting import log_evidence, log_marginal, log_rule_weights

FIRST = np.array([[1050, 950], [950, 1050]])
SECOND = np.array([[1010, 990], [990, 1010]])
counts = st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=1, max_size=5)


def test_the_odds_of_two_conjunctions_of_equal_worth():
    """4,000 rows of noise: "about 120" is 121.764, and no estimator changes that but the third."""
    ratio = log_evidence(FIRST) - log_evidence(SECOND)
    assert ratio == pytest.approx(4.80208, abs=5e-6)
    assert math.exp(ratio) == pytest.approx(121.764, abs=5e-4)
    for estimator, expected in (("integrated", 121.472), ("laplace", 121.763)):
        odds = log_evidence(FIRST, estimator) - log_evidence(SECOND, estimator)
        assert math.exp(odds) == pytest.approx(expected, abs=5e-4)
    totals = FIRST.sum(axis=0)
    third = [log_rule_weights(c[:1], totals, 3)[0] for c in (FIRST, SECOND)]
    assert math.exp(third[0] - third[1]) == pytest.approx(1.00241, abs=5e-6)


def test_equation_seven_is_the_second_scheme():
    """Eq. 5 and 7 are the same likelihood of both sides of a rule."""
    totals = SECOND.sum(axis=0)
    assert log_evidence(SECOND) == pytest.approx(log_rule_weights(SECOND[:1], totals, 2)[0])


@given(counts)
def test_duplicating_every_example_squares_the_odds(e):
    """With shares as estimates the log evidence doubles."""
    assert log_evidence(2 * np.array(e)) == pytest.approx(2 * log_evidence(e), abs=1e-9)


@pytest.mark.parametrize(("n_rows", "n_classes"), [(4, 2), (5, 3)])
def test_integrated_likelihoods_sum_to_one_over_all_sequences(n_rows, n_classes):
    """(C-1)! prod e_j! / (N+C-1)! for alpha = 1: no sequence of labels is counted twice."""
    total = 0.0
    for labels in itertools.product(range(n_classes), repeat=n_rows):
        e = np.bincount(labels, minlength=n_classes)
        exact = math.factorial(n_classes - 1) * math.prod(map(math.factorial, e.tolist()))
        exact /= math.factorial(n_rows + n_classes - 1)
        assert math.exp(log_marginal([e])[0]) == pytest.approx(exact)
        total += exact
    assert total == pytest.approx(1.0)


@given(counts)
def test_integration_costs_and_smoothing_costs(e):
    """The plug-in at its maximum is never below the others, which use the data once or smooth."""
    best = log_evidence(e)
    for estimator in ("laplace", "integrated", "m"):
        assert log_evidence(e, estimator, prior=[1, 1, 1]) <= best + 1e-9


@given(counts, counts)
def test_integration_of_new_rows_is_what_they_add(seen, new):
    """The evidence of both is that of the first times that of the second given the first."""
    size = min(len(seen), len(new))
    seen, new = np.array(seen[:size]), np.array(new[:size])
    both = log_evidence(seen + new, "integrated")
    given_first = log_evidence(new, "integrated", learned=seen)
    assert log_evidence(seen, "integrated") + given_first == pytest.approx(both, abs=1e-8)


def test_probabilities_are_those_of_the_rows_they_were_learned_from():
    """By hand: shares, Laplace and m-estimates of (3, 1), and of a region without rows."""
    learned, judged = [[3, 1], [0, 0]], [[1, 1], [1, 0]]
    assert log_evidence([[1, 1], [0, 0]], learned=learned) == pytest.approx(math.log(3 / 16))
    assert log_evidence(judged, learned=learned) == -math.inf
    laplace = math.log(4 / 6 * 2 / 6 * 1 / 2)
    assert log_evidence(judged, "laplace", learned=learned) == pytest.approx(laplace)
    m = math.log(4 / 6 * 2 / 6 * 1 / 2)
    assert log_evidence(judged, "m", learned=learned, prior=[1, 1]) == pytest.approx(m)
    shares = math.log((3 + 1.5) / 6 * 1.5 / 6 * 0.75)
    assert log_evidence(judged, "m", learned=learned) == pytest.approx(shares)
    assert log_evidence([[0, 5]], learned=[[4, 0]]) == -math.inf


def test_bad_arguments():
    """Unknown estimators, shapes that differ and no prior rows are refused."""
    with pytest.raises(ValueError, match="estimator must be one of ml, laplace, m, integrated"):
        log_evidence([[1, 1]], "mean")
    with pytest.raises(ValueError, match=r"counts have shape \(1, 2\), learned has \(2, 2\)"):
        log_evidence([[1, 1]], learned=[[1, 1], [1, 1]])
    with pytest.raises(ValueError, match="m=0 must be above 0"):
        log_evidence([[1, 1]], "m", m=0)
