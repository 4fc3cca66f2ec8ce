"""What holds for every learner, and what holds for all that have a parameter or a model form."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

import checker
from builders import (
    Rows,
    every_learner,
    fitted,
    learners_except,
    learners_of,
    learners_with,
    makers_of,
    mixed_table,
    rule_texts,
)
from rulewright import ModelWarning, calibrate, compress
from rulewright.estimators.contract import deadline
from rulewright.model import AdditiveRules
from rulewright.rules import Or

pytestmark = pytest.mark.native


ROWS = Rows(1, 70, n_classes=3, continuous=True)


@pytest.fixture
def data():
    return ROWS.table()


def taken(X, rows):
    return {name: np.asarray(values)[rows] for name, values in X.items()}


def on_all_rows(make):
    """Give the options that let a learner grow rules on all rows: some prune on a part of them."""
    return {"grow_share": 1.0} if "grow_share" in make().get_params() else {}


def whole(make, **options):
    """Make a learner that grows rules on all rows."""
    return make(**options, **on_all_rows(make))


def assert_same(one, two, X):
    assert rule_texts(one.model_) == rule_texts(two.model_)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-9)
    assert len(one.model_) > 0


@learners_except(sl2="its search draws rows by their places (I9 of the card)")
def test_the_order_of_rows_is_free(data, make):
    """Shuffled rows give the same model."""
    X, y = data
    order = np.random.default_rng(6).permutation(70)
    one = fitted(make, ROWS, **on_all_rows(make))
    two = whole(make).fit(taken(X, order), y[order])
    assert_same(one, two, X)


@learners_except(slipper="its confidences are smoothed by the number of rows")
def test_a_weight_of_two_is_a_row_twice(data, make):
    """Whole-number weights equal repeated rows, a weight of zero no row."""
    X, y = data
    weights = np.random.default_rng(2).integers(0, 4, 70)
    rows = np.repeat(np.arange(70), weights)
    one = whole(make).fit(X, y, sample_weight=weights)
    two = whole(make).fit(taken(X, rows), y[rows])
    assert_same(one, two, X)


@every_learner
def test_rows_without_weight_are_no_rows(data, make):
    """They do not even change what is drawn at random."""
    X, y = data
    kept = np.random.default_rng(2).random(70) < 0.7
    one = make().fit(X, y, sample_weight=kept.astype(float))
    two = make().fit(taken(X, kept), y[kept])
    assert one.model_.rules == two.model_.rules
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@every_learner
def test_a_useless_column_changes_nothing(data, make):
    """Constant and all-missing columns leave the model as it is."""
    X, y = data
    more = {"first": np.zeros(70), **X, "last": np.full(70, np.nan), "same": ["x"] * 70}
    one, two = fitted(make, ROWS), make().fit(more, y)
    assert one.model_.rules == two.model_.rules
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(more))


@learners_except(sl2="the rule set of a class has the seed of its place")
def test_the_names_of_classes_are_free(make):
    """Renamed classes in another order rename the answers."""
    X, y = mixed_table(np.random.default_rng(4), 90, n_classes=3, continuous=True)
    y[:25] = 1  # no two classes are equally frequent
    order = np.array([2, 0, 1])
    one, two = make().fit(X, y), make().fit(X, order[y])
    np.testing.assert_allclose(two.predict_proba(X)[:, order], one.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(two.predict(X), order[one.predict(X)])


@pytest.mark.parametrize("n_classes", [2, 3])
@every_learner
def test_label_score_and_probability_agree(make, n_classes):
    """The label is the most probable class, and of two classes the sign of the decision."""
    rows = Rows(n_classes, 80, n_classes)
    X, est = rows.table()[0], fitted(make, rows)
    p, labels = est.predict_proba(X), est.predict(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(p[np.arange(80), labels], p.max(axis=1))
    assert len(set(labels)) > 1
    decision = est.decision_function(X)
    if n_classes == 2:
        clear = decision != 0
        np.testing.assert_array_equal(labels[clear], decision[clear] > 0)
        np.testing.assert_array_equal(np.sign(p[clear, 1] - p[clear, 0]), np.sign(decision[clear]))
    else:
        np.testing.assert_array_equal(decision[np.arange(80), labels], decision.max(axis=1))


@pytest.mark.filterwarnings("ignore::UserWarning")  # each class has a single row
@every_learner
def test_two_rows_are_learned_from(make):
    """Equal shares and a border between the rows: no class is called impossible."""
    X = np.array([[0.0], [1.0]])
    est = make().fit(X, ["no", "yes"])
    p = est.predict_proba([[0.0], [1.0], [np.nan]])
    assert np.all((p > 0) & (p < 1))
    assert p[1, 1] >= p[0, 1]
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


@every_learner
def test_equal_rows_give_the_shares_of_the_classes(make):
    """Rows that are all alike teach no condition."""
    X = {"a": np.full(60, 3.0), "s": ["x"] * 60, "gap": [None] * 60}
    y = np.array(["rare"] * 12 + ["often"] * 48)
    est = make().fit(X, y)
    assert est.model_.columns == ()
    assert set(est.predict(X)) == {"often"}
    np.testing.assert_allclose(est.predict_proba(X)[:, 1], 0.2, atol=0.03)


@pytest.mark.filterwarnings("ignore:a class has one or two rows:UserWarning")
@every_learner
def test_a_class_of_one_row_spoils_nothing(make):
    """The other classes are told apart as without it."""
    X, y = mixed_table(np.random.default_rng(8), 100)
    labels = np.array(["no", "yes"])[y].astype("<U8")
    labels[0] = "singular"
    est = make().fit(X, labels)
    assert est.classes_.tolist() == ["no", "singular", "yes"]
    assert np.mean(est.predict(X) == labels) > 0.7
    assert np.all(est.predict_proba(X) > 0)


@every_learner
def test_a_declared_class_without_rows_is_rare(data, make):
    """It has a column of small probability, no rule of its own, and is never predicted."""
    X, y = data
    declared = pd.Categorical(y, categories=[0, 1, 2, 3])
    est = make().fit(X, declared)
    assert est.classes_.tolist() == [0, 1, 2, 3]
    p = est.predict_proba(X)[:, 3]
    assert np.all((p > 0) & (p < 0.5))
    assert 3 not in est.predict(X)
    assert {rule.head.first for rule in est.model_.rules} <= {0, 1, 2}


@pytest.mark.filterwarnings("ignore::UserWarning")  # gaps where training rows had none
@pytest.mark.parametrize("n_classes", [2, 3])
@every_learner
def test_new_labels_and_gaps_mean_what_the_file_says(make, n_classes, tmp_path):
    """On rows unlike the training rows the learner answers as an independent reader of its file."""
    X, y = mixed_table(np.random.default_rng(n_classes), 80, n_classes=n_classes, missing=0.0)
    est = make().fit(X, y)
    est.model_.save(tmp_path / "model.json")
    document = checker.load(tmp_path / "model.json")
    far = [-1e300, -0.3, 0.0, 1e300, None]
    rows = [
        {"a": a, "b": b, "color": color, "c": c}
        for a, b, c in zip(far, reversed(far), far[2:] + far[:2], strict=True)
        for color in ("red", "violet", "", None)
    ]
    table = {name: [row[name] for row in rows] for name in rows[0]}
    p, labels = est.predict_proba(table), est.predict(table)
    for i, row in enumerate(rows):
        _, chances, label = checker.predict(document, row)
        np.testing.assert_allclose(chances, p[i], rtol=1e-12)
        assert label == labels[i]


@learners_with("constraints")
def test_forbidden_columns_are_not_used(data, make):
    """No rule has a condition on them, and thresholds have the digits asked for."""
    X, y = data
    assert "a" in fitted(make, ROWS, **on_all_rows(make)).model_.columns
    constraints = {"forbidden": ["a"], "digits": 1}
    model = whole(make, constraints=constraints).fit(X, y).model_
    assert {"b", "c"} & set(model.columns)
    assert "a" not in model.columns
    bounds = [
        getattr(c, side, 0.0) for r in model.rules for c in r.body for side in ("low", "high")
    ]
    assert all(float(f"{bound:.1g}") == bound for bound in bounds if np.isfinite(bound))


@learners_with("max_conditions")
def test_rules_are_no_longer_than_asked(data, make):
    """A limit on conditions is obeyed by every conjunction; without it some rule is longer."""
    X, y = data

    def lengths(model):
        bodies = [rule.body for rule in model.rules]
        terms = [
            term for body in bodies for term in (body.parts if isinstance(body, Or) else [body])
        ]
        return {len(term.conditions) for term in terms}

    assert max(lengths(fitted(make, ROWS, **on_all_rows(make)).model_)) > 1
    assert lengths(whole(make, max_conditions=1).fit(X, y).model_) == {1}


@learners_with("positive_class")
def test_the_positive_class_of_two_has_the_rules(make):
    """Whichever class is named has all rules."""
    X, y = mixed_table(np.random.default_rng(3), 80)
    for k, name in enumerate(("no", "yes")):
        model = make(positive_class=name).fit(X, np.array(["no", "yes"])[y]).model_
        assert {rule.head.first for rule in model.rules} == {k}


@learners_with("time_limit")
def test_a_time_limit_ends_with_a_model(data, make):
    """A limit that is over at once still gives a whole model."""
    X, y = data
    endless = {"max_steps": 10**9} if "max_steps" in make().get_params() else {}
    est = make(time_limit=1e-9, **endless).fit(X, y)
    np.testing.assert_allclose(est.predict_proba(X).sum(axis=1), 1.0)
    assert est.score(X, y) >= np.bincount(y).max() / 70


@learners_with("time_limit", "max_steps")
def test_a_time_limit_holds_with_many_classes(data, make, monkeypatch):
    """Classes that were not searched in time have no rules, and a warning says so."""
    monkeypatch.setattr(deadline, "GRACE", 0.0)
    with pytest.warns(ModelWarning, match="time_limit=1e-09 was over before .* classes"):
        est = make(time_limit=1e-9).fit(*data)
    assert est.model_.rules == ()
    assert est.score(*data) >= np.bincount(data[1]).max() / 70


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
@learners_of(AdditiveRules)
def test_calibration_keeps_the_rules_and_lowers_the_loss(make, method):
    """On rows with more noise the calibrated probabilities are better; conditions stay."""
    model = fitted(make, ROWS).model_
    rng = np.random.default_rng(7)
    new, labels = mixed_table(rng, 300, n_classes=3, continuous=True)
    labels = np.where(rng.random(300) < 0.4, rng.integers(0, 3, 300), labels)
    better = calibrate(model, new, labels, method)
    assert [rule.body for rule in better.rules] == [rule.body for rule in model.rules]
    before, after = (log_loss(labels, m.predict_proba(new)) for m in (model, better))
    assert after < before


@learners_of(AdditiveRules)
def test_compression_keeps_some_of_the_rules(data, make):
    """The fewer rules are among the learned ones, and still better than none."""
    X, y = data
    model = fitted(make, ROWS).model_
    few = compress(model, X, y, n_rules=3)
    assert 0 < len(few) <= 3 < len(model)
    assert {rule.body for rule in few.rules} <= {rule.body for rule in model.rules}
    assert np.mean(few.predict(X) == y) > np.bincount(y).max() / 70


@pytest.mark.parametrize("step", [calibrate, compress])
@every_learner
def test_steps_after_the_fit_say_which_models_they_take(data, make, step):
    """Every additive model can take them; others are refused by name."""
    X, y = data
    est = fitted(make, ROWS)
    if make in makers_of(AdditiveRules).values():
        assert isinstance(step(est, X, y), AdditiveRules)
    else:
        with pytest.raises(
            ValueError, match=f"needs an AdditiveRules.*{type(est.model_).__name__}"
        ):
            step(est, X, y)
