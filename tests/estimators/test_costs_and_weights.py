"""Costs of errors and weights of classes, for every learner."""

import re
from dataclasses import replace

import numpy as np
import pytest

from builders import (
    MADE,
    costed,
    every_learner,
    learners_except,
    learners_of,
    learners_with,
    makers_of,
    mixed_table,
    slipper,
)
from rulewright import MLRulesClassifier, SlipperClassifier, with_decision
from rulewright.model import AdditiveRules

pytestmark = pytest.mark.native

NAMES = np.array(["dog", "eel", "fox"])
ABSOLUTE = abs(np.arange(4)[:, None] - np.arange(4))


ADDITIVE = {
    f"{name}-{option}": make(**{option: value} if option else {})
    for name, make in makers_of(AdditiveRules).items()
    for option, value in ((None, None), ("ordinal", True), ("calibration", "isotonic"))
    if option in (None, *make().get_params())
}
"""Learners of additive rules, plain and with options that change their probabilities."""


@pytest.fixture(scope="module")
def data():
    return mixed_table(np.random.default_rng(5), 200, n_classes=4)


@pytest.fixture(scope="module", params=ADDITIVE)
def fitted(data, request):
    """Give a learner of additive rules, fitted with one of its options."""
    return ADDITIVE[request.param].fit(*data)


def test_equal_costs_give_the_most_probable_class(data, fitted):
    """With 1 - I as costs `predict` is the argmax of the probabilities, up to ties (T11)."""
    X, _ = data
    model = with_decision(fitted, 1 - np.eye(4))
    p, labels = model.predict_proba(X), model.predict(X)
    np.testing.assert_array_equal(p[np.arange(len(p)), labels], p.max(axis=1))
    np.testing.assert_array_equal(labels, fitted.predict(X))


