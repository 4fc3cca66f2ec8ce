"""Figures of rates and of survival, against twins and other packages."""

import numpy as np
import pytest
from sklearn.metrics import d2_tweedie_score, mean_poisson_deviance

from reference import event_losses as twins
from rulewright.evidence import (
    CountAnswers,
    SurvivalAnswers,
    brier_by_time,
    concordance,
    deviance_explained,
    integrate,
    kaplan_meier,
    log_rank,
    lorenz_curve,
    measures,
    rate_bands,
    score_answers,
)

# Twelve rows that scikit-survival 0.27 was asked about.
T = np.array([5, 5, 8, 8, 8, 12, 15, 15, 20, 22, 22, 30.0])
E = np.array([1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0]) == 1
X = np.array([0.5, 1.2, 0.1, -0.3, 0.8, -1, 0.4, -0.6, 0, -0.2, 0.9, -1.3])
GROUP = np.array([1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0]) == 1
RISKS = 0.7 * X - 0.4 * GROUP
ONES = np.ones(12)


def counted(seed=0, n=500):
    rng = np.random.default_rng(seed)
    exposure = rng.uniform(0.2, 2, n)
    rates = rng.choice([0.1, 0.5, 2.0], n)
    counts = rng.poisson(rates * exposure).astype(float)
    weights = rng.choice([1.0, 2.0], n)
    return CountAnswers("rows", counts, rates * exposure, weights, exposure=exposure)


def test_concordance_equals_scikit_survival_and_the_twin():
    """Tied risks count half, rows that are censored at the time of an event are at risk."""
    assert concordance(T, E, RISKS) == pytest.approx(0.6923076923076923)
    assert concordance(T, E, np.round(RISKS)) == pytest.approx(0.6442307692307693)
    rng = np.random.default_rng(1)
    times, events = rng.integers(1, 9, 40).astype(float), rng.random(40) < 0.5
    risks, weights = rng.integers(0, 4, 40).astype(float), rng.choice([0.0, 1.0, 3.0], 40)
    wanted = twins.concordance(times, events, risks, weights)
    assert concordance(times, events, risks, weights) == pytest.approx(wanted)
    assert np.isnan(concordance(T, np.zeros(12, bool), RISKS))


def test_kaplan_meier_equals_scikit_survival():
    """The survival at the times of events, with its interval around it."""
    curve = kaplan_meier(T, E, ONES)
    wanted = [0.8333333333, 0.6666666667, 0.5714285714, 0.380952381, 0.126984127]
    np.testing.assert_allclose(curve.survival, wanted)
    assert curve.times.tolist() == [5, 8, 12, 15, 22]
    assert curve.at_risk.tolist() == [12, 10, 7, 6, 3]
    assert (curve.low < curve.survival).all()
    assert (curve.survival < curve.high).all()
    assert curve.at(np.array([4.9, 5.0, 40.0])).tolist() == [
        1.0,
        curve.survival[0],
        curve.survival[-1],
    ]


def test_the_brier_score_equals_scikit_survival():
    """Errors are weighted by the inverse probability of not being censored."""
    observed = np.where(E | (T != 8), T, 8.5)
    times = (6.0, 10.0, 14.0, 21.0)
    survival = np.exp(-np.outer(np.exp(RISKS), np.array(times) / 20))
    answers = SurvivalAnswers(
        "rows", observed, RISKS, ONES, events=E, survival=survival, times=times
    )
    scores = brier_by_time(answers)
    wanted = [0.1105057916132862, 0.1809165672142775, 0.2323498009486709, 0.24357167477576144]
    np.testing.assert_allclose(scores, wanted, atol=1e-10)
    assert integrate(scores, times) == pytest.approx(0.20500684126776916)
    found = {one.key: one for one in measures(answers)}
    assert found["concordance"].low < 0.6923 < found["concordance"].high
    assert found["ibs"].value == pytest.approx(0.20500684126776916)
    assert found["ibs"].baseline > found["ibs"].value * 0.5


def test_the_log_rank_test_equals_scikit_survival():
    """The statistic and its p-value."""
    found = log_rank(T, E, GROUP, ONES)
    assert found.statistic == pytest.approx(0.4635011788874098)
    assert found.p_value == pytest.approx(0.4959922223280764)


def test_the_interval_of_the_concordance_holds_its_share():
    """About 95 of 100 samples have the concordance of many rows in their interval."""
    rng = np.random.default_rng(0)

    def draw(n):
        risks = rng.normal(size=n)
        times, ends = rng.exponential(np.exp(-risks)), rng.exponential(2.0, n)
        return SurvivalAnswers("", np.minimum(times, ends), risks, np.ones(n), events=times <= ends)

    whole = draw(5000)
    truth = concordance(whole.truth, whole.events, whole.predicted)
    held = [(one := measures(draw(150))[0]).low <= truth <= one.high for _ in range(200)]
    assert 0.9 <= np.mean(held) <= 0.99


def test_the_deviance_equals_scikit_learn():
    """D2 and the mean deviance, with exposure as the weight of rates."""
    answers = counted()
    found = {one.key: one for one in measures(answers)}
    own = {"sample_weight": answers.weights}
    wanted = mean_poisson_deviance(answers.truth, answers.predicted, **own)
    assert found["poisson_deviance"].value == pytest.approx(wanted)
    rates, weights = answers.truth / answers.exposure, answers.weights * answers.exposure
    d2 = d2_tweedie_score(
        rates, answers.predicted / answers.exposure, sample_weight=weights, power=1
    )
    assert found["d2"].value == pytest.approx(d2)
    assert deviance_explained(answers) == pytest.approx(d2)
    assert found["observed_to_expected"].low < 1 < found["observed_to_expected"].high
    assert score_answers(answers)["d2"] == found["d2"].value


def test_bands_divide_the_exposure_and_rows_of_equal_rates_share_one():
    """Bands add up to all rows; three rates make at most three bands."""
    answers = counted()
    bands = rate_bands(answers)
    assert len(bands) == 3
    assert sum(band.events for band in bands) == pytest.approx(answers.weights @ answers.truth)
    total = answers.weights @ answers.exposure
    assert sum(band.exposure for band in bands) == pytest.approx(total)
    rates = [band.events / band.exposure for band in bands]
    assert rates == sorted(rates)
    x, y = lorenz_curve(answers)
    assert len(x) == 4
    assert (y[1:-1] < x[1:-1]).all()
