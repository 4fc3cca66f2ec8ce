"""Posteriors of conjunctions on labels that are noise, averaged over seeds."""

import numpy as np
import pytest

from rulewright_lab.experiments.noise_conjunctions import conjunctions, mean_of, noise_conjunctions


def test_all_conjunctions_of_three_features():
    """Each holds for an eighth of all examples, and no two for the same."""
    held = conjunctions(5)
    assert held.shape == (32, 10)
    assert set(held.sum(axis=0)) == {4}
    assert len(np.unique(held, axis=1).T) == 10


@pytest.mark.parametrize(
    ("a", "runs", "ratio", "agreement", "perplexity"),
    [(7, 400, 0.157, 0.835, 21.1), (8, 300, 0.129, 0.794, 34.0), (10, 100, 0.080, 0.777, 66.0)],
)
def test_posteriors_are_uneven_although_nothing_can_be_learned(
    a, runs, ratio, agreement, perplexity
):
    """The means of the card, within what so many runs vary."""
    found = noise_conjunctions(a, runs, seed=1)
    mean = mean_of(found)
    for name, expected in (
        ("rest_ratio", ratio),
        ("agreement", agreement),
        ("perplexity", perplexity),
    ):
        spread = np.std([getattr(run, name) for run in found]) / np.sqrt(runs)
        assert getattr(mean, name) == pytest.approx(expected, abs=4 * spread)
    assert mean.accuracy_bma == pytest.approx(0.5, abs=0.02)
    assert mean.accuracy_best == pytest.approx(0.5, abs=0.02)


def test_tempering_spreads_the_posterior():
    """Ten features, 120 models: about 64, 107, 120 and 120 of them count."""
    spreads = [mean_of(noise_conjunctions(10, 60, 0, beta)).perplexity for beta in (1, 0.5, 0.1)]
    np.testing.assert_allclose(spreads, [64.4, 106.8, 119.7], rtol=0.08)
    assert mean_of(noise_conjunctions(10, 2, 0, 0.0)).perplexity == pytest.approx(120)


def test_too_few_features():
    """Three are needed for a conjunction of three."""
    with pytest.raises(ValueError, match="a=2: conjunctions of 3"):
        noise_conjunctions(2, 1, 0)
    assert noise_conjunctions(3, 1, 0)[0].rest_ratio == 0.0