def test_the_class_of_the_least_expected_cost_is_predicted(data, fitted):
    """Brute force over all classes finds no cheaper one; rules and probabilities are unchanged."""
    X, _ = data
    costs = np.random.default_rng(0).exponential(size=(4, 4)) * (1 - np.eye(4))
    est, free = with_decision(fitted, costs), with_decision(fitted, None)
    p = est.predict_proba(X)
    expected = [[sum(row[k] * costs[k, j] for k in range(4)) for j in range(4)] for row in p]
    chosen = np.take_along_axis(np.array(expected), est.predict(X)[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(chosen, np.min(expected, axis=1), rtol=1e-12)
    assert np.any(est.predict(X) != free.predict(X))
    assert est.rules == free.rules
    np.testing.assert_array_equal(p, free.predict_proba(X))


def test_absolute_costs_give_the_median(data, fitted):
    """The first class with half of the probability up to it; rounding may take half to the next.

    Exact halves are rare, except for equal votes: LRI has three of them here.
    """
    X, _ = data
    model = with_decision(fitted, "absolute")
    up_to = model.predict_proba(X).cumsum(axis=1)
    median = (up_to >= 0.5).argmax(axis=1)
    others = np.flatnonzero(model.predict(X) != median)
    np.testing.assert_allclose(up_to[others, median[others]], 0.5, rtol=0, atol=1e-12)
    assert len(others) <= 3
    assert with_decision(fitted, ABSOLUTE) == model
    # Few rules give few different probabilities.
    assert len(model) <= 5 or np.any(median != model.predict_proba(X).argmax(axis=1))


@learners_except(
    compact="its responses need no calibration",
    **{n: "it has no stages" for n, cls in MADE.items() if not hasattr(cls, "staged_predict")},
)
@pytest.mark.parametrize("costs", [ABSOLUTE, None])
@pytest.mark.parametrize("calibration", [None, "isotonic"])
def test_stages_end_with_the_prediction(data, make, costs, calibration):
    """After all rules the staged predictions and probabilities are those of the model."""
    X, y = data
    est = costed(make(calibration=calibration), costs).fit(X, y)
    assert len(list(est.staged_predict(X))) == len(getattr(est, "stages_", est.model_)) + 1
    *_, last = est.staged_predict(X)
    np.testing.assert_array_equal(last, est.predict(X))
    *_, last = est.staged_predict_proba(X)
    np.testing.assert_allclose(last, est.predict_proba(X), rtol=1e-12)


WRONG_COSTS = pytest.mark.parametrize(
    ("costs", "told"),
    [
        (np.eye(3), "predicting 'dog' for 'dog' is 1"),
        ([[0, 1, 1], [1, 0, -2], [1, 1, 0]], "predicting 'fox' for 'eel' is -2"),
        ([[0, 1, 1], [1, 0, 1], [np.nan, 1, 0]], "NaN"),
        ([[0, 1, np.inf], [1, 0, 1], [1, 1, 0]], "inf"),
        (1 - np.eye(2), "3 rows of 3 numbers"),
        ([1, 2, 3], "3 rows of 3 numbers"),
        ([[0, 1], [1, 0, 1], [1, 1, 0]], ""),
        ([[0, 1, "much"], [1, 0, 1], [1, 1, 0]], "much"),
        ("relative", "'relative' must be an array"),
        (5, "3 rows of 3 numbers"),
    ],
)


@learners_of(AdditiveRules)
@WRONG_COSTS
def test_wrong_costs_of_a_model_are_refused(make, costs, told):
    """The error names the decision and, where one entry is wrong, its classes."""
    X, y = mixed_table(np.random.default_rng(0), 60, n_classes=3)
    told = {"5": "two classes, but there are 3", "relative": "must be"}.get(str(costs), told)
    with pytest.raises(ValueError, match=rf"decision.*{re.escape(told)}"):
        with_decision(make().fit(X, NAMES[y]), costs)


@learners_with("cost_matrix")
@WRONG_COSTS
def test_wrong_costs_are_refused(make, costs, told):
    """The error names the option and, where one entry is wrong, its classes."""
    X, y = mixed_table(np.random.default_rng(0), 60, n_classes=3)
    with pytest.raises(ValueError, match=rf"cost_matrix.*{re.escape(told)}"):
        make(cost_matrix=costs).fit(X, NAMES[y])


def test_costs_of_nothing_teach_slipper_nothing():
    """Its rows are weighed by costs: where all are 0 it says so."""
    X, y = mixed_table(np.random.default_rng(0), 60, n_classes=3)
    with pytest.raises(ValueError, match=r"cost_matrix.*nothing"):
        slipper(cost_matrix=np.zeros((3, 3))).fit(X, y)
    with pytest.raises(ValueError, match="cost_matrix: with two classes, both errors"):
        slipper(cost_matrix=[[0, 1], [0, 0]]).fit(X, y > 0)
    mean = slipper(cost_matrix=[[0, 0, 0], [1, 0, 1], [1, 1, 0]]).fit(X, y)
    assert 0 not in mean.predict(X)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e300])
def test_the_scale_of_costs_is_free(n_classes, size):
    """Only their proportions matter to SLIPPER, up to sums that overflow, which are told."""
    X, y = mixed_table(np.random.default_rng(0), 120, n_classes=n_classes)
    costs = 1 - np.eye(n_classes)
    expected = slipper(cost_matrix=costs).fit(X, y).predict(X)
    np.testing.assert_array_equal(slipper(cost_matrix=size * costs).fit(X, y).predict(X), expected)
    with pytest.raises(ValueError, match="cost_matrix: the sum of weights times costs is infinite"):
        slipper(cost_matrix=5e307 * costs).fit(X, y)
    extreme = [[0, 1e-300], [1e300, 0]]
    assert np.all(np.isfinite(slipper(cost_matrix=extreme).fit(X, y > 0).model_.scores(X)))


@pytest.mark.parametrize("multiclass", ["auto", "cost"])
@pytest.mark.parametrize("calibration", [None, "platt", "isotonic"])
def test_costs_count_once_in_slipper(multiclass, calibration):
    """What boosting has weighed is not weighed again: two classes behave the same in both modes.

    The dearer an error, the rarer: with costs c : 1 a row is called positive from a probability of
    about 1 / (1 + c) on.
    """
    X, y = mixed_table(np.random.default_rng(3), 1500)
    costs = [[0, 1], [4, 0]]
    options = {"multiclass": multiclass, "calibration": calibration, "max_rules": 12}
    dear, equal = (
        slipper(cost_matrix=c, **options).fit(X, y) for c in (costs, 1 - np.eye(2, dtype=int))
    )
    missed, alarms = (np.mean(dear.predict(X)[y == k] != k) for k in (1, 0))
    assert missed < np.mean(equal.predict(X)[y == 1] != 1)
    assert alarms < 0.75  # a threshold of 1 / (1 + 4^2) calls nearly every row positive
    if multiclass == "cost" and calibration is None:
        np.testing.assert_array_equal(dear.predict(X), dear.model_.scores(X).argmax(axis=1))


