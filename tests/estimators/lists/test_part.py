"""PART: what the paper says of its lists."""

import numpy as np
import pytest
from hypothesis import given

from builders import SEEDS, c45rules, mixed_table, part
from golf import golf
from rulewright.data import read_table

pytestmark = pytest.mark.native


def test_the_list_of_the_golf_data():
    """What is pure comes first, then what wind tells of the rest, and the last rule is empty."""
    X, y = golf()
    model = part().fit(X, y).model_
    found = [(str(rule.body), rule.class_weights) for rule in model.rules]
    assert found == [
        ("outlook = overcast", (0.0, 4.0)),
        ("windy = true", (3.0, 1.0)),
        ("outlook = rain", (0.0, 3.0)),
    ]
    assert model.default_weights == (2.0, 1.0)


@given(SEEDS)
def test_every_rule_covers_rows_that_reach_it(seed):
    """Each rule has rows of its own, for the class it names most of them unless values miss."""
    X, y = mixed_table(np.random.default_rng(seed), 80, n_classes=3, missing=0.0)
    model = part(precision_cv=None).fit(X, y).model_
    for rule in model.rules:
        assert sum(rule.class_weights) >= 1
        assert rule.class_weights[rule.head.first] == max(rule.class_weights)
    reached = sum(sum(rule.class_weights) for rule in model.rules) + sum(model.default_weights)
    assert reached == 80


def test_a_small_confidence_makes_fewer_rules():
    """Leaves are judged with more suspicion, so trees are cut earlier."""
    X, y = mixed_table(np.random.default_rng(0), 200, n_classes=3)
    short, long = (len(part(confidence=c).fit(X, y).model_.rules) for c in (0.001, 0.25))
    assert 0 < short < long


def test_nothing_is_drawn():
    """Any seed gives the same list."""
    X, y = mixed_table(np.random.default_rng(2), 200)
    assert part(random_state=1).fit(X, y).model_ == part(random_state=2).fit(X, y).model_


def test_rows_with_missing_values_stay_for_later_rules():
    """A rule covers no row whose value is missing: the default decides those."""
    x = [0.0] * 10 + [1.0] * 10 + [np.nan] * 3
    model = part().fit({"x": x}, [0] * 10 + [1] * 10 + [1] * 3).model_
    assert [str(rule.body) for rule in model.rules] == ["x <= 0"]
    assert model.default_weights == (0.0, 13.0)
    table = read_table({"x": [np.nan]})
    assert model.deciders(table).tolist() == [1]


@pytest.mark.parametrize("make", [part, c45rules])
def test_missing_may_be_a_label(make):
    """Where gaps tell the class, a rule says so; divided rows cannot."""
    rng = np.random.default_rng(0)
    color = rng.choice(["red", "green", "blue"], 120).astype(object)
    color[rng.random(120) < 0.4] = None
    y = np.where([value is None for value in color], "gap", "known")
    X = {"color": color, "x": rng.normal(size=120)}
    told = make(missing_labels=True).fit(X, y)
    assert told.predict({"color": [None], "x": [0.0]}).tolist() == ["gap"]
    assert told.score(X, y) == 1.0
    assert make().fit(X, y).score(X, y) < 1.0
    assert told.model_.verify_exports()
