import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given

from rules.builders import (
    KNOWN_LABELS,
    conditions,
    conditions_on_small_table,
    nominal,
    numeric,
    small_tables,
)
from rulewright.rules import Labels, Presence, Range, condition_from_json

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Range("a", high=2), [1, 1, 0, 0, 0]),
        (Range("a", high=2, high_open=True), [1, 0, 0, 0, 0]),
        (Range("a", low=2), [0, 1, 1, 1, 0]),
        (Range("a", low=2, low_open=True), [0, 0, 1, 1, 0]),
        (Range("a", 1, 3, True, False), [0, 1, 1, 0, 0]),
        (Range("a", 2, 2), [0, 1, 0, 0, 0]),
        (Presence("a", missing=True), [0, 0, 0, 0, 1]),
        (Presence("a", missing=False), [1, 1, 1, 1, 0]),
    ],
)
def test_numeric_conditions_by_hand(condition, expected):
    """Each operator covers the rows a reader expects, and never a missing value by accident."""
    assert condition.holds(numeric([1, 2, 3, INF, NAN])).tolist() == [bool(x) for x in expected]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Labels("color", ("red",)), [0, 0, 1, 0, 0]),
        (Labels("color", ("red",), negated=True), [1, 1, 0, 0, 1]),
        (Labels("color", ("red", "blue")), [1, 0, 1, 0, 0]),
        (Labels("color", ("red", "pink"), negated=True), [1, 1, 0, 0, 1]),
        (Labels("color", ("pink",)), [0, 0, 0, 0, 0]),
        (Presence("color", missing=True), [0, 0, 0, 1, 0]),
        (Presence("color", missing=False), [1, 1, 1, 0, 1]),
    ],
)
def test_nominal_conditions_by_hand(condition, expected):
    """A missing label fails both signs; an unseen one fails `=` and satisfies `!=`."""
    assert condition.holds(nominal([0, 1, 2, -1, -2])).tolist() == [bool(x) for x in expected]


@given(conditions_on_small_table(), small_tables())
def test_accepts_is_holds_row_by_row(condition, table):
    """The scalar and the array definition agree on every row."""
    column = table[condition.column]
    values = column.values.tolist()
    if column.schema.kind == "nominal":
        values = [(*KNOWN_LABELS, "never seen", None)[code] for code in values]
    assert condition.holds(column).tolist() == [condition.accepts(value) for value in values]


def test_holds_on_a_strided_view():
    """A column that is a view into a row-major matrix gives the same rows."""
    column = numeric([0.0])
    matrix = np.arange(12.0).reshape(4, 3)
    view = type(column)(column.schema, matrix[:, 1])
    assert Range("a", 4, 7).holds(view).tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Range("a"), "no bound"),
        (lambda: Range("a", low=NAN), "lower bound of column 'a' must not be NaN"),
        (lambda: Range("a", high=NAN), "upper bound of column 'a' must not be NaN"),
        (lambda: Range("a", 5, 3), "empty"),
        (lambda: Range("a", 3, 3, low_open=True), "empty"),
        (lambda: Range("a", 3, 3, high_open=True), "empty"),
        (lambda: Range("a", low=INF), "empty"),
        (lambda: Range("a", high=-INF), "empty"),
        (lambda: Range("a", high="5"), "must be a number, not str"),
        (lambda: Range("a", high=True), "must be a number, not bool"),
        (lambda: Range("a", high=10**400), "too large"),
        (lambda: Range("a", high=5, high_open=1), "must be True or False"),
        (lambda: Range(3, high=5), "column name of a condition must be a string, not int"),
        (lambda: Labels("c", ()), "at least one label"),
        (lambda: Labels("c", "red"), "not one string"),
        (lambda: Labels("c", ("red", 3)), "label of column 'c' must be a string, not int"),
        (lambda: Labels("c", ("\ud800",)), "not valid Unicode"),
        (lambda: Labels("c", ("red",), negated=None), "must be True or False"),
        (lambda: Presence("a", missing="yes"), "must be True or False"),
    ],
)
def test_bad_conditions_are_refused(build, message):
    """What cannot be a condition is a ValueError that says why."""
    with pytest.raises(ValueError, match=message):
        build()


