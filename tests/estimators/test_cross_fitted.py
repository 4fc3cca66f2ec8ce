"""Rules that are counted on rows which did not choose them."""

from dataclasses import replace

import numpy as np
import pytest

from rulewright import (
    Growth,
    Isotonic,
    MLRulesClassifier,
    SL2Classifier,
    SlipperClassifier,
    load_model,
)
from rulewright.data import DataError, read_table
from rulewright.estimators import compress, cross_fit
from rulewright.model.class_model import Weigher
from rulewright.rules import Coverage
from rulewright.trust import rule_statistics

pytestmark = pytest.mark.native


def drawn_rows(seed, n_rows=250, effect=1.0):
    """Draw rows whose class is the sign of a product, or has no reason."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    return X, (effect * X[:, 0] * X[:, 1] + (1 - effect) * rng.normal(size=n_rows) > 0).astype(int)


def held(model, fresh):
    """Give the share of rules whose printed interval holds the precision on fresh rows."""
    low, high = np.transpose([rule.coverage.share_interval(rule.head) for rule in model.rules])
    known = (fresh.support >= 20) & ~np.isnan(low)
    inside = (low <= fresh.precision) & (fresh.precision <= high)
    return float(np.mean(inside[known]))


def recounted(model, X, y):
    """Count all rules on the training rows."""
    weigh, covers = Weigher(read_table(X, target=y)), model.covers(X).T
    return model.with_rules(
        [
            replace(rule, coverage=Coverage.of(weigh(cover)))
            for rule, cover in zip(model.rules, covers, strict=True)
        ]
    )


@pytest.mark.parametrize("effect", [0.0, 0.5, 1.0])
def test_printed_intervals_hold_on_new_rows(effect):
    """Intervals of training rows miss on new rows, those of left-out rows hold, and no loss."""
    X, y = drawn_rows(0, effect=effect)
    X_new, y_new = drawn_rows(1, 5000, effect)
    learner = MLRulesClassifier(
        40, stopping="none", growth=Growth(prune=False), random_state=0
    ).fit(X, y)
    honest = cross_fit(learner, X, y)
    plain = recounted(learner.model_, X, y)
    shares = [held(m, rule_statistics(m, X_new, y_new)) for m in (plain, honest)]
    assert shares[0] < 0.85 < 0.93 <= shares[1]
    errors = [np.mean(m.predict(X_new) != y_new) for m in (learner.model_, honest)]
    assert errors[1] <= errors[0] + 0.03


@pytest.mark.parametrize(
    "learner",
    [MLRulesClassifier(10, random_state=0), SlipperClassifier(random_state=0)],
    ids=["mlrules", "slipper"],
)
def test_it_is_the_mean_of_the_models_of_the_folds(learner, tmp_path):
    """Scores are means, coverages those of the fold left out; it saves, loads and compresses."""
    X, y = drawn_rows(2)
    folds = [(np.arange(250) % 2 != k, np.arange(250) % 2 == k) for k in range(2)]
    splits = [tuple(np.flatnonzero(part) for part in pair) for pair in folds]
    model = cross_fit(learner.fit(X, y), X, y, cv=splits)
    parts = [learner.fit(X[train], y[train]).model_ for train, _ in splits]
    np.testing.assert_allclose(model.scores(X), np.mean([m.scores(X) for m in parts], axis=0))
    counted = [
        rule_statistics(m, X[test], y[test]) for m, (_, test) in zip(parts, splits, strict=True)
    ]
    supports = np.concatenate([c.support for c in counted])
    np.testing.assert_allclose([rule.coverage.support for rule in model], supports)
    assert {rule.coverage.rows for rule in model} == {"left out"}
    assert model.summary["total_weight"] == 125.0
    model.save(tmp_path / "m.json")
    assert load_model(tmp_path / "m.json") == model
    assert {rule.coverage.rows for rule in compress(model, X, y, 3)} == {"left out"}


def test_what_cannot_be_averaged_is_refused():
    """Other forms, calibrated steps and rows without classes are named."""
    X, y = drawn_rows(3)
    with pytest.raises(ValueError, match="cross_fitted"):
        cross_fit(SL2Classifier(1, size="max", max_steps=50, random_state=0).fit(X, y), X, y)
    stepped = MLRulesClassifier(5, calibration=Isotonic(2), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="calibrated steps"):
        cross_fit(stepped, X, y)
    learner = MLRulesClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(DataError, match="read the table with a target"):
        cross_fit(learner, X)
    with pytest.raises(ValueError, match="two classes"):
        cross_fit(learner, X[:3], np.zeros(3, dtype=int))
