"""Losses of events equal their twins and other packages; derivatives are derivatives."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import mean_pinball_loss, mean_tweedie_deviance

from reference import event_losses as twins
from rulewright.weighting import (
    CoxLoss,
    HuberScoreLoss,
    NegativeBinomialLoss,
    PoissonLoss,
    QuantileLoss,
    TweedieLoss,
)

RNG = np.random.default_rng(0)
N = 60
WEIGHTS = RNG.choice([0.0, 0.5, 1.0, 2.0], N)
WHOLE = RNG.integers(0, 4, N).astype(float)
SCORES = RNG.normal(size=N)
COUNTS = RNG.poisson(2, N).astype(float)
EXPOSURE = RNG.uniform(0.5, 2, N)
TIMES = np.ceil(6 * RNG.exponential(size=N))
EVENTS = RNG.random(N) < 0.6
ENTRIES = np.where(RNG.random(N) < 0.3, np.floor(0.4 * TIMES), 0.0) - 0.5
COLUMNS = RNG.normal(size=(3, N))

SMOOTH = {
    "cox": CoxLoss(TIMES, EVENTS, WEIGHTS),
    "cox with entries": CoxLoss(TIMES, EVENTS, WEIGHTS, ENTRIES),
    "cox of large weights": CoxLoss(TIMES, EVENTS, 1e4 * WEIGHTS, ENTRIES),
    "poisson": PoissonLoss(COUNTS, WEIGHTS, EXPOSURE),
    "negative binomial": NegativeBinomialLoss(COUNTS, WEIGHTS, EXPOSURE),
    "tweedie": TweedieLoss(COUNTS, WEIGHTS, EXPOSURE, 1.3),
}
ROBUST = {
    "quantile": QuantileLoss(COUNTS, WEIGHTS, 0.3, 0.1),
    "huber": HuberScoreLoss(COUNTS, WEIGHTS, 0.7),
}
EVERY = {**SMOOTH, **ROBUST}

# Twelve rows that statsmodels 0.15 and scikit-survival 0.27 were asked about.
T = np.array([5, 5, 8, 8, 8, 12, 15, 15, 20, 22, 22, 30.0])
E = np.array([1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0]) == 1
ENTRY = np.array([0, 1, 0, 2, 0, 6, 0, 9, 3, 0, 10, 0.0])
X = np.array(
    [
        [0.5, 1.2, 0.1, -0.3, 0.8, -1, 0.4, -0.6, 0, -0.2, 0.9, -1.3],
        [1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0],
    ]
)
B = np.array([0.7, -0.4])


@pytest.mark.parametrize("loss", EVERY.values(), ids=EVERY)
def test_first_derivatives(loss):
    """The first derivative is the slope of the loss."""
    g, _ = loss.derivatives(SCORES)
    for i in range(N):
        step = 1e-5 * np.eye(N)[i]
        slope = (loss.value(SCORES + step) - loss.value(SCORES - step)) / 2e-5
        assert g[i] == pytest.approx(slope, rel=1e-4, abs=1e-6 * loss.total)


@pytest.mark.parametrize("loss", SMOOTH.values(), ids=SMOOTH)
def test_second_derivatives(loss):
    """Second derivatives between columns are slopes of the first."""
    _, h = loss.derivatives(SCORES)
    found = loss.curvature(SCORES, COLUMNS, COLUMNS, h)

    def slopes(scores):
        return COLUMNS @ loss.derivatives(scores)[0]

    step = 1e-5
    wanted = [(slopes(SCORES + step * c) - slopes(SCORES - step * c)) / (2 * step) for c in COLUMNS]
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6 * loss.total)
    own = loss.own_curvature(SCORES, COLUMNS, h)
    np.testing.assert_allclose(own, np.diag(found), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", ROBUST.values(), ids=ROBUST)
def test_parabolas_lie_above_robust_losses(loss):
    """The curvature of a robust loss makes a parabola that touches the loss and lies above it."""
    g, h = loss.derivatives(SCORES)
    for move in RNG.normal(scale=2, size=(50, N)):
        above = loss.value(SCORES) + g @ move + 0.5 * h @ move**2
        assert loss.value(SCORES + move) <= above + 1e-9


@pytest.mark.parametrize("loss", EVERY.values(), ids=EVERY)
def test_sums_stay_within_the_bound(loss):
    """At the best constant, sums of |g| and of h are at most the bound, so that units hold them."""
    g, h = loss.derivatives(np.full(N, loss.start))
    assert max(np.abs(g).sum(), h.sum()) <= loss.bound * (1 + 1e-12)


@pytest.mark.parametrize("loss", EVERY.values(), ids=EVERY)
def test_the_start_is_near_the_best_constant(loss):
    """Constants far from the start have a larger loss; of Poisson's all others have."""
    best = loss.value(np.full(N, loss.start))
    shifts = (-0.01, 0.01) if isinstance(loss, PoissonLoss) else (-2, 2)
    for shift in shifts:
        assert loss.value(np.full(N, loss.start + shift)) >= best - 1e-9 * abs(best)


