"""Compact rules of large tables: samples, rare classes, and the cost of compactness."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from rulewright import CompactRulesClassifier
from rulewright.data import TrainingSet, read_table
from rulewright.estimators.compact import settings
from rulewright.estimators.compact.cost import UnseenRows
from rulewright.estimators.folds.folds import Folds, choosing_rows

pytestmark = pytest.mark.native


def rows_of(counts, seed=0):
    """Draw rows of classes with these counts."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    return TrainingSet.of(read_table({"x": rng.normal(size=len(y))}, target=y))


def test_a_sample_keeps_all_rows_of_a_rare_class():
    """Weights restore the shares; the rows of the rare class keep theirs."""
    rows = rows_of([5000, 60])
    sample = choosing_rows(rows, np.random.RandomState(0), 500)
    counts = np.bincount(sample.labels)
    assert counts[1] == 60
    assert 480 <= len(sample) <= 560
    totals = np.bincount(sample.labels, weights=sample.weights)
    assert totals[1] / totals.sum() == pytest.approx(60 / 5060, rel=1e-9)
    assert np.all(sample.weights[sample.labels == 1] == 1)


def test_a_sample_of_equal_classes_weighs_no_more_than_its_rows():
    """Weights of all rows would make few rows look like much evidence."""
    sample = choosing_rows(rows_of([3000, 3000]), np.random.RandomState(0), 500)
    assert len(sample) == 500
    np.testing.assert_allclose(sample.weights, 1.0)


@pytest.mark.parametrize("counts", [[3000, 2000], [5000, 60]])
def test_held_out_rows_are_a_fair_share_that_the_rules_have_not_seen(counts):
    """Classes have their shares; rows in the sample are held out only with their fold."""
    rows, random = rows_of(counts), np.random.RandomState(0)
    sample = choosing_rows(rows, random, 500)
    folds = Folds(np.arange(len(sample)) % 3)
    found = UnseenRows.draw(rows, sample, folds, random)
    shares = np.bincount(rows.labels[found.mask]) / np.array(counts)
    np.testing.assert_allclose(shares, shares[0], atol=0.02)
    inside = np.isin(rows.places, sample.places)
    assert found.of_fold == (60 in counts)
    held_out = found.mask[inside]
    assert not held_out[folds.of_rows != 0].any()
    assert held_out[folds.of_rows == 0].all() == found.of_fold


def make_rare(seed, n=20_000):
    """Draw rows of which one in 250 has the class yes, by two planted rules."""
    rng = np.random.default_rng(seed)
    X = {f"x{k}": rng.normal(size=n) for k in range(5)}
    score = -7.2 + 3.5 * (X["x0"] > 1.2) + 3.5 * ((X["x1"] > 0.7) & (X["x2"] < 0))
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")


def test_a_rare_class_gets_its_rules(monkeypatch):
    """Planted rules are found, the text says how rows were drawn, and probabilities hold."""
    monkeypatch.setattr(settings, "MOST_ROWS", 2000)
    X, y = make_rare(0)
    est = CompactRulesClassifier(random_state=0).fit(X, y)
    used = [set(rule.body.columns) for rule in est.model_.rules]
    assert {"x0"} in used
    assert {"x1", "x2"} in used
    n_rare = int((y == "yes").sum())
    assert f"of 20,000 rows, which has all {n_rare} rows of yes" in str(est.model_)
    p = est.predict_proba(X)[:, list(est.classes_).index("yes")]
    assert p.mean() == pytest.approx(n_rare / 20_000, rel=0.02)


def test_the_cost_of_compactness_is_that_of_fresh_rows(monkeypatch):
    """Of a table beyond the sample, too: few rules and many on rows that neither has seen."""
    monkeypatch.setattr(settings, "MOST_ROWS", 1000)

    def draw(seed, n):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 6))
        return X, rng.random(n) < 1 / (1 + np.exp(-X.sum(axis=1)))

    X, y = draw(0, 6000)
    fresh, truth = draw(1, 20_000)
    est = CompactRulesClassifier(max_rules=6, random_state=0).fit(X, y)
    few, many = (one["log_loss"] for one in est.model_.summary["price"])
    assert few == pytest.approx(log_loss(truth, est.predict_proba(fresh)), abs=0.03)
    assert many < few
