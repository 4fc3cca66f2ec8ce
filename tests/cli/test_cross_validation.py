import numpy as np
import pytest

from rulewright.cli.validation import stratified_splits
from rulewright.estimators.folds.folds import affordable_folds
from rulewright.evidence import accuracy, auc, log_loss


def test_hand_example():
    """Three rows, counted by hand."""
    codes, weights = np.array([0, 1, 1], dtype=np.int32), np.array([1.0, 1.0, 2.0])
    probabilities = np.array([[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]])
    assert accuracy(codes, probabilities, weights) == 0.75
    expected = (np.log(2) - np.log(np.finfo(float).eps) - 2 * np.log(0.75)) / 4
    assert log_loss(codes, probabilities, weights) == pytest.approx(expected)
    assert auc(codes, probabilities, weights) == pytest.approx(2 / 3)


def test_auc_leaves_out_absent_classes():
    """A class without rows has no curve; a single class has none at all."""
    codes = np.array([0, 0, 1], dtype=np.int32)
    probabilities = np.array([[0.8, 0.1, 0.1], [0.7, 0.2, 0.1], [0.1, 0.6, 0.3]])
    assert auc(codes, probabilities, np.ones(3)) == 1.0
    assert np.isnan(auc(codes[:2], probabilities[:2], np.ones(2)))


def test_folds_hold_every_class():
    """Folds are as many as the rarest class allows, stratified, seeded, and cover each row once."""
    codes = np.repeat([0, 2, 3], [20, 4, 9]).astype(np.int32)
    assert affordable_folds(codes, 10) == 4
    assert affordable_folds(codes, 3) == 3
    splits = stratified_splits(codes, 4, seed=5)
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(33))
    assert all(set(codes[test]) == {0, 2, 3} for _, test in splits)
    again, other = stratified_splits(codes, 4, seed=5), stratified_splits(codes, 4, seed=6)
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(splits, again, strict=True))
    assert not all(np.array_equal(a[1], b[1]) for a, b in zip(splits, other, strict=True))
