import numpy as np
import pytest
from hypothesis import given

from builders import SEEDS
from rulewright.weighting import Huber, Logistic, Ramp, Squared

LOSSES = [Squared(), Ramp(), Logistic(), Huber(0.7)]
NAMES = [loss.name for loss in LOSSES]
CASES = pytest.mark.parametrize("loss", LOSSES, ids=NAMES)


def rows(seed, loss):
    rng = np.random.default_rng(seed)
    scores = rng.normal(scale=2, size=50)
    y = rng.normal(size=50)
    return (np.sign(y) if loss.name in ("ramp", "logistic") else y), scores, rng.random(50) + 0.1


@CASES
@given(SEEDS)
def test_residuals_are_negative_derivatives(loss, seed):
    """Finite differences of the value give the residual, away from the kinks of the ramp."""
    y, scores, _ = rows(seed, loss)
    scores = scores[np.abs(np.abs(scores) - 1) > 1e-4]
    y, eps = y[: len(scores)], 1e-6
    slopes = (loss.value(y, scores + eps) - loss.value(y, scores - eps)) / (2 * eps)
    np.testing.assert_allclose(loss.residual(y, scores), -slopes, atol=1e-6)


@CASES
@given(SEEDS)
def test_the_constant_has_no_residual(loss, seed):
    """At the best constant score the weighted residuals sum to 0."""
    y, _, weights = rows(seed, loss)
    level = np.full(len(y), loss.constant(y, weights))
    assert abs(weights @ loss.residual(y, level)) <= 1e-9


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Huber(0.7)], ids=lambda loss: loss.name)
@given(seed=SEEDS)
def test_conjugates_meet_the_loss_at_the_residual(loss, seed):
    """L(F) + L*(-theta) >= -theta F, with equality at theta = residual (Fenchel, Young)."""
    y, scores, _ = rows(seed, loss)
    theta = loss.residual(y, scores)
    sums = loss.value(y, scores) + loss.conjugate(y, theta) + theta * scores
    np.testing.assert_allclose(sums, 0, atol=1e-9)
    other = loss.residual(y, scores[::-1])
    assert np.all(loss.value(y, scores) + loss.conjugate(y, other) + other * scores >= -1e-9)


@given(SEEDS)
def test_the_quadratic_of_huber_lies_above(seed):
    """The quadratic with Huber's curvature touches the loss at F and is nowhere below it."""
    loss = Huber(0.7)
    y, scores, _ = rows(seed, loss)
    slope, curve = loss.residual(y, scores), loss.curvature(y, scores)
    for step in (-3.0, -0.1, 0.5, 4.0):
        above = loss.value(y, scores) - slope * step + curve * step**2 / 2
        assert np.all(above >= loss.value(y, scores + step) - 1e-9)


def test_delta_must_be_positive():
    """Huber's loss without a middle is an error."""
    with pytest.raises(ValueError, match="delta"):
        Huber(0.0)
