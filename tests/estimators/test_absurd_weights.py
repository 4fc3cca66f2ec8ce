"""Weights over hundreds of orders of magnitude, and weights that are shares."""

import warnings

import numpy as np
import pytest

from builders import LEARNERS, mixed_table, mlrules
from rulewright import (
    CompactRulesRegressor,
    DataWarning,
    ModelWarning,
    RuleFitRegressor,
    calibrate,
    compress,
)
from rulewright.evidence import reliability
from rulewright.rules.coverage import wilson_interval
from rulewright.weighting.l1 import multinomial

pytestmark = pytest.mark.native

N = 120
REGRESSORS = (
    lambda: CompactRulesRegressor(3, random_state=0),
    lambda: RuleFitRegressor(max_candidates=50, cv=3, random_state=0),
)


def absurd(name):
    """Make weights whose proportions no sum of floats can hold."""
    rng = np.random.default_rng(3)
    return {
        "wide": 10.0 ** rng.uniform(-300, 300, N),
        "two sizes": rng.choice([1e-300, 1e297], N),
        "one heavy row": np.where(np.arange(N) == 7, 1e299, 1.0),
        "one light row": np.where(np.arange(N) == 7, 5e-324, 1.0),
        "tiny": np.full(N, 1e-300),
        "least": np.full(N, 5e-324),
        "huge": np.full(N, 1e305),
    }[name]


NAMES = ("wide", "two sizes", "one heavy row", "one light row", "tiny", "least", "huge")
every_weight = pytest.mark.parametrize("name", NAMES)
shares_allowed = pytest.mark.filterwarnings("ignore:.*sample_weight. the weights of:UserWarning")


@pytest.fixture
def data():
    return mixed_table(np.random.default_rng(0), N, n_classes=2)


@pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
@every_weight
@shares_allowed
def test_every_learner_ends(make, name, data):
    """A fit gives a model that predicts and prints, or an error that names the weights."""
    X, y = data
    try:
        model = make().fit(X, y, sample_weight=absurd(name)).model_
    except ValueError as error:
        assert "sample_weight" in str(error)  # noqa: PT017
        return
    assert np.all(np.isfinite(model.predict_proba(X)))
    assert "nan" not in str(model)


@every_weight
@pytest.mark.parametrize("make", REGRESSORS)
@shares_allowed
def test_every_regressor_ends(make, name, data):
    """A fit gives a model that predicts finite numbers."""
    model = make().fit(*data, sample_weight=absurd(name)).model_
    assert np.all(np.isfinite(model.predict(data[0])))


@every_weight
@pytest.mark.parametrize("n_rules", [None, 3])
def test_compression_ends(n_rules, name, data, monkeypatch):
    """Few sweeps are enough whatever the weights, and the model is finite."""
    sweeps = []
    count = multinomial.Multinomial._sweep

    def counted(*arguments):
        sweeps.append(1)
        return count(*arguments)

    est = mlrules(max_rules=30).fit(*data)
    monkeypatch.setattr(multinomial.Multinomial, "_sweep", counted)
    small = compress(est, *data, n_rules, sample_weight=absurd(name), cv=2)
    assert len(sweeps) < 10 * multinomial.MOST_SWEEPS
    assert np.all(np.isfinite(small.scores(data[0])))


@every_weight
@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
def test_calibration_ends(method, name, data):
    """Calibrated probabilities are finite whatever the weights."""
    est = mlrules().fit(*data)
    model = calibrate(est, *data, method, sample_weight=absurd(name))
    assert np.all(np.isfinite(model.predict_proba(data[0])))


@every_weight
def test_reliability_is_finite(name, data):
    """Figures of weighted rows are means, which never overflow."""
    p = mlrules().fit(*data).predict_proba(data[0])
    figures = reliability(np.asarray(data[1], np.int32), p, absurd(name))
    assert np.isfinite(figures["log_loss"])
    assert np.isfinite(figures["brier_score_loss"])


def test_sweeps_that_never_settle_end(monkeypatch):
    """All loops of a fit share one budget of sweeps."""
    fit = of_one_rule(np.ones(3))
    sweeps = []
    monkeypatch.setattr(fit, "_sweep", lambda *_: sweeps.append(1) or True)
    fit.solve(0.1)
    assert len(sweeps) <= multinomial.MOST_SWEEPS + 1


def of_one_rule(weights):
    covers, heads = np.array([[5]], np.uint64), np.zeros((1, 2), np.int32)
    problem = covers, heads, np.ones(1, np.int8), np.array([0, 1, 0], np.int32), weights, 2
    return multinomial.Multinomial(*problem)


def test_a_path_of_penalties_next_to_nothing_ends():
    """Penalties that rounding keeps from falling are not followed for ever."""
    fit = of_one_rule(np.ones(3))
    fit.largest_penalty = 5e-322
    assert len(list(zip(range(1000), multinomial.path(fit, lambda: None), strict=False))) < 100


def test_weights_next_to_nothing_have_a_ridge():
    """A ridge penalty beyond the largest number is the largest that counts."""
    assert of_one_rule(np.full(3, 1e-310)).ridge == multinomial.LARGEST_RIDGE


def test_compression_takes_shares_for_counts(data):
    """Weights of 1/n give the model of weights of one, not the majority class."""
    est = mlrules(max_rules=30).fit(*data)
    whole = compress(est, *data, 5)
    shares = compress(est, *data, 5, sample_weight=np.full(N, 1 / N))
    assert len(shares) == len(whole) == 5
    np.testing.assert_allclose(shares.scores(data[0]), whole.scores(data[0]), rtol=1e-6)
    uneven = np.resize([0.5, 1.5], N)
    counts, shares = (compress(est, *data, 5, sample_weight=w) for w in (uneven, uneven / N))
    np.testing.assert_allclose(shares.scores(data[0]), counts.scores(data[0]), rtol=1e-6)


@pytest.mark.parametrize("size", [1 / N, 1e-300, 1e20, 1e300])
@pytest.mark.parametrize("make", [*LEARNERS.values(), *REGRESSORS])
def test_proportions_are_scaled_with_a_warning(make, size, data):
    """Weights that no number of rows can be give the model of weights of one, and one warning."""
    whole = make().fit(*data).model_
    with pytest.warns(DataWarning, match=rf"weights of {N} rows sum to .* scaled to sum to {N}"):
        scaled = make().fit(*data, sample_weight=np.full(N, size)).model_
    assert scaled == whole


@pytest.mark.parametrize("make", [*LEARNERS.values(), *REGRESSORS])
def test_rows_of_little_weight_are_no_proportions(make, data):
    """A mean of a fiftieth is left as it is; a model without rules is then warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelWarning)
        warnings.filterwarnings("ignore", "RuleFit")
        model = make().fit(*data, sample_weight=np.full(N, 0.02)).model_
    assert model.summary["total_weight"] == pytest.approx(0.02 * N)


def test_intervals_of_tiny_weights():
    """Next to no evidence leaves the whole range open; much evidence nearly none."""
    for total in (5e-324, 1e-300, 1e-160):
        assert wilson_interval(0.25, total) == pytest.approx((0.0, 1.0))
    assert wilson_interval(0.25, 1e300) == pytest.approx((0.25, 0.25))
