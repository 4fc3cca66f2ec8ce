import math

import numpy as np
import pytest

from rulewright.stopping.boosting import EarlyStopping, WindowTest


def fires_at(test, answers):
    """Return how many rules were seen when the test fired, 0 for never."""
    for count, acceptable in enumerate(answers, start=1):
        if test.stop_after(acceptable):
            return count
    return 0


def test_the_window_must_be_full():
    """Eight bad rules in a row do not stop before ten rules were judged."""
    assert fires_at(WindowTest(10, 8), [False] * 9) == 0
    assert fires_at(WindowTest(10, 8), [False] * 10) == 10


def test_the_window_slides():
    """Only the last ten rules count."""
    assert fires_at(WindowTest(10, 8), [True] * 20 + [False] * 8) == 28
    assert fires_at(WindowTest(10, 8), [True, False, False] * 50) == 0
    assert fires_at(WindowTest(3, 2), [True, False, True, True, False, False]) == 6


@pytest.mark.parametrize(("most_bad", "level"), [(8, 56 / 1024), (9, 11 / 1024)])
def test_the_level_of_one_window(most_bad, level):
    """Guessing rules fill one window of ten with that many bad ones as often as E7 says."""
    hits = sum(
        fires_at(WindowTest(10, most_bad), [bool(bits >> i & 1) for i in range(10)]) > 0
        for bits in range(1024)
    )
    assert hits / 1024 == level
    assert level == sum(math.comb(10, k) for k in range(most_bad, 11)) / 1024


@pytest.mark.parametrize(("window", "most_bad"), [(1, 1), (4, 4), (5, 5), (10, 9), (50, 32)])
def test_as_many_bad_rules_as_a_coin_rarely_shows(window, most_bad):
    assert WindowTest(window).most_bad == most_bad
    if window >= 5:  # smaller windows cannot tell

        def chance(n_bad):
            return sum(math.comb(window, k) for k in range(n_bad, window + 1)) / 2**window

        assert chance(most_bad) <= 0.05 < chance(most_bad - 1)


@pytest.mark.parametrize(("bad", "expected"), [(0.5, 1.0), (0.4, 0.9), (0.3, 0.3), (0.2, 0.02)])
def test_a_sliding_window_fires_far_more_often(bad, expected):
    """Over 500 rules the paper's window stops with the probabilities of E7."""
    rng = np.random.default_rng(0)
    fired = [fires_at(WindowTest(10, 8), (rng.random(500) >= bad).tolist()) > 0 for _ in range(400)]
    assert np.mean(fired) == pytest.approx(expected, abs=0.08)


def test_early_stopping_waits_and_remembers_the_best():
    """It stops `n_iter_no_change` rules after the lowest loss and tells where that was."""
    stopping = EarlyStopping(n_iter_no_change=3, start=1.0)
    answers = [stopping.stop_after(loss) for loss in (0.9, 0.8, 0.85, 0.8, 0.81)]
    assert answers == [False, False, False, False, True]
    assert (stopping.best, stopping.best_size) == (0.8, 2)


def test_early_stopping_may_keep_no_rule():
    """When no rule helps the best size is zero."""
    stopping = EarlyStopping(n_iter_no_change=2, start=1.0)
    assert [stopping.stop_after(loss) for loss in (1.0, 1.1)] == [False, True]
    assert stopping.best_size == 0
