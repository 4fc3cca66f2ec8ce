"""Numbers of independent observations: weights, repeated rows, groups."""

import numpy as np
import pytest

from rulewright.evidence import Observations


def test_weights_count_as_their_effective_number_unless_they_are_counts():
    """Seven rows of weight 5 are seven observations, or 35 if weights are counts."""
    five = np.full(7, 5.0)
    assert Observations(five).count() == pytest.approx(7)
    assert Observations(five, None, five).count() == pytest.approx(35)
    assert Observations(np.array([3.0, 1.0])).count() == pytest.approx(16 / 10)
    assert Observations(np.empty(0)).count() == 0
    assert Observations(np.ones(3)).are_rows
    assert Observations(five, None, five).are_rows
    assert not Observations(five).are_rows


def test_copies_in_groups_are_one_observation():
    """Equal rows have correlation 1, and then groups count."""
    rng = np.random.default_rng(0)
    values = np.repeat(rng.random(100) < 0.7, 5).astype(float)
    rows = Observations(np.ones(500), np.repeat(np.arange(100), 5))
    assert rows.correlate([(slice(None), values)]) == 1
    assert rows.count(1.0) == pytest.approx(100)
    assert rows.count(0.0) == pytest.approx(500)
    assert rows.correlate([(slice(None), np.ones(500))]) == 1  # nothing determines it


@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0, 3.0])
def test_effective_numbers_hold_for_shared_effects(spread):
    """The variance of a share by the effective number is about the one over many data sets."""
    rng, found = np.random.default_rng(1), []
    for _ in range(150):
        groups = np.repeat(np.arange(60), rng.integers(2, 21, 60))
        chance = 1 / (1 + np.exp(-0.5 - spread * rng.normal(size=60)[groups]))
        values = (rng.random(len(groups)) < chance).astype(float)
        rows = Observations(np.ones(len(groups)), groups)
        number = rows.count(rows.correlate([(slice(None), values)]))
        found.append((values.mean(), number))
    shares, numbers = np.array(found).T
    true = shares.mean() * (1 - shares.mean()) / shares.var()
    assert 0.5 * true < numbers.mean() < 1.2 * true
