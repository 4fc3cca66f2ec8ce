"""The parameter `decision` of classifiers, and the warning of classes that are never predicted."""

import numpy as np
import pytest

from builders import Rows, every_learner, fitted, mixed_table, mlrules
from rulewright import CompactRulesClassifier, RuleFitRegressor, with_decision
from rulewright.explain import counterfactual
from rulewright.model import Balanced, LowestCost, Threshold

pytestmark = pytest.mark.native

ROWS = Rows(3, 120)


@every_learner
def test_every_learner_decides(make):
    """The decision changes labels, not probabilities; a fit and a step after it say the same."""
    X, y = ROWS.table()
    free = fitted(make, ROWS)
    shares = np.bincount(y) / len(y)
    for decision, kind in (
        ("balanced", Balanced),
        (0.3, Threshold),
        ([[0, 1], [9, 0]], LowestCost),
    ):
        model = with_decision(free, decision)
        assert isinstance(model.decision, kind)
        np.testing.assert_array_equal(model.predict_proba(X), free.predict_proba(X))
    p = free.predict_proba(X)
    np.testing.assert_array_equal(with_decision(free, 0.3).predict(X), p[:, 1] >= 0.3)
    np.testing.assert_allclose(free.model_.summary["class_shares"], shares)
    est = make(decision="balanced").fit(X, y)
    assert est.model_.decision == with_decision(free, "balanced").decision
    np.testing.assert_array_equal(est.predict_proba(X), p)
    np.testing.assert_array_equal(est.predict(X), est.model_.predict(X))


@every_learner
def test_wrong_decisions_are_reported_before_any_work(make):
    """The error names the parameter."""
    X, y = mixed_table(np.random.default_rng(0), 60, n_classes=3)
    for decision in ("best", 0.5, {9: {0: 1}}):
        with pytest.raises(ValueError, match="decision"):
            make(decision=decision).fit(X, y)


def test_balanced_finds_a_rare_class():
    """Balanced accuracy rises, without weights of classes, and shares count weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = (X[:, 0] + rng.logistic(size=1500) > 3.2).astype(int)
    est = mlrules(max_rules=40, decision="balanced").fit(X, y)
    free = with_decision(est, "accuracy")
    recalls = [np.mean(one.predict(X)[y == 1] == 1) for one in (free, est)]
    assert recalls[1] > recalls[0] + 0.2
    weighted = mlrules(decision="balanced").fit(X, y, sample_weight=1 + 2 * y)
    share = 3 * y.sum() / (len(y) + 2 * y.sum())
    np.testing.assert_allclose(weighted.model_.decision.shares[1], share)


def test_numbers_have_no_decision():
    """A regressor is refused by name."""
    with pytest.raises(ValueError, match=r"with_decision needs a classification model.*Regressor"):
        with_decision(RuleFitRegressor(), "balanced")


def test_a_class_that_is_never_predicted_is_warned_of():
    """The warning names the class, its share and the remedy; a decision needs none."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 2))
    y = np.where(rng.random(1500) < np.where(X[:, 0] > 0.5, 0.3, 0.03), "rare", "common")
    share = f"{np.mean(y == 'rare'):.2g}"
    told = r"predicts no training row as 'rare' \([\d.]+ % of the rows\).*decision=\"balanced\""
    for est in (mlrules(max_rules=3), CompactRulesClassifier(3, size="max", random_state=0)):
        with pytest.warns(UserWarning, match=told) as found:
            est.fit(X, y)
        assert f"decision={{'rare': {share}}}" in str(found[0].message)
        assert "rare" in est.set_params(decision="balanced").fit(X, y).predict(X)


def test_counterfactuals_respect_the_decision():
    """A change that reaches the class by the threshold is found, and leads to it."""
    X, y = mixed_table(np.random.default_rng(5), 300, missing=0.0)
    est = mlrules(max_rules=20).fit(X, y)
    strict = with_decision(est, 0.8)
    p = strict.predict_proba(X)[:, 1]
    row = int(np.flatnonzero((p > 0.5) & (p < 0.8))[0])
    one = {name: [values[row]] for name, values in X.items()}
    assert est.predict(one) == [1]
    found = counterfactual(strict, one, target_class=1)
    best = found.found[0]
    assert best.probability >= 0.8
