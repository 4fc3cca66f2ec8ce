import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from builders import SEEDS, softmax
from rules.builders import a_rule
from rulewright.data import read_table
from rulewright.evidence.predictions import calibration_error, log_loss
from rulewright.model import AdditiveRules, margins
from rulewright.rules import Conjunction, Range
from rulewright.weighting.calibration import (
    CALIBRATIONS,
    LEAST_SLOPE,
    Isotonic,
    Platt,
    Temperature,
    _Objective,
    targets,
)


def fit_temperature(*rows):
    return Temperature().fit(*rows).slope


def fit_platt(*rows):
    fitted = Platt().fit(*rows)
    return fitted.slope, fitted.offsets


def fit_isotonic(*rows):
    return Isotonic().fit(*rows).steps


CASES = given(SEEDS, st.integers(1, 60), st.sampled_from([2, 3, 5]))


def random_case(seed, n_rows, n_classes):
    """Give scores that tell something about the labels, some of them tied, and weights."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows).astype(np.int32)
    scores = rng.normal(scale=rng.choice([0.1, 1.0, 10.0]), size=(n_rows, n_classes))
    scores[np.arange(n_rows), labels] += rng.choice([-1.0, 0.0, 2.0, 30.0])
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], n_rows)
    weights[0] = 1.0
    grid = 2.0 ** rng.integers(0, 8)  # margins are exact, equal ones equal to the bit
    return np.round(scores * grid) / grid, labels, weights


def cross_entropy(scores, labels, weights, slope, offsets):
    """Give the mean cross-entropy to the targets of the rows that have weight."""
    seen = weights > 0
    scores, labels, shares = scores[seen], labels[seen], weights[seen] / weights.sum()
    logits = slope * scores + np.array(offsets)
    logits -= np.logaddexp.reduce(logits, axis=1)[:, None]
    wanted = targets(labels, shares, scores.shape[1])
    return -float(shares @ (wanted * logits).sum(axis=1))


def slopes(value, point, i, scale):
    """Give the derivative along one coordinate."""
    step = np.zeros_like(point)
    step[i] = 1e-4 * scale
    return (value(point + step) - value(point - step)) / 2e-4


def spread_of(scores, weights):
    gaps = scores.max(axis=1) - scores.min(axis=1)
    return float(gaps @ weights / weights.sum())


@CASES
def test_the_slope_is_the_minimum(seed, n_rows, n_classes):
    """The derivative along the slope is zero, or positive at the least slope."""
    scores, labels, weights = random_case(seed, n_rows, n_classes)
    slope, spread = fit_temperature(scores, labels, weights), spread_of(scores, weights)
    if spread == 0:
        assert slope == 1.0
        return

    def value(point):
        return cross_entropy(scores, labels, weights, point[0], np.zeros(n_classes))

    derivative = slopes(value, np.array([slope]), 0, 1 / spread)
    at_bound = slope == pytest.approx(LEAST_SLOPE / spread, rel=1e-9)
    assert slope > 0
    assert derivative >= -1e-6 if at_bound else derivative == pytest.approx(0, abs=1e-6)


@CASES
def test_slope_and_offsets_are_the_minimum(seed, n_rows, n_classes):
    """All derivatives are zero, but that of the slope may be positive at the least slope."""
    scores, labels, weights = random_case(seed, n_rows, n_classes)
    slope, offsets = fit_platt(scores, labels, weights)
    spread = spread_of(scores, weights)
    assert offsets[0] == 0
    assert np.all(np.isfinite(offsets))

    def value(point):
        return cross_entropy(scores, labels, weights, point[0], [0.0, *point[1:]])

    point = np.array([slope, *offsets[1:]])
    for i in range(1, n_classes):
        assert slopes(value, point, i, 1.0) == pytest.approx(0, abs=1e-6)
    if spread > 0:
        derivative = slopes(value, point, 0, 1 / spread)
        at_bound = slope == pytest.approx(LEAST_SLOPE / spread, rel=1e-9)
        assert derivative >= -1e-6 if at_bound else derivative == pytest.approx(0, abs=1e-6)


@CASES
def test_more_freedom_fits_better(seed, n_rows, n_classes):
    """On the fitted rows platt is no worse than temperature, and that no worse than nothing."""
    case = random_case(seed, n_rows, n_classes)
    nothing = np.zeros(n_classes)
    slope = fit_temperature(*case)
    platt = cross_entropy(*case, *fit_platt(*case))
    temperature = cross_entropy(*case, slope, nothing)
    assert platt <= temperature + 1e-9
    if slope > 2 * LEAST_SLOPE / max(spread_of(case[0], case[2]), 1e-300):
        assert temperature <= cross_entropy(*case, 1.0, nothing) + 1e-9


def test_targets_are_those_of_platt():
    """With two classes they are (N + 1) / (N + 2) and 1 / (N + 2)."""
    labels = np.array([1, 1, 1, 0])
    wanted = targets(labels, np.ones(4), 2)[:, 1]
    assert wanted.tolist() == pytest.approx([4 / 5, 4 / 5, 4 / 5, 1 / 3])


@CASES
def test_steps_are_the_isotonic_regression(seed, n_rows, n_classes):
    """On the fitted rows the values are those of scikit-learn, kept off 0 and 1; they ascend."""
    scores, labels, weights = random_case(seed, n_rows, n_classes)
    seen = weights > 0
    least = 1 / (np.count_nonzero(seen) + 2)
    for k, steps in enumerate(fit_isotonic(scores, labels, weights)):
        margin = margins(scores)[seen, k]
        fitted = IsotonicRegression().fit(margin, labels[seen] == k, weights[seen]).predict(margin)
        assert steps(margin) == pytest.approx(np.clip(fitted, least, 1 - least))
        assert np.all(np.diff(steps.values) > 0)
        assert np.all(np.diff(steps.thresholds) > 0)


@pytest.mark.parametrize("high", [np.nextafter(1.0, 2.0), 5.0, 1e308])
def test_thresholds_lie_halfway(high):
    """Between two blocks, and below the upper one even when nothing lies between."""
    low = 1.0 if high < 1e300 else -1e308
    scores = np.array([[0.0, low / 2], [0.0, high / 2]]) * 2
    (_, steps) = fit_isotonic(scores, np.array([0, 1], np.int32), np.ones(2))
    assert steps.thresholds == (pytest.approx(low / 2 + high / 2, abs=1e-9),)
    assert steps(np.array([low, high])).tolist() == [0.25, 0.75]


AWKWARD = {
    "a class without rows": (np.array([[1.0, 0, 3], [0, 2, 1]]), [0, 1]),
    "one class of many": (np.array([[1.0, 0, 3], [0, 2, 1]]), [1, 1]),
    "constant scores": (np.tile([1.0, 2.0], (4, 1)), [0, 1, 1, 1]),
    "all zero": (np.zeros((4, 2)), [0, 1, 1, 1]),
    "a single class": (np.ones((3, 1)), [0, 0, 0]),
    "parted by the scores": (np.array([[0.0, -1], [0, -2], [0, 3], [0, 4]]), [0, 0, 1, 1]),
    "huge scores": (1e300 * np.array([[0.0, -1], [0, 2], [0, -3], [0, 4]]), [0, 0, 1, 1]),
    "tiny scores": (1e-300 * np.array([[0.0, -1], [0, 2], [0, -3], [0, 4]]), [0, 0, 1, 1]),
    "one far row": (np.array([[0.0, 1e200], [0, 2], [0, -3], [0, 4]]), [0, 0, 1, 1]),
    "a single row": (np.array([[0.0, 1.0]]), [0]),
    "no rows": (np.zeros((0, 3)), []),
}


@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize("kind", CALIBRATIONS)
@pytest.mark.parametrize("size", [1.0, 1e-290, 1e250])
def test_awkward_scores_give_probabilities(case, kind, size):
    """Whatever the scores and the size of the weights, probabilities are finite and sum to 1."""
    scores, labels = AWKWARD[case]
    labels, weights = np.array(labels, dtype=np.int32), np.full(len(labels), size)
    model = some_model(scores.shape[1])
    folds = np.arange(len(labels)) % 2
    calibration = CALIBRATIONS[kind]()
    p = calibration.cross_fit(scores, labels, weights, folds)
    fitted = calibration.fit(scores, labels, weights).apply(model)
    p = np.vstack([p, fitted.predict_proba([[0.0]])])
    assert np.all((p >= 0) & (p <= 1))
    assert p.sum(axis=1) == pytest.approx(np.ones(len(p)))


def some_model(n_classes):
    """Make a model of one column and a rule for each class."""
    schema = read_table(np.array([[0.0], [1.0]])).schema
    rules = [
        a_rule(Conjunction.of([Range("x0", low=0.5 * k)]), k, 0.5, 1.0, (1.0,) * n_classes)
        for k in range(n_classes)
    ]
    return AdditiveRules(schema, np.arange(n_classes), (0.0,) * n_classes, tuple(rules))


def overconfident(seed, n_classes=3, n_rows=3000):
    """Draw labels from softmax(s) and give scores four times too large, shifted for class 1."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n_rows, n_classes))
    labels = (softmax(truth).cumsum(axis=1) < rng.random((n_rows, 1))).sum(axis=1)
    shift = np.arange(n_classes) == 1
    return (
        4.0 * (truth + shift),
        labels.astype(np.int32),
        np.ones(n_rows),
        rng.integers(0, 5, n_rows),
    )