def test_fields_are_normalised():
    """Equal conditions compare equal however they were given, in plain Python types."""
    assert Labels("c", ("b", "a", "b")) == Labels("c", (np.str_("a"), "b"))
    given_numpy = Range("a", high=np.float64(5), high_open=np.bool_(True))
    assert given_numpy == Range("a", high=5, high_open=True)
    assert type(given_numpy.high) is float
    assert Range("a", high=5, low_open=True) == Range("a", high=5)
    assert str(Range("a", high=-0.0)) == "a <= 0"
    assert len({Range("a", high=-0.0), Range("a", high=0)}) == 1


@pytest.mark.parametrize(
    ("condition", "column"),
    [(Range("a", high=5), nominal([0])), (Labels("color", ("red",)), numeric([1]))],
)
def test_condition_on_a_column_of_the_other_kind(condition, column):
    """A condition never reads codes as numbers or numbers as codes."""
    with pytest.raises(ValueError, match=r"needs a n[a-z]+ column, but column '[a-z]+' is n"):
        condition.holds(column)


def test_a_label_that_is_a_number_must_be_quoted():
    """`a = 5` is about numbers; for a column of labels the error says how to write it."""
    with pytest.raises(ValueError, match=r"'a = 5' compares labels with a number.*: a = \"5\"$"):
        Range("a", 5, 5).check(nominal([0]).schema)
    Range("a", 5, 5).check(numeric([1]).schema)


@pytest.mark.parametrize(
    ("condition", "value"), [(Range("a", high=5), "x"), (Labels("c", ("5",)), 5.0)]
)
def test_value_of_the_other_kind(condition, value):
    """A scalar of the wrong kind is a clean error."""
    with pytest.raises(ValueError, match=r"value of .*column"):
        condition.accepts(value)


def test_json_by_hand():
    """The plain data is what the file format promises."""
    interval = Range("a", 3, 5, low_open=True)
    assert interval.to_json() == {"column": "a", "low": 3.0, "low_open": True, "high": 5.0}
    assert Range("a", high=5, high_open=True).to_json() == {
        "column": "a",
        "high": 5.0,
        "high_open": True,
    }
    assert Labels("c", ("y", "x")).to_json() == {"column": "c", "in": ["x", "y"]}
    assert Labels("c", ("x",), True).to_json() == {"column": "c", "not_in": ["x"]}
    assert Presence("a", True).to_json() == {"column": "a", "missing": True}


@given(conditions())
def test_json_round_trip(condition):
    """Strict JSON and pickle bring back the same condition."""
    text = json.dumps(condition.to_json(), allow_nan=False)
    assert condition_from_json(json.loads(text)) == condition
    assert pickle.loads(pickle.dumps(condition)) == condition


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ([], "must be a JSON object, not list"),
        ({"low": 3.0}, "must have the key 'column'"),
        ({"column": "a"}, "has the keys \\[\\]"),
        ({"column": None, "low": 3.0}, "column name of a condition must be a string"),
        ({"column": "a", "low": 3.0, "mid": 4.0}, "has the keys \\['low', 'mid'\\]"),
        ({"column": "a", "low": 3.0, "in": ["x"]}, "has the keys"),
        ({"column": "a", "in": ["x"], "not_in": ["y"]}, "has the keys"),
        ({"column": "a", 3: 4}, "has the keys \\[3\\]"),
        ({"column": "a", "low": True}, "must be a number, not bool"),
        ({"column": "a", "low": "3"}, "must be a number, not str"),
        ({"column": "a", "low": None}, "must be a number, not NoneType"),
        ({"column": "a", "low": NAN}, "must not be NaN"),
        ({"column": "a", "low": -INF, "high": 5.0}, "is infinite; leave the key out"),
        ({"column": "a", "low": 5.0, "high": 3.0}, "empty"),
        ({"column": "a", "low": 5.0, "high_open": True}, "'high_open' but no 'high'"),
        ({"column": "a", "low": 5.0, "low_open": 1}, "must be True or False"),
        ({"column": "a", "in": "red"}, "must be a list"),
        ({"column": "a", "in": []}, "at least one label"),
        ({"column": "a", "not_in": ["red", ["x"]]}, "must be a string, not list"),
        ({"column": "a", "missing": 1}, "must be True or False"),
    ],
)
def test_bad_json_is_refused(obj, message):
    """Plain data that is no condition is a ValueError that says why."""
    with pytest.raises(ValueError, match=message):
        condition_from_json(obj)
