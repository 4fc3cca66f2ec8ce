"""Folds: rows of each, results out of fold, seeds."""

import numpy as np
from numpy.random import RandomState

from rulewright.estimators.folds.folds import Folds

HAND = Folds(np.array([1, 0, -1, 1, 0, 2], dtype=np.int32))


def test_every_fold_knows_its_rows():
    """A row is held out by its fold and trains in all others; a row of no fold always trains."""
    assert len(HAND) == 3
    assert HAND.held_out_rows(0).tolist() == [1, 4]
    assert HAND.train_rows(0).tolist() == [0, 2, 3, 5]
    assert HAND.held_out_mask(2).tolist() == [False] * 5 + [True]
    assert HAND.ever_held_out.tolist() == [True, True, False, True, True, True]
    for fold in range(3):
        assert (HAND.train_mask(fold) == ~HAND.held_out_mask(fold)).all()


def test_results_come_back_in_the_order_of_the_rows():
    """Whatever the axis of rows; a row that no fold holds out has none."""
    rows = np.arange(12.0).reshape(6, 2)
    expected = np.where(HAND.ever_held_out[:, None], rows, np.nan)
    parts = HAND.run(lambda fold, check: rows[HAND.held_out_rows(fold)], n_threads=2)
    np.testing.assert_array_equal(HAND.scatter(parts), expected)
    np.testing.assert_array_equal(HAND.scatter([part.T for part in parts], axis=1), expected.T)
    np.testing.assert_array_equal(HAND.scatter([part[:, 0] for part in parts]), expected[:, 0])


def test_seeds_follow_each_other():
    """The seeds of folds are the next draws, so a draw before them may be apart."""
    first, *rest = RandomState(3).randint(2**31, size=4).tolist()
    random = RandomState(3)
    assert random.randint(2**31) == first
    assert HAND.draw_seeds(random) == rest
