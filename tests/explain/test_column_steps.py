"""The sum of the rules of one column: exact at every value, with intervals that do not overlap."""

import math

import numpy as np
import pytest

from rulewright import MLRulesClassifier
from rulewright.data import ColumnSchema, Schema, read_table
from rulewright.explain import merge_column_steps, partial_dependence
from rulewright.model import RegressionRules
from rulewright.model.forms.terms import LinearTerm
from rulewright.rules import Adds, NumberCoverage, Rule, parse_formula

SCHEMA = Schema(
    (
        ColumnSchema("late", "numeric"),
        ColumnSchema("income", "numeric"),
        ColumnSchema("home", "nominal", ("own", "rent", "other")),
    ),
    named=True,
)
LINE = LinearTerm("income", 1000.0, 4000.0, 2500.0, 800.0, (0.01,))


def model_of(rules, linear=()):
    """Make a model of numbers from texts of rules and what they add."""
    made = [
        Rule(parse_formula(text), Adds(0, value), NumberCoverage(10.0, 0.0, 1.0))
        for text, value in rules.items()
    ]
    return RegressionRules(SCHEMA, 0.0, tuple(made), linear=linear)


MODEL = model_of(
    {
        "late <= 0": -1.0,
        "late >= 3": 5.0,
        "late >= 5": 2.0,
        "late > 0 and income <= 2000": 7.0,
        "income is missing": 4.0,
        "home != own": 3.0,
    },
    (LINE,),
)


def test_steps_of_a_ladder_by_hand():
    """Five rules are four intervals; a rule with two columns is listed apart."""
    found = merge_column_steps(MODEL, "late")
    steps = [(s.low, s.high, s.low_open, s.high_open, s.adds[0]) for s in found.steps[:-1]]
    assert steps == [
        (-math.inf, 0.0, True, False, -1.0),
        (0.0, 3.0, True, True, 0.0),
        (3.0, 5.0, False, True, 5.0),
        (5.0, math.inf, False, True, 7.0),
    ]
    assert found.steps[-1].is_missing
    assert found.steps[-1].adds[0] == 0.0
    assert (found.rules, found.joint_rules, found.has_line) == ((0, 1, 2), (3,), False)


def test_labels_that_get_the_same_are_joined():
    """Labels have one step for each sum."""
    found = merge_column_steps(MODEL, "home")
    assert [(s.labels, s.adds[0]) for s in found.steps] == [
        (("own",), 0.0),
        (("rent", "other"), 3.0),
        ((), 0.0),
    ]


def test_a_line_has_two_ends():
    """A linear term is level, a slope between its bounds, and level again."""
    found = merge_column_steps(MODEL, "income")
    assert found.has_line
    *known, missing = found.steps
    assert [(s.low, s.high) for s in known] == [
        (-math.inf, 1000.0),
        (1000.0, 4000.0),
        (4000.0, math.inf),
    ]
    ends = [(s.adds[0], s.adds_high[0]) for s in known]
    np.testing.assert_allclose(ends, [(-15, -15), (-15, 15), (15, 15)], atol=1e-9)
    assert missing.adds[0] == 4.0
    assert found.joint_rules == (3,)


@pytest.mark.parametrize("seed", range(3))
def test_steps_are_the_dependence_of_models_of_single_columns(seed):
    """With one condition per rule each value is in one step, which adds what the rules add."""
    rng = np.random.default_rng(seed)
    X = {"a": rng.integers(0, 9, 200).astype(float), "b": rng.normal(size=200)}
    X["c"] = rng.choice(["u", "v", "w"], 200).astype(object)
    X["a"][:20] = np.nan
    y = (np.nan_to_num(X["a"]) + X["b"] + (X["c"] == "u") + rng.normal(size=200) > 4).astype(int)
    model = MLRulesClassifier(20, max_conditions=1, random_state=0).fit(X, y).model_
    table = read_table(X)
    for name in model.columns:
        steps, column = merge_column_steps(model, name).steps, table[name]
        inside = np.array([step.covers(column) for step in steps])
        assert (inside.sum(axis=0) == 1).all()
        added = np.array([step.adds for step in steps])[inside.argmax(axis=0)]
        found = partial_dependence(model, table, name)
        at = {point[0]: value for point, value in zip(found.points, found.values, strict=True)}
        values = column.values if column.schema.type.ordered else np.array(X[name])
        known = ~column.is_missing
        expected = np.array([at[value] for value in values[known].tolist()])
        gaps = expected - added[known]  # what other columns add on average, and the start
        np.testing.assert_allclose(gaps, np.broadcast_to(gaps[:1], gaps.shape), atol=1e-9)


def test_few_points_keep_all_steps():
    """With quantiles the dependence has the values next to thresholds, and the thresholds."""
    rows = {"late": np.arange(100.0), "income": np.full(100, 3000.0), "home": ["own"] * 100}
    found = partial_dependence(MODEL, rows, "late", max_points=3)
    assert set(found.values[:, 0].round(9)) == {4.0, 5.0, 10.0, 12.0}
    assert {0.0, 1.0, 2.0, 3.0, 4.0, 5.0} <= {point[0] for point in found.points}
    assert found.edges == (0.0, 3.0, 5.0)
    assert partial_dependence(MODEL, rows, "income", max_points=3).edges is None
