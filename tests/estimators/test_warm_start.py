"""Warm starts: a fit that goes on is the fit that never stopped, or says why it cannot be."""

import pickle

import numpy as np
import pandas as pd
import pytest

from builders import mixed_table, mlrules
from rulewright import Validation
from rulewright.estimators.mlrules.boosting import Monitor
from rulewright.estimators.mlrules.settings import GROWTHS
from rulewright.search import RuleGrower

pytestmark = pytest.mark.native

NAMES = ["bad", "fair", "good", "great"]


@pytest.fixture(scope="module")
def scale():
    """Make a mixed table with four classes in an order."""
    X, y = mixed_table(np.random.default_rng(5), 200, n_classes=4)
    return X, pd.Categorical.from_codes(y, NAMES, ordered=True)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"subsample": 0.5, "column_subsample": 0.5},
        {"subsample": 0.5, "stopping": "window"},
        {"stopping": Validation(0.2, 5)},
        {"ordinal": True, "subsample": 0.6},
        {"subsample": 0.5, "prune": True, "learning_rate": 0.2},
        {"linear": True, "stopping": Validation(0.2, 5)},
    ],
)
def test_going_on_equals_learning_at_once(scale, options):
    """Ten rules and then ten more are the twenty of one fit, with their trace."""
    X, y = scale
    options = {"learning_rate": 1.0, **options}
    warm = mlrules(max_rules=10, warm_start=True, **options).fit(X, y)
    first = warm.stages_
    assert 0 < len(first) <= 10
    warm.set_params(max_rules=20).fit(X, y)
    whole = mlrules(max_rules=20, **options).fit(X, y)
    assert warm.model_.rules == whole.model_.rules
    assert warm.stages_.rules == whole.stages_.rules
    assert len(warm.trace_["train_loss"]) > len(first)
    assert warm.stopped_by_ == whole.stopped_by_
    for name, values in whole.trace_.items():
        np.testing.assert_array_equal(warm.trace_[name], values)
    np.testing.assert_array_equal(warm.predict_proba(X), whole.predict_proba(X))


def test_the_same_number_of_rules_is_no_work(scale, monkeypatch):
    """A fit that has all its rules searches for none."""
    est = mlrules(max_rules=5, warm_start=True).fit(*scale)
    before = est.model_
    searches = []
    monkeypatch.setattr(RuleGrower, "grow", lambda *arguments: searches.append(arguments))
    assert est.fit(*scale).model_ == before
    assert searches == []


def other_value(X, y):
    return {**X, "c": np.where(np.arange(200) == 7, 0.5, X["c"])}, y, None


def other_label(X, y):
    return X, pd.Categorical.from_codes(np.roll(y.codes, 1), NAMES), None


def other_weights(X, y):
    return X, y, np.arange(200) + 1.0


def fewer_rows(X, y):
    return {name: values[:150] for name, values in X.items()}, y[:150], None


def other_name(X, y):
    return {name.upper(): values for name, values in X.items()}, y, None


CHANGES = [other_value, other_label, other_weights, fewer_rows, other_name]


@pytest.mark.parametrize("change", CHANGES)
def test_going_on_with_other_rows_is_refused(scale, change):
    """The error names the remedy; the fit so far is not lost."""
    est = mlrules(max_rules=5, warm_start=True).fit(*scale)
    X, y, weights = change(*scale)
    est.set_params(max_rules=8)
    for _ in range(2):  # the refusal stands
        with pytest.raises(ValueError, match=r"warm_start=True .* but these rows differ.*False"):
            est.fit(X, y, sample_weight=weights)
    assert est.fit(*scale).model_.rules == mlrules(max_rules=8).fit(*scale).model_.rules
    fresh = est.set_params(warm_start=False).fit(X, y, sample_weight=weights).model_.rules
    assert fresh == mlrules(max_rules=8).fit(X, y, sample_weight=weights).model_.rules


def test_going_on_with_fewer_rules_is_refused(scale):
    """Rules are not taken away; the error says how many there are."""
    est = mlrules(max_rules=6, warm_start=True).fit(*scale)
    with pytest.raises(ValueError, match=r"max_rules=5 is less than the 6 rules"):
        est.set_params(max_rules=5).fit(*scale)


@pytest.mark.parametrize(
    "changed",
    [
        {"constraints": {"forbidden": ["a"]}},
        {"ordinal": True},
        {"max_conditions": 1},
        {"min_weight": 30.0},
        {"subsample": 0.5},
        {"growth": GROWTHS["published"](prune=True)},
        {"linear": True},
        {"stopping": "validation"},
    ],
)
def test_going_on_under_other_limits_is_refused(scale, changed):
    """A model never claims limits that only some of its rules obey."""
    est = mlrules(max_rules=4, warm_start=True).fit(*scale)
    name = {"growth": "prune"}.get(*[next(iter(changed))] * 2)
    with pytest.raises(ValueError, match=f"continues with the {name} of the last fit"):
        est.set_params(max_rules=8, **changed).fit(*scale)
    est.set_params(warm_start=False).fit(*scale)
    assert est.model_.rules == mlrules(max_rules=8, **changed).fit(*scale).model_.rules


def test_steps_may_change_on_the_way(scale):
    """Learning rate and calibration hold for what is learned from now on."""
    est = mlrules(max_rules=4, warm_start=True).fit(*scale)
    est.set_params(max_rules=8, learning_rate=0.01, calibration="temperature")
    est.fit(*scale)
    before = mlrules(max_rules=4).fit(*scale).stages_
    rules = est.stages_.rules
    assert [r.body for r in rules[:4]] == [r.body for r in before.rules]
    assert rules[5].outcome.value < 0.2 * rules[0].outcome.value


def test_an_interrupted_fit_is_not_taken_up(scale, monkeypatch):
    """After an interruption the next fit starts anew and gives the whole model."""
    est = mlrules(max_rules=4, warm_start=True).fit(*scale)
    watch = Monitor.watch

    def interrupted(self, *arguments):
        if len(self.train_loss) == 5:
            raise KeyboardInterrupt
        return watch(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Monitor, "watch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            est.set_params(max_rules=9).fit(*scale)
    assert est.fit(*scale).model_.rules == mlrules(max_rules=9).fit(*scale).model_.rules


def test_a_fit_that_could_go_on_can_be_pickled(scale):
    """The copy predicts alike, is small, and starts anew."""
    est = mlrules(max_rules=5, warm_start=True).fit(*scale)
    content = pickle.dumps(est)
    assert len(content) < 2 * len(pickle.dumps(mlrules(max_rules=5).fit(*scale)))
    copy = pickle.loads(content)
    assert copy.model_ == est.model_
    np.testing.assert_array_equal(copy.predict_proba(scale[0]), est.predict_proba(scale[0]))
    again = copy.set_params(max_rules=7).fit(*scale).model_
    assert again.rules == est.set_params(max_rules=7).fit(*scale).model_.rules
