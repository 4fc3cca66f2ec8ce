"""Calibrated probabilities: better on new rows, the same rules, and honest figures about them."""

import importlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.metrics import log_loss

from builders import mlrules, rule_texts, slipper, softmax
from rulewright import calibrate, load_model
from rulewright.estimators.folds.folds import Folds
from rulewright.weighting import CALIBRATIONS, Calibration
from rulewright.weighting.calibration import LinearCalibration

pytestmark = pytest.mark.native


def overconfident(**changed):
    """Make MLRules that learn by heart: steps of full length and no limits."""
    return mlrules(max_rules=60, learning_rate=1.0, l2=0.0, subsample=0.5, **changed)


MAKERS = {
    "mlrules": overconfident,
    "ordinal": lambda **kw: overconfident(ordinal=True, **kw),
    "slipper": lambda **kw: slipper(max_rules=40, **kw),
    "slipper cv": lambda **kw: slipper(size="cv", max_rules=40, **kw),
    "slipper ovr": lambda **kw: slipper(max_rules=30, multiclass="ovr", **kw),
}
HARMED = ["mlrules", "ordinal", "slipper", "slipper ovr"]


def noisy(seed, n_rows, n_classes):
    """Make rows whose class depends on two columns and much chance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    drive = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 1.5 * rng.normal(size=n_rows)
    return X, np.digitize(drive, [0] if n_classes == 2 else [-1, 1])


@pytest.mark.parametrize("kind", CALIBRATIONS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", HARMED)
def test_calibration_helps_on_new_rows(name, n_classes, kind):
    """The log-loss of an overconfident model falls."""
    X, y = noisy(0, 600, n_classes)
    new, truth = noisy(1, 3000, n_classes)
    raw, calibrated = (MAKERS[name](calibration=c).fit(X, y) for c in (None, kind))
    before, after = (log_loss(truth, est.predict_proba(new)) for est in (raw, calibrated))
    assert after < before - 0.005
    assert (calibrated.model_.steps is None) == (kind != "isotonic")


@pytest.mark.parametrize("kind", CALIBRATIONS)
def test_calibration_changes_no_rule(kind):
    """Rules and votes stay; responses are multiplied by one number."""
    X, y = noisy(0, 300, 3)
    raw, calibrated = (mlrules(calibration=c, subsample=0.5).fit(X, y) for c in (None, kind))
    assert rule_texts(calibrated.model_) == rule_texts(raw.model_)
    responses = np.array(
        [[rule.outcome.value for rule in e.model_.rules] for e in (raw, calibrated)]
    )
    assert np.ptp(responses[1] / responses[0]) < 1e-9


@pytest.mark.parametrize("kind", [None, *CALIBRATIONS])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MAKERS)
def test_probabilities_labels_and_scores_agree(name, n_classes, kind, tmp_path):
    """Rows sum to 1, the most probable class is predicted, and the saved model is the same."""
    X, y = noisy(2, 300, n_classes)
    est = MAKERS[name](calibration=kind).fit(X, y)
    new = noisy(3, 500, n_classes)[0]
    p, scores = est.predict_proba(new), est.decision_function(new)
    assert np.all((p > 0) & (p < 1))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    clear = np.diff(np.sort(p, axis=1)[:, -2:])[:, 0] > 1e-12  # not a tie of two classes
    assert clear.any()  # rows that no rule of a small model covers tie
    np.testing.assert_array_equal(est.predict(new)[clear], p.argmax(axis=1)[clear])
    if kind != "isotonic":
        best = scores > 0 if n_classes == 2 else scores.argmax(axis=1)
        np.testing.assert_array_equal(est.predict(new), best)
    est.model_.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded == est.model_
    np.testing.assert_array_equal(loaded.predict_proba(new), p)
    np.testing.assert_array_equal(loaded.predict(new), est.predict(new))


@pytest.mark.parametrize("kind", ["platt", "isotonic"])
@pytest.mark.parametrize("name", MAKERS)
def test_threads_change_nothing(name, kind):
    """Folds side by side give the model that folds one after the other give."""
    X, y = noisy(4, 200, 3)
    one, two = (MAKERS[name](calibration=kind, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.model_ == two.model_
    other = MAKERS[name](calibration=kind, random_state=1).fit(X, y)
    assert other.model_ != one.model_


def spy_on_folds(monkeypatch, learner):
    """Collect what `learner` gives to be calibrated: scores of rows left out, and folds."""
    module = importlib.import_module(f"rulewright.estimators.{learner}.estimator")
    seen, original = [], module.with_probabilities

    def spy(model, rows, calibration, out_of_fold, *known):
        seen.append(out_of_fold)
        return original(model, rows, calibration, out_of_fold, *known)

    monkeypatch.setattr(module, "with_probabilities", spy)
    return seen


def rows_of(name, monkeypatch):
    return spy_on_folds(monkeypatch, "slipper" if name.startswith("slipper") else "mlrules")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", HARMED)
def test_scores_of_a_fold_do_not_know_its_labels(name, n_classes, monkeypatch):
    """When rows of one fold exchange labels, their own scores stay, those of others change."""
    X, y = noisy(5, 240, n_classes)
    folds = (np.arange(240) % 3).astype(np.int32)
    seen = rows_of(name, monkeypatch)
    for module in ("mlrules", "slipper"):
        monkeypatch.setattr(
            importlib.import_module(f"rulewright.estimators.{module}.estimator"),
            "divide_rows",
            lambda rows, cv, random: Folds(folds),
        )
    MAKERS[name](calibration="platt").fit(X, y)
    changed, inside = y.copy(), np.flatnonzero(folds == 0)
    changed[inside] = np.random.default_rng(0).permutation(y[inside])
    MAKERS[name](calibration="platt").fit(X, changed)
    before, after = (out_of_fold.scores for out_of_fold in seen)
    np.testing.assert_array_equal(after[inside], before[inside])
    assert np.any(after != before)


def figures(labels, p, weights):
    """Compute the four figures row by row, in words of their definitions."""
    total, gaps = weights.sum(), np.zeros(10)
    loss = brier = right = 0.0
    for label, row, weight in zip(labels, p, weights, strict=True):
        loss -= weight * np.log(row[label])
        brier += weight * sum((row[k] - (k == label)) ** 2 for k in range(len(row)))
        top = int(np.argmax(row))
        right += weight * (top == label)
        gaps[min(int(np.ceil(row[top] * 10)) - 1, 9)] += weight * (row[top] - (top == label))
    brier /= 2 if p.shape[1] == 2 else 1
    sums = {"log_loss": loss, "brier_score_loss": brier, "ece": abs(gaps).sum(), "accuracy": right}
    return {name: value / total for name, value in sums.items()}


@pytest.mark.parametrize("name", ["mlrules", "slipper", "slipper cv"])
def test_the_figures_are_those_of_rows_left_out(name, monkeypatch):
    """Recomputed from the scores: each fold is judged by the temperature of the other folds."""
    X, y = noisy(6, 300, 3)
    weights = np.random.default_rng(0).choice([0.5, 1.0, 2.0], 300)
    seen = rows_of(name, monkeypatch)
    est = MAKERS[name](calibration="temperature").fit(X, y, sample_weight=weights)
    (scores, _, _, folds), noted = seen[0], est.model_.summary["reliability"]
    assert (noted["rows"], noted["calibration"]) == ("left out", "temperature")
    assert noted["uncalibrated"] == pytest.approx(figures(y, softmax(scores), weights))
    p = np.empty_like(scores)
    for fold in range(3):
        rest = folds != fold
        counts = rest.sum() * np.bincount(y[rest], weights[rest]) / weights[rest].sum()
        aims = (np.eye(3)[y[rest]] * counts[y[rest], None] + 2 / 3) / (counts[y[rest], None] + 2)

        def badness(slope, rest=rest, aims=aims):
            return -np.sum(weights[rest, None] * aims * np.log(softmax(slope * scores[rest])))

        slope = minimize_scalar(badness, bounds=(1e-3, 3), method="bounded").x
        p[~rest] = softmax(slope * scores[~rest])
    expected = figures(y, p, weights)
    assert {key: noted[key] for key in expected} == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("name", MAKERS)
def test_the_figures_foretell_new_rows(name):
    """Figures of rows left out come closer to those of new rows than training figures do."""
    X, y = noisy(7, 600, 2)
    new, truth = noisy(8, 4000, 2)
    est = MAKERS[name](calibration="platt").fit(X, y)
    noted = est.model_.summary["reliability"]
    real = figures(truth, est.predict_proba(new), np.ones(4000))
    trained = figures(y, est.predict_proba(X), np.ones(600))
    for key in ("log_loss", "brier_score_loss", "accuracy"):
        assert abs(noted[key] - real[key]) < abs(trained[key] - real[key])


@pytest.mark.parametrize("make", [mlrules, slipper])
def test_without_rows_left_out_the_figures_are_those_of_training(make):
    """They say so, and are right."""
    X, y = noisy(9, 200, 3)
    weights = np.random.default_rng(0).choice([0.5, 1.0, 2.0], 200)
    est = make().fit(X, y, sample_weight=weights)
    noted = dict(est.model_.summary["reliability"])
    assert noted.pop("rows") == "training"
    assert noted == pytest.approx(figures(y, est.predict_proba(X), weights))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_slipper_does_by_itself(n_classes):
    """Where it chooses the rounds it calibrates: two classes by their slope, more by Platt."""
    X, y = noisy(10, 150, n_classes)
    kind = "temperature" if n_classes == 2 else "platt"
    chosen, asked = (slipper(size="cv", calibration=c).fit(X, y) for c in ("auto", kind))
    assert chosen.model_.rules == asked.model_.rules
    assert chosen.model_.intercepts == asked.model_.intercepts
    assert chosen.model_.summary["reliability"]["calibration"] == kind
    given = slipper(calibration="auto").fit(X, y).model_
    assert given.rules == slipper(calibration=None).fit(X, y).model_.rules
    assert "calibration" not in given.summary["reliability"]


@pytest.mark.parametrize("costs", [None, [[0, 1], [5, 0]], [[0, 3], [1, 0]]])
@pytest.mark.parametrize("multiclass", ["auto", "both at once"])
def test_the_bound_of_slipper_speaks_of_its_predictions(costs, multiclass):
    """Calibration by the slope leaves every label where F puts it, so the bound holds for them."""
    multiclass = "auto" if multiclass == "auto" else "mh" if costs is None else "cost"
    matrix = 1 - np.eye(2) if costs is None else np.array(costs)
    slopes = []
    for seed in range(8):
        X, y = noisy(seed, 120, 2)
        options = {"size": "cv", "cost_matrix": costs, "multiclass": multiclass}
        plain, est = (
            slipper(calibration=c, random_state=seed, **options).fit(X, y) for c in (None, "auto")
        )
        np.testing.assert_array_equal(est.predict(X), plain.predict(X))
        paid = matrix[y, est.predict(X)].mean()
        if multiclass == "auto":  # the costs are the weights of the rows
            paid /= matrix[y, 1 - y].mean()
        assert paid == pytest.approx(est.trace_["train_error"][-1])
        assert paid <= est.trace_["bound"][-1] + 1e-12
        if len(est.model_):
            pair = (plain.model_.rules[0], est.model_.rules[0])
            slopes.append(pair[1].outcome.value / pair[0].outcome.value)
    assert min(slopes) < 0.95


@pytest.mark.parametrize("kind", CALIBRATIONS)
@pytest.mark.parametrize("n_rare", [1, 2])
def test_a_rare_class_is_calibrated_with_the_others(kind, n_rare):
    """It stays in every training part; its rows are left out where there are two."""
    X, y = noisy(11, 80, 2)
    y[:n_rare] = 7
    for make in (mlrules, slipper):
        est = make(calibration=kind).fit(X, y)
        noted = est.model_.summary["reliability"]
        assert (noted["rows"], noted["calibration"]) == ("left out", kind)
        p = est.predict_proba(X)
        assert np.all(p > 0)
        assert p[:, 2].mean() < 0.2


@pytest.mark.parametrize("kind", CALIBRATIONS)
def test_a_single_common_class_cannot_be_calibrated(kind):
    """MLRules refuse with the remedy; SLIPPER warns and goes on without."""
    X, y = noisy(11, 80, 2)
    y = (np.arange(80) == 3).astype(int)
    with pytest.raises(ValueError, match=r"calibration=.* needs two rows or more .*=None"):
        mlrules(calibration=kind).fit(X, y)
    with pytest.warns(UserWarning, match="fewer than two classes"):
        est = slipper(calibration=kind).fit(X, y)
    assert "calibration" not in est.model_.summary["reliability"]


@pytest.mark.parametrize("kind", CALIBRATIONS)
@pytest.mark.parametrize("make", [overconfident, lambda **kw: slipper(max_rules=40, **kw)])
def test_a_model_is_calibrated_after_the_fit(make, kind):
    """On rows of its own the log-loss of new rows falls, and the figures are cross-fitted."""
    X, y = noisy(0, 600, 3)
    more, labels = noisy(5, 600, 3)
    new, truth = noisy(1, 3000, 3)
    est = make().fit(X, y)
    model = calibrate(est, more, labels, kind)
    assert [rule.body for rule in model.rules] == [rule.body for rule in est.model_.rules]
    before = log_loss(truth, est.predict_proba(new))
    after = log_loss(truth, model.predict_proba(new))
    assert after < before - 0.005
    noted = model.summary["reliability"]
    assert (noted["rows"], noted["calibration"]) == ("given", kind)
    assert noted["log_loss"] == pytest.approx(after, abs=0.05)
    assert noted["uncalibrated"]["log_loss"] == pytest.approx(before, abs=0.2)
    again = calibrate(calibrate(est, more, labels, "isotonic"), more, labels, kind)
    np.testing.assert_allclose(again.predict_proba(new), model.predict_proba(new), rtol=1e-9)
    assert calibrate(est.model_, more, labels, CALIBRATIONS[kind](cv=3)).rules == model.rules


def test_what_cannot_be_calibrated_is_told():
    """The error names the step and what it needs."""
    X, y = noisy(0, 60, 2)
    model = mlrules(max_rules=2).fit(X, y).model_
    with pytest.raises(ValueError, match="method='Platt' must be one of temperature"):
        calibrate(model, X, y, "Platt")
    with pytest.raises(ValueError, match="calibrate needs an AdditiveRules model"):
        calibrate("model", X, y)
    with pytest.raises(ValueError, match="calibrate needs y"):
        calibrate(model, X)
    with pytest.raises(ValueError, match="two rows or more of two classes"):
        calibrate(model, X[:3], [0, 1, 1])


@dataclass(frozen=True)
class Flat(Calibration):
    """Give every row the same probabilities."""

    name: ClassVar[str] = "flat"

    def fit(self, scores, labels, weights):
        return LinearCalibration(0.0, (0.0, 1.0))


def test_a_calibration_of_ones_own():
    """Any object of the interface works, in the fit and after it."""
    X, y = noisy(0, 120, 2)
    est = mlrules(calibration=Flat(cv=3)).fit(X, y)
    flat = np.tile(softmax(np.array([[0.0, 1.0]])), (120, 1))
    np.testing.assert_allclose(est.predict_proba(X), flat)
    assert est.model_.summary["reliability"]["calibration"] == "flat"
    after = calibrate(slipper().fit(X, y), X, y, Flat())
    np.testing.assert_allclose(after.predict_proba(X), flat)
