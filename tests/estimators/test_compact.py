"""Compact rules: budgets, sizes, recovered concepts, numbers."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import estimator_checks_generator

from builders import compact, mixed_table
from rulewright import (
    CompactRulesClassifier,
    CompactRulesRegressor,
    MLRulesClassifier,
    load_model,
)
from rulewright.data import TrainingSet, read_table
from rulewright.estimators.compact import settings
from rulewright.estimators.compact.search import LARGEST_OVERLAP
from rulewright.estimators.compact.settings import choose_size
from rulewright_lab.experiments import generators

pytestmark = pytest.mark.native

NOT_FOR_US = {
    "check_array_api_input",  # needs a switch in the environment, skips itself
    "check_sample_weight_equivalence_on_dense_data",  # rows are parted and drawn at random
}


def regression_checks():
    for estimator, check in estimator_checks_generator(CompactRulesRegressor(4, size="max")):
        name = getattr(check, "func", check).__name__
        if name not in NOT_FOR_US:
            yield pytest.param(estimator, check, id=name)


@pytest.mark.parametrize(("estimator", "check"), list(regression_checks()))
def test_the_contract_of_scikit_learn_for_numbers(estimator, check):
    """One check of scikit-learn's own suite."""
    check(estimator)


@pytest.mark.parametrize("problem", [1, 3])
def test_monks_are_recovered(problem):
    """Of two thirds of all robots the concept is learned without an error on the others."""
    table = generators.monks(problem)
    rows = TrainingSet.of(table)
    drawn = np.random.default_rng(problem).random(rows.n_rows) < 2 / 3
    est = CompactRulesClassifier(random_state=0).fit(table.take(np.flatnonzero(drawn)))
    others = table.take(np.flatnonzero(~drawn))
    assert np.all(est.predict(others) == rows.classes[rows.labels[~drawn]])


def test_a_planted_concept_is_found_in_its_words():
    """Five rules that made the classes are the five rules of the model."""
    rng = np.random.default_rng(3)
    X = {f"c{k}": rng.choice(["u", "v", "w"], 1500) for k in range(10)}
    planted = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]
    y = np.any([(X[f"c{a}"] == "u") & (X[f"c{b}"] == "v") for a, b in planted], axis=0)
    est = CompactRulesClassifier(random_state=0).fit(X, y)
    found = {frozenset(rule.body.columns) for rule in est.model_.rules if rule.head.first == 1}
    assert found == {frozenset({f"c{a}", f"c{b}"}) for a, b in planted}
    assert est.score(X, y) == 1.0


def test_random_columns_are_hardly_used():
    """Classes that depend on x only have rules of x, but for one of them all."""
    n_rules = n_random = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = {name: rng.normal(size=500) for name in ("x", "noise", "more noise")}
        y = X["x"] + rng.logistic(size=500) / 2 > 0
        rules = CompactRulesClassifier(10, size="max", random_state=0).fit(X, y).model_.rules
        n_rules += len(rules)
        n_random += sum(set(rule.body.columns) != {"x"} for rule in rules)
    assert n_rules > 48
    assert n_random <= 1


def test_budgets_are_kept():
    """There are never more rules or conditions than asked for, and more rules fit better."""
    X, y = mixed_table(np.random.default_rng(0), 300, n_classes=3)
    losses = []
    for n_rules in (0, 1, 3, 8):
        est = compact(max_rules=n_rules, max_conditions=2).fit(X, y)
        assert len(est.model_) <= n_rules
        assert all(len(rule.body.conditions) <= 2 for rule in est.model_.rules)
        p = est.predict_proba(X)[np.arange(300), y]
        losses.append(-np.log(p).mean())
    assert losses == sorted(losses, reverse=True)


def test_the_size_is_chosen_on_rows_left_out():
    """The curve is in the model, and its size is the smallest within a standard error."""
    X, y = mixed_table(np.random.default_rng(1), 400, n_classes=2)
    est = CompactRulesClassifier(max_rules=8, cv=3, random_state=0).fit(X, y)
    curve = est.model_.summary["size"]["left_out_loss"]
    assert len(curve) == 9
    assert len(est.model_) <= est.size_.n_rules <= 8
    assert curve[est.size_.n_rules] < curve[0]
    assert est.model_.summary["reliability"]["rows"] == "left out"


