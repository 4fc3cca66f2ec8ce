"""SL2: sizes by cross-validation, few literals, and the laws of its card."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import RandomState

from builders import mixed_table
from rulewright import SL2Classifier, load_model, parse_conjunction
from rulewright.data import TrainingSet, read_table
from rulewright.encoding.booleans import encode_booleans
from rulewright.estimators.folds.folds import assign_folds
from rulewright.estimators.sl2 import estimator as module
from rulewright.search.boolean_rows import MOST_COPIES, merge_equal_rows

pytestmark = pytest.mark.native


def sl2(**changed):
    """Make a small learner whose parameters are all set."""
    settings = {"max_rules": 2, "size": "max", "cv": 3, "max_steps": 300, "random_state": 0}
    return SL2Classifier(**{**settings, **changed})


def planted(rng, n_rows, noise=0.0):
    """Make columns of noise and labels that two short terms decide."""
    X = {f"s{j}": rng.choice(list("pqr"), n_rows) for j in range(5)}
    X["n"] = rng.normal(size=n_rows)
    y = ((X["s0"] == "p") & (X["s1"] != "q")) | ((X["s2"] == "r") & (X["s3"] == "p"))
    return X, np.where(rng.random(n_rows) < noise, ~y, y).astype(int), y.astype(int)


def test_planted_terms_are_found():
    """Without noise the rule set is the planted one, in as few literals."""
    X, y, _ = planted(np.random.default_rng(0), 600)
    est = sl2(size="cv", max_steps=3000, positive_class=1).fit(X, y)
    assert est.n_terms_ == [2]
    texts = {str(rule.body).replace(" (or missing)", "") for rule in est.model_.rules}
    assert texts == {"s0 = p and s1 != q", "s2 = r and s3 = p"}


def test_noise_is_seen_through():
    """With a tenth of the labels turned, labels without noise are predicted."""
    rng = np.random.default_rng(1)
    X, noisy, _ = planted(rng, 1500, noise=0.1)
    est = sl2(size="cv", max_steps=3000, positive_class=1).fit(X, noisy)
    new, _, clean = planted(rng, 1000)
    assert np.mean(est.predict(new) == clean) > 0.95


def test_sizes_grow_while_they_help():
    """All sizes but the last gain over the one before; the last but one, or the last, is taken."""
    X, y = mixed_table(np.random.default_rng(2), 300)
    est = sl2(size="cv", max_rules=6).fit(X, y)
    (curve,) = est.cv_accuracy_
    gains = np.diff(curve)
    assert np.all(gains[:-1] > 0)
    assert est.n_terms_ == [int(np.argmax(curve)) + 1]
    assert len(curve) == 6 or gains[-1] <= 0


def test_folds_are_encoded_by_the_rows_they_learn_from(monkeypatch):
    """No fold sees the values of the rows that judge it."""
    seen = []
    monkeypatch.setattr(
        module, "encode_booleans", lambda t, **o: seen.append(len(t)) or encode_booleans(t, **o)
    )
    X, y = mixed_table(np.random.default_rng(3), 90)
    sl2(size="cv", max_rules=1).fit(X, y)
    assert sorted(seen) == [60, 60, 60, 90]


def test_fewer_literals_cost_no_errors(monkeypatch):
    """While literals are taken out the cost never rises, and their number falls (I12)."""
    results, search = [], module.search_dnf

    def spy(*arguments, **options):
        results.append((options["max_literals"], search(*arguments, **options)))
        return results[-1][1]

    monkeypatch.setattr(module, "search_dnf", spy)
    X, y = mixed_table(np.random.default_rng(4), 200)
    sl2(max_steps=2000, precision_cv=None).fit(X, y)
    kept = [results[0][1]]
    for limit, found in results[1:]:
        assert limit == kept[-1].n_literals - 1
        assert found.n_literals <= limit
        if found.cost <= kept[-1].cost:
            kept.append(found)
    assert len(kept) >= len(results) - 1
    longer = sl2(max_steps=2000, minimise=False).fit(X, y).model_
    assert sum(len(rule.body) for rule in longer) >= len(kept[-1].formula)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_and_seeds(n_classes):
    """One seed gives one model for any number of threads; another one may give another."""
    X, y = mixed_table(np.random.default_rng(5), 200, n_classes=n_classes)
    one, two = (sl2(size="cv", max_rules=2, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.model_ == two.model_
    other = sl2(size="cv", max_rules=2, random_state=7).fit(X, y)
    assert other.model_ != one.model_


@pytest.mark.parametrize("n_classes", [2, 4])
def test_models_save_and_export(n_classes, tmp_path):
    """Saved, exported and parsed again, rule sets predict the same (I13)."""
    X, y = mixed_table(np.random.default_rng(6), 200, n_classes=n_classes)
    model = sl2().fit(X, y).model_
    model.save(tmp_path / "m.json")
    assert load_model(tmp_path / "m.json") == model
    assert model.verify_exports().probability_error <= 1e-12
    parsed = [replace(rule, body=parse_conjunction(str(rule.body))) for rule in model.rules]
    np.testing.assert_array_equal(model.with_rules(parsed).predict(X), model.predict(X))


def test_weights_are_repetitions():
    """A weight of two is a row twice, a weight of zero is no row."""
    X, y = mixed_table(np.random.default_rng(7), 80)
    counts = np.arange(80) % 3
    weighted = sl2(size="cv").fit(X, y, sample_weight=counts, weights="counts")
    rows = np.repeat(np.arange(80), counts)
    repeated = sl2(size="cv").fit({name: v[rows] for name, v in X.items()}, y[rows])
    assert weighted.model_.rules == repeated.model_.rules
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


def test_equal_rows_become_one():
    """Rows that differ only in the sign of zero, or in the kind of missing, are alike."""
    table = read_table(
        {"a": [0.0, -0.0, np.nan, np.nan, 1.0], "s": ["x", "x", None, None, "x"]},
        target=[0, 0, 1, 1, 0],
        weights=[1.0, 2.0, 3.0, 4.0, 5.0],
    )
    merged = merge_equal_rows(TrainingSet.of(table))
    assert merged.rows.weights.tolist() == [3.0, 7.0, 5.0]
    assert merged.rows.labels.tolist() == [0, 1, 0]
    assert merged.place.tolist() == [0] * 3 + [1] * 7 + [2] * 5
    assert merged.weights.tolist() == [1.0] * 15


@pytest.mark.parametrize(
    ("weights", "repeat", "copies"),
    [
        ([1, 1, 1, 1], True, [(0, 1.0), (0, 1.0), (0, 1.0), (1, 1.0)]),
        ([1, 2, 1, 3], True, [(0, 1.0)] * 4 + [(1, 1.0)] * 3),
        ([1, 2, 1, 3], False, [(0, 1.0), (0, 1.0), (0, 2.0), (1, 3.0)]),
        ([0.5, 2, 0.25, 1], True, [(0, 0.25), (0, 0.5), (0, 2.0), (1, 1.0)]),
    ],
)
def test_copies_of_rows(weights, repeat, copies):
    """Equal rows keep their copies; whole weights are repetitions, others stay with their row."""
    table = read_table({"a": [3.0, 3.0, 3.0, 1.0]}, target=[0, 0, 0, 1], weights=weights)
    merged = merge_equal_rows(TrainingSet.of(table), repeat=repeat)
    assert list(zip(merged.place, merged.weights, strict=True)) == copies
    some = np.arange(len(copies)) % 2 == 0
    np.testing.assert_array_equal(merged.part(some) + merged.part(~some), merged.rows.weights)


def test_heavy_rows_have_a_bounded_number_of_copies():
    """The number of copies is limited, their weights are not."""
    table = read_table({"a": [1.0, 2.0]}, target=[0, 1], weights=[3e9, 1e3])
    merged = merge_equal_rows(TrainingSet.of(table))
    assert len(merged.place) <= MOST_COPIES + 2
    np.testing.assert_allclose(merged.part(merged.place >= 0), [3e9, 1e3])


def parity(n_rows):
    """Make three nominal columns of two values, and their parity."""
    values = np.random.default_rng(0).integers(0, 2, (n_rows, 3))
    return {f"s{j}": np.array(["a", "b"])[values[:, j]] for j in range(3)}, values.sum(axis=1) % 2


def test_cross_validation_leaves_out_rows_not_values():
    """Of eight different rows all stay in every training part: parity is learned and judged so."""
    X, y = parity(800)
    est = sl2(size="cv", max_rules=6, cv=10, max_steps=2000).fit(X, y)
    assert est.n_terms_ == [4]
    assert est.cv_accuracy_[0][3] == 1.0
    assert est.score(X, y) == 1.0


def test_cross_validation_judges_rows_that_are_left_out():
    """Where there is nothing to learn, accuracy in cross-validation is that of chance."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 12)), rng.integers(0, 2, 120)
    est = sl2(size="cv", cv=10, max_rules=5, max_steps=2000).fit(X, y)
    assert est.score(X, y) > 0.65
    assert max(est.cv_accuracy_[0]) < 0.6


