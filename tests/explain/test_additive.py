"""Importance, partial dependence and interaction of models that add up, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from rulewright import MLRulesClassifier, RuleSetEnsembleClassifier
from rulewright.data import DataError, read_table
from rulewright.explain import importance, interactions, local_importance, partial_dependence
from rulewright.model import AdditiveRules, RegressionRules, load_model
from rulewright.model.forms.terms import LinearTerm
from rulewright.rules import Adds, Coverage, NumberCoverage, Rule, parse_formula

pytestmark = pytest.mark.native

BODIES = [
    "a <= 0.2",
    "b > -0.3",
    "a <= 0.5 and b > 0",
    "a > -0.2 and c = x",
    "c != x and b <= 0.4",
    "a <= 0 or b > 0.5",
    "not c = y",
]


def make_rows(seed, n=40):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n)).round(1)
    a[rng.random(n) < 0.1] = np.nan
    return {"a": a, "b": b, "c": rng.choice(["x", "y", "z"], n)}


def make_model(responses, slope=0.0, otherwise=0.0):
    schema = read_table(make_rows(0)).schema
    rules = tuple(
        Rule(parse_formula(body), Adds(0, response, otherwise), NumberCoverage(10, 0, 1))
        for body, response in zip(BODIES, responses, strict=False)
        if response
    )
    linear = (LinearTerm("b", -1.0, 1.0, 0.1, 0.5, (slope,)),) if slope else ()
    return RegressionRules(schema, 2.0, rules, {"total_weight": 40.0}, linear=linear)


AMOUNTS = st.lists(st.sampled_from([0.0, 1.0, -0.5, 2.5]), min_size=7, max_size=7)


@given(AMOUNTS, st.sampled_from([0.0, 0.7]), st.sampled_from([0.0, -1.0]), st.integers(0, 99))
@examples(30)
def test_importance_is_the_deviation_of_what_is_added(responses, slope, otherwise, seed):
    """The root mean square of the local importances is the importance; columns share all of it."""
    model, rows = make_model(responses, slope, otherwise), make_rows(seed)
    found = importance(model, rows)
    local = local_importance(model, rows)
    np.testing.assert_allclose(np.sqrt((local**2).mean(axis=0)), found.values, atol=1e-12)
    assert sum(found.by_column().values()) == pytest.approx(found.values.sum())


def test_importance_by_hand():
    """A rule with response 3 and support 10 of 40 has the importance 3 sqrt(3 / 16)."""
    model = make_model([3.0, 0, 0, 0, 0, 0, 0], slope=2.0)
    found = importance(model)
    np.testing.assert_allclose(found.values, [3 * np.sqrt(3 / 16), 2 * 0.5])
    assert found.by_column() == pytest.approx({"a": 3 * np.sqrt(3 / 16), "b": 1.0})
    assert next(iter(found.to_frame()["importance"])) == 100.0
    assert str(found).splitlines()[1] == "100.0  a"
    twice = importance(model, {**make_rows(1)}, sample_weight=np.full(40, 2.0))
    np.testing.assert_allclose(twice.values, importance(model, make_rows(1)).values)


@pytest.mark.parametrize("columns", ["a", "b", "c", ("a", "b"), ("c", "b")])
@given(responses=AMOUNTS, otherwise=st.sampled_from([0.0, -1.0]), seed=st.integers(0, 99))
@examples(10)
def test_dependence_is_the_mean_prediction(columns, responses, otherwise, seed):
    """The fast way equals predicting all rows with the columns set to each point."""
    model, rows = make_model(responses, 0.7, otherwise), make_rows(seed)
    names = (columns,) if isinstance(columns, str) else columns
    weights = np.random.default_rng(seed).choice([1.0, 3.0], 40)
    found = partial_dependence(model, rows, columns, sample_weight=weights, max_points=8)
    for point, value in zip(found.points, found.values[:, 0], strict=True):
        changed = {**rows, **{n: np.full(40, v) for n, v in zip(names, point, strict=True)}}
        expected = np.average(model.predict(changed), weights=weights)
        assert value == pytest.approx(expected, abs=1e-9)


def test_the_dependence_on_an_absent_column_is_constant():
    """A column that no rule uses makes no difference."""
    model = make_model([1.0, 2.0, 0, 0, 0, 0, 0])
    found = partial_dependence(model, make_rows(3), "c")
    assert np.ptp(found.values) == 0.0
    assert found.points == [("x",), ("y",), ("z",)]
    assert list(found.to_frame().columns) == ["c", "prediction"]


def test_sums_do_not_interact_and_products_do():
    """H is 0 for an additive model and 1 for a product of centred columns."""
    rows = {"a": [-1.0, -1.0, 1.0, 1.0], "b": [-1.0, 1.0, -1.0, 1.0], "c": ["x"] * 4}
    additive = make_model([1.0, 2.0, 0, 0, 0, 0, 0], slope=0.5)
    found = interactions(additive, rows, ["a", "b"])
    assert found.pairs["a", "b"] == pytest.approx(0.0, abs=1e-7)
    assert found.total == pytest.approx({"a": 0.0, "b": 0.0}, abs=1e-7)
    schema = read_table(rows).schema
    bodies = ["a > 0 and b > 0", "a <= 0 and b <= 0"]
    rules = [Rule(parse_formula(b), Adds(0, 2.0), NumberCoverage(1, 0, 0)) for b in bodies]
    product = RegressionRules(schema, -1.0, tuple(rules))
    found = interactions(product, rows)
    assert found.pairs["a", "b"] == pytest.approx(1.0)
    assert found.total == pytest.approx({"a": 1.0, "b": 1.0})
    assert str(found).splitlines()[-1] == "1.000  a, b"
    assert interactions(make_model([]), make_rows(1)).pairs == {}


def test_loaded_models_of_classes(tmp_path):
    """A saved model plus data is enough; every class has its dependence."""
    rows = make_rows(5, 200)
    y = np.where(np.nan_to_num(rows["a"]) > 0, "p", np.where(rows["b"] > 0, "q", "r"))
    fitted = MLRulesClassifier(20, random_state=0).fit(rows, y)
    fitted.model_.save(tmp_path / "m.json")
    model = load_model(tmp_path / "m.json")
    assert importance(model).by_column() == importance(fitted).by_column()
    assert [*importance(model, rows).by_column()][:2] in (["a", "b"], ["b", "a"])
    found = partial_dependence(model, rows, "b")
    assert found.values.shape == (len(found.points), 3)
    assert set(found.to_table()) == {"b", "score_p", "score_q", "score_r"}
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    assert fitted.feature_importances_.shape == (3,)


def test_errors_say_what_is_needed():
    """Votes do not add up; unknown columns and models without weights are named."""
    votes = RuleSetEnsembleClassifier(2, 2, max_steps=50, random_state=0)
    votes.fit(np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2)
    with pytest.raises(ValueError, match="importance needs an additive model"):
        importance(votes)
    model = make_model([1.0])
    with pytest.raises(DataError, match="no column 'd'"):
        partial_dependence(model, make_rows(0), "d")
    with pytest.raises(ValueError, match="one column or two"):
        partial_dependence(model, make_rows(0), ["a", "a"])
    rule = Rule(parse_formula("a <= 0"), Adds(0, 1.0), Coverage.of((1.0, 0.0)))
    bare = AdditiveRules(model.schema, ["n", "y"], (0.0, 0.0), (rule,))
    with pytest.raises(ValueError, match="pass X"):
        importance(bare)
