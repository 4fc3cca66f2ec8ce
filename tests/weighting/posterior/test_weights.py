"""Weights of models: normalisation, reports, tempering, stacking, pseudo-BMA and mixtures."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from rulewright.weighting import (
    PosteriorReport,
    beta_by_log_loss,
    beta_for_perplexity,
    combination_weights,
    log_loss_of,
    log_posterior,
    perplexity,
    pseudo_bma_weights,
    stacking_weights,
    weights_from_logs,
)

logs = st.lists(st.floats(-50, 50), min_size=1, max_size=12).map(np.array)


def densities(seed, n_rows=60, n_models=4, spread=0.6):
    """Make log densities of models that are each good on some rows."""
    rng = np.random.default_rng(seed)
    return np.log(rng.beta(2.0, 1.0, (n_rows, n_models)) ** spread + 1e-3)


@given(logs, st.floats(-1e4, 1e4))
def test_a_constant_changes_nothing(values, constant):
    """Only differences of log likelihoods count, however far from 0 they are."""
    one, two = (weights_from_logs(log_posterior(v)) for v in (values, values + constant))
    np.testing.assert_allclose(one, two, atol=1e-11)
    assert math.fsum(one) == pytest.approx(1.0)


def test_likelihoods_that_are_zero_as_numbers_are_weighed():
    """exp(-2000) is 0, its odds are not; weights below 1e-300 are 0 with their log kept."""
    found = log_posterior([-2000.0, -2001.0, -9000.0])
    np.testing.assert_allclose(found[:2], np.log([1, math.exp(-1)]) - math.log(1 + math.exp(-1)))
    assert weights_from_logs(found)[2] == 0.0
    assert found[2] == pytest.approx(-7000.31, abs=0.01)


def test_the_prior_and_the_power_of_the_likelihood():
    """Prior * L^beta: beta 0 leaves the prior, a likelihood of 0 no weight unless beta is 0."""
    values, prior = np.log([0.2, 0.1, 0.4]), [1, 2, 1]
    np.testing.assert_allclose(weights_from_logs(log_posterior(values, prior)), [0.25, 0.25, 0.5])
    np.testing.assert_allclose(
        weights_from_logs(log_posterior(values, prior, 0.0)), [0.25, 0.5, 0.25]
    )
    odds = log_posterior(values, beta=0.5)
    assert odds[0] - odds[1] == pytest.approx(0.5 * math.log(2))
    impossible = [0.0, -math.inf]
    assert weights_from_logs(log_posterior(impossible)).tolist() == [1.0, 0.0]
    np.testing.assert_allclose(weights_from_logs(log_posterior(impossible, beta=0.0)), [0.5, 0.5])
    assert log_posterior([-7.0]).tolist() == [0.0]


@pytest.mark.parametrize(
    ("values", "options", "problem"),
    [
        ([], {}, "at least one model"),
        ([0.0, math.nan], {}, "log likelihood of model 1 is nan"),
        ([0.0, 1.0], {"prior": [1]}, "2 models need as many"),
        ([0.0, 1.0], {"prior": [1, -1]}, "prior must be finite and not negative"),
        ([0.0, 1.0], {"prior": [0, 0]}, "must not be 0 for every model"),
        ([0.0, 1.0], {"beta": -0.1}, "beta=-0.1 must be"),
        ([0.0, 1.0], {"beta": math.nan}, "beta=nan must be"),
        ([0.0, 1.0], {"beta": math.inf}, "beta must be finite"),
        ([-math.inf] * 2, {}, "every model has likelihood 0.*laplace"),
        ([-math.inf, 0.0], {"prior": [1, 0]}, "every model has likelihood 0"),
    ],
)
def test_bad_input_of_posteriors(values, options, problem):
    """Nothing gives NaN: each case is an error that names what is wrong."""
    with pytest.raises(ValueError, match=problem):
        log_posterior(values, **options)


@given(logs)
def test_the_effective_numbers_are_ordered(values):
    """1 <= kish <= perplexity <= K, and the masses grow."""
    report = PosteriorReport.of(values)
    slack = 1 + 1e-12
    assert report.kish * slack >= 1
    assert report.kish <= report.perplexity * slack
    assert report.perplexity <= len(values)
    assert report.w_max == report.top[1] <= report.top[5] <= report.top[10] <= 1
    assert report.entropy == pytest.approx(math.log(report.perplexity))


@pytest.mark.parametrize("n_models", [1, 2, 7, 1000])
def test_uniform_weights_have_all_models(n_models):
    """K models of equal weight count as K."""
    report = PosteriorReport.of(np.full(n_models, -3.0))
    assert report.perplexity == pytest.approx(n_models, rel=1e-12)
    assert report.kish == pytest.approx(n_models, rel=1e-12)
    assert report.rest_ratio == pytest.approx(1.0 if n_models > 1 else 0.0)
    assert report.log_odds == (0.0 if n_models > 1 else None)


def test_a_report_by_hand():
    """Three weights 0.5, 0.3 and 0.2."""
    report = PosteriorReport.of(np.log([0.2, 0.5, 0.3]), agreement=0.75)
    assert report.w_max == pytest.approx(0.5)
    assert report.rest_ratio == pytest.approx(0.25 / 0.5)
    assert report.kish == pytest.approx(1 / 0.38)
    assert report.log_odds == pytest.approx(math.log(5 / 3))
    assert report.top == {1: pytest.approx(0.5), 5: 1.0, 10: 1.0}
    assert report.to_json()["top"].keys() == {"1", "5", "10"}
    assert str(report) == (
        "3 weights, effectively 2.8 (perplexity) or 2.63 (Kish); the largest is 0.5, "
        "0.511 nats above the second; agrees with it on 75.0%"
    )
    with pytest.raises(ValueError, match="at least one weight above 0"):
        PosteriorReport.of([-math.inf])


@given(logs)
def test_perplexity_falls_with_the_power(values):
    """From all models at 0 to the best at infinity."""
    spreads = [
        perplexity(weights_from_logs(log_posterior(values, beta=b))) for b in (0, 0.01, 0.1, 1, 9)
    ]
    assert spreads[0] == pytest.approx(len(values))
    assert all(a >= b - 1e-9 for a, b in itertools.pairwise(spreads))


def test_the_power_for_a_perplexity():
    """Bisection hits the target; what Bayes already reaches needs no tempering."""
    values = -4.0 * np.arange(10.0)
    for target in (2.0, 5.0, 9.5):
        beta = beta_for_perplexity(values, target)
        assert perplexity(weights_from_logs(log_posterior(values, beta=beta))) == pytest.approx(
            target
        )
    assert beta_for_perplexity(values, 1.0) == 1.0
    assert beta_for_perplexity(values, 10.0) == pytest.approx(0.0, abs=1e-6)
    with pytest.raises(ValueError, match="target=11"):
        beta_for_perplexity(values, 11)


def test_the_power_with_the_least_log_loss():
    """Models that are right in turn are averaged, one that is best everywhere is taken alone."""
    turns = np.log(np.where(np.arange(40)[:, None] % 4 == np.arange(4), 0.9, 0.2))
    overconfident = np.array([60.0, 20.0, 10.0, 0.0])
    assert beta_by_log_loss(overconfident, turns) == 0.0
    best = np.log(np.tile([0.9, 0.5, 0.5, 0.5], (40, 1)))
    assert beta_by_log_loss(overconfident, best) == 1.0
    losses = [log_loss_of(turns, log_posterior(overconfident, beta=b)) for b in (0.0, 1.0)]
    assert losses[0] < losses[1]


@pytest.mark.parametrize("seed", range(4))
def test_stacking_equals_a_general_optimiser(seed):
    """EM with the stop of Karush, Kuhn and Tucker, and BFGS on logits, reach the same maximum."""
    lp = densities(seed)
    weights = stacking_weights(lp)
    factors = np.mean(np.exp(lp) / (np.exp(lp) @ weights)[:, None], axis=0)
    assert factors.max() <= 1 + 1e-8

    def loss(z):
        w = np.exp(z - z.max())
        return -np.sum(np.log(np.exp(lp) @ (w / w.sum())))

    best = min(
        minimize(loss, start, method="BFGS", options={"gtol": 1e-10}).fun
        for start in (np.zeros(4), np.log(weights + 1e-9))
    )
    np.testing.assert_allclose(
        -np.sum(np.log(np.exp(lp) @ weights)), best, atol=len(lp) * 1e-8, rtol=0
    )


def test_every_step_of_stacking_raises_the_objective():
    """EM is monotone."""
    lp, found = densities(9), []
    for steps in range(1, 12):
        with pytest.warns(UserWarning, match="steps the mean log density"):
            weights = stacking_weights(lp, max_steps=steps)
        found.append(np.sum(np.log(np.exp(lp) @ weights)))
    assert np.all(np.diff(found) >= -1e-12)


@pytest.mark.parametrize("weigh", [stacking_weights, pseudo_bma_weights, combination_weights])
def test_weights_sum_to_one_and_a_weight_of_two_is_a_row_twice(weigh):
    """Of a single model the weight is 1; repeated rows are weighted rows, but for random draws."""
    lp = densities(2)
    options = {} if weigh is stacking_weights else {"random_state": 0}
    weights = weigh(lp, **options)
    assert weights.sum() == pytest.approx(1.0)
    assert np.all(weights >= 0)
    np.testing.assert_allclose(weigh(lp[:, :1], **options), [1.0])
    repeats = np.random.default_rng(1).integers(1, 4, len(lp))
    atol = 1e-4 if weigh is stacking_weights else 0.05
    np.testing.assert_allclose(
        weigh(lp, repeats, **options), weigh(np.repeat(lp, repeats, axis=0), **options), atol=atol
    )


def test_pseudo_bma_without_draws_is_a_softmax_and_draws_soften_it():
    """One model is far ahead by the sum of its densities, but by few rows only."""
    rng = np.random.default_rng(3)
    lp = np.log(rng.uniform(0.4, 0.9, (80, 5)))
    lp[:4, 0] += np.log(8.0)
    plain = pseudo_bma_weights(lp, n_draws=0)
    np.testing.assert_allclose(plain, weights_from_logs(log_posterior(lp.sum(axis=0))))
    drawn = pseudo_bma_weights(lp, random_state=0)
    assert plain.max() > 0.99 > 0.95 > drawn.max()
    assert perplexity(drawn) > perplexity(plain)
    np.testing.assert_array_equal(drawn, pseudo_bma_weights(lp, random_state=0))


def test_mixtures_are_weighed_by_their_own_likelihood():
    """Two models that are right in turn: the mixture of both explains what neither does."""
    lp = np.log(np.where(np.arange(40)[:, None] % 2 == np.arange(2), 0.9, 0.1))
    lp[0, 0] += 0.05
    weights = combination_weights(lp, n_draws=4000, random_state=0)
    np.testing.assert_allclose(weights, [0.5, 0.5], atol=0.03)
    better = np.log(np.tile([0.9, 0.1], (40, 1)))
    assert combination_weights(better, random_state=0)[0] > 0.95
    with pytest.raises(ValueError, match="n_draws=0"):
        combination_weights(lp, n_draws=0)


@pytest.mark.parametrize("weigh", [stacking_weights, pseudo_bma_weights, combination_weights])
def test_densities_that_are_not_finite_are_named(weigh):
    """The model and the row are named, and smoothing is suggested."""
    lp = densities(0)
    lp[7, 2] = -np.inf
    with pytest.raises(ValueError, match="row 7 under model 2 is -inf: smooth"):
        weigh(lp)
    with pytest.raises(ValueError, match="at least one model"):
        weigh(np.empty((3, 0)))
    with pytest.raises(ValueError, match="at least one row"):
        weigh(np.empty((0, 3)))