@pytest.mark.parametrize("entries", [None, ENTRIES], ids=["without entries", "with entries"])
def test_cox_equals_its_twin(entries):
    """Efron's ties, with a row as often as its weight says; and Breslow's baseline."""
    loss = CoxLoss(TIMES, EVENTS, WHOLE, entries)
    wanted = twins.cox_loss(TIMES, EVENTS, WHOLE, SCORES, entries)
    assert loss.value(SCORES) == pytest.approx(wanted, rel=1e-10)
    times, hazard = loss.baseline(SCORES)
    for t, found in zip(times, hazard, strict=True):
        own = twins.breslow_hazard(TIMES, EVENTS, WHOLE, SCORES, t, entries)
        assert found == pytest.approx(own, rel=1e-10)


def test_weights_are_numbers_of_rows():
    """Weights give what repeated rows give, and weights that are not whole lie between."""
    rows = np.repeat(np.arange(N), WHOLE.astype(int))
    repeated = CoxLoss(TIMES[rows], EVENTS[rows], np.ones(len(rows)))
    assert CoxLoss(TIMES, EVENTS, WHOLE).value(SCORES) == pytest.approx(
        repeated.value(SCORES[rows])
    )
    near = CoxLoss(TIMES, EVENTS, WHOLE * (1 + 1e-9)).value(SCORES)
    assert near == pytest.approx(repeated.value(SCORES[rows]), rel=1e-7)


def test_cox_equals_statsmodels_and_scikit_survival():
    """Log-likelihood, slopes and Hessian with Efron's ties, and Breslow's hazard at the fit."""
    loss, scores = CoxLoss(T, E, np.ones(12)), B @ X
    assert -loss.value(scores) == pytest.approx(-15.342735149174956, abs=1e-8)
    g, h = loss.derivatives(scores)
    np.testing.assert_allclose(-X @ g, [0.82152522, 0.71502412], atol=1e-8)
    hessian = [[4.57171291, 1.63722724], [1.63722724, 2.23503894]]
    np.testing.assert_allclose(loss.curvature(scores, X, X, h), hessian, atol=1e-8)
    late = CoxLoss(T, E, np.ones(12), ENTRY)
    assert -late.value(scores) == pytest.approx(-14.374001856664764, abs=1e-8)
    fitted = np.array([0.7929680450718789, -0.14716339250332583])
    g, _ = loss.derivatives(fitted @ X)
    np.testing.assert_allclose(X @ g, 0, atol=1e-8)


def test_counts_equal_scipy_and_statsmodels():
    """Negative log-likelihoods with weights and offsets, and the fit of all three coefficients."""
    mean = EXPOSURE * np.exp(SCORES)
    wanted = -WEIGHTS @ stats.poisson.logpmf(COUNTS, mean)
    assert SMOOTH["poisson"].value(SCORES) == pytest.approx(wanted, abs=1e-8)
    a = 0.7
    loss = NegativeBinomialLoss(COUNTS, WEIGHTS, EXPOSURE, a)
    wanted = -WEIGHTS @ stats.nbinom.logpmf(COUNTS, 1 / a, 1 / (1 + a * mean))
    assert loss.value(SCORES) == pytest.approx(wanted, abs=1e-8)
    counts = np.array([0, 2, 1, 0, 5, 3, 0, 1, 4, 0, 2, 1.0])
    weights = np.array([1, 2, 1, 1, 3, 1, 2, 1, 1, 1, 2, 1.0])
    exposure, columns = np.linspace(0.5, 2, 12), np.vstack([np.ones(12), X])
    loss = PoissonLoss(counts, weights, exposure)
    scores = np.array([-0.18003041209020632, 0.4473662388311881, 0.745839436226138]) @ columns
    assert -loss.value(scores) == pytest.approx(-30.903631013531363, abs=1e-8)
    np.testing.assert_allclose(columns @ loss.derivatives(scores)[0], 0, atol=1e-8)
    loss = NegativeBinomialLoss(counts, weights, exposure, 0.2719913479633126)
    scores = np.array([-0.12607306496031534, 0.4788464249886742, 0.7150887645652555]) @ columns
    assert -loss.value(scores) == pytest.approx(-30.08470606911483, abs=1e-8)