def test_a_rare_class_leaves_model_selection_to_the_others():
    """A class of one row is learned from in all folds; all others choose their size."""
    X, y = parity(300)
    X["s0"] = X["s0"].astype(object)
    X["s0"][0], y[0] = "rare", 2
    est = sl2(size="cv", max_rules=6, cv=10, max_steps=2000).fit(X, y)
    assert [len(curve) > 1 for curve in est.cv_accuracy_] == [True] * 3
    assert min(est.n_terms_[:2]) >= 4
    folds = assign_folds(np.array([0] * 30 + [1] * 30 + [2] + [3] * 3), 10, RandomState(0))
    of_rows = folds.of_rows
    assert of_rows[60] == -1
    assert len(set(of_rows[61:])) == 3
    assert set(of_rows[:30]) == set(of_rows[30:60]) == set(range(10))
    assert assign_folds(np.array([0, 0, 0, 1]), 10, RandomState(0)) is None


def test_literals_are_minimised():
    """The search for fewer literals finds a formula as good and shorter than the first one."""
    X, y, _ = planted(np.random.default_rng(0), 300, noise=0.2)
    long, short = (
        sl2(max_rules=3, max_steps=2000, minimise=minimise, positive_class=1).fit(X, y)
        for minimise in (False, True)
    )
    n_long, n_short = (est.model_.summary["n_literals"][0] for est in (long, short))
    assert n_short < n_long
    assert short.score(X, y) >= long.score(X, y)


