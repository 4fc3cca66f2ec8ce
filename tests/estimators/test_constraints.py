"""Constraints on learned models: what the expert asked for holds for every rule and prediction."""

import math

import numpy as np
import pytest

from builders import compressed, mixed_table, mlrules, slipper
from rulewright import compress, load_model
from rulewright.data import DataError
from rulewright.search import Constraints

pytestmark = pytest.mark.native

LEARNERS = {
    "mlrules": lambda **kw: mlrules(max_rules=20, subsample=0.5, **kw),
    "gradient": lambda **kw: mlrules(
        max_rules=20, criterion="gradient", class_choice="prefixed", **kw
    ),
    "drawn": lambda **kw: mlrules(max_rules=20, column_subsample=0.7, **kw),
    "compact": lambda **kw: compressed(mlrules(max_rules=40, **kw), 6),
    "ordinal": lambda **kw: mlrules(max_rules=20, ordinal=True, **kw),
    "compact ordinal": lambda **kw: compressed(mlrules(max_rules=40, ordinal=True, **kw), 8),
    "slipper": slipper,
    "slipper for the first": lambda **kw: slipper(positive_class=0, **kw),
    "slipper mh": lambda **kw: slipper(multiclass="mh", max_rules=16, **kw),
    "slipper ovr": lambda **kw: slipper(multiclass="ovr", calibration="platt", **kw),
}
CONSTRAINTS = {
    "monotone": {"a": "decreasing", "b": "increasing"},
    "forbidden": ["c"],
    "operators": {"color": ["="], "b": [">="]},
    "groups": [["a", "color"], ["a", "b"]],
    "digits": {"a": 2, "b": 1},
}


def n_classes(name):
    return 4 if "ordinal" in name else 2


def fitted(name, seed, **changed):
    """Fit a learner to a mixed table; the ordinal one to four classes."""
    columns, y = mixed_table(np.random.default_rng(seed), 400, n_classes=n_classes(name))
    return LEARNERS[name](**changed).fit(columns, y), columns, y


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", LEARNERS)
def test_every_rule_obeys(name, seed, tmp_path):
    """Columns, groups, operators, digits, size and support are those that were allowed."""
    limits = {"max_conditions": 2, "min_weight": 20.0}
    model = fitted(name, seed, constraints=CONSTRAINTS, **limits)[0].model_
    assert len(model) > 0
    for rule in model.rules:
        used = {condition.column: condition for condition in rule.body}
        assert len(used) <= 2
        assert rule.coverage.support >= 20
        assert used.keys() <= {"a", "color"} or used.keys() <= {"a", "b"}
        assert not used["color"].negated if "color" in used else True
        assert used["b"].high == math.inf if "b" in used else True
        for column, digits in CONSTRAINTS["digits"].items():
            bounds = {used[column].low, used[column].high} if column in used else ()
            assert all(math.isinf(x) or x == float(f"{x:.{digits - 1}e}") for x in bounds)
    model.save(tmp_path / "model.json")
    noted = load_model(tmp_path / "model.json").summary["constraints"]
    assert Constraints.of(noted) == Constraints.of(CONSTRAINTS)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("digits", [1, 2])
def test_rounded_thresholds_hold_for_all_columns_and_cover_what_they_say(name, digits):
    """Bounds have so many digits, and on the values they cover the rows that were counted."""
    est, X, _ = fitted(name, 3, constraints={"digits": digits})
    bounds = 0
    for rule in est.model_.rules:
        for condition in rule.body:
            for bound in (
                getattr(condition, "low", math.inf),
                getattr(condition, "high", math.inf),
            ):
                if math.isfinite(bound):
                    assert bound == float(f"{bound:.{digits - 1}e}")
                    bounds += 1
    assert bounds > 0
    counted = [rule.coverage.support for rule in est.model_.rules]
    np.testing.assert_array_equal(est.model_.covers(X).sum(axis=0), counted)


