"""Recurrence of rules and columns over samples: planted rules, brute force, and noise."""

import numpy as np
import pytest

from builders import LEARNERS, mixed_table
from rulewright import (
    CompactRulesRegressor,
    MLRulesClassifier,
    RipperClassifier,
    StumpClassifier,
    rule_stability,
)
from rulewright.estimators.assessment.stability import _Comparison
from rulewright.trust.recurrence import claim_key

pytestmark = pytest.mark.native


def planted(n=200, seed=0):
    """Draw a class that depends on two of six columns."""
    rng = np.random.default_rng(seed)
    X = {f"x{j}": rng.normal(size=n).round(2) for j in range(6)}
    signal = (X["x0"] > 0) & (X["x1"] < 0.5)
    return X, np.where(signal ^ (rng.random(n) < 0.05), "yes", "no")


def test_planted_rules_recur():
    """The two columns of the planted rule are kept, and its direction is found by most samples."""
    X, y = planted()
    found = rule_stability(RipperClassifier(random_state=0), X, y, n_samples=20, n_first=2)
    assert set(found.kept) == {"x0", "x1"}
    assert found.bound == pytest.approx(4 / (0.5 * 6))
    assert found.patterns[0].text == "IF x0 >= . and x1 <= . THEN yes"
    assert found.patterns[0].in_model
    assert found.alike.max() > 0.8
    assert (found.alike >= found.same).all()
    text = str(found)
    assert text.startswith("20 halves of the rows, ")
    assert "as their first 2 columns: x" in text
    assert len(found.to_frame("pandas")) == len(found.model)
    assert len(found.columns_frame("pandas")) == 6
    low, high = found.interval(found.alike)
    assert ((low <= found.alike) & (found.alike <= high)).all()
    size = np.mean(found.sizes)
    assert found.expected_false_rules(0.1, 0.75) == pytest.approx(0.1 * size / 0.5)


def test_the_result_does_not_depend_on_threads_and_follows_the_seed():
    """Any number of threads gives the same shares; another seed draws other samples."""
    X, y = planted(100)
    est = MLRulesClassifier(5, random_state=0)
    one, three, other = (
        rule_stability(est, X, y, n_samples=6, n_jobs=jobs, random_state=seed)
        for jobs, seed in ((1, 0), (3, 0), (3, 1))
    )
    assert str(one) == str(three)
    assert one.patterns == three.patterns
    assert one.columns == three.columns
    assert one.patterns != other.patterns


def test_a_fitted_estimator_keeps_its_model():
    """The rules are those of the fitted model, which is not changed."""
    X, y = planted(100)
    est = MLRulesClassifier(5, random_state=3).fit(X, y)
    before = est.model_
    found = rule_stability(est, X, y, n_samples=4, sampling="bootstrap")
    assert found.model is before is est.model_
    assert np.isnan(found.bound)
    assert "bootstrap samples" in str(found)
    with pytest.raises(ValueError, match="needs sampling='halves'"):
        found.expected_false_rules(0.1)


@pytest.mark.parametrize("name", ["rise", "sl2", "ruleset-ensemble", "cn2", "averaging", "rulefit"])
def test_every_form_of_model(name):
    """Shares lie in [0, 1], and the same rule is also alike and covers the same rows."""
    X, y = mixed_table(np.random.default_rng(5), 80)
    found = rule_stability(LEARNERS[name](), X, y, n_samples=2, random_state=1)
    for shares in (found.same, found.alike, found.overlapping):
        assert len(shares) == len(found.model)
        assert ((shares >= 0) & (shares <= 1)).all()
    assert (found.same <= found.alike).all()
    assert sorted(column.name for column in found.columns) == sorted(X)


def test_numbers():
    """Rules for numbers claim larger or smaller ones."""
    X, y = mixed_table(np.random.default_rng(5), 80)
    found = rule_stability(CompactRulesRegressor(random_state=0), X, 3.0 * y, n_samples=2)
    assert all(one.text.endswith((" THEN larger", " THEN smaller")) for one in found.patterns)


def test_overlap_is_that_of_sets_of_rows():
    """A rule overlaps if another of the same claim has the Jaccard index asked for."""
    X, _ = planted(150)
    one, other = (
        MLRulesClassifier(12, random_state=0).fit(*planted(150, seed)).model_ for seed in (0, 1)
    )
    compare = _Comparison(one, one._read(X), 0.9)
    found = compare(other, one._read(X)).overlapping
    covers, others = (
        [set(np.flatnonzero(cover).tolist()) for cover in model.covers(X).T]
        for model in (one, other)
    )
    expected = [
        any(
            claim_key(a) == claim_key(b) and len(s & t) >= 0.9 * len(s | t) > 0
            for b, t in zip(other.rules, others, strict=True)
        )
        for a, s in zip(one.rules, covers, strict=True)
    ]
    assert found.tolist() == expected
    assert 0 < sum(expected) < len(expected)


def test_noise_is_seldom_kept():
    """Of columns of noise no more are kept on average than the bound says."""
    kept, bounds = [], []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 8)), rng.integers(0, 2, 60)
        found = rule_stability(
            StumpClassifier(), X, y, n_samples=8, threshold=0.625, n_first=1, random_state=seed
        )
        kept.append(len(found.kept))
        bounds.append(found.bound)
    error = 3 * np.std(kept) / np.sqrt(len(kept))
    assert np.mean(kept) <= bounds[0] + error == pytest.approx(0.5 + error)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"n_samples": 1}, "n_samples=1 must be"),
        ({"threshold": 0.5}, "threshold=0.5 must be above 0.5"),
        ({"max_false": 0}, "max_false=0 must be"),
        ({"least_jaccard": 0}, "least_jaccard=0 must be above 0"),
        ({"sampling": "thirds"}, "sampling='thirds' must be 'halves' or 'bootstrap'"),
        ({"n_first": 0}, "n_first=0 must be"),
        ({"y": None}, "rule_stability requires y"),
    ],
)
def test_wrong_options_are_named(options, error):
    """Every message names the option."""
    X, y = planted(60)
    with pytest.raises(ValueError, match=error):
        rule_stability(StumpClassifier(), X, **{"y": y, **options})
