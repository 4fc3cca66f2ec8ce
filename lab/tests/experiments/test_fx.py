"""Moving-average rules on generated rates."""

import numpy as np
import pytest

from rulewright.weighting import log_evidence
from rulewright_lab.experiments.fx import (
    RuleCounts,
    checked_rates,
    enumerate_rules,
    signals,
    study,
    total_return,
)


def walk(seed, n=300, drift=0.0, memory=0.0):
    """Make rates of a random walk; with memory changes follow each other."""
    steps = np.random.default_rng(seed).normal(drift, 0.01, n)
    for i in range(1, n):
        steps[i] += memory * steps[i - 1]
    return np.exp(np.cumsum(steps))


def test_all_rules_are_listed_by_t_and_s():
    """t_max (t_max - 1) / 2 pairs, the shortest first."""
    assert enumerate_rules(4).tolist() == [[1, 2], [1, 3], [2, 3], [1, 4], [2, 4], [3, 4]]
    assert len(enumerate_rules(100)) == 4950


def test_signals_are_those_of_means():
    """Means include today, equal means sell, days without all means and the last are dropped."""
    rates = walk(0, 60)
    rates[20:40] = 1.5  # all means of a flat stretch are equal, up to rounding of sums
    t_max, found = 7, signals(rates, 7)
    rules = enumerate_rules(t_max)
    assert found.shape == (60 - t_max, len(rules))
    for row, day in enumerate(range(t_max - 1, 59)):
        for k, (s, t) in enumerate(rules):
            short, long = (np.mean(rates[day + 1 - n : day + 1]) for n in (s, t))
            if abs(short - long) > 1e-12:
                assert found[row, k] == (short > long)
    assert not signals(np.full(20, 2.0), 5).any()


def test_counts_and_likelihoods_by_hand():
    """Eq. 7: four cells of what was said and what came."""
    bought = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1]], dtype=bool)
    rose = np.array([1, 0, 0, 0, 1], dtype=bool)
    counts = RuleCounts.of(bought, rose)
    np.testing.assert_allclose(counts.accuracies, [4 / 5, 2 / 5])
    expected = [log_evidence([[2, 1], [0, 2]]), log_evidence([[1, 2], [1, 1]])]
    np.testing.assert_allclose(counts.log_likelihoods, expected)
    np.testing.assert_allclose(counts.chances(bought)[0], [2 / 3, 1 / 2])


def test_returns_are_products_of_held_days():
    """Nothing held is nothing earned."""
    gains = np.array([1.1, 0.5, 2.0])
    assert total_return(gains, np.array([True, False, True])) == pytest.approx(1.2)
    assert total_return(gains, np.zeros(3, dtype=bool)) == 0.0


def test_a_study_of_rates_with_memory():
    """Rules that follow the last change are right; the average follows the heaviest of them."""
    found = study(walk(1, 900, memory=0.7), 600, t_max=12)
    assert found.best_accuracy > 0.65
    assert found.best[0] == 1
    assert found.posterior.w_max > 0.5
    assert found.posterior.agreement > 0.95
    assert found.return_best > found.return_hold
    assert found.return_bma > found.return_hold


def test_the_average_holds_dollars_where_most_days_fall():
    """The paper's yen: down days in the majority whatever a rule says mean no position at all."""
    rng = np.random.default_rng(0)
    steps = np.where(rng.random(700) < 0.35, 0.02, -0.005)
    found = study(np.exp(np.cumsum(steps)), 400, t_max=20)
    assert found.return_hold > 0.5
    assert found.return_bma == 0.0
    assert found.bma_days == 0


def test_a_calibrated_rule_does_what_was_right():
    """Where changes alternate, the rule that is always wrong is turned round."""
    rates = 1.0 + 0.1 * (np.arange(200) % 2)
    rates += 1e-4 * np.arange(200)
    raw, calibrated = (study(rates, 100, t_max=2, decision=d) for d in ("raw", "calibrated"))
    assert raw.best == calibrated.best == (1, 2)
    assert raw.best_accuracy < 0.1
    assert raw.return_best < -0.9
    assert calibrated.return_best > 9


def test_equally_good_rules_give_the_first():
    """On rates that only rise all rules are right."""
    found = study(np.exp(0.01 * np.arange(100)), 50, t_max=10)
    assert (found.best, found.best_accuracy) == ((1, 2), 1.0)
    assert found.posterior.perplexity == pytest.approx(45)


@pytest.mark.parametrize(
    ("rates", "t_max", "words"),
    [
        (np.ones(50), 1, "t_max=1"),
        (np.ones(10), 10, "more than 10 rates"),
        ([1.0, 2.0, 0.0, 3.0], 2, "day 2 is 0.0"),
        ([1.0, 2.0, 3.0, -3.0], 2, "day 3 is -3.0"),
        ([1.0, np.nan, 3.0, 3.0], 2, "day 1 is nan"),
    ],
)
def test_bad_rates(rates, t_max, words):
    """Nothing is filled in: days without a rate are named."""
    with pytest.raises(ValueError, match=words):
        study(rates, 2, t_max)


def test_bad_lengths():
    """There must be days to learn from and days to trade on."""
    with pytest.raises(ValueError, match="n_train=30: there are 25 days"):
        study(walk(0, 30), 30, t_max=5)
    assert len(checked_rates(walk(0, 30), 5)) == 30
