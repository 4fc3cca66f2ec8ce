import numpy as np
import pytest
from sklearn import metrics

from rulewright.cli.validation import (
    accuracy,
    auc,
    cross_validate,
    log_loss,
    majority,
    score_probabilities,
    stratified_splits,
)
from rulewright.estimators.folds.folds import affordable_folds


@pytest.fixture(params=[2, 3])
def rows(request):
    """Give classes, probabilities and weights of random rows."""
    rng = np.random.default_rng(request.param)
    codes = rng.integers(request.param, size=60).astype(np.int32)
    probabilities = rng.dirichlet(np.ones(request.param), size=60).round(2)
    probabilities[:, -1] = 1 - probabilities[:, :-1].sum(axis=1)
    return codes, np.clip(probabilities, 0.0, 1.0), rng.integers(1, 4, size=60).astype(float)


def test_measures_equal_those_of_scikit_learn(rows):
    """Accuracy, log-loss and AUC with weights are the usual ones."""
    codes, probabilities, weights = rows
    found = score_probabilities(codes, probabilities, weights)
    assert found.accuracy == pytest.approx(
        metrics.accuracy_score(codes, probabilities.argmax(axis=1), sample_weight=weights)
    )
    clipped = np.clip(probabilities, np.finfo(float).eps, None)
    logs = -np.log(clipped[np.arange(60), codes])
    assert found.log_loss == pytest.approx(np.average(logs, weights=weights))
    n_classes = probabilities.shape[1]
    areas = [
        metrics.roc_auc_score(codes == k, probabilities[:, k], sample_weight=weights)
        for k in ([1] if n_classes == 2 else range(n_classes))
    ]
    assert found.auc == pytest.approx(np.mean(areas))


def test_weight_two_is_the_row_twice(rows):
    """Weights are counts."""
    codes, probabilities, weights = rows
    repeated = np.repeat(np.arange(60), weights.astype(int))
    once = score_probabilities(codes[repeated], probabilities[repeated], np.ones(len(repeated)))
    assert score_probabilities(codes, probabilities, weights) == pytest.approx(once)


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


def test_test_rows_are_never_trained_on():
    """The learner gets the rows of each fold apart, and its answer is for the test rows."""
    codes = np.tile([0, 1], 10).astype(np.int32)
    weights = np.linspace(1, 2, 20)
    splits, seen = stratified_splits(codes, 5, seed=0), []

    def learn(train, test):
        seen.append((train, test))
        return np.eye(2)[codes[test]]

    scores = list(cross_validate(learn, codes, weights, splits))
    assert [fold.accuracy for fold in scores] == [1.0] * 5
    for split, (train, test) in zip(splits, seen, strict=True):
        assert split[0] is train
        assert split[1] is test
        assert not set(train) & set(test)


def test_majority_predicts_the_weighted_shares():
    """The baseline gives every row the class shares of the training rows."""
    codes = np.array([0, 0, 1, 2], dtype=np.int32)
    learn = majority(codes, np.array([1.0, 9.0, 3.0, 9.0]), 4)
    found = learn(np.array([0, 2]), np.array([1, 3, 0]))
    assert found.tolist() == [[0.25, 0.75, 0.0, 0.0]] * 3
