"""Figures of the folds that compact rules run anyway: one set, corrected, without further fits."""

import pickle

import numpy as np
import pytest

from budget import is_full
from builders import mixed_table
from rulewright import CompactRulesClassifier, CompactRulesRegressor, with_decision
from rulewright.estimators.compact.sizes import choose_size, choose_sizes
from rulewright.evidence import score_answers


def noisy(seed, n_rows):
    """Draw rows whose classes follow two noisy rules over six columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    score = 2 * (X[:, 0] > 0) - 2 * ((X[:, 1] > 0) & (X[:, 2] > 0))
    return X, (rng.random(n_rows) < 1 / (1 + np.exp(-score))).astype(int)


@pytest.fixture(scope="module")
def fitted():
    return CompactRulesClassifier(8, random_state=0).fit(*noisy(0, 300))


def test_one_model_has_one_set_of_figures(fitted):
    """Validation, reliability and price have the same numbers."""
    summary = fitted.model_.summary
    figures = {name: one["value"] for name, one in summary["validation"]["figures"].items()}
    known = summary["reliability"]
    assert known["rows"] == "out-of-fold"
    assert known["brier_score_loss"] == figures["brier_score_loss"]
    for name in ("accuracy", "log_loss"):
        assert known[name] == summary["price"][0][name] == figures[name]
    assert summary["validation"]["rows"].startswith(
        "out-of-fold training rows (5 folds, repeated 3"
    )
    assert summary["validation"]["n_rows"] == 300
    for one in summary["validation"]["figures"].values():
        assert one["low"] <= one["value"] <= one["high"]


def test_figures_are_those_of_new_rows():
    """Mean log-loss over tables is that of fresh rows, though the size was chosen on the folds."""
    gaps, (new, truth) = [], noisy(99, 20_000)
    for seed in range(6 if is_full else 2):
        est = CompactRulesClassifier(8, random_state=0).fit(*noisy(seed, 300))
        p = est.predict_proba(new)[np.arange(len(truth)), truth]
        told = est.model_.summary["validation"]["figures"]["log_loss"]["value"]
        gaps.append(told + np.log(p).mean())
    assert abs(np.mean(gaps)) < 0.02


def test_figures_are_the_same_every_time(fitted):
    """Asking again, or after a pickle, gives the same figures."""
    again = pickle.loads(pickle.dumps(fitted))
    for est in (fitted, again):
        estimates = est.held_out_.answers(est.model_).estimates
        assert estimates["auc"] == fitted.model_.summary["validation"]["figures"]["auc"]["value"]


def test_a_size_that_was_not_chosen_is_not_corrected():
    """With size="max" figures are the means of the repetitions."""
    X, y = noisy(1, 120)
    est = CompactRulesClassifier(2, size="max", random_state=0).fit(X, y)
    raw = [score_answers(one) for one in est.held_out_.repeat_answers(2, est.model_)]
    assert len(raw) == 3
    figures = est.model_.summary["validation"]
    assert "corrected" not in figures["rows"]
    for name, one in figures["figures"].items():
        assert one["value"] == pytest.approx(np.mean([found[name] for found in raw]))


def test_decisions_of_the_model_count(fitted):
    """With costs the accuracy is that of the decisions, and their cost is a figure."""
    costly = with_decision(fitted, [[0, 1], [20, 0]])
    assert "validation" not in costly.summary
    plain, other = (fitted.held_out_.answers(m).estimates for m in (fitted.model_, costly))
    assert other["accuracy"] < plain["accuracy"]
    assert other["log_loss"] == plain["log_loss"]
    assert "cost" in other


def test_numbers_are_in_the_units_of_the_target():
    """R2, RMSE and MAE are those of the price, whatever the unit."""
    X, _ = noisy(2, 200)
    y = 1000 * (X[:, 0] > 0) + np.random.default_rng(0).normal(scale=100, size=200)
    est = CompactRulesRegressor(4, random_state=0).fit(X, y)
    figures = est.model_.summary["validation"]["figures"]
    few = est.model_.summary["price"][0]
    assert figures["rmse"]["value"] == few["rmse"]
    assert 90 < few["rmse"] < 250
    assert figures["r2"]["value"] == few["r2"] > 0.8
    assert figures["mae"]["value"] < figures["rmse"]["value"]


def test_no_folds_or_no_rules_leave_no_figures():
    """Few rows, one class and noise have nothing to show."""
    X, y = noisy(3, 40)
    small = CompactRulesClassifier(random_state=0).fit(X, y)
    single = CompactRulesClassifier(random_state=0).fit(X, 0 * y)
    for est in (small, single):
        assert est.held_out_ is None
        assert "validation" not in est.model_.summary


def test_rows_that_no_fold_holds_out_are_left_out_of_the_figures():
    """A class of one row is never held out; other classes have figures."""
    columns, y = mixed_table(np.random.default_rng(0), 200, n_classes=2)
    y = np.where(np.arange(200) == 7, 2, y)
    est = CompactRulesClassifier(4, random_state=0).fit(columns, y)
    assert est.model_.summary["validation"]["n_rows"] == 199


@pytest.mark.parametrize("how", ["cv", "one-se"])
def test_many_choices_are_those_of_single_ones(how):
    """Resamples choose by the same rule, from moments instead of rows."""
    rng = np.random.default_rng(0)
    for n_rows in (60, 400):
        losses = rng.exponential(size=n_rows) + 0.3 * rng.exponential(size=(13, n_rows))
        losses -= 0.03 * np.minimum(np.arange(13), 6)[:, np.newaxis]
        weights = rng.integers(4, size=(20, n_rows)) * rng.uniform(0.5, 2, size=n_rows)
        for n_classes in (2, 3):
            single = [
                choose_size(losses[:, w > 0], w[w > 0], how, n_outputs=n_classes) for w in weights
            ]
            assert choose_sizes(losses, weights, how, n_classes).tolist() == single