def test_the_dispersion_is_the_most_likely_one():
    """Counts of a gamma mixture have their dispersion estimated, as the likelihood says."""
    rng = np.random.default_rng(1)
    counts = rng.poisson(3 * rng.gamma(2, 0.5, 4000)).astype(float)
    loss = NegativeBinomialLoss(counts, np.ones(4000))
    assert loss.dispersion == pytest.approx(0.5, rel=0.15)
    constant = np.full(4000, loss.start)
    for factor in (0.9, 1.1):
        other = NegativeBinomialLoss(counts, np.ones(4000), dispersion=factor * loss.dispersion)
        assert other.value(constant) > loss.value(constant)
    again = loss.with_dispersion(constant)
    assert again.dispersion == pytest.approx(loss.dispersion, rel=1e-6)


def test_twins_of_single_rows():
    """Each row's loss is what its definition says."""
    found = SMOOTH["poisson"].losses(SCORES)
    loss = NegativeBinomialLoss(COUNTS, WEIGHTS, EXPOSURE, 0.4)
    for i in range(N):
        own = COUNTS[i], EXPOSURE[i], SCORES[i]
        assert found[i] == pytest.approx(twins.poisson_loss(*own), abs=1e-9)
        wanted = twins.negative_binomial_loss(*own, 0.4)
        assert loss.losses(SCORES)[i] == pytest.approx(wanted, abs=1e-9)


def test_quantiles_equal_scikit_learn_far_from_zero_and_their_twin_near_it():
    """The pinball loss is smoothed in a window only."""
    loss = QuantileLoss(COUNTS, np.ones(N), 0.3, 1e-9)
    wanted = N * mean_pinball_loss(COUNTS, SCORES, alpha=0.3)
    assert loss.value(SCORES) == pytest.approx(wanted, abs=1e-8)
    smooth = QuantileLoss(np.zeros(5), np.ones(5), 0.3, 0.5)
    scores = np.array([-0.4, -0.1, 0.0, 0.2, 0.45])
    wanted = [twins.pinball(0.0, score, 0.3, 0.5) for score in scores]
    np.testing.assert_allclose(smooth.losses(scores), wanted, atol=1e-6)


def test_tweedie_equals_scikit_learn():
    """Differences of losses are half the differences of deviances, over the dispersion."""
    loss = SMOOTH["tweedie"]
    deviances = []
    for scores in (SCORES, SCORES / 2):
        mean = EXPOSURE * np.exp(scores)
        deviance = mean_tweedie_deviance(COUNTS, mean, sample_weight=WEIGHTS, power=1.3)
        deviances.append(deviance * WEIGHTS.sum() / 2 / loss.dispersion)
    found = loss.value(SCORES) - loss.value(SCORES / 2)
    assert found == pytest.approx(deviances[0] - deviances[1], abs=1e-8)


def test_held_out_losses_prefer_true_hazards():
    """Losses of held-out rows are lowest near the hazards that the rows were drawn with."""
    rng = np.random.default_rng(2)
    n = 2000
    scores = rng.normal(size=n)
    times, ends = rng.exponential(np.exp(-scores)), rng.exponential(2.0, n)
    train = (rng.random(n) < 0.5).astype(float)
    loss = CoxLoss(np.minimum(times, ends), times <= ends, train)
    means = [loss.losses(factor * scores)[train == 0].mean() for factor in (0, 0.5, 1, 1.5, 2)]
    assert np.argmin(means) == 2
