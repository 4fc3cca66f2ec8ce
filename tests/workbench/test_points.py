"""Refits of points against references, with offsets, weights and several classes."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from rulewright.workbench.points import (
    COARSE,
    Points,
    Squares,
    class_objective,
    fit_points,
)


def problem(seed, n_classes):
    """Draw columns, heads, weights by class, and points of which some are held fixed."""
    rng = np.random.default_rng(seed)
    n_groups, n_rules = int(rng.integers(20, 80)), int(rng.integers(2, 9))
    columns = (rng.random((n_groups, n_rules)) < rng.uniform(0.1, 0.9)).astype(float)
    columns[:, 0] -= (columns[:, 0] == 0) * rng.random()  # a rule that adds where it fails
    heads = np.zeros((n_rules, n_classes))
    for line in heads:
        first = int(rng.integers(n_classes))
        line[first : int(rng.integers(first, n_classes)) + 1] = 1
    sums = rng.exponential(3.0, (n_groups, n_classes)) * (rng.random((n_groups, n_classes)) < 0.8)
    offset = rng.normal(size=(n_groups, n_classes))
    free = rng.random(n_rules) < 0.7
    free[0] = True
    start = rng.normal(size=n_classes)
    return columns, heads, sums, offset, Points(rng.normal(size=n_rules), start), free


def log_loss(values, columns, heads, sums, offset, l2, start):
    """Return the objective from its definition."""
    n_rules = len(heads)
    scores = offset + columns @ (values[:n_rules, None] * heads)
    scores = scores + np.append(0.0, values[n_rules:])
    logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return -(sums * logs).sum() + l2 / 2 * (values[:n_rules] ** 2).sum()


@pytest.mark.parametrize("seed", range(50))
def test_refits_equal_a_general_optimiser(seed):
    """Free points and starts minimise the objective; the other points stay."""
    n_classes, l2 = 2 + seed % 3, (0.5, 2.0)[seed % 2]
    columns, heads, sums, offset, points, free = problem(seed, n_classes)
    objective = class_objective(columns, heads, sums, offset)
    signs = np.zeros(len(free), dtype=np.int32)
    found = fit_points(objective, points, free, signs, l2)
    assert (found.rules[~free] == points.rules[~free]).all()
    assert found.start[0] == points.start[0]

    moving = np.append(free, np.ones(n_classes - 1, dtype=bool))
    known = np.append(points.rules, points.start[1:])

    def loss(part):
        values = known.copy()
        values[moving] = part
        return log_loss(values, columns, heads, sums, offset, l2, points.start)

    ours = np.append(found.rules, found.start[1:])[moving]
    best = minimize(loss, ours, method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(ours, best.x, atol=1e-6)
    other = minimize(loss, np.zeros(moving.sum()), method="BFGS", options={"gtol": 1e-7})
    assert loss(ours) <= other.fun + 1e-9
    coarse = fit_points(objective, points, free, signs, l2, precision=COARSE)
    np.testing.assert_allclose(coarse.rules, found.rules, atol=1e-4)


@pytest.mark.parametrize("seed", range(10))
def test_points_keep_a_required_sign(seed):
    """A point whose sign is required is the bounded optimum."""
    columns, heads, sums, offset, points, _ = problem(seed, 2)
    signs = np.resize([1, -1], len(heads)).astype(np.int32)
    every = np.ones(len(heads), dtype=bool)
    found = fit_points(class_objective(columns, heads, sums, offset), points, every, signs, 1.0)
    bounds = [(0, None) if sign > 0 else (None, 0) for sign in signs] + [(None, None)]

    def loss(values):
        return log_loss(values, columns, heads, sums, offset, 1.0, points.start)

    ours = np.append(found.rules, found.start[1:])
    best = minimize(loss, ours, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-15})
    assert (found.rules * signs >= 0).all()
    assert loss(ours) <= best.fun + 1e-8


@pytest.mark.parametrize("seed", range(10))
def test_regression_equals_ridge_regression(seed):
    """With an offset as fixed points, the fit is scikit-learn's on what is left."""
    rng = np.random.default_rng(seed)
    columns = (rng.random((60, 6)) < 0.5).astype(float)
    weights, means = rng.exponential(size=60) + 0.1, rng.normal(size=60)
    free = np.array([True, True, False, True, True, False])
    points = Points(rng.normal(size=6), np.array([0.3]))
    objective = Squares(np.hstack([columns, np.ones((60, 1))]), weights, means)
    found = fit_points(objective, points, free, np.zeros(6, dtype=np.int32), 2.0)
    rest = means - columns[:, ~free] @ points.rules[~free]
    ridge = Ridge(2.0, tol=1e-12, solver="cholesky").fit(columns[:, free], rest, weights)
    np.testing.assert_allclose(found.rules[free], ridge.coef_, atol=1e-6)
    np.testing.assert_allclose(found.start, ridge.intercept_, atol=1e-6)


def test_one_separating_rule_is_bounded_by_the_penalty():
    """Where a rule separates the classes the ridge penalty keeps its points finite."""
    columns = np.array([[1.0], [0.0]])
    sums = np.array([[0.0, 50.0], [50.0, 0.0]])
    objective = class_objective(columns, np.array([[0.0, 1.0]]), sums, np.zeros((2, 2)))
    start = Points(np.zeros(1), np.zeros(2))
    every, signs = np.ones(1, dtype=bool), np.zeros(1, dtype=np.int32)
    found = fit_points(objective, start, every, signs, 1.0)
    assert 4 < found.rules[0] < 12
    gradient, _ = objective.derivatives(np.append(found.rules, found.start[1:]))
    np.testing.assert_allclose(gradient + np.append(found.rules, 0), 0, atol=1e-7)
