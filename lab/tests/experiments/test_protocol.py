import numpy as np
import pytest

from rulewright.comparison.trial import Place
from rulewright_lab.experiments.protocol import Holdout, RandomSplits, Sizes

CODES = np.repeat([0, 1, 2], [50, 30, 7]).astype(np.int32)


def test_random_splits_learn_from_two_thirds():
    splits = [RandomSplits(5).split(CODES, place, 0) for place in RandomSplits(5).places()]
    assert [len(s.test) for s in splits] == [29] * 5
    assert len({tuple(s.test) for s in splits}) == 5


def test_a_holdout_has_the_printed_size_and_tests_on_the_rest():
    split = Holdout(60).split(CODES, Place(0, 0), 0)
    assert len(split.train) == 60
    assert sorted([*split.train, *split.test]) == list(range(len(CODES)))


def test_a_holdout_with_a_test_file_learns_only_from_the_rows_before_it():
    split = Holdout(20, pool=50).split(CODES, Place(0, 0), 0)
    assert split.train.max() < 50
    np.testing.assert_array_equal(split.test, np.arange(50, len(CODES)))


def test_growing_samples_are_nested_and_judged_on_the_same_rows():
    protocol = Sizes((10, 20, 40), n_test=30)
    splits = [protocol.split(CODES, place, 0) for place in protocol.places()]
    assert [len(s.train) for s in splits] == [10, 20, 40]
    assert set(splits[0].train) < set(splits[1].train) < set(splits[2].train)
    assert all(set(s.test) == set(splits[0].test) and len(s.test) == 30 for s in splits)
    assert not set(splits[2].train) & set(splits[2].test)


@pytest.mark.parametrize("protocol", [Holdout(len(CODES)), Holdout(60, pool=50), Sizes((80,), 30)])
def test_too_many_rows_are_refused(protocol):
    with pytest.raises(ValueError, match="training"):
        protocol.split(CODES, Place(0, 0), 0)
