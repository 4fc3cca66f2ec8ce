"""The correction for having chosen the best of many candidates on the same rows."""

import numpy as np
import pytest

from rulewright.data import Units
from rulewright.evidence import correct_optimism


def corrected(losses, weights=None, **options):
    """Correct the mean loss of the best candidate; losses have shape (candidates, rows)."""
    weights = np.ones(losses.shape[1]) if weights is None else weights

    def evaluate(candidate, counts):
        return np.array([np.average(losses[candidate], weights=weights * counts)])

    def choose(counts):
        weighted = counts * weights
        return np.argmin(weighted @ losses.T / weighted.sum(axis=1, keepdims=True), axis=1)

    (chosen,) = choose(np.ones((1, losses.shape[1])))
    return float(
        correct_optimism(evaluate, choose, Units(losses.shape[1]), int(chosen), **options)[0]
    )


def test_the_best_of_many_equal_candidates_is_not_better_than_they_are():
    """Pure noise: the best of thirty looks better than it is, the corrected figure does not."""
    rng = np.random.default_rng(0)
    tables = [1.0 + rng.normal(size=(30, 100)) for _ in range(40)]
    best = np.mean([losses.mean(axis=1).min() for losses in tables])
    assert best < 0.85
    assert np.mean([corrected(losses) for losses in tables]) == pytest.approx(1.0, abs=0.04)


def test_a_clear_choice_needs_no_correction():
    """Where every resample chooses alike the figure stays what it is, to the bit."""
    losses = np.random.default_rng(1).normal(size=(5, 50))
    losses[3] -= 10
    assert corrected(losses) == np.average(losses[3])


def test_by_hand_with_two_candidates():
    """A row decides: where it is not drawn the other candidate is chosen, and pays on this row."""
    losses = np.ones((2, 4))
    losses[0, 0] = 0.0  # the first candidate is better, by this row alone
    losses[1, 1:] = 0.9
    rng = np.random.default_rng(0)
    draws = [rng.integers(4, size=4) for _ in range(500)]
    shares = [(0 not in drawn) for drawn in draws]
    left_out = [
        np.setdiff1d(range(4), drawn) for drawn, missed in zip(draws, shares, strict=True) if missed
    ]
    pooled = np.concatenate(left_out)
    change = losses[1, pooled].mean() - losses[0, pooled].mean()
    total = losses[0].mean() + np.mean(shares) * change
    assert corrected(losses, n_resamples=500) == pytest.approx(total)


def test_the_correction_is_the_same_every_time():
    """Resamples have a fixed seed."""
    losses = np.random.default_rng(2).normal(size=(10, 80))
    assert corrected(losses) == corrected(losses)


def test_weights_count():
    """Rows of almost no weight change nothing; the scale of weights does not matter."""
    rng = np.random.default_rng(3)
    losses, weights = rng.normal(size=(10, 80)), rng.uniform(0.5, 2, size=80)
    assert corrected(losses, 7 * weights) == pytest.approx(corrected(losses, weights))
    other = losses.copy()
    other[:, 40:] = rng.normal(size=(10, 40)) * 5
    light = np.where(np.arange(80) < 40, weights, 1e-12)
    assert corrected(losses, light) == pytest.approx(corrected(other, light), abs=1e-6)


def test_figures_that_a_resample_lacks_are_not_corrected():
    """NaN, such as an area of one class alone, leaves the figure as it is."""

    def evaluate(candidate, counts):
        return np.array([0.5 if counts.all() else np.nan])

    found = correct_optimism(evaluate, lambda counts: np.arange(len(counts)) % 2, Units(20), 0)
    assert found.tolist() == [0.5]