def test_contradictory_rows_are_no_obstacle():
    """Rows alike of both classes cannot be told apart; the search ends at once."""
    X, y = {"a": list("ppqq") * 20}, [0, 1, 1, 1] * 20
    est = sl2(max_rules=1, max_steps=10**8, positive_class=1).fit(X, y)
    assert est.predict({"a": ["q"]}).tolist() == [1]


def test_a_time_limit_ends_the_fit_with_a_model():
    """A limit that is too short still gives rules, and says so."""
    X, y = mixed_table(np.random.default_rng(9), 500)
    est = sl2(size="cv", max_steps=10**12, time_limit=0.3).fit(X, y)  # or days
    assert est.model_.summary["stopped_by"] == "time"
    assert len(est.model_) > 0
    assert est.score(X, y) > np.bincount(y).max() / 500


def test_few_rows_and_one_class():
    """A few rows are told apart, one class or columns that say nothing give the majority."""
    for n_rows in (1, 2, 3, 5):
        X, y = np.arange(float(n_rows))[:, None], np.arange(n_rows) % 2
        est = sl2(size="cv").fit(X, y)
        assert len(est.cv_accuracy_) == (n_rows > 3)  # below, one class has a single row
        assert sl2(max_rules=2).fit(X, y).predict(X).tolist() == y.tolist()
    assert sl2().fit([[1.0], [2.0]], [3, 3]).predict([[0.0]]).tolist() == [3]
    assert sl2().fit([[1.0]] * 5, [0, 1, 1, 1, 0]).predict([[1.0]]).tolist() == [1]


def test_wrong_settings_are_named():
    """The error names the parameter."""
    X, y = mixed_table(np.random.default_rng(10), 40)
    for options in (
        {"max_rules": 0},
        {"time_limit": 0.0},
        {"noise": "much"},
        {"positive_class": "cat"},
    ):
        with pytest.raises(ValueError, match=next(iter(options))):
            sl2(**options).fit(X, y)
