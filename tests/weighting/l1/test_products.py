"""Cross-products under weights that are about right."""

import numpy as np
import pytest

from l1_problems import problem_of
from rulewright.weighting import CoordinateDescent, Huber, Logistic
from rulewright.weighting.l1 import products
from rulewright.weighting.l1.products import CrossProducts, Levels

pytestmark = pytest.mark.native


@pytest.mark.parametrize("n_rows", [1, 64, 2048, 5000])
def test_blocks_have_the_mean_of_their_weights(n_rows):
    """No weight is lost, those of a block are alike, and their order is kept."""
    weights = np.random.default_rng(n_rows).exponential(size=n_rows)
    levels = Levels.of(weights)
    shared = levels.by_row()
    assert shared.sum() == pytest.approx(weights.sum())
    assert np.all(np.diff(shared[np.argsort(weights, kind="stable")]) >= 0)
    assert len(np.unique(shared)) == len(levels.weights)
    if n_rows == 5000:
        assert 32 <= len(levels.weights) <= 64
        assert np.abs(shared - weights).sum() <= 0.1 * weights.sum()


def test_products_of_blocks_are_those_of_their_weights():
    """Columns that come in bit by bit have the cross-products of the rows' shared weights."""
    design = problem_of(0, n_rows=2500, n_dense=3).design
    weights = np.random.default_rng(0).random(2500)
    kept = CrossProducts.like(design, weights, 10)
    order = np.random.default_rng(1).permutation(design.n_columns).astype(np.int32)
    for part in (order[:1], order[1:1], order[1:30], order[30:]):
        kept._enter(part)
    expected = design.reweight(Levels.of(weights).by_row()).cross(order, order)
    n = len(order)
    np.testing.assert_allclose(kept.products[:n, :n], expected.reshape(n, n), rtol=1e-10)


@pytest.mark.parametrize("datafit", [Logistic(), Huber(0.5)], ids=["logistic", "huber"])
def test_shared_weights_have_the_same_optima(datafit, monkeypatch):
    """The quadratic is another one, its solutions and their certificates are not."""
    problem = problem_of(4, n_rows=2500, n_dense=2, datafit=datafit)
    grid = problem.largest_penalty * np.array([0.5, 0.1, 0.02, 0.001])
    solver = CoordinateDescent(tolerance=1e-10)
    shared = solver.path(problem, grid)
    monkeypatch.setattr(products, "LEVEL_ROWS", 10**9)
    exact = solver.path(problem, grid)
    for found, expected in zip(shared.solutions, exact.solutions, strict=True):
        assert found.gap <= 1e-9 * problem.null_loss
        assert found.objective == pytest.approx(expected.objective, rel=1e-9)
        np.testing.assert_allclose(found.coef, expected.coef, atol=1e-4)
