"""The exponential loss: weights without normalisation, and lanes as fine as a search needs."""

import numpy as np
import pytest

from rulewright.kernels import ROW
from rulewright.weighting import ExponentialLoss
from rulewright.weighting.exponential import LEAST_TOTAL, MEAN_BITS
from rulewright.weighting.likelihood import MOST_FINE_ROWS

pytestmark = pytest.mark.native

MANY = 3 * MOST_FINE_ROWS


def loss_of(n_rows, n_heads=1, by_cost=False, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, max(n_heads, 2), n_rows).astype(np.int32)
    start = rng.exponential(size=(n_rows, n_heads))
    if by_cost:
        start[np.arange(n_rows), labels] = 0
    heads = range(n_heads) if n_heads > 1 else (1,)
    return ExponentialLoss(labels, start, heads, by_cost=by_cost), labels, start / start.sum()


def boost(loss, n_rounds, seed=0):
    rng, n_rows = np.random.default_rng(seed), len(loss.stats)
    for _ in range(n_rounds):
        rows = np.flatnonzero(rng.random(n_rows) < rng.random()).astype(ROW)
        place = int(rng.integers(len(loss.heads)))
        yield loss.add(rows, place, float(rng.normal(0, 0.4)))


@pytest.mark.parametrize("n_rows", [200, MANY])
@pytest.mark.parametrize(("n_heads", "by_cost"), [(1, False), (3, False), (3, True)])
def test_weights_and_z_follow_the_scores(n_rows, n_heads, by_cost):
    """D is the start weights times the exponentials of the scores over the product of all Z."""
    loss, labels, start = loss_of(n_rows, n_heads, by_cost)
    product = np.prod(list(boost(loss, 30)))
    own = labels[:, None] == np.array(loss.heads)
    exponent = np.where(own, -loss.scores, loss.scores)
    if by_cost:
        exponent = loss.scores - (loss.scores * own).sum(axis=1, keepdims=True)
    moved = start * np.exp(exponent)
    assert moved.sum() == pytest.approx(product, rel=1e-9)
    np.testing.assert_allclose(loss.weights, moved / moved.sum(), rtol=1e-9)


@pytest.mark.parametrize(("n_heads", "by_cost"), [(1, False), (3, False), (3, True)])
def test_coarse_lanes_are_near_the_weights(n_heads, by_cost):
    """Lanes of many rows are coarse; their sums are those of the weights up to the promise."""
    loss, labels, _ = loss_of(MANY, n_heads, by_cost)
    rng = np.random.default_rng(1)
    for _ in boost(loss, 30):
        assert loss.is_coarse
        assert loss.stats.max() <= 2**20
        rows = np.flatnonzero(rng.random(MANY) < 0.3).astype(ROW)
        for place, head in enumerate(loss.heads):
            own, weights = labels[rows] == head, loss.weights[rows]
            helped = weights.sum(axis=1) if by_cost else weights[:, place]
            exact = helped[own].sum(), weights[~own, place].sum()
            assert loss.sums(rows, place) == pytest.approx(exact, rel=1e-9)
            lanes = loss.stats[rows, 2 * place : 2 * place + 2].sum(axis=0) * loss.unit
            np.testing.assert_allclose(lanes, exact, rtol=1e-3)
            assert np.abs(lanes - exact).max() <= 2.0**-MEAN_BITS


def test_lanes_of_few_rows_are_fine():
    """Up to 4,096 rows lanes and sums are the same."""
    loss, _, _ = loss_of(MOST_FINE_ROWS)
    rows = np.arange(0, MOST_FINE_ROWS, 3, dtype=ROW)
    for _ in boost(loss, 20):
        assert not loss.is_coarse
        lanes = loss.stats[rows].sum(axis=0) * loss.unit
        np.testing.assert_allclose(lanes, loss.sums(rows, 0), rtol=1e-14)


def test_very_unequal_weights_have_fine_lanes():
    """Where a few rows have nearly all the weight, the others are not counted for more."""
    labels = np.arange(MANY, dtype=np.int32) % 2
    loss = ExponentialLoss(labels, np.ones((MANY, 1)), (1,))
    assert loss.is_coarse
    loss.add(np.arange(1, 11, 2, dtype=ROW), 0, -12.0)
    assert loss.weights.max() * MANY > 2**11
    assert not loss.is_coarse
    rows = np.arange(5, MANY, 3, dtype=ROW)
    lanes = loss.stats[rows].sum(axis=0) * loss.unit
    np.testing.assert_allclose(lanes, loss.sums(rows, 0), rtol=1e-12)


def test_a_vanishing_total_is_scaled_up():
    """However far the bound falls, weights and Z stay numbers."""
    labels, start = np.array([0, 1] * 50, np.int32), np.ones((100, 1))
    loss = ExponentialLoss(labels, start, (1,))
    for _ in range(60):
        assert loss.add(np.arange(1, 100, 2, dtype=ROW), 0, 20.0) > 0
        assert loss.add(np.arange(0, 100, 2, dtype=ROW), 0, -20.0) > 0
        assert loss.total >= LEAST_TOTAL
        assert loss.weights.sum() == pytest.approx(1)
        assert loss.stats.max() > 2**50