def wave(name):
    """Make two columns, the first of which moves the class up and down in waves."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    drive = np.sin(3 * X[:, 0]) + X[:, 1] + rng.normal(scale=0.3, size=400)
    return X, np.digitize(drive, [-1, 0, 1] if n_classes(name) == 4 else [0])


def falls(estimator, X, sign):
    """Give the largest fall of any P(y >= k) along a grid of the first column, or of the class."""
    grid = np.linspace(-3, 3, 40)[::sign]
    rows = np.array([[x, other] for other in X[:25, 1] for x in grid])
    reached = estimator.predict_proba(rows)[:, ::-1].cumsum(axis=1)[:, :-1]
    chances = np.diff(reached.reshape(25, 40, -1), axis=1).min()
    classes = np.diff(estimator.predict(rows).reshape(25, 40), axis=1).min()
    return chances, classes


CALIBRATIONS = [None, "platt", "temperature", "isotonic"]


@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
@pytest.mark.parametrize("name", LEARNERS)
def test_predictions_are_monotone(name, direction):
    """A monotone column moves the prediction in one direction even where the data wave."""
    X, y = wave(name)
    sign = 1 if direction == "increasing" else -1
    assert falls(LEARNERS[name]().fit(X, y), X, sign)[0] < -0.05
    bound = LEARNERS[name](constraints={"monotone": {"x0": direction}}).fit(X, y)
    chances, classes = falls(bound, X, sign)
    assert chances > -1e-12
    assert classes >= 0


@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
@pytest.mark.parametrize("name", LEARNERS)
def test_monotone_rules_look_one_way(name, direction):
    """Rules for higher classes bound the column on one side only, those for lower ones opposite."""
    X, y = wave(name)
    model = LEARNERS[name](constraints={"monotone": {"x0": direction}}).fit(X, y).model_
    seen = 0
    assert all(rule.outcome.value > 0 for rule in model.rules)
    for rule in model.rules:
        raises = (rule.head.first > 0) == (direction == "increasing")
        for condition in rule.body:
            if condition.column == "x0":
                assert (condition.high if raises else condition.low) in (-math.inf, math.inf)
                seen += 1
    assert seen > 0


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("name", ["mlrules", "ordinal", "slipper"])
def test_calibration_keeps_predictions_monotone(name, calibration):
    """Scaled scores stay monotone; steps would not with more than two classes and are refused."""
    X, y = wave(name)
    est = LEARNERS[name](calibration=calibration, constraints={"monotone": {"x0": "increasing"}})
    if name == "ordinal" and calibration == "isotonic":
        with pytest.raises(ValueError, match=r"isotonic.*monotone constraints.*'platt'"):
            est.fit(X, y)
    else:
        assert falls(est.fit(X, y), X, 1)[0] > -1e-12


@pytest.mark.parametrize("name", ["mlrules", "ordinal", "slipper", "slipper for the first"])
def test_compression_keeps_the_constraints(name):
    """What is left of a model is still monotone, and tells what it was constrained by."""
    X, y = wave(name)
    constraints = {"monotone": {"x0": "increasing"}, "digits": 1}
    est = LEARNERS[name](constraints=constraints).fit(X, y)
    small = compress(est, X, y, n_rules=5)
    assert 0 < len(small) <= 5
    assert {rule.body for rule in small.rules} <= {r.body for r in est.model_.rules}
    assert falls(small, X, 1)[0] > -1e-12
    assert small.summary["constraints"] == constraints


@pytest.mark.parametrize("required", [["color"], ["a", "color"]])
@pytest.mark.parametrize("name", LEARNERS)
def test_required_columns_are_in_every_rule(name, required):
    """A rule without them is not learned, and pruning does not take them away."""
    models = [fitted(name, seed, constraints={"required": required})[0].model_ for seed in range(5)]
    rules = [rule for model in models for rule in model.rules]
    assert len(rules) > 0
    assert all(set(required) <= set(rule.body.columns) for rule in rules)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_constraints_bind(name):
    """Without them the same learner breaks each one: the tests above can fail."""
    model = fitted(name, 0)[0].model_
    columns = [set(rule.body.columns) for rule in model.rules]
    assert any(len(used) > 2 or "c" in used or {"b", "color"} <= used for used in columns)


def test_unordered_classes_have_no_direction():
    """Monotone columns and four classes without an order are refused with the remedy."""
    columns, y = mixed_table(np.random.default_rng(0), 100, n_classes=4)
    for make in (mlrules, slipper):
        with pytest.raises(ValueError, match=r"monotone columns \(a\) need two classes, or"):
            make(constraints={"monotone": {"a": "increasing"}}).fit(columns, y)


@pytest.mark.parametrize("name", ["mlrules", "slipper"])
@pytest.mark.parametrize(
    ("constraints", "told"),
    [
        (Constraints(forbidden=["colr"]), r"no column 'colr'\. Did you mean color\?"),
        ({"monoton": {}}, r"no 'monoton'\. Did you mean monotone\?"),
        ({"monotone": {"color": "increasing"}}, "'color' is nominal"),
        ({"required": ["a"], "forbidden": ["a"]}, "column 'a' is also forbidden"),
        ({"required": ["a", "b", "c"]}, "3 columns, but max_conditions is 2"),
        ("a <= 3", "must be Constraints or a dict"),
    ],
)
def test_constraints_are_checked_against_the_table(name, constraints, told):
    """What cannot be met is told by `fit`, with what was probably meant."""
    with pytest.raises(DataError, match=told):
        fitted(name, 0, constraints=constraints, max_conditions=2)