def test_the_choice_of_a_size_by_hand():
    """Equal sizes: the smaller one; a clear gain: the larger one."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=400)
    losses = np.array([2.0 + noise, 1.0 + noise, 1.0 + noise + 0.001 * rng.normal(size=400)])
    assert choose_size(losses, np.ones(400)) == 1
    assert choose_size(losses[::2], np.ones(400)) == 1
    assert choose_size(losses[1:], np.ones(400)) == 0


def test_rules_do_not_say_the_same_twice():
    """No two rules for one class share most of their rows."""
    X, y = mixed_table(np.random.default_rng(2), 300, n_classes=2)
    model = compact(max_rules=10).fit(X, y).model_
    assert len(model) > 5
    table = read_table(X)
    covers = np.array([rule.body.holds(table) for rule in model.rules])
    for i, one in enumerate(model.rules):
        for j, other in enumerate(model.rules[:i]):
            if one.head == other.head:
                shared = (covers[i] & covers[j]).sum() / max(1, (covers[i] | covers[j]).sum())
                assert shared <= LARGEST_OVERLAP


def test_very_many_rows_are_sampled(monkeypatch):
    """Rules are chosen on a sample, and their responses fitted to all rows."""
    X, y = mixed_table(np.random.default_rng(4), 600, n_classes=2)
    monkeypatch.setattr(settings, "MOST_ROWS", 200)
    est = compact(max_rules=4).fit(X, y)
    assert est.model_.rules[0].coverage.support <= 600
    assert est.model_.summary["total_weight"] == 600
    p = est.predict_proba(X)[:, 1]
    np.testing.assert_allclose(p.mean(), y.mean(), rtol=1e-6)  # the intercept fits all rows


def test_few_rows_are_not_parted():
    """Below 50 rows rules are added while they pay."""
    X = np.arange(40.0)[:, None]
    est = CompactRulesClassifier(random_state=0).fit(X, X[:, 0] > 20)
    assert est.size_.losses is None
    assert est.score(X, X[:, 0] > 20) == 1.0


def test_numbers_are_learned_and_saved(tmp_path):
    """Few rules explain about as much of diabetes as linear terms, and survive a file."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    est = CompactRulesRegressor(random_state=0)
    assert cross_val_score(est, X, y, cv=3).mean() > 0.3
    model = est.fit(X, y).model_
    assert 2 <= len(model) <= 20
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict(X), est.predict(X))
    assert model.verify_exports().n_rows > 0


def test_numbers_rise_where_they_must():
    """A monotone column has conditions and responses of one direction."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] - X[:, 1] ** 2 + rng.normal(size=300) / 3
    est = CompactRulesRegressor(
        12, size="max", constraints={"monotone": {"x0": "increasing"}}, random_state=0
    )
    est.fit(X, y)
    grid = np.column_stack([np.linspace(-3, 3, 50), np.zeros(50), np.zeros(50)])
    assert np.all(np.diff(est.predict(grid)) >= 0)


def test_rare_classes_get_rules():
    """A class of 4 per cent that a rule can tell has one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    y = np.where((X[:, 0] > 1.2) & (X[:, 1] > 0.5), 2, (X[:, 2] > 0).astype(int))
    est = CompactRulesClassifier(random_state=0).fit(X, y)
    assert np.mean(est.predict(X[y == 2]) == 2) > 0.9


def test_many_classes_are_told_by_conditions_that_pay():
    """Six classes that two columns decide: rules tell them, and noise columns stay out."""
    rng = np.random.default_rng(2)
    X = rng.random((900, 4))
    y = 2 * (3 * X[:, 0]).astype(int) + (X[:, 1] > 0.5)
    est = CompactRulesClassifier(12, size="max", cv=2, random_state=0).fit(X[:600], y[:600])
    assert est.score(X[600:], y[600:]) > 0.95
    used = [condition.column for rule in est.model_.rules for condition in rule.body.conditions]
    assert set(used) <= {"x0", "x1"}


def test_few_rules_cost_little():
    """On noisy classes a handful of rules is nearly as good as hundreds, over five tables."""
    lost = []
    for seed in range(1, 6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1200, 6))
        y = (X[:, 0] + X[:, 1] + rng.logistic(size=1200) > 0).astype(int)
        few = CompactRulesClassifier(random_state=0).fit(X[:600], y[:600])
        many = MLRulesClassifier(random_state=0).fit(X[:600], y[:600])
        assert len(few.model_) <= 20
        lost.append(many.score(X[600:], y[600:]) - few.score(X[600:], y[600:]))
    assert np.mean(lost) < 0.03
