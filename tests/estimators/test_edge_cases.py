"""The edge cases of the cards, line by line."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from builders import (
    LEARNERS,
    costed,
    learners_of,
    learners_with,
    mixed_table,
    mlrules,
    rise,
    rule_texts,
    slipper,
    stump,
)
from rulewright import (
    CompactRulesRegressor,
    Constraints,
    Formulation,
    Growth,
    MLRulesClassifier,
    RuleFitRegressor,
    Validation,
    Window,
    load_model,
)
from rulewright.data import DataError, DataWarning, TrainingSet, read_table
from rulewright.model import AdditiveRules
from rulewright.weighting import DEFAULT_RULES

pytestmark = pytest.mark.native


@pytest.fixture(params=LEARNERS.values(), ids=LEARNERS)
def make(request):
    return request.param


@pytest.fixture
def data():
    return mixed_table(np.random.default_rng(0), 40)


def test_one_class(data, make):
    """One class: no condition, probability one, shape (n, 1)."""
    X, _ = data
    est = make().fit(X, ["yes"] * 40)
    assert est.model_.columns == ()
    assert est.predict_proba(X).tolist() == [[1.0]] * 40
    assert set(est.predict(X)) == {"yes"}


@learners_of(AdditiveRules)
def test_one_class_needs_no_rule(data, make):
    """Additive rules need not even an empty rule."""
    assert len(make().fit(data[0], ["yes"] * 40).model_) == 0


@pytest.mark.parametrize("calibration", [None, "platt", "isotonic"])
@learners_with("calibration")
def test_one_class_whatever_else_was_asked_for(data, make, calibration):
    """Calibration and costs leave the one class certain."""
    X, _ = data
    est = costed(make(calibration=calibration), [[0.0]]).fit(X, ["yes"] * 40)
    assert len(est.model_) == 0
    assert est.predict_proba(X).tolist() == [[1.0]] * 40
    assert set(est.predict(X)) == {"yes"}


def test_a_fit_on_one_class_forgets_the_fit_before(data):
    """Every fit sets what it promises: trace and the reason to stop are those of the last fit."""
    X, y = data
    est = mlrules().fit(X, y)
    assert len(est.trace_["train_loss"]) == 15
    est.fit(X, ["yes"] * 40)
    assert len(est.trace_.get("train_loss", ())) == 0
    assert isinstance(est.stopped_by_, str)


def test_an_absent_class_is_kept(data):
    """A declared class without rows has a column of finite probability and no rule."""
    X, y = data
    declared = pd.Categorical(y, categories=[0, 1, 2])
    for default_rule in DEFAULT_RULES:
        est = mlrules(formulation=Formulation(default_rule)).fit(X, declared)
        assert est.classes_.tolist() == [0, 1, 2]
        p = est.predict_proba(X)
        assert p.shape == (40, 3)
        assert np.all((p[:, 2] > 0) & (p[:, 2] < 1))
        assert {rule.head.first for rule in est.model_.rules} <= {0, 1}


def test_a_class_of_weight_zero_is_an_absent_class(data, make):
    """Rows of weight zero are dropped, their class is not."""
    X, y = data
    est = make().fit(X, y, sample_weight=(y == 0).astype(float))
    assert est.classes_.tolist() == [0, 1]
    assert {rule.head.first for rule in est.model_.rules} <= {0}
    assert np.all(est.predict(X) == 0)
    assert np.all(est.predict_proba(X)[:, 1] > 0)


@pytest.mark.parametrize(
    "useless", [np.zeros(40), np.full(40, np.nan), [None] * 40, ["x"] * 40, [True] * 40]
)
def test_no_usable_column(useless, make):
    """Constant or all-missing columns give the shares of the classes and no condition."""
    y = np.arange(40) % 4 == 0
    est = make().fit({"u": useless}, y)
    assert est.model_.columns == ()
    np.testing.assert_allclose(est.predict_proba({"u": useless})[:, 1], 0.25, atol=0.02)
    assert not est.predict({"u": useless}).any()


@learners_of(AdditiveRules)
def test_no_usable_column_gives_no_rule(make):
    """Additive rules have only their intercepts then, and say why they stopped."""
    est = make().fit(np.zeros((40, 1)), np.arange(40) % 4 == 0)
    assert len(est.model_) == 0
    assert getattr(est, "stopped_by_", "no_rule") == "no_rule"


@learners_with("missing_conditions")
def test_missing_values_alone_are_no_candidate_unless_asked(make):
    """A constant column with missing values is useless, but its gaps may be a condition."""
    X = {"u": np.where(np.arange(40) < 10, np.nan, 1.0)}
    y = (np.arange(40) < 10).astype(int)
    assert len(make().fit(X, y).model_) == 0
    model = make(missing_conditions=True).fit(X, y).model_
    assert {text for text, _ in rule_texts(model)} <= {"u is missing", "u is known"}
    np.testing.assert_array_equal(model.predict(X), y)


def test_duplicate_columns_and_rows(data, make):
    """Of equal columns the first is used, as if there were no other; repeated rows are fine.

    The distances of RISE sum over all columns: with each twice, the same rules win.
    """
    X, y = data
    X = {name: np.tile(values, 3) for name, values in X.items()}
    doubled = {**X, **{f"{name} again": X[name] for name in X}}
    once = make().fit(X, np.tile(y, 3)).model_
    twice = make().fit(doubled, np.tile(y, 3)).model_
    if make is rise:
        np.testing.assert_array_equal(twice.deciders(doubled), once.deciders(X))
    else:
        assert twice.rules == once.rules
    assert len(once.columns) > (0 if make is stump else 1)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("stopping", ["none", "auto"])
def test_tiny_tables(n_rows, stopping):
    """One to five rows are learned from; below four all rows are used and none is outside."""
    X, y = np.arange(float(n_rows))[:, None], np.arange(n_rows) % 2
    est = mlrules(subsample=0.5, stopping=stopping).fit(X, y)
    assert est.predict_proba(X).shape == (n_rows, min(n_rows, 2))
    if n_rows in (2, 3):
        assert len(est.model_) > 0
    assert "acceptable" not in est.trace_


def test_a_minimal_subsample_finds_nothing_and_stops():
    """One drawn row admits no condition: ten failures end the search."""
    X, y = mixed_table(np.random.default_rng(1), 60)
    est = mlrules(subsample=1e-9).fit(X, y)
    assert len(est.model_) == 0
    assert est.stopped_by_ == "no_rule"


def test_nothing_to_learn_stops():
    """Balanced noise that no condition explains gives no rule."""
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    est = mlrules().fit(X, np.tile([0, 1], 20))
    assert len(est.model_) == 0
    assert est.stopped_by_ == "no_rule"


@pytest.mark.parametrize("l2", [0.0, 1e-300, 1.0])
def test_perfect_separation_stays_finite(l2):
    """Scores of separable data are bounded by steps of four, and learning goes on or ends."""
    X = np.arange(40.0)[:, None]
    y = np.repeat([0, 1], 20)
    est = mlrules(max_rules=60, learning_rate=1.0, l2=l2).fit(X, y)
    scores = est.model_.scores(X)
    assert np.all(np.isfinite(scores))
    assert max(rule.outcome.value for rule in est.stages_.rules) <= 4
    assert np.all(est.predict(X) == y)
    assert np.all(np.diff(est.trace_["train_loss"]) < 0)


@pytest.mark.parametrize(
    "weights", [np.zeros(40), np.full(40, -1.0), np.full(40, np.nan), np.full(40, np.inf), [1.0]]
)
def test_bad_weights(data, make, weights):
    """Weights that are all zero, negative, missing, infinite or too few are errors."""
    with pytest.raises(ValueError, match="weight"):
        make().fit(*data, sample_weight=weights)


@pytest.mark.parametrize("size", [1e-320, 1e-310, 1e-300, 1e300])
def test_the_scale_of_weights_is_free(data, make, size):
    """Tiny and huge weights give a model, never a crash in the arithmetic."""
    check_scale(make(), *data, size)


@pytest.mark.parametrize("size", [1e-320, 1e-310, 1e-300, 1e300])
@learners_with("min_weight")
def test_the_scale_of_weights_is_free_beside_a_minimum(data, make, size):
    """A minimum weight of the same scale is no obstacle."""
    check_scale(make(min_weight=1e-305), *data, size)


@pytest.mark.parametrize("size", [1e-320, 1e-310, 1e-300, 1e300])
@learners_with("calibration")
def test_the_scale_of_weights_is_free_in_calibration(data, make, size):
    """Calibration takes weights of any size."""
    check_scale(make(calibration="platt"), *data, size)


def check_scale(est, X, y, size):
    with pytest.warns(DataWarning, match="scaled to sum to 40"):
        est.fit(X, y, sample_weight=np.full(40, size))
    assert np.all(np.isfinite(est.predict_proba(X)))
    assert est.score(X, y) >= np.bincount(y).max() / 40


def test_weights_whose_sum_overflows(data, make):
    """Finite weights with an infinite sum are one clear error, without a warning before it."""
    with pytest.raises(ValueError, match="weight"):
        make().fit(*data, sample_weight=np.full(40, 1e308))


@pytest.mark.filterwarnings("ignore:.*sample_weight. the weights of:UserWarning")
def test_weights_of_any_size_weigh_alike(data):
    """Without l2 the model depends on the proportions of the weights only."""
    X, y = data
    weights = np.random.default_rng(3).choice([1.0, 2.0], 40)
    models = [
        mlrules(l2=0.0).fit(X, y, sample_weight=size * weights).model_
        for size in (1.0, 2.0**-10, 2.0**60)
    ]
    for model in models[1:]:
        assert rule_texts(model) == rule_texts(models[0])
        np.testing.assert_allclose(model.scores(X), models[0].scores(X), rtol=1e-9)


@pytest.mark.parametrize("y", [[math.nan] + [1.0] * 39, [None] + ["a"] * 39, [0.5] + [1.0] * 39])
def test_bad_targets(data, make, y):
    """A missing or a fractional label is an error."""
    with pytest.raises(ValueError, match=r"NaN|label"):
        make().fit(data[0], y)


def test_many_classes():
    """Prefixed choice learns 60 classes, each from the rows it has."""
    rng = np.random.default_rng(2)
    y = np.arange(600) % 60
    X = np.stack([y + 0.2 * rng.normal(size=600), rng.normal(size=600)], axis=1)
    est = mlrules(max_rules=150, class_choice="prefixed", learning_rate=1.0).fit(X, y)
    assert {rule.head.first for rule in est.model_.rules} == set(range(60))
    assert np.mean(est.predict(X) == y) > 0.9


@learners_with("min_weight")
def test_an_impossible_minimum_weight_gives_no_rule(data, make):
    """A minimum that no rule can cover leaves the default rule, however large it is."""
    X, y = data
    for min_weight in (41.0, 1e6, 1e300):
        est = make(min_weight=min_weight).fit(X, y)
        assert len(est.model_) == 0


@learners_with("min_weight")
def test_a_minimum_weight_is_obeyed_by_every_rule(data, make):
    """No rule covers less than asked for."""
    X, y = data
    est = make(min_weight=12.0).fit(X, y)
    assert len(est.model_) > 0
    assert min(rule.coverage.support for rule in est.model_.rules) >= 12


@pytest.mark.parametrize(
    "options",
    [
        {"max_conditions": 2**40},
        {"max_bins": 2**40},
        {"stopping": Validation(n_iter_no_change=2**70)},
        {"stopping": Window(size=2**70)},
    ],
)
def test_huge_limits_are_no_limits(options):
    """Whole numbers beyond 32 or 64 bits mean what they say."""
    X, y = mixed_table(np.random.default_rng(0), 60)
    est = mlrules(max_rules=3, subsample=0.5, **options).fit(X, y)
    assert len(est.trace_["train_loss"]) == 3


def test_numpy_numbers_are_parameters_and_can_be_saved(data, tmp_path):
    """Settings from a NumPy grid are checked, used and saved like Python's numbers."""
    est = mlrules(
        max_rules=np.int64(3),
        learning_rate=np.float32(0.5),
        l2=np.float64(1),
        max_conditions=np.int8(2),
    ).fit(*data)
    est.model_.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").rules == est.model_.rules
    est = slipper(
        max_rules=np.int64(3),
        grow_share=np.float32(0.5),
        positive_class=np.int64(0),
        class_weight={np.int64(0): np.float32(2)},
        cost_matrix=np.array([[0, 1], [2, 0]], dtype=np.int8),
    ).fit(*data)
    est.model_.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json") == est.model_