@pytest.mark.parametrize("kind", CALIBRATIONS)
def test_calibration_mends_overconfident_scores(kind):
    """On rows that did not calibrate themselves log-loss and calibration error fall."""
    scores, labels, weights, folds = overconfident(3)
    after = CALIBRATIONS[kind]().cross_fit(scores, labels, weights, folds)
    before = softmax(scores)
    assert log_loss(labels, after, weights) < 0.6 * log_loss(labels, before, weights)
    assert calibration_error(labels, after, weights) < 0.1
    assert calibration_error(labels, before, weights) > 0.2


def test_platt_finds_slope_and_offsets():
    """The scores were four times too large and class 1 was 4 too high."""
    scores, labels, weights, _ = overconfident(3, n_rows=20_000)
    slope, offsets = fit_platt(scores, labels, weights)
    assert slope == pytest.approx(0.25, rel=0.05)
    assert offsets == pytest.approx((0.0, -1.0, 0.0), abs=0.1)


@pytest.mark.parametrize("kind", ["temperature", "platt"])
def test_linear_calibration_becomes_part_of_the_model(kind):
    """The model's new scores are slope times the old ones plus the offsets."""
    scores, labels, weights, _ = overconfident(5, n_rows=200)
    model, X = some_model(3), [[0.2], [0.7], [3.0]]
    fitted = CALIBRATIONS[kind]().fit(scores, labels, weights).apply(model)
    slope, offsets = fit_platt(scores, labels, weights)
    if kind == "temperature":
        slope, offsets = fit_temperature(scores, labels, weights), (0.0, 0.0, 0.0)
    assert fitted.scores(X) == pytest.approx(slope * model.scores(X) + offsets)
    assert fitted.steps is None


