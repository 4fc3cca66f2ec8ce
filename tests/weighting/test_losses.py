"""Residuals are negative gradients, and every loss starts at its best constant."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from rulewright.kernels import ROW
from rulewright.weighting import HuberLoss, LogisticLoss, RampLoss, SoftmaxLoss, SquaredLoss

N = 60
RNG = np.random.default_rng(0)
WEIGHTS = RNG.choice([0.5, 1.0, 3.0], N)
NUMBERS = RNG.standard_t(2, N) * 5 + 3
SIGNS = np.where(RNG.random(N) < 0.7, 1.0, -1.0)


def huber(y, F):
    away = np.abs(y - F)
    return np.where(away < 2, away**2 / 2, 2 * away - 2)


CASES = {
    "squared": (SquaredLoss(NUMBERS, WEIGHTS), NUMBERS, lambda y, F: (y - F) ** 2 / 2),
    "ramp": (RampLoss(SIGNS, WEIGHTS), SIGNS, lambda y, F: (y - np.clip(F, -1, 1)) ** 2 / 2),
    "logistic": (LogisticLoss(SIGNS, WEIGHTS), SIGNS, lambda y, F: np.log1p(np.exp(-y * F))),
    "huber": (HuberLoss(NUMBERS, WEIGHTS, 2.0), NUMBERS, huber),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_residuals_are_negative_gradients(case):
    """They equal finite differences of the loss, on the rows asked for only."""
    loss, y, value = case
    F, rows = RNG.normal(size=(N, 1)) * 2, np.arange(5, N, 3, dtype=ROW)
    y, at, step = y[rows], F[rows, 0], 1e-6
    slope = (value(y, at + step) - value(y, at - step)) / (2 * step)
    found = loss.residuals(F, rows)
    assert found.shape == (len(rows), 1)
    np.testing.assert_allclose(found[:, 0], -slope, atol=1e-6)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_losses_start_at_the_best_constant(case):
    """No constant has a lower weighted loss than F_0."""
    loss, y, value = case

    def total(constant):
        return WEIGHTS @ value(y, constant)

    low, high = float(y.min()), float(y.max())
    best = minimize_scalar(total, bounds=(low - 3, high + 3), method="bounded").fun
    assert total(loss.start[0]) <= best + 1e-7


def test_softmax_residuals_are_indicators_minus_probabilities():
    """They sum to zero per row, and at the start to zero per class."""
    labels = RNG.integers(0, 3, N).astype(np.int32)
    loss = SoftmaxLoss(labels, WEIGHTS, 4)
    everyone = np.arange(N, dtype=ROW)
    F = np.tile(loss.start, (N, 1))
    found = loss.residuals(F, everyone)
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(WEIGHTS @ found, 0, atol=1e-12)
    assert loss.start[3] == -np.inf
    F[:, :3] = RNG.normal(size=(N, 3))
    step = np.zeros((N, 4))
    step[:, 1] = 1e-6

    def value(scores):
        p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        return -np.log(p[everyone, labels])

    slope = (value(F + step) - value(F - step)) / 2e-6
    np.testing.assert_allclose(loss.residuals(F, everyone)[:, 1], -slope, atol=1e-6)


@pytest.mark.parametrize("loss", [RampLoss, LogisticLoss])
def test_one_class_leaves_no_residual(loss):
    """With one class only, the constant explains everything."""
    one = loss(np.ones(4), np.ones(4))
    F = np.tile(one.start, (4, 1))
    assert not one.residuals(F, np.arange(4, dtype=ROW)).any()


def test_a_constant_target_has_a_huber_start():
    """The constant itself."""
    assert HuberLoss(np.full(3, 2.5), np.ones(3), 1.0).start.tolist() == [2.5]
