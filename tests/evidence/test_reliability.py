import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from builders import SEEDS, softmax
from rulewright.evidence.predictions import (
    N_BINS,
    accuracy,
    auc,
    brier,
    calibration_error,
    log_loss,
    reliability,
)

CASES = given(SEEDS, st.integers(1, 60), st.sampled_from([2, 3, 5]))


def random_case(seed, n_rows, n_classes):
    """Give labels, probabilities and weights, some of them zero."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows).astype(np.int32)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], n_rows)
    weights[0] = 1.0
    return labels, softmax(rng.normal(scale=2.0, size=(n_rows, n_classes))), weights


@CASES
def test_figures_equal_those_of_scikit_learn(seed, n_rows, n_classes):
    """Log-loss, Brier score and accuracy are what sklearn.metrics says."""
    labels, p, weights = random_case(seed, n_rows, n_classes)
    kinds = np.arange(n_classes)
    expected = metrics.log_loss(labels, p, sample_weight=weights, labels=kinds)
    assert log_loss(labels, p, weights) == pytest.approx(expected)
    right = metrics.accuracy_score(labels, p.argmax(axis=1), sample_weight=weights)
    assert accuracy(labels, p, weights) == pytest.approx(right)
    if n_classes == 2:
        expected = metrics.brier_score_loss(labels == 1, p[:, 1], sample_weight=weights)
    else:
        expected = metrics.brier_score_loss(labels, p, sample_weight=weights, labels=kinds)
    assert brier(labels, p, weights) == pytest.approx(expected)


@CASES
def test_the_calibration_error_is_its_definition(seed, n_rows, n_classes):
    """A loop over the bins (low, high] gives the same number, between 0 and 1."""
    labels, p, weights = random_case(seed, n_rows, n_classes)
    confidence, right = p.max(axis=1), p.argmax(axis=1) == labels
    error = 0.0
    for low in range(N_BINS):
        inside = (confidence > low / N_BINS) & (confidence <= (low + 1) / N_BINS)
        w = weights[inside]
        if w.sum() > 0:
            gap = np.average(confidence[inside], weights=w) - np.average(right[inside], weights=w)
            error += abs(gap) * w.sum() / weights.sum()
    assert calibration_error(labels, p, weights) == pytest.approx(error, abs=1e-12)
    assert 0 <= error <= 1


def test_a_calibrated_forecast_has_no_calibration_error():
    """Three right of four at 0.75 is calibrated, four of four is off by a quarter."""
    p = np.tile([0.25, 0.75], (4, 1))
    assert calibration_error(np.array([1, 1, 0, 1]), p, np.ones(4)) == pytest.approx(0)
    assert calibration_error(np.array([1, 1, 1, 1]), p, np.ones(4)) == pytest.approx(0.25)


def test_a_certain_mistake_costs_a_finite_log_loss():
    """Probability 0 of the true class counts as 2e-16, and the Brier score is at its largest."""
    labels, p, weights = np.array([0]), np.array([[0.0, 1.0]]), np.ones(1)
    figures = reliability(labels, p, weights)
    assert figures["log_loss"] == pytest.approx(36.04, abs=0.01)
    assert (figures["brier_score_loss"], figures["ece"], figures["accuracy"]) == (1.0, 1.0, 0.0)
    assert brier(labels, np.array([[0.0, 1.0, 0.0]]), weights) == 2.0


@CASES
def test_weights_count_rows(seed, n_rows, n_classes):
    """A weight of two is the row twice, a weight of zero is no row."""
    labels, p, _ = random_case(seed, n_rows, n_classes)
    counts = np.random.default_rng(seed).integers(0, 3, n_rows)
    counts[0] = 1
    weighted = reliability(labels, p, counts.astype(float))
    repeated = reliability(labels.repeat(counts), p.repeat(counts, axis=0), np.ones(counts.sum()))
    assert weighted == pytest.approx(repeated)


def test_one_class_is_known_for_certain():
    """With one class every figure is perfect."""
    figures = reliability(np.zeros(3, np.int32), np.ones((3, 1)), np.ones(3))
    assert figures == {"log_loss": 0.0, "brier_score_loss": 0.0, "ece": 0.0, "accuracy": 1.0}


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_auc_agrees_with_scikit_learn_on_tied_and_weighted_rows(n_classes):
    """Ties count half, rows by their weights."""
    random = np.random.default_rng(n_classes)
    labels = random.integers(n_classes, size=200)
    probabilities = random.integers(1, 5, size=(200, n_classes)).astype(float)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    weights = random.random(200)
    kinds = [1] if n_classes == 2 else range(n_classes)
    areas = [
        metrics.roc_auc_score(labels == k, probabilities[:, k], sample_weight=weights)
        for k in kinds
    ]
    assert auc(labels, probabilities, weights) == pytest.approx(np.mean(areas))