def test_isotonic_calibration_is_kept_by_the_model():
    """The model climbs the fitted steps."""
    scores, labels, weights, _ = overconfident(5, n_rows=200)
    fitted = Isotonic().fit(scores, labels, weights).apply(some_model(3))
    assert fitted.steps == fit_isotonic(scores, labels, weights)


@CASES
def test_a_fold_is_calibrated_by_the_others(seed, n_rows, n_classes):
    """Labels of a fold do not change the probabilities of its own rows."""
    scores, labels, weights = random_case(seed, n_rows, n_classes)
    rng = np.random.default_rng(seed)
    folds = rng.integers(0, 3, n_rows)
    other = np.where(folds == 1, rng.integers(0, n_classes, n_rows), labels).astype(np.int32)
    for calibration in CALIBRATIONS.values():
        p = calibration().cross_fit(scores, labels, weights, folds)
        q = calibration().cross_fit(scores, other, weights, folds)
        np.testing.assert_array_equal(p[folds == 1], q[folds == 1])


@pytest.mark.filterwarnings("error")
def test_a_step_does_not_overflow(monkeypatch):
    """Where there is next to no curvature, a step is cut before its logits overflow."""
    scores = np.array([[0.0, -6e83], [0.0, -1.0], [0.0, -2.0]])
    labels = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
    objective = _Objective(scores, labels, np.array([1e-305, 1.0, 1.0]))
    monkeypatch.setattr(np.linalg, "solve", lambda matrix, side: -5e299 * np.sign(-side))
    found = objective.minimise(np.array([1.0, 0.0]), np.array([True, False]))
    assert np.isfinite(objective.evaluate(found)[0])
