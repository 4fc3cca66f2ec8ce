"""Rules planted in noisy data are found again."""

import numpy as np
import pytest
from sklearn.base import clone

from builders import mlrules
from rulewright import MLRulesClassifier, SlipperClassifier, compress

pytestmark = pytest.mark.native


def planted(rng, n_rows):
    """Make ten columns of noise in which two rules decide nine labels of ten."""
    X = {f"n{j}": rng.normal(size=n_rows) for j in range(6)}
    X |= {f"s{j}": rng.choice(list("pqrs"), n_rows) for j in range(4)}
    first = (X["n2"] > 0.3) & (X["s1"] == "q")
    second = (X["n4"] <= -0.5) & (X["n0"] <= 0.8)
    y = (first | second).astype(int)
    flipped = rng.random(n_rows) < 0.1
    return X, np.where(flipped, 1 - y, y), y


def importance(rule, n_rows=1500):
    """Return |response| sqrt(s (1 - s)) for the share s of covered rows (card, section 13)."""
    share = rule.coverage.support / n_rows
    return abs(rule.outcome.value) * np.sqrt(share * (1 - share))


@pytest.mark.parametrize("criterion", ["newton", "gradient"])
@pytest.mark.parametrize("max_bins", [None, 32])
def test_planted_rules_are_recovered(criterion, max_bins):
    """The strongest rules use exactly the planted columns, and predict the labels without noise."""
    rng = np.random.default_rng(0)
    X, noisy, _ = planted(rng, 1500)
    est = mlrules(
        max_rules=40, criterion=criterion, subsample=0.5, max_conditions=2, max_bins=max_bins
    ).fit(X, noisy)
    strongest = sorted(est.stages_.rules, key=importance)[-5:]
    used = {column for rule in strongest for column in rule.body.columns}
    assert used <= {"n2", "s1", "n4", "n0"}
    bodies = {frozenset(rule.body.columns) for rule in est.model_.rules if rule.head.first == 1}
    assert frozenset({"n2", "s1"}) in bodies
    new, _, clean = planted(rng, 2000)
    assert np.mean(est.predict(new) == clean) > 0.95


def test_thresholds_lie_near_the_planted_ones():
    """The cut of the first rule is that of the data."""
    rng = np.random.default_rng(1)
    x = rng.random(800)
    y = (x > 0.37).astype(int)
    rule = mlrules(max_rules=1).fit(x[:, None], y).model_.rules[0]
    condition = next(iter(rule.body))
    bound = condition.low if np.isfinite(condition.low) else condition.high
    assert x[x <= 0.37].max() <= bound <= x[x > 0.37].min()


def test_three_planted_classes():
    """Each class is voted for by rules on its own column."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(900, 6))
    y = np.where(X[:, 1] > 0.7, 1, np.where(X[:, 4] > 0.5, 2, 0))
    noisy = np.where(rng.random(900) < 0.1, rng.integers(0, 3, 900), y)
    est = mlrules(max_rules=30, max_conditions=2, subsample=0.5).fit(X, noisy)
    for label, column in ((1, "x1"), (2, "x4")):
        best = max(
            (r for r in est.model_.rules if r.head.first == label), key=lambda r: r.outcome.value
        )
        assert column in best.body.columns
    assert np.mean(est.predict(X) == y) > 0.95


PLANTED = ({"n2", "s1"}, {"n4", "n0"}, {"n5", "s3"})


def three_rules(rng, n_rows):
    """Make ten columns of noise in which three rules decide nine labels of ten."""
    X = {f"n{j}": rng.normal(size=n_rows) for j in range(6)}
    X |= {f"s{j}": rng.choice(list("pqrs"), n_rows) for j in range(4)}
    first = (X["n2"] > 0.3) & (X["s1"] == "q")
    second = (X["n4"] <= -0.5) & (X["n0"] <= 0.2)
    third = (X["n5"] > 0.5) & (X["s3"] == "p")
    y = (first | second | third).astype(int)
    return X, np.where(rng.random(n_rows) < 0.1, 1 - y, y), y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "est",
    [
        SlipperClassifier(positive_class=1, random_state=0),
        MLRulesClassifier(max_conditions=2, random_state=0),
    ],
    ids=["slipper", "mlrules"],
)
def test_three_planted_rules_are_recovered(est, seed):
    """Each rule's columns meet in one of at most ten rules, which see through the noise."""
    rng = np.random.default_rng(seed)
    X, noisy, _ = three_rules(rng, 3000)
    model = clone(est).fit(X, noisy).model_
    if len(model) > 10:
        model = compress(model, X, noisy, 10)
    assert len(model) <= 10
    positive = [rule for rule in model.rules if rule.head.first == 1]
    for columns in PLANTED:
        assert any(columns <= set(rule.body.columns) for rule in positive)
    new, _, clean = three_rules(rng, 2000)
    assert np.mean(model.predict(new) == clean) > 0.95
