import numpy as np
import pytest

from rulewright.experiments.protocol import Folds, Holdout, Place, RandomSplits, Sizes

CODES = np.repeat([0, 1, 2], [50, 30, 7]).astype(np.int32)


@pytest.mark.parametrize("protocol", [Folds(10), Folds(2, 5), Folds(10, 3)])
def test_every_row_judges_once_in_each_repetition(protocol):
    for repeat in range(protocol.n_repeats):
        places = [place for place in protocol.places() if place.repeat == repeat]
        splits = [protocol.split(CODES, place, seed=1) for place in places]
        tested = np.concatenate([split.test for split in splits])
        np.testing.assert_array_equal(np.sort(tested), np.arange(len(CODES)))
        for split in splits:
            both = np.concatenate([split.train, split.test])
            np.testing.assert_array_equal(np.sort(both), np.arange(len(CODES)))


def test_folds_hold_the_classes_in_proportion():
    for place in Folds(10).places():
        counts = np.bincount(CODES[Folds(10).split(CODES, place, 0).test], minlength=3)
        assert counts[0] == 5
        assert counts[1] == 3
        assert counts[2] <= 1


def test_splits_are_the_same_for_a_seed_and_differ_between_seeds_and_repetitions():
    one = Folds(10).split(CODES, Place(0, 3), 5)
    np.testing.assert_array_equal(one.test, Folds(10).split(CODES, Place(0, 3), 5).test)
    for other in (Folds(10).split(CODES, Place(0, 3), 6), Folds(10).split(CODES, Place(1, 3), 5)):
        assert set(other.test) != set(one.test)


def test_more_repetitions_leave_the_first_ones_as_they_are():
    for place in Folds(10, 1).places():
        few, many = (Folds(10, n).split(CODES, place, 0) for n in (1, 4))
        np.testing.assert_array_equal(few.train, many.train)


def test_a_quick_look_takes_the_first_folds():
    assert Folds(10, 2, used=3).places() == [Place(r, f) for r in range(2) for f in range(3)]
    assert "first 3 folds" in str(Folds(10, used=3))


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
