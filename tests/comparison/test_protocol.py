import numpy as np
import pytest

from rulewright.comparison.trial import FoldProtocol, Place

CODES = np.repeat([0, 1, 2], [50, 30, 7]).astype(np.int32)


@pytest.mark.parametrize("protocol", [FoldProtocol(10), FoldProtocol(2, 5), FoldProtocol(10, 3)])
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
    for place in FoldProtocol(10).places():
        counts = np.bincount(CODES[FoldProtocol(10).split(CODES, place, 0).test], minlength=3)
        assert counts[0] == 5
        assert counts[1] == 3
        assert counts[2] <= 1


def test_splits_are_the_same_for_a_seed_and_differ_between_seeds_and_repetitions():
    one = FoldProtocol(10).split(CODES, Place(0, 3), 5)
    np.testing.assert_array_equal(one.test, FoldProtocol(10).split(CODES, Place(0, 3), 5).test)
    for other in (
        FoldProtocol(10).split(CODES, Place(0, 3), 6),
        FoldProtocol(10).split(CODES, Place(1, 3), 5),
    ):
        assert set(other.test) != set(one.test)


def test_more_repetitions_leave_the_first_ones_as_they_are():
    for place in FoldProtocol(10, 1).places():
        few, many = (FoldProtocol(10, n).split(CODES, place, 0) for n in (1, 4))
        np.testing.assert_array_equal(few.train, many.train)


def test_a_quick_look_takes_the_first_folds():
    assert FoldProtocol(10, 2, used=3).places() == [Place(r, f) for r in range(2) for f in range(3)]
    assert "first 3 folds" in str(FoldProtocol(10, used=3))