def test_packed_records_are_read(make):
    """A structured array whose fields are not aligned is a table like any other."""
    rng = np.random.default_rng(4)
    records = np.zeros(30, dtype=[("flag", "i1"), ("x", "f8")])
    records["x"] = rng.choice([-2.5, -1.5, 1.5, 2.5], 30)
    y = records["x"] > 0
    est = make().fit(records, y)
    plain = make().fit({"flag": records["flag"], "x": records["x"].copy()}, y)
    assert est.model_.rules == plain.model_.rules
    np.testing.assert_array_equal(est.predict(records), y)


def test_neighbouring_floats_and_huge_numbers(make):
    """Columns of subnormal, neighbouring and enormous numbers are cut where they differ."""
    y = np.tile([0, 1], 20)
    for low, high in ((0.0, 5e-324), (1.0, math.nextafter(1.0, 2.0)), (-1.7e308, 1.7e308)):
        X = np.where(y == 0, low, high)[:, None]
        assert np.all(make().fit(X, y).predict(X) == y)


def test_many_classes_are_learned_one_at_a_time():
    """Beyond 30 classes the class comes first, and there are no more rules than for 30."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 3))
    for n_classes, prefixed, most in ((30, False, 7500), (31, True, 7500), (4, False, 1000)):
        est = MLRulesClassifier(stopping="none", random_state=0)
        rows = TrainingSet.of(read_table(X, target=np.arange(200) % n_classes))
        settings = est._settings(rows, Constraints())
        assert (settings.rule.prefixed, est._most_rules(rows)) == (prefixed, most)
    y = np.arange(200) % 31
    few = MLRulesClassifier(20, random_state=0)
    auto, chosen = (
        clone(few).set_params(growth=Growth(class_choice=choice)).fit(X, y).model_
        for choice in ("auto", "prefixed")
    )
    assert auto.rules == chosen.rules
    ordinal = MLRulesClassifier(3, ordinal=True, random_state=0).fit(X, y).model_
    assert any(rule.head.is_union for rule in ordinal.rules)


@pytest.mark.parametrize("make", [CompactRulesRegressor, RuleFitRegressor])
def test_numbers_whose_squares_overflow_are_refused(make):
    """The error says what to do; smaller numbers are learned."""
    X = np.random.default_rng(0).normal(size=(100, 2))
    with pytest.raises(DataError, match=r"numbers beyond 1e\+70, .* Divide the target"):
        make(random_state=0).fit(X, 1e160 * X[:, 0])
    model = make(random_state=0).fit(X, 1e65 * X[:, 0]).model_
    assert np.isfinite(model.predict(X)).all()
    assert len(model) or model.linear
