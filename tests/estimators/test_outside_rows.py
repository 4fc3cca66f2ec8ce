"""Printed precision of grown rules: that of rows which they were not grown on."""

from dataclasses import replace

import numpy as np
import pytest

from builders import intervals_held, noisy_rows
from rulewright import MLRulesClassifier, RuleFitClassifier, SlipperClassifier, load_model
from rulewright.data import read_table
from rulewright.encoding.binned import bin_table
from rulewright.search import Generation, generate_rules
from rulewright.weighting import LogisticLoss

pytestmark = pytest.mark.native

LEARNERS = {
    "mlrules": MLRulesClassifier(n_jobs=1, random_state=0),
    "slipper": SlipperClassifier(n_jobs=1, random_state=0),
    "rulefit": RuleFitClassifier(max_candidates=200, n_jobs=1, random_state=0),
}
each = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


@pytest.mark.parametrize(
    "learner",
    [
        LEARNERS["slipper"],
        pytest.param(LEARNERS["mlrules"], marks=pytest.mark.full("ten fits with folds")),
        pytest.param(LEARNERS["rulefit"], marks=pytest.mark.full("ten fits with folds")),
    ],
)
def test_intervals_hold_on_new_rows(learner):
    """Over noisy problems, printed intervals hold the precision on new rows of most rules."""
    found = []
    for seed in range(10):
        X, y = noisy_rows(seed, 10_300, 2 + seed % 2)
        model = learner.fit(X[:300], y[:300]).model_
        assert {rule.coverage.rows for rule in model} == {"outside"}
        found += intervals_held(model, X[300:], y[300:])
    assert len(found) > 20
    assert np.mean(found) >= 0.93


@each
def test_support_is_that_of_all_training_rows(learner, tmp_path):
    """The support counts all covered rows, the interval fewer; the text and the file say so."""
    X, y = noisy_rows(0, 300)
    model = learner.fit(X, y).model_
    covers = model.covers(X).sum(axis=0)
    np.testing.assert_allclose([rule.coverage.support for rule in model], covers)
    for rule in model:
        assert sum(rule.class_weights) == pytest.approx(rule.coverage.support)
        assert sum(rule.coverage.corrected) < rule.coverage.support
    assert "training rows, mostly rows that the rule was not grown on" in str(model)
    model.save(tmp_path / "m.json")
    assert load_model(tmp_path / "m.json") == model


@each
def test_few_rows_are_all_seen(learner):
    """Where every rule is grown on all rows, the text says that training rows were counted."""
    X, y = noisy_rows(1, 45)
    model = learner.fit(X, y).model_
    assert {rule.coverage.rows for rule in model} <= {"training"}


def test_equal_rules_are_counted_on_the_mean_of_their_rows():
    """A rule that was grown several times has the mean of what was counted each time."""
    X, y = noisy_rows(2, 400)
    X = (X > 0).astype(float)
    est = MLRulesClassifier(200, stopping="none", random_state=0).fit(X, y)
    equal = {}
    for rule in est.stages_:
        equal.setdefault((rule.body.key, rule.head), []).append(rule.coverage.share_weights)
    assert len(equal) == len(est.model_) < len(est.stages_)
    for rule in est.model_:
        mean = np.mean(equal[rule.body.key, rule.head], axis=0)
        assert rule.coverage.share_weights == pytest.approx(tuple(mean))


def test_trees_tell_the_rows_that_they_were_grown_on():
    """Each rule knows the subsample of its tree; without subsamples there is none."""
    X, y = noisy_rows(3, 200)
    binned, weights = bin_table(read_table(X)), np.ones(200)
    loss = LogisticLoss(2.0 * y - 1, weights)
    how = Generation(max_rules=60, subsample=0.3)
    rules = generate_rules(binned, weights, loss, how, np.random.RandomState(0))
    assert [rules.inside(place).sum() for place in range(60)] == [60] * 60
    assert len(np.unique(rules.trees)) > 10
    whole = replace(how, subsample=1.0)
    rules = generate_rules(binned, weights, loss, whole, np.random.RandomState(0))
    assert rules.inside(0) is None