@every_learner
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_of_classes_multiply_those_of_rows(make, n_classes):
    """A dict of factors equals sample weights; a class that is not named keeps its own."""
    rng = np.random.default_rng(0)
    X, y = mixed_table(rng, 150, n_classes=n_classes)
    weights = rng.choice([1.0, 2.0, 0.5], 150)
    names = NAMES[y]
    given = make(class_weight={"dog": 3.0}).fit(X, names, sample_weight=weights).model_
    equal = make().fit(X, names, sample_weight=weights * np.where(y == 0, 3.0, 1.0)).model_
    assert replace(given, summary={}) == replace(equal, summary={})
    assert given.rules != make().fit(X, names, sample_weight=weights).model_.rules
    dropped = make(class_weight={"dog": 0}).fit(X, names, sample_weight=weights).model_
    left = make().fit(X, names, sample_weight=weights * (y > 0)).model_
    assert replace(dropped, summary={}) == replace(left, summary={})


@every_learner
def test_balanced_classes_weigh_the_same(make):
    """Each class gets the weight n / K, whatever the rows weigh; absent classes get none."""
    rng = np.random.default_rng(1)
    X, y = mixed_table(rng, 150)
    y = np.where(rng.random(150) < 0.6, 0, y)
    weights = rng.choice([1.0, 2.0, 0.5, 0.0], 150)
    sums = np.bincount(y, weights)
    factors = weights.sum() / (2 * sums)
    given = make(class_weight="balanced").fit(X, y, sample_weight=weights).model_
    equal = make().fit(X, y, sample_weight=weights * factors[y]).model_
    assert [r.body for r in given.rules] == [r.body for r in equal.rules]
    np.testing.assert_allclose(given.scores(X), equal.scores(X), rtol=1e-9, atol=1e-12)
    for rule in given.rules:
        support = rule.coverage.support
        assert sum(rule.coverage.class_weights) == pytest.approx(support)
        # Weighted rows count as their effective number.
        assert sum(rule.coverage.share_weights) <= np.count_nonzero(weights) * (1 + 1e-9)
    np.testing.assert_allclose(given.summary["total_weight"], weights.sum())


@every_learner
@pytest.mark.parametrize(
    "wrong",
    [
        "even",
        [1, 2],
        3,
        {0: -1.0},
        {0: np.nan},
        {1: np.inf},
        {0: 0, 1: 0},
        {0: None},
        {0: "much"},
        {0: 1e308, 1: 1e308},
    ],
)
def test_wrong_weights_of_classes_are_refused(make, wrong):
    """What is no weight is a ValueError that tells where to look."""
    X, y = mixed_table(np.random.default_rng(0), 60)
    with pytest.raises(ValueError, match="weight"):
        make(class_weight=wrong).fit(X, y)


def test_weights_of_unknown_classes_name_the_classes():
    """The message names the label that is no class, and the classes."""
    with pytest.raises(ValueError, match=r"'nope' is not a target class.* are: 'no', 'yes'"):
        MLRulesClassifier(class_weight={"nope": 3}).fit({"a": [1, 2]}, ["no", "yes"])


def test_costs_may_be_named_by_class():
    """A mapping of mappings names errors, as a parameter and after the fit; others cost 1."""
    X, y = {"a": list(range(20))}, ["no"] * 10 + ["yes"] * 10
    costs, table = {"no": {"yes": 5}}, ((0.0, 5.0), (1.0, 0.0))
    plain = MLRulesClassifier(2, random_state=0).fit(X, y)
    named = MLRulesClassifier(2, random_state=0, decision=costs).fit(X, y)
    learned = SlipperClassifier(max_rules=2, random_state=0, cost_matrix=costs).fit(X, y)
    for model in (named.model_, learned.model_, with_decision(plain.model_, costs)):
        assert model.decision.costs == table
